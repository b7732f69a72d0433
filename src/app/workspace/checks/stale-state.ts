import { join } from 'node:path';
import type { SubmissionCounts } from '../../../artifacts/store/counts.ts';
import type { EnginePool } from '../../../engine/postgres/pool.ts';
import { countedSubmissions } from '../../../engine/state/facts.ts';
import { engineReader } from '../../../engine/state/reader.ts';
import { isObject } from '../../../pipeline/values/value.ts';
import { isMoment, jsonFact } from '../../../report/facts/json.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { readRunFacts } from '../../../report/facts/run.ts';
import { readOwnText } from '../../../state/files/plain-path.ts';
import type { StateReader } from '../../../state/reader.ts';
import { StateError, type StateStore } from '../../../state/store.ts';
import { readSubmissionCount } from '../../../state/submission-count.ts';
import type { Environment } from '../../output/io.ts';
import { isTracked } from './tracked.ts';

/** Work that a state does not know because it is older than its directory. */
export interface MissingWork {
  /** Submissions and text calls that were sent and may have been paid; 0 if a run began and sent nothing, or none were counted. */
  readonly submits: number;
  /** Number of all submissions counted over the directory's life. */
  readonly of: number;
  /** True if the count of submissions is missing: the number of lost submissions is unknown. */
  readonly isUncounted?: true;
  /** Beginning of a run that the state does not know, Unix ms. */
  readonly runAt?: number;
  /** Beginning of the last run that the state knows, Unix ms: the missing work was sent since. */
  readonly since?: number;
  /** Address of a run on an engine, without a password, as messages show it. */
  readonly engine?: string;
}

/** A state that the user may continue although it lacks some work. */
export interface OlderState {
  readonly reader: StateReader;
  setFact(name: string, value: string): void | Promise<void>;
  /** Marks the missing work as accepted from here on. */
  acceptMissing(): void | Promise<void>;
}

/**
 * Name of the fact that stores missing work found by an earlier run, which replaced the facts that show the loss and could not continue.
 * Empty: none.
 */
const missingFact = 'state.missing';

/**
 * Finds work that a state lacks because it is older than the files beside it: the count of submissions, and `run.json`, which a run writes
 * after the state. Possible reasons: the state was removed, replaced by an older copy, copied during a run, or the log (`state.db-wal`) of
 * a killed run was left behind. Without this check, all later work would be paid again.
 *
 * A `run.json` that git tracks says nothing about this machine's work: it came with a clone or a commit.
 *
 * @param state undefined: there is none
 * @returns undefined if the state is up to date
 * @throws StateError `state.corrupt`; the error of the file system
 */
export async function missingWork(
  state: StateReader | undefined,
  directory: string,
  env: Environment,
): Promise<MissingWork | undefined> {
  const noted = state && (await jsonFact(state, missingFact, isMissingWork));
  if (noted !== undefined) return noted;
  const { known, counted, isUncounted } = (await state?.submissions()) ?? {
    isUncounted: undefined,
    known: 0,
    counted: readSubmissionCount(directory),
  };
  const recorded = startOf(join(directory, runFiles.record));
  const since = state && (await readRunFacts(state))?.startedAt;
  const isLater = recorded !== undefined && (since === undefined || recorded > since);
  const isUnknown = isLater && !(await isTracked(directory, runFiles.record, env));
  const submits = Math.max(0, counted - known);
  if (submits === 0 && !isUnknown && !isUncounted) return undefined;
  return {
    submits,
    of: counted,
    ...(isUncounted && { isUncounted }),
    ...(isUnknown ? { runAt: recorded } : {}),
    ...(since === undefined ? {} : { since }),
  };
}

const isMissingWork = (value: unknown): value is MissingWork =>
  isObject(value) &&
  typeof value['submits'] === 'number' &&
  typeof value['of'] === 'number' &&
  [value['runAt'], value['since']].every((at) => at === undefined || isMoment(at));

/** Refuses a state that lacks some work. @throws StateError `state.old` */
export async function checkAge(
  state: StateReader | undefined,
  directory: string,
  env: Environment,
): Promise<void> {
  const missing = await missingWork(state, directory, env);
  if (missing !== undefined) throw olderState(directory, missing);
}

/** Records missing work in the state, so that later runs know of it whatever they write. */
export const noteMissing = (state: StateStore, missing: MissingWork): void =>
  state.setFact(missingFact, JSON.stringify(missing));

/** Marks the missing work as accepted: the state counts as complete from here on. */
export async function acceptMissing(state: OlderState): Promise<void> {
  await state.acceptMissing();
  await state.setFact(missingFact, '');
}

/**
 * Finds work that the state of a run on an engine lacks because its database was restored from an older copy.
 *
 * @param counts beside its results: a worker counts there after it has counted in the engine
 * @throws EngineError, SaveError, StateError, the error of the file system
 */
export async function missingOnEngine(
  pool: EnginePool,
  run: number,
  shown: string,
  counts: SubmissionCounts,
): Promise<MissingWork | undefined> {
  const of = await counts.highest();
  const submits = of - (await countedSubmissions(pool, run));
  if (submits <= 0) return undefined;
  const since = (await readRunFacts(engineReader(pool, run)))?.startedAt;
  return { submits, of, engine: shown, ...(since === undefined ? {} : { since }) };
}

/** Makes the error for an older state, with the ways to continue. @param why one of these ways did not work */
export function olderState(
  directory: string,
  { submits, of, runAt, isUncounted, engine }: MissingWork,
  why?: string,
): StateError {
  const also = why === undefined ? '' : ` ${why}`;
  if (engine !== undefined)
    return new StateError(
      'state.old',
      `The state of ${engine} knows nothing of ${submits} of the ${of} submissions that its workers have counted beside its results: ` +
        `the database is older than the run, as one is that was restored.${also}`,
      { hint: `Restore the database to its last moment.\n${waysWithout(submits)}` },
    );
  const run =
    runAt === undefined ? [] : [`nothing of the run that began at ${new Date(runAt).toISOString()}`];
  const sent =
    submits === 0 ? [] : [`nothing of ${submits} of the ${of} submissions that were sent from here`];
  const isWhole = sent.length + run.length === 0;
  const gone = `The file submissions in ${directory} is missing, which counts what was sent: state.db may be older than its run.`;
  if (isUncounted && isWhole)
    return new StateError('state.old', `${gone}${also}`, { hint: waysOn('it', submits) });
  return new StateError(
    'state.old',
    `The state in ${directory} knows ${[...sent, ...run].join(', and ')}: state.db, or state.db-wal beside it, is missing, ` +
      `was replaced by an older one, or was copied while a run was on.${also}`,
    { hint: waysOn('both', submits) },
  );
}

const waysOn = (what: 'both' | 'it', submits: number): string =>
  `Put ${what} back as ${what === 'it' ? 'the last' : 'that'} run left ${what === 'it' ? 'it' : 'them'}.\n` +
  waysWithout(submits);

const waysWithout = (submits: number): string =>
  'Or search the missing tasks, where the gateway lists its tasks: --in-doubt find adopts them. Texts are asked for again.\n' +
  `Or continue without them: --accept-older-state. ${twice(submits)}`;

/** Describes what it may cost to continue an older state. */
export const twice = (submits: number): string =>
  submits === 0
    ? 'What that run made may then be paid for twice.'
    : `Up to ${submits} ${submits === 1 ? 'submission' : 'submissions'} may then be paid for twice.`;

/** Largest size of `run.json`, in bytes: many times that of a record with the most images. */
const maxBytes = 64 * 1024 * 1024;

/** Returns when the last run of the directory began, Unix ms; undefined if no record says so. */
function startOf(file: string): number | undefined {
  const text = readOwnText(file, maxBytes);
  if (text === undefined) return undefined;
  try {
    const { startedAt } = JSON.parse(text) as { readonly startedAt?: unknown };
    const start = typeof startedAt === 'string' ? Date.parse(startedAt) : Number.NaN;
    return Number.isNaN(start) ? undefined : start;
  } catch {
    // Another program's file, or an edited one: it proves nothing.
    return undefined;
  }
}
