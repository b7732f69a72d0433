import type { Speed } from '../pipeline/pipeline.ts';
import type { Fault } from '../sandbox/faults/fault.ts';
import type { Environment } from './output/io.ts';

/** Log levels of pino, and `silent`. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

interface AxisText {
  readonly axis: string;
  readonly value: string;
}

/** The flags that select the run directory and the service. */
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

/** The flags that select a part of a plan. */
export interface SelectionFlags {
  readonly limit: number | undefined;
  readonly filter: readonly AxisText[];
  readonly shard: { readonly index: number; readonly of: number } | undefined;
  readonly only: readonly string[];
}

/** The flags that select settled jobs to retry. */
export interface RevivalFlags {
  readonly 'retry-failed': boolean;
  readonly code: string | undefined;
  readonly redo: readonly string[];
  readonly 'redo-jobs': string | undefined;
  readonly 'redo-again': boolean;
  readonly 'redo-cancel': boolean;
  readonly 'in-doubt': 'hold' | 'retry' | 'find' | undefined;
}

/** The axes that `--set` replaces, as they were written. */
export interface SetFlag {
  readonly set: readonly AxisText[];
}

/** The flag that names the PostgreSQL of a run on several machines. */
export interface EngineFlag {
  readonly engine: string | undefined;
}

/** The flags of `promptpress run`, by name; the help text of each says what it means. Durations are in ms. */
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
 * What a flag affects. `selection`: which part runs, and where; part of the run's fingerprint. `work`: which jobs are done, so that there
 * may be work though nothing has changed. `manner`: how work is done. `output`: what is reported and written.
 */
type Touched = 'selection' | 'work' | 'manner' | 'output';

/** For each flag, what it affects, and its default value. */
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

/** The default values of all flags. */
export const noFlags = Object.fromEntries(
  Object.entries(flagFacts).map(([name, [, absent]]) => [name, absent]),
) as unknown as RunFlags;

/** Whether these flags may give a run work that it would not have without them. */
export const asksForWork = (flags: Partial<RunFlags>): boolean =>
  Object.entries(flagFacts).some(([name, [touched, absent]]) => {
    const value = flags[name as keyof RunFlags];
    return touched === 'work' && value !== undefined && JSON.stringify(value) !== JSON.stringify(absent);
  });

/** Returns the engine of a run from the flag, else from the environment; undefined: none. A rehearsal always runs on this machine. */
export const engineOfRun = (
  { engine, sandbox }: Pick<RunFlags, 'engine' | 'sandbox'>,
  { env }: { readonly env: Environment },
): string | undefined => {
  if (engine !== undefined || sandbox) return engine;
  const variable = env['PROMPTPRESS_ENGINE'] ?? '';
  return variable === '' ? undefined : variable;
};
