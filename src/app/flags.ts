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
 * What a flag touches. `selection`: what is run, and where: it is part of a run's fingerprint. `work`: what is done of that, so that there may
 * be something to do though nothing has changed. `manner`: how work is done, which matters only where there is some. `output`: what is told and written.
 */
type Touched = 'selection' | 'work' | 'manner' | 'output';

/** Each flag: what it touches, and its value where it is not given. */
const flagFacts: { readonly [Name in keyof RunFlags]: readonly [Touched, RunFlags[Name]] } = {
  out: ['selection', undefined],
  'run-directory': ['selection', undefined],
  'trust-directory': ['manner', false],
  sandbox: ['selection', false],
  'base-url': ['selection', undefined],
  'new-service': ['work', false],
  'files-root': ['selection', undefined],
  limit: ['selection', undefined],
  filter: ['selection', []],
  shard: ['selection', undefined],
  only: ['selection', []],
  set: ['selection', []],
  engine: ['selection', undefined],
  'retry-failed': ['work', false],
  code: ['work', undefined],
  redo: ['work', []],
  'redo-jobs': ['work', undefined],
  'redo-again': ['work', false],
  'redo-cancel': ['work', false],
  'in-doubt': ['work', undefined],
  speed: ['manner', undefined],
  pace: ['manner', undefined],
  fault: ['manner', []],
  lease: ['manner', undefined],
  slots: ['manner', undefined],
  queue: ['manner', undefined],
  'no-work': ['manner', false],
  detach: ['manner', false],
  'move-out': ['manner', false],
  relearn: ['work', false],
  'accept-older-state': ['work', false],
  'fail-fast': ['work', false],
  'max-failures': ['work', undefined],
  'max-submits': ['work', undefined],
  'max-duration': ['work', undefined],
  yes: ['manner', false],
  frozen: ['work', false],
  'dry-run': ['manner', false],
  'escape-formulas': ['output', false],
  json: ['output', false],
  'log-level': ['output', undefined],
  'metrics-file': ['output', undefined],
  notify: ['output', undefined],
  'no-progress': ['output', false],
  quiet: ['output', false],
};

/** The flags of a command line that gives none. */
export const noFlags = Object.fromEntries(
  Object.entries(flagFacts).map(([name, [, absent]]) => [name, absent]),
) as unknown as RunFlags;

/** Whether a run with these flags may have something to do where the same run without them has nothing to do. */
export const asksForWork = (flags: Partial<RunFlags>): boolean =>
  Object.entries(flagFacts).some(([name, [touched, absent]]) => {
    const value = flags[name as keyof RunFlags];
    return touched === 'work' && value !== undefined && JSON.stringify(value) !== JSON.stringify(absent);
  });

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
