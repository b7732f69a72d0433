import { isTextKind } from '../../pipeline/kinds.ts';
import type { JobRecord } from '../../plan/job.ts';
import type { StateReader } from '../../state/reader.ts';

/**
 * True for a job whose submission was sent and whose response no process awaits: a job in doubt, and one that a killed run
 * left behind, which the next run would call in doubt. A text call is repeated and never in doubt.
 *
 * @param running a run is on
 */
export const isInDoubt = ({ status, kind }: Pick<JobRecord, 'status' | 'kind'>, running: boolean): boolean =>
  status === 'in-doubt' || (status === 'submitting' && !running && !isTextKind(kind));

/** Those of a directory, in key order, and then what a killed run left while it was being submitted. */
export async function* jobsInDoubt(
  state: Pick<StateReader, 'withStatus' | 'unfinished'>,
  running: boolean,
): AsyncGenerator<JobRecord> {
  yield* state.withStatus('in-doubt');
  yield* leftInDoubt(state, running);
}

/** What a killed run left while it was being submitted; nothing while a run is on. */
async function* leftInDoubt(
  state: Pick<StateReader, 'unfinished'>,
  running: boolean,
): AsyncGenerator<JobRecord> {
  if (running) return;
  for await (const job of state.unfinished()) if (isInDoubt(job, running)) yield job;
}

/** How many jobs a killed run left while they were being submitted: the state counts them as such, and they are in doubt. */
export async function countLeft(state: Pick<StateReader, 'unfinished'>, running: boolean): Promise<number> {
  let left = 0;
  for await (const _ of leftInDoubt(state, running)) left += 1;
  return left;
}

/** The first of what is found one after another, at most `most`. */
export async function first<T>(most: number, items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length === most) break;
  }
  return found;
}

/** What `--in-doubt find` does, beside its command. */
export const finding =
  'searches the tasks of all jobs in doubt by their tag, where the gateway lists its tasks: pays nothing';

/**
 * The ways out of doubt: a command each, first the one that can pay nothing twice.
 *
 * @param resolve the beginning of a command that names the job
 * @param find the last run with `--in-doubt find`; undefined where its submissions carried no tag
 */
export const waysOut = (
  resolve: string,
  find: string | undefined,
): readonly { readonly command: string; readonly does: string }[] => [
  ...(find === undefined ? [] : [{ command: find, does: finding }]),
  {
    command: `${resolve} --task TASK_ID`,
    does: 'the service has its task (look for the prompt in its list of tasks): takes that task on',
  },
  { command: `${resolve} --retry`, does: 'the next run submits it again: it may be paid twice' },
  { command: `${resolve} --drop`, does: 'gives it up: it counts as failed' },
];
