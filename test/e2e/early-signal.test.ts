import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startCli, temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { write } from './pipelines.ts';

/** A run that looks at a million cells, and finds nothing to do. */
const busy = `name: busy
matrix: { a: { from: 1, to: 1000 }, b: { from: 1, to: 1000 } }
steps:
  grid: { imagine: "fox {{ a }} {{ b }}", when: a == 0 }
`;

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a run that has sent nothing yet ends as %s ends any process, within a second',
  async (name) => {
    await using folder = await temporaryFolder();
    const service = await startFakeService();
    try {
      await write(folder.path, { 'busy.yaml': busy });
      const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
      const running = startCli(['run', join(folder.path, 'busy.yaml'), '--yes'], { cwd: folder.path, env });
      await running.said('Service:');
      const at = performance.now();
      running.child.kill(name);
      const { code, signal } = await running.done;
      expect([code, signal]).toEqual([undefined, name]);
      expect(performance.now() - at).toBeLessThan(1000);
      expect(service.submits.all).toEqual([]);
    } finally {
      await service.close();
    }
  },
);

it.each([
  ['a worker', ['worker']],
  ['the lead of a run on an engine', ['run', 'busy.yaml', '--yes']],
])('%s that waits for an engine which says nothing ends at once by a signal', async (_, args) => {
  await using folder = await temporaryFolder();
  const engine = createServer();
  engine.listen(0, '127.0.0.1');
  await once(engine, 'listening');
  const { port } = engine.address() as AddressInfo;
  const sockets: { destroy(): void }[] = [];
  const reached = new Promise<void>((resolve) => {
    engine.on('connection', (socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      resolve();
    });
  });
  try {
    await write(folder.path, { 'busy.yaml': busy });
    const env = {
      PROMPTPRESS_BASE_URL: 'http://127.0.0.1:9',
      PROMPTPRESS_API_KEY: 'key-of-a-test-0123',
      PROMPTPRESS_ENGINE: `postgres://somebody@127.0.0.1:${port}/press`,
    };
    const running = startCli(args, { cwd: folder.path, env });
    await Promise.race([reached, running.done]);
    running.child.kill('SIGINT');
    const { code, signal, stderr } = await running.done;
    expect([code, signal], stderr).toEqual([undefined, 'SIGINT']);
  } finally {
    for (const socket of sockets) socket.destroy();
    engine.close();
  }
});
