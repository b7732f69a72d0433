/**
 * What a user would write instead: imagine, wait, download, press U1, wait, download, for so many cells, some at a time. Nothing is
 * kept for another try, and nothing is synced.
 * node images.mjs CELLS AT_ONCE
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import { Agent, request } from 'undici';

const { PROMPTPRESS_BASE_URL: base, PROMPTPRESS_API_KEY: key } = process.env;
const [cells, atOnce] = process.argv.slice(2).map(Number);
const dispatcher = new Agent({ connections: atOnce });
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

async function call(path, body) {
  const method = body === undefined ? 'GET' : 'POST';
  const response = await request(base + path, {
    dispatcher,
    method,
    headers,
    body: body && JSON.stringify(body),
  });
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
  return response.body.json();
}

async function finished(submitted) {
  if (submitted.code !== 1) throw new Error(submitted.description);
  for (;;) {
    const task = await call(`/img/task/${submitted.result}/fetch`);
    if (task.status === 'SUCCESS') return task;
    if (task.status === 'FAILURE') throw new Error(task.failReason);
    await wait(1000);
  }
}

async function save(url, file) {
  const response = await request(url, { dispatcher });
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`);
  await writeFile(file, Buffer.from(await response.body.arrayBuffer()));
}

async function cell(n) {
  const prompt = `a fox in picture ${n}, ink drawing --ar 3:2`;
  const grid = await finished(await call('/img/submit/imagine', { botType: 'IMG_JOURNEY', prompt }));
  await save(grid.imageUrl, `images/${n}.png`);
  const { customId } = grid.buttons.find(({ label }) => label === 'U1');
  const single = await finished(await call('/img/submit/action', { taskId: grid.id, customId }));
  await save(single.imageUrl, `images/${n}-U1.png`);
  return `${n},"${prompt}",${grid.id},${single.id}`;
}

await mkdir('images');
const limit = pLimit(atOnce);
const rows = await Promise.all(Array.from({ length: cells }, (_, n) => limit(() => cell(n + 1))));
await writeFile('manifest.csv', `cell,prompt,grid,single\n${rows.join('\n')}\n`);
