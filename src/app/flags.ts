import type { Speed } from '../pipeline/pipeline.ts';
import type { Fault } from '../sandbox/faults/fault.ts';
import type { Environment } from './output/io.ts';

/** pino's levels, and silence. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A value of an axis of the matrix, as a text. */
interface AxisText {
  readonly axis: string;
  readonly value: string;
}

/** Which directory and which service is meant. */
export interface PlaceFlags {
  /** Run directory, or `s3://BUCKET/PREFIX` for its results. */
  readonly out: string | undefined;
  /** With a bucket: the run directory. */
  readonly 'run-directory': string | undefined;
  readonly 'trust-directory': boolean;
  readonly sandbox: boolean;
  readonly 'base-url': string | undefined;
  readonly 'new-service': boolean;
  readonly 'files-root': string | undefined;
}

/** Which part of a plan is meant. */
export interface SelectionFlags {
  readonly limit: number | undefined;
  readonly filter: readonly AxisText[];
  readonly shard: { readonly index: number; readonly of: number } | undefined;
  readonly only: readonly string[];
}

/** Which settled jobs are tried again. */
export interface RevivalFlags {
  readonly 'retry-failed': boolean;
  readonly code: string | undefined;
  readonly redo: readonly string[];
  readonly 'redo-jobs': string | undefined;
  readonly 'redo-again': boolean;
  readonly 'redo-cancel': boolean;
  readonly 'in-doubt': 'hold' | 'retry' | 'find' | undefined;
}

/** Axes that are replaced, as they were written. */
export interface SetFlag {
  readonly set: readonly AxisText[];
}

/** The PostgreSQL of several machines. */
export interface EngineFlag {
  readonly engine: string | undefined;
}

/** What is asked of a run. The flags of `promptpress run` by their names, which messages repeat; their help says what each means. Durations are ms. */
export interface RunFlags extends PlaceFlags, SelectionFlags, RevivalFlags, SetFlag, EngineFlag {
  readonly speed: Speed | undefined;
  readonly pace: number | undefined;
  readonly fault: readonly Fault[];
  readonly lease: number | undefined;
  readonly slots: number | undefined;
  readonly queue: string | undefined;
  readonly 'no-work': boolean;
  readonly detach: boolean;
  readonly 'move-out': boolean;
  readonly relearn: boolean;
  readonly 'accept-older-state': boolean;
  readonly 'fail-fast': boolean;
  readonly 'max-failures': number | undefined;
  readonly 'max-submits': number | undefined;
  readonly 'max-duration': number | undefined;
  readonly yes: boolean;
  readonly frozen: boolean;
  readonly 'dry-run': boolean;
  readonly 'escape-formulas': boolean;
  readonly json: boolean;
  readonly 'log-level': LogLevel | undefined;
  readonly 'metrics-file': string | undefined;
  readonly notify: string | undefined;
  readonly 'no-progress': boolean;
  readonly quiet: boolean;
}

/**
 * The engine that a run is for: of the flag, else of the environment; undefined: none. A rehearsal is for this machine, whatever the
 * environment has.
 */
export const engineOfRun = (
  { engine, sandbox }: Pick<RunFlags, 'engine' | 'sandbox'>,
  { env }: { readonly env: Environment },
): string | undefined => {
  if (engine !== undefined || sandbox) return engine;
  const variable = env['PROMPTPRESS_ENGINE'] ?? '';
  return variable === '' ? undefined : variable;
};
