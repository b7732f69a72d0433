import type { Diagnostic } from '../../pipeline/diagnostics/diagnostic.ts';
import type { Correction } from './correction.ts';

/** Exit codes of the process. */
export const exitCodes = {
  ok: 0,
  /** Some jobs failed or are blocked. */
  failed: 1,
  /** Wrong usage, or an invalid pipeline. */
  usage: 2,
  /** The service stopped the run: a wrong key or address, or the same rejection again and again. */
  stopped: 3,
  budget: 4,
  /** Some jobs are in doubt, and nothing worse happened. */
  inDoubt: 5,
  /** A bug in promptpress. */
  internal: 70,
  /** The disk is full or not writable. */
  disk: 74,
  /** Another run holds the lock of the directory. */
  locked: 75,
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;

/** An expected failure: printed once as `promptpress: <message>` with its hint, and the process ends with its exit code. */
export class CliError extends Error {
  readonly exitCode: number;
  /** What to do about it. */
  readonly hint: string | undefined;
  /** The corrected command line, printed below the hint. */
  readonly correction: Correction | undefined;

  constructor(
    exitCode: number,
    message: string,
    options: ErrorOptions & { hint?: string; correction?: Correction } = {},
  ) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.hint = options.hint;
    this.correction = options.correction;
  }
}

/** Makes an error for a wrong command line, environment or file (exit 2). */
export const usageError = (message: string, hint?: string, correction?: Correction): CliError =>
  new CliError(exitCodes.usage, message, {
    ...(hint === undefined ? {} : { hint }),
    ...(correction === undefined ? {} : { correction }),
  });

/** An error for a failure whose diagnostics have been printed already. */
export class ReportedError extends Error {
  readonly exitCode: number;
  readonly diagnostics: readonly Diagnostic[];

  constructor(exitCode: number, diagnostics: readonly Diagnostic[]) {
    super('The failure has been reported.');
    this.name = 'Reported';
    this.exitCode = exitCode;
    this.diagnostics = diagnostics;
  }
}
