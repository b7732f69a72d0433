import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { QuickCounts, QuickOptions, QuickTaskTimes } from './quick-options.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const usage = new URL('children/usage.mjs', import.meta.url).href;

/** What a process took from its start to its end. */
export interface MeasuredProcess {
  /** Wall time. */
  readonly seconds: number;
  /** CPU time of all its threads, user and system. */
  readonly cpuMs: number;
  /** Peak memory (resident), MB (10^6 bytes). */
  readonly peakMB: number;
  /** With `sampleMs`: `[Unix ms, CPU time so far in ms]`. */
  readonly samples: readonly (readonly [number, number])[];
  readonly stdout: string;
  readonly stderr: string;
}

export interface MeasuredOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** How often CPU time is noted, in ms. Default: never. */
  readonly sampleMs?: number;
  /** Exit codes that are expected. Default 0. */
  readonly codes?: readonly number[];
  /** Gets the process while it runs. */
  readonly onStart?: (child: { kill(signal: NodeJS.Signals): boolean }) => void;
}

/**
 * Runs a JavaScript file in a process of its own, in an environment that holds nothing of this machine's.
 * @throws Error with its last words where it ends with another code than expected
 */
export async function measuredProcess(
  file: string,
  args: readonly string[],
  { cwd, env, sampleMs, codes = [0], onStart }: MeasuredOptions,
): Promise<MeasuredProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'promptpress-usage-'));
  const usageFile = join(folder, 'usage.json');
  try {
    const from = performance.now();
    const child = spawn(process.execPath, ['--import', usage, file, ...args], {
      cwd,
      env: {
        PATH: process.env['PATH'],
        HOME: cwd,
        TZ: 'UTC',
        NO_COLOR: '1',
        USAGE_FILE: usageFile,
        ...(sampleMs === undefined ? {} : { USAGE_EVERY: String(sampleMs) }),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onStart?.(child);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      // Progress of a long run: its end is enough.
      stderr = (stderr + text).slice(-20_000);
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const seconds = (performance.now() - from) / 1000;
    if (code === null || !codes.includes(code))
      throw new Error(`${file} ended with ${code ?? 'a signal'}: ${(stderr || stdout).slice(-1000)}`);
    const took = JSON.parse(await readFile(usageFile, 'utf8')) as Pick<
      MeasuredProcess,
      'cpuMs' | 'peakMB' | 'samples'
    >;
    return { seconds, ...took, stdout, stderr };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface QuickService {
  /** `http://127.0.0.1:<port>`. Any key is welcome. */
  readonly url: string;
  counts(): Promise<QuickCounts>;
  /** All tasks, in the order in which they were submitted. */
  tasks(): Promise<readonly QuickTaskTimes[]>;
  close(): Promise<void>;
}

/** Starts the quick service (children/quick-service.ts) in a process of its own. It ends with this process at the latest. */
export async function startQuickService(options: QuickOptions = {}): Promise<QuickService> {
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), here('children/quick-service.ts'), JSON.stringify(options)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => reject(new Error('The quick service ended before it had an address.')));
    child.stdout.setEncoding('utf8').once('data', (line: string) => resolve(line.trim()));
  });
  return {
    url,
    counts: async () => (await (await fetch(`${url}/-/counts`)).json()) as QuickCounts,
    tasks: async () => (await (await fetch(`${url}/-/tasks`)).json()) as readonly QuickTaskTimes[],
    close: async () => {
      child.kill();
      await ended;
    },
  };
}

/** Variables with which the command line, and a script, find a service. */
export const serviceEnv = (url: string): Readonly<Record<string, string>> => ({
  PROMPTPRESS_BASE_URL: url,
  PROMPTPRESS_API_KEY: 'bench-key',
});
