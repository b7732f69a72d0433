import type { Diagnostic } from '../../pipeline/diagnostics/diagnostic.ts';
import type { Correction } from './correction.ts';

/** What the process's exit code says. */
export const exitCodes = {
  ok: 0,
  /** Some jobs failed or are blocked. */
  failed: 1,
  /** Wrong use, or an invalid pipeline. */
  usage: 2,
  /** The service stopped the run: key or address wrong, the same rejection over and over. */
  stopped: 3,
  budget: 4,
  /** Jobs in doubt, nothing worse. */
  inDoubt: 5,
  /** A bug of promptpress. */
  internal: 70,
  /** The disk is full or not writable. */
  disk: 74,
  /** Another run holds the directory. */
  locked: 75,
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;

/** A failure that is expected: printed once as `promptpress: <message>` with its hint, and the exit code. */
export class CliError extends Error {
  readonly exitCode: number;
  /** What to do about it. */
  readonly hint: string | undefined;
  /** The command line without the mistake, which is printed below the hint. */
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

/** The command line, the environment or a file is not as it should be (exit 2). */
export const usageError = (message: string, hint?: string, correction?: Correction): CliError =>
  new CliError(exitCodes.usage, message, {
    ...(hint === undefined ? {} : { hint }),
    ...(correction === undefined ? {} : { correction }),
  });

/** Thrown after diagnostics have been printed: they are the message. */
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
