import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../rig/cli.ts';
import { readManifest } from '../rig/manifest.ts';
import { makePng } from '../rig/png.ts';
import { promptpress } from './test-io.ts';

it('a rehearsal loads images from no other server on this machine, whatever the pipeline names', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(200, { 'content-type': 'image/png' }).end(makePng(1));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await using folder = await temporaryFolder();
  await writeFile(
    join(folder.path, 'set.yaml'),
    `name: set
retry: { attempts: 1 }
steps:
  shown: { generate: { model: m, prompt: What is it?, images: ["http://127.0.0.1:${port}/shown.png"] } }
  named: { generate: { model: m, prompt: What is it?, images: ["http://localhost:${port}/named.png"] } }
  grid: { imagine: { prompt: a fox, images: ["http://127.0.0.1:${port}/grid.png"] } }
  edited: { edit: { image: "http://127.1:${port}/edited.png", prompt: a hat, mask: { shapes: [{ rectangle: [0, 0, 1, 1] }] } } }
`,
  );
  const { code, err } = await promptpress(['run', 'set.yaml', '--sandbox'], { cwd: folder.path });
  server.close();
  expect(code, err).toBe(1);
  expect(asked).toEqual([]);
  const rows = await readManifest(join(folder.path, 'runs/set.sandbox/manifest.csv'));
  expect(rows.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed', 'failed']);
  expect(rows[0]?.['error_message']).toContain('is this machine, and not the base address');
});
