import { readFileSync } from 'node:fs';
import { SaveError } from '../../artifacts/failure.ts';
import { ImageLibraryError } from '../../artifacts/formats/image-library.ts';
import type { Diagnostic } from '../../pipeline/diagnostics/diagnostic.ts';
import { refusalCodes } from '../../pipeline/diagnostics/run-codes.ts';
import { printable } from '../../pipeline/diagnostics/terminal-text.ts';
import { TableError } from '../../pipeline/matrix/table/error.ts';
import { systemCode, systemWords } from '../../state/files/disk-errors.ts';
import { StateError } from '../../state/store.ts';
import { nodeVersion, reportAdvice, version } from '../version.ts';
import { CliError, exitCodes, ReportedError } from './cli-error.ts';
import { correctedLine } from './correction.ts';

/** A failure as shown to the user (exit code and text) and to programs (`--json`, the library: code, message and hint). */
export interface ShownError {
  readonly exitCode: number;
  /** The text to print; absent if the failure has been printed already. */
  readonly text?: string;
  /** `pipeline.invalid`; the code of a state, table, disk or bucket error (`state.locked`); else the name of the exit code (`usage`). */
  readonly code: string;
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /** All mistakes of an invalid pipeline; absent for other failures. */
  readonly diagnostics?: readonly Diagnostic[];
}

/** Codes of disk errors that may come without a path. */
const diskCodes = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE']);

/**
 * Turns any error thrown by a command into an exit code and a text. All failures are printed here, in one style, once.
 *
 * @param words the command line after `promptpress`, for corrections; absent: not known
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
  if (error instanceof StateError) return shown(refusalCodes[error.code].exit, error.message, error.hint);
  if (error instanceof ImageLibraryError) return shown(exitCodes.usage, error.message, error.hint);
  if (error instanceof SaveError) {
    const { code, message } = error.failure;
    const isSetUp = /^s3\.(?:no-bucket|denied|credentials|region|clock)$/.test(code);
    return shown(isSetUp ? exitCodes.usage : exitCodes.disk, message);
  }
  // A table that changed or was removed while it was read.
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
    // Memory of V8 or of WebAssembly: a limit of the system, not a bug.
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

/** Describes the limit that makes memory allocation fail. */
function addressSpace(): string {
  const unknown = 'Its limit of address space (ulimit -v) or of memory is too low.';
  try {
    const [, bytes] = /^Max address space\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return bytes === undefined
      ? unknown
      : `Its address space is limited to ${Math.floor(Number(bytes) / 1024)} kB (ulimit -v).`;
  } catch {
    // Systems other than Linux have no such file.
    return unknown;
  }
}

/** Largest number of uncaught undici errors about a single connection that are ignored; more are treated as a bug. */
const maxPassedOver = 10;

/**
 * Whether undici threw an uncaught error for a single connection, for example from a timer. The request on that connection times out and is
 * retried.
 *
 * @param before number of such errors so far
 */
export const isOfConnection = (error: unknown, before: number): boolean => {
  const frames = (error instanceof Error ? (error.stack ?? '') : '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  const thrower = frames.find((line) => !line.includes('node:'));
  return before < maxPassedOver && thrower !== undefined && /[\\/]undici[\\/]lib[\\/]/.test(thrower);
};

/** Formats a failure as `promptpress: <message>` with its hint on the lines below. */
export const failureText = (message: string, hint?: string): string =>
  `promptpress: ${lines(message)}\n${hint === undefined ? '' : `  ${lines(hint).replaceAll('\n', '\n  ')}\n`}`;

/** Escapes control characters: messages contain names of files and arguments from outside. */
const lines = (text: string): string => text.split('\n').map(printable).join('\n');

function isDiskError(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error)) return false;
  const { syscall, path } = error as NodeJS.ErrnoException;
  return syscall !== undefined && (path !== undefined || diskCodes.has(systemCode(error) ?? ''));
}

/** Returns the stack of an error and of its causes: the first failure is usually the last of them. */
function stackOf(error: Error): string {
  const stacks: string[] = [];
  for (let at: unknown = error; at instanceof Error && stacks.length < 5; at = at.cause) {
    stacks.push(at.stack ?? at.message);
  }
  return stacks.join('\ncaused by ');
}
