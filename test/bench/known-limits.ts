import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Rate } from '../../src/pipeline/pipeline.ts';
import { commandFile, temporaryFolder } from '../rig/cli.ts';
import { measuredProcess, serviceEnv } from '../rig/measured.ts';
import type { Bench } from './comparison.ts';

/** A service that answers after a moment, and notes when POSTs come. */
async function startService(answerMs: number) {
  const seen: number[] = [];
  const reply = JSON.stringify({
    candidates: [{ content: { role: 'model', parts: [{ text: 'A fox.' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
  });
  const server = createServer((request, response) => {
    if (request.method === 'POST') seen.push(performance.now());
    request.resume().on('end', () =>
      setTimeout(() => {
        response.setHeader('content-type', 'application/json');
        response.end(reply);
      }, answerMs),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The most in any window of this length. */
export function maxInWindow(times: readonly number[], perMs: number): number {
  let [most, from] = [0, 0];
  for (const [to, at] of times.entries()) {
    while ((times[from] as number) <= at - perMs) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

/** The part of a rate that was used from the first to the last. */
export const useOf = (times: readonly number[], { count, perMs }: Rate): number =>
  (times.length - 1) / ((((times.at(-1) ?? 0) - (times[0] ?? 0)) * count) / perMs);

interface Pauses {
  readonly everyMs: number;
  readonly ms: number;
}

/** A run of text calls under a limit, in a process that stands still now and then. */
async function sentUnder(limit: string, calls: number, pauses?: Pauses) {
  const service = await startService(150);
  try {
    await using folder = await temporaryFolder();
    await writeFile(
      join(folder.path, 'pipeline.yaml'),
      `name: limits
limits: { requests: 32, text: ${limit} }
matrix: { n: { from: 1, to: ${calls} } }
steps:
  say: { generate: { model: text-pro, prompt: "Say something short about number {{ n }}." } }
`,
    );
    const stamps = join(folder.path, 'stamps.json');
    const { cpuMs, peakMB } = await measuredProcess(commandFile, ['run', 'pipeline.yaml', '--out', 'out'], {
      cwd: folder.path,
      env: {
        ...serviceEnv(service.url),
        NODE_OPTIONS: `--import=${new URL('scripts/stamp-sends.mjs', import.meta.url).href}`,
        STAMPS_FILE: stamps,
        ...(pauses && { PAUSE_EVERY: String(pauses.everyMs), PAUSE_MS: String(pauses.ms) }),
      },
    });
    const atSend = JSON.parse(await readFile(stamps, 'utf8')) as readonly number[];
    if (atSend.length !== calls || service.seen.length !== calls)
      throw new Error(`${atSend.length} requests left, ${service.seen.length} came, of ${calls}.`);
    return { atSend, atSocket: service.seen, took: { cpuMs, peakMB } };
  } finally {
    service.close();
  }
}

/** Both rows of one limit: one run each round, from which each takes its figures. */
function rows(name: string, limit: string, rate: Rate, calls: number, least: number, pauses?: Pauses) {
  const what = `text: ${limit}, end to end in real time${pauses === undefined ? '' : `, in a process that stands still for ${pauses.ms} ms every ${pauses.everyMs / 1000} s`}`;
  let sent: ReturnType<typeof sentUnder> | undefined;
  const row = (asks: string, unit: string, figure: (times: readonly number[]) => number): Bench => ({
    asks: `${what}: ${asks}`,
    rounds: 1,
    warmUp: false,
    prepare: () => ({
      unit,
      left: {
        name: 'stamped at send',
        measure: async () => {
          sent ??= sentUnder(limit, calls, pauses);
          const { atSend, took } = await sent;
          return { value: figure(atSend), ...took };
        },
      },
      beside: {
        name: 'as seen at the socket',
        measure: async () => figure((await (sent ?? sentUnder(limit, calls, pauses))).atSocket),
      },
    }),
  });
  return {
    [`${name}-use`]: {
      ...row('the part of the limit that is used', 'of the limit', (times) => useOf(times, rate)),
      ...(pauses === undefined && { allowed: { figureAtLeast: least } }),
    },
    [`${name}-window`]: {
      ...row('the most requests in any window', 'requests', (times) => maxInWindow(times, rate.perMs)),
      allowed: { figureAtMost: rate.count * (1 + 20 / rate.perMs) },
    },
  };
}

const second: Rate = { count: 20, perMs: 1000 };
const minute: Rate = { count: 600, perMs: 60_000 };
const pauses: Pauses = { everyMs: 5000, ms: 667 };

/** Known limits: how much of them is used, and whether they are kept. */
export const knownLimits: Readonly<Record<string, Bench>> = {
  ...rows('limit-second', '20/s', second, 600, 0.96),
  ...rows('limit-second-paused', '20/s', second, 600, 0.96, pauses),
  ...rows('limit-minute', '600/min', minute, 1100, 0.98),
  ...rows('limit-minute-paused', '600/min', minute, 1000, 0.98, pauses),
};
