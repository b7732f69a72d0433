import { readFileSync } from 'node:fs';
import { SaveError } from '../../artifacts/failure.ts';
import { ImageLibraryError } from '../../artifacts/formats/image-library.ts';
import type { Diagnostic } from '../../pipeline/diagnostics/diagnostic.ts';
import { printable } from '../../pipeline/diagnostics/terminal-text.ts';
import { TableError } from '../../pipeline/matrix/table/error.ts';
import { systemCode, systemWords } from '../../state/files/disk-errors.ts';
import { StateError } from '../../state/store.ts';
import { nodeVersion, reportAdvice, version } from '../version.ts';
import { CliError, exitCodes, ReportedError } from './cli-error.ts';
import { correctedLine } from './correction.ts';

/** A thrown failure as the user sees it: an exit code and a text, and as programs do (`--json`, the library): a code, a message, a hint. */
export interface ShownError {
  readonly exitCode: number;
  /** Nothing, when it has been reported already. */
  readonly text?: string;
  /** `pipeline.invalid`; what a state, a table, the disk or a bucket says, as `state.locked`; else the name of the exit code, as `usage`. */
  readonly code: string;
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /** Every mistake of a pipeline that is not valid; absent for all other failures. */
  readonly diagnostics?: readonly Diagnostic[];
}

/** Codes that no path comes with. */
const diskCodes = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE']);

/**
 * Turns whatever a command threw into the end of the process. All failures are printed here, in one style, once.
 *
 * @param words the command line behind `promptpress`, which a message may show without its mistake; absent: not known
 */
export function shownErrorOf(error: unknown, words?: readonly string[]): ShownError {
  const shown = (exitCode: number, message: string, hint?: string): ShownError => ({
    exitCode,
    text: failureText(message, hint),
    code: codeOf(error, exitCode),
    message,
    ...(hint === undefined ? {} : { hint }),
  });
  if (error instanceof ReportedError) {
    const { exitCode, diagnostics } = error;
    return { exitCode, code: 'pipeline.invalid', message: 'The pipeline is not valid.', diagnostics };
  }
  if (error instanceof CliError) {
    const { exitCode, message, hint, correction } = error;
    const line = words && correction && correctedLine(correction, words);
    const ways = [hint, line].filter((way) => way !== undefined);
    return shown(exitCode, message, ways.length === 0 ? undefined : ways.join('\n'));
  }
  if (error instanceof StateError) return shown(stateExitCode(error.code), error.message, error.hint);
  if (error instanceof ImageLibraryError) return shown(exitCodes.usage, error.message, error.hint);
  if (error instanceof SaveError) {
    const { code, message } = error.failure;
    const isSetUp = /^s3\.(?:no-bucket|denied|credentials|region|clock)$/.test(code);
    return shown(isSetUp ? exitCodes.usage : exitCodes.disk, message);
  }
  // A table that changed or went away while it was read.
  if (error instanceof TableError) return shown(exitCodes.usage, error.message);
  if (error instanceof Error && 'code' in error && error.code === 'proxy.bad-address')
    return shown(exitCodes.usage, error.message);
  if (isDiskError(error))
    return shown(
      exitCodes.disk,
      `The disk failed: ${systemWords(error)}`,
      'Make room or make it writable, then run the same command again: it continues.',
    );
  if (error instanceof RangeError && /out of memory|allocation failed/i.test(error.message))
    // Memory of V8's or of WebAssembly's: a limit of the system, and no bug.
    return shown(
      exitCodes.internal,
      `There is not enough memory for this process (${error.message}). ${addressSpace()}`,
      'Raise the limit (ulimit -v unlimited; of a container or a unit: its memory), then run the same command again: it continues.',
    );
  const stack = error instanceof Error ? stackOf(error) : String(error);
  return shown(
    exitCodes.internal,
    stack.includes('Internal error:') ? stack : `Internal error: ${stack}`,
    `${reportAdvice} promptpress ${version}, Node.js v${nodeVersion}.`,
  );
}

function codeOf(error: unknown, exitCode: number): string {
  const { code } =
    error instanceof SaveError ? error.failure : (Object(error) as { readonly code?: unknown });
  if (typeof code === 'string') return code;
  return Object.entries(exitCodes).find(([, number]) => number === exitCode)?.[0] ?? 'failed';
}

/** The limit by which reserving memory fails, in words. */
function addressSpace(): string {
  const unknown = 'Its limit of address space (ulimit -v) or of memory is too low.';
  try {
    const [, bytes] = /^Max address space\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return bytes === undefined
      ? unknown
      : `Its address space is limited to ${Math.floor(Number(bytes) / 1024)} kB (ulimit -v).`;
  } catch {
    // Another system than Linux.
    return unknown;
  }
}

/** Errors of undici's own work on one connection that reached nobody: so many are passed over, more are a bug. */
const mostPassedOver = 10;

/**
 * Whether an error that nobody caught was thrown by undici for one connection, from a timer say: the request on it runs out of time and is
 * tried again.
 *
 * @param before how many there were
 */
export const isOfConnection = (error: unknown, before: number): boolean => {
  const frames = (error instanceof Error ? (error.stack ?? '') : '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  const thrower = frames.find((line) => !line.includes('node:'));
  return before < mostPassedOver && thrower !== undefined && /[\\/]undici[\\/]lib[\\/]/.test(thrower);
};

/** The one form of a failure: `promptpress: <message>`, and what to do below it. */
export const failureText = (message: string, hint?: string): string =>
  `promptpress: ${lines(message)}\n${hint === undefined ? '' : `  ${lines(hint).replaceAll('\n', '\n  ')}\n`}`;

/** Names of files and arguments stand in messages, and may hold what a terminal would obey. */
const lines = (text: string): string => text.split('\n').map(printable).join('\n');

const usageCodes: ReadonlySet<string> = new Set(
  (
    'state.foreign state.version state.network state.schema ' +
    'directory.link directory.kind directory.system directory.stranger directory.tracked directory.foreign ' +
    'engine.address engine.tls engine.password engine.database engine.rights engine.pooler ' +
    'engine.version engine.standby engine.durability engine.encoding engine.empty engine.schema'
  ).split(' '),
);

function stateExitCode(code: string): number {
  if (code === 'state.locked') return exitCodes.locked;
  return usageCodes.has(code) ? exitCodes.usage : exitCodes.disk;
}

function isDiskError(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error)) return false;
  const { syscall, path } = error as NodeJS.ErrnoException;
  return syscall !== undefined && (path !== undefined || diskCodes.has(systemCode(error) ?? ''));
}

/** The stack, with those of its causes: the first failure is usually the last of them. */
function stackOf(error: Error): string {
  const stacks: string[] = [];
  for (let at: unknown = error; at instanceof Error && stacks.length < 5; at = at.cause) {
    stacks.push(at.stack ?? at.message);
  }
  return stacks.join('\ncaused by ');
}
