import { setMaxListeners } from 'node:events';
import type { Writable } from 'node:stream';
import { exitCodes } from '../../app/errors/cli-error.ts';
import { type InterruptName, type Interrupts, interruptNames, type Terminal } from '../../app/output/io.ts';
import type { RawIo } from '../../app/output/safe-io.ts';
import { host } from './host.ts';
import { boundCompiler, boundHeapGrowth } from './memory.ts';

/** Milliseconds that a command has to end after the second signal. */
const leaveGraceMs = 2_000;

/** Returns the input, output and signals of this process. */
export function processIo(): RawIo {
  const { stdout, stderr, env } = process;
  const outClosed = quietly(stdout);
  quietly(stderr);
  const shown = terminal();
  return {
    ...host,
    cwd: host.cwd(),
    env,
    out: async (text) => {
      if (outClosed.aborted || stdout.write(text)) return;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          stdout.off('drain', done);
          outClosed.removeEventListener('abort', done);
          resolve();
        };
        stdout.once('drain', done);
        outClosed.addEventListener('abort', done, { once: true });
      });
    },
    outClosed,
    err: toStderr,
    ...(shown === undefined ? {} : { terminal: shown }),
    ...(canPrompt() ? { ask } : {}),
    colors: wantsColors(),
    now: () => host.machine.clock.now(),
    interrupts,
    boundHeapGrowth,
    boundCompiler,
  };
}

function toStderr(text: string): void {
  if (!process.stderr.destroyed) process.stderr.write(text);
}

/** Resolves when all output has left the process. */
export const flushed = async (): Promise<void> => {
  await Promise.all([process.stdout, process.stderr].map(drained));
  // A stream reports errors in a later turn than the write.
  await new Promise(setImmediate);
};

let outputError: NodeJS.ErrnoException | undefined;

/** Returns the error of standard output after {@link flushed}; undefined also if its reader has closed. */
export const outputFailure = (): NodeJS.ErrnoException | undefined => outputError;

const drained = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });

/** Error codes of a pipe or connection whose reader has closed. */
const readerGone = new Set(['EPIPE', 'EOF', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

/** Handles the errors of a stream. A closed reader (`| head`) is not an error; a full disk is. */
function quietly(stream: Writable): AbortSignal {
  const closed = new AbortController();
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (stream === process.stdout && !readerGone.has(error.code ?? '')) outputError ??= error;
    closed.abort();
  });
  return closed.signal;
}

/** Returns the terminal for a live view; undefined for a file, a build server, or a terminal without cursor movement. */
function terminal(): Terminal | undefined {
  const { stderr, env } = process;
  if (!stderr.isTTY || isSet(env['CI']) || env['TERM'] === 'dumb') return undefined;
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return {
    columns: () => stderr.columns || 80,
    rows: () => stderr.rows || 24,
    unicode: process.platform === 'win32' ? isSet(env['WT_SESSION']) : /utf-?8/i.test(locale),
    draw: toStderr,
  };
}

/** Whether a user can answer a question. A build server may have a terminal without a user. */
const canPrompt = (): boolean => process.stdin.isTTY && process.stderr.isTTY && !isSet(process.env['CI']);

/** Asks without a line editor, which would take Ctrl-C for itself; here Ctrl-C ends the process. */
async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  return await new Promise((resolve) => {
    process.stderr.write(question);
    const lines = createInterface({ input: process.stdin, terminal: false });
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => {
      // Reading from the terminal would keep the process alive.
      process.stdin.pause();
      resolve(undefined);
    });
  });
}

/** Whether output has colours, by no-color.org and FORCE_COLOR. */
function wantsColors(): boolean {
  const { stderr, env } = process;
  if (isSet(env['NO_COLOR'])) return false;
  if (isSet(env['FORCE_COLOR'])) return env['FORCE_COLOR'] !== '0';
  return stderr.isTTY && env['TERM'] !== 'dumb';
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '';

function interrupts(late?: 'late'): Interrupts {
  const drain = new AbortController();
  const leave = new AbortController();
  // Of a worker, each wait of each of its runs listens: many listeners are no leak.
  setMaxListeners(0, drain.signal, leave.signal);
  let first: InterruptName | undefined;
  const take = (name: InterruptName): void => {
    if (first === undefined) {
      first = name;
      drain.abort();
      return;
    }
    const exitCode = exitCodes[first];
    // After a third signal, or if a command does not end, the process exits; like a crash, this is safe.
    if (leave.signal.aborted) process.exit(exitCode);
    leave.abort();
    setTimeout(() => process.exit(exitCode), leaveGraceMs).unref();
  };
  const listeners = interruptNames.map((name) => [name, (): void => take(name)] as const);
  let isListening = false;
  const listen = (): void => {
    if (isListening) return;
    isListening = true;
    for (const [name, listener] of listeners) process.on(name, listener);
  };
  if (late === undefined) listen();
  return {
    listen,
    drain: drain.signal,
    leave: leave.signal,
    first: () => first,
    stop: () => {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}
