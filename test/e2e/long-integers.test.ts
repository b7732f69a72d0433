import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { promptpress } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { filesBelow, serve } from './hostile-rig.ts';
import { quick, write } from './pipelines.ts';

const [seed, answered, argument, reply] = [
  '12345678901234567890',
  '9007199254740993',
  '-88888888888888888881',
  '10000000000000000001',
];

const pipeline = `name: long
service: { id: fake }
${quick}
matrix: { seed: [${seed}] }
steps:
  ask:
    generate:
      model: text-pro
      prompt: Which?
      generationConfig: { seed: ${seed}, topK: "{{ seed }}", temperature: 1.50 }
      functions: { look: { description: looks, answer: { id: ${reply} } } }
    extra: { more: [${seed}, 0x10] }
  tell:
    generate:
      model: text-pro
      prompt: "{{ steps.ask.parts[0].number }}"
  picture:
    imagine: a fox
    extra: { seed: ${seed} }
`;

const call = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":{"id":${argument}}}}]},"finishReason":"STOP"}]}`;
const end = `{"candidates":[{"content":{"role":"model","parts":[{"number":${answered},"text":"yes"}]},"finishReason":"STOP"}],"id":${answered}}`;

it('integers that a number cannot hold keep their digits on every way', async () => {
  await using folder = await temporaryFolder();
  const bodies: string[] = [];
  await using service = await serve((path, response, request) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      if (path.endsWith('models')) return response.end('{"data":[]}');
      bodies.push(body);
      if (path.includes('imagine')) return response.end('{"code":24,"description":"no"}');
      return response.end(body.includes('Which?') && !body.includes('functionCall') ? call : end);
    });
  });
  await write(folder.path, { 'long.yaml': pipeline });
  const { code, err } = await promptpress(['run', 'long.yaml'], {
    cwd: folder.path,
    env: {
      PROMPTPRESS_BASE_URL: `http://127.0.0.1:${service.port}`,
      PROMPTPRESS_API_KEY: 'sk-0123456789abcdef',
    },
  });
  // The picture is refused; what was sent is what counts.
  expect(code, err).toBe(1);

  const [first = '', ...more] = bodies.filter((body) => body.includes('Which?'));
  expect(first).toContain(`"generationConfig":{"seed":${seed},"topK":${seed},"temperature":1.5}`);
  expect(first).toContain(`"more":[${seed},16]`);
  expect(more).toHaveLength(1);
  expect(more[0]).toContain(`"args":{"id":${argument}}`);
  expect(more[0]).toContain(`"response":{"id":${reply}}`);
  expect(bodies.find((body) => body.includes('a fox'))).toContain(`"seed":${seed}`);
  expect(bodies.find((body) => body.includes(`"text":"${answered}"`))).toBeDefined();

  // The whole replies, as lines: the call of a function, and two answers.
  const files = (await filesBelow(folder.path)).filter((file) => /replies\/[0-9]+\.jsonl$/.test(file));
  const segments = await Promise.all(files.map((file) => readFile(join(folder.path, file), 'utf8')));
  const replies = segments.join('').trimEnd().split('\n');
  expect(replies).toHaveLength(3);
  const kept = [`"args":{"id":${argument}}`, `"id":${answered}}`, `"id":${answered}}`];
  for (const [at, reply] of replies.entries()) expect(reply).toContain(kept[at]);
});
