import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { commandFile, temporaryFolder } from '../rig/cli.ts';
import { measuredProcess, serviceEnv, startQuickService } from '../rig/measured.ts';
import type { Bench, Measured } from './comparison.ts';

const cells = 3000;
const viewers = 20;

const pipeline = `
name: watched
limits: { tasks: 64, requests: 64 }
poll: { min: 1ms, max: 5ms }
matrix: { n: { from: 1, to: ${cells} } }
steps:
  grid: { imagine: "a fox in picture {{ n }}, ink drawing --ar 3:2", path: U1 }
`;

/** CPU time of the run's process alone, ms a job. */
async function run(url: string, isWatched: boolean): Promise<Measured> {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'pipeline.yaml'), pipeline);
  const over = new AbortController();
  const watching = isWatched ? watch(folder.path, over.signal) : undefined;
  try {
    const { cpuMs, peakMB } = await measuredProcess(commandFile, ['run', 'pipeline.yaml', '--out', 'out'], {
      cwd: folder.path,
      env: serviceEnv(url),
    });
    return { value: cpuMs / (2 * cells), cpuMs, peakMB };
  } finally {
    over.abort();
    await watching;
  }
}

/** Watches a run from its first job on, as the page does: each viewer asks for results whenever it hears of a change. */
async function watch(folder: string, over: AbortSignal): Promise<void> {
  const server = await serve(folder, over);
  if (server === undefined) return;
  const address = new URL(server.address);
  const cookie = await new Promise<string>((resolve, reject) => {
    get(address, (response) => {
      response.resume();
      resolve(response.headers['set-cookie']?.[0]?.split(';')[0] ?? '');
    }).on('error', reject);
  });
  const at = (path: string) => ({
    host: address.hostname,
    port: address.port,
    path: address.pathname + path,
    headers: { cookie },
  });
  let events = 0;
  const began = performance.now();
  for (let viewer = 0; viewer < viewers; viewer += 1) {
    get(at('api/events'), (response) => {
      response.setEncoding('utf8').on('error', () => {});
      response.on('data', (text: string) => {
        const found = text.match(/^event: changed$/gm)?.length ?? 0;
        events += found;
        if (found > 0)
          get(at('api/results?q={"sort":"newest"}&offset=0&limit=120'), (page) => page.resume()).on(
            'error',
            () => {},
          );
      });
    }).on('error', () => {});
  }
  if (!over.aborted) await once(over, 'abort');
  const seconds = (performance.now() - began) / 1000;
  const rate = events / viewers / seconds;
  server.child.kill('SIGINT');
  await once(server.child, 'close');
  if (events === 0) throw new Error('Nobody heard of a change.');
  // One more is told to each who comes.
  if (rate > 2 + 1 / seconds) throw new Error(`${rate.toFixed(2)} events a second for each viewer.`);
}

/** There is nothing to serve before the first job. */
async function serve(
  folder: string,
  over: AbortSignal,
): Promise<{ readonly child: ChildProcess; readonly address: string } | undefined> {
  while (!over.aborted) {
    const child = spawn(process.execPath, [commandFile, 'serve', 'out'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const address = await new Promise<string | undefined>((resolve) => {
      child.stdout.setEncoding('utf8').once('data', (line: string) => resolve(line.trim()));
      child.once('close', () => resolve(undefined));
    });
    if (address !== undefined) return { child, address };
    await later(100);
  }
  return undefined;
}

export const serveBench: Bench = {
  asks: `CPU time of a run for each of its ${2 * cells} jobs while ${viewers} viewers watch it by \`promptpress serve\`, against the same run alone`,
  allowed: { ratioAtMost: 1.05 },
  rounds: 5,
  warmUp: false,
  prepare: async () => {
    const service = await startQuickService();
    return {
      unit: 'ms a job',
      left: { name: `${viewers} viewers`, measure: () => run(service.url, true) },
      right: { name: 'alone', measure: () => run(service.url, false) },
      end: () => service.close(),
    };
  },
};
