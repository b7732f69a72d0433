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

/**
 * What a flag affects. `selection`: which part runs, and where; part of the run's fingerprint. `work`: which jobs are done, so that there
 * may be work though nothing has changed. `manner`: how work is done. `output`: what is reported and written.
 */
type Touched = 'selection' | 'work' | 'manner' | 'output';

type Maybe<T> = T | undefined;

/** The flags of `promptpress run`: what each affects, and its default value. The help text of each says what it means; durations are in ms. */
const flagFacts = {
  /** Run directory, or `s3://BUCKET/PREFIX` for its results. */
  out: ['selection', undefined as Maybe<string>],
  /** With a bucket: the run directory. */
  'run-directory': ['selection', undefined as Maybe<string>],
  'trust-directory': ['manner', false],
  sandbox: ['selection', false],
  'base-url': ['selection', undefined as Maybe<string>],
  'new-service': ['work', false],
  'files-root': ['selection', undefined as Maybe<string>],
  limit: ['selection', undefined as Maybe<number>],
  filter: ['selection', [] as readonly AxisText[]],
  shard: ['selection', undefined as Maybe<{ readonly index: number; readonly of: number }>],
  only: ['selection', [] as readonly string[]],
  /** The axes that it replaces, as they were written. */
  set: ['selection', [] as readonly AxisText[]],
  /** PostgreSQL of a run on several machines. */
  engine: ['selection', undefined as Maybe<string>],
  'retry-failed': ['work', false],
  code: ['work', undefined as Maybe<string>],
  redo: ['work', [] as readonly string[]],
  'redo-jobs': ['work', undefined as Maybe<string>],
  'redo-again': ['work', false],
  'redo-cancel': ['work', false],
  /** Run directories whose finished jobs are taken over. */
  reuse: ['work', [] as readonly string[]],
  'reuse-cancel': ['work', false],
  'in-doubt': ['work', undefined as Maybe<'hold' | 'retry' | 'find'>],
  speed: ['manner', undefined as Maybe<Speed>],
  pace: ['manner', undefined as Maybe<number>],
  pixels: ['manner', undefined as Maybe<number>],
  fault: ['manner', [] as readonly Fault[]],
  lease: ['manner', undefined as Maybe<number>],
  slots: ['manner', undefined as Maybe<number>],
  queue: ['manner', undefined as Maybe<string>],
  'no-work': ['manner', false],
  detach: ['manner', false],
  'move-out': ['manner', false],
  relearn: ['work', false],
  'accept-older-state': ['work', false],
  'fail-fast': ['work', false],
  'max-failures': ['work', undefined as Maybe<number>],
  'max-submits': ['work', undefined as Maybe<number>],
  'max-duration': ['work', undefined as Maybe<number>],
  yes: ['manner', false],
  frozen: ['work', false],
  'dry-run': ['manner', false],
  'escape-formulas': ['output', false],
  json: ['output', false],
  'log-level': ['output', undefined as Maybe<LogLevel>],
  'metrics-file': ['output', undefined as Maybe<string>],
  notify: ['output', undefined as Maybe<string>],
  'no-progress': ['output', false],
  quiet: ['output', false],
} satisfies Readonly<Record<string, readonly [Touched, unknown]>>;

/** The values of all flags of `promptpress run`, by name. */
export type RunFlags = { readonly [Name in keyof typeof flagFacts]: (typeof flagFacts)[Name][1] };

/** The flags that select the run directory and the service. */
export type PlaceFlags = Pick<
  RunFlags,
  'out' | 'run-directory' | 'trust-directory' | 'sandbox' | 'base-url' | 'new-service' | 'files-root'
>;

/** The flags that select a part of a plan. */
export type SelectionFlags = Pick<RunFlags, 'limit' | 'filter' | 'shard' | 'only'>;

/** The flags that select settled jobs to retry. */
export type RevivalFlags = Pick<
  RunFlags,
  'retry-failed' | 'code' | 'redo' | 'redo-jobs' | 'redo-again' | 'redo-cancel' | 'in-doubt'
>;

/** The flags that take over finished jobs of other run directories. */
export type ReuseFlags = Pick<RunFlags, 'reuse' | 'reuse-cancel' | 'trust-directory'>;

export type SetFlag = Pick<RunFlags, 'set'>;
export type EngineFlag = Pick<RunFlags, 'engine'>;

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
