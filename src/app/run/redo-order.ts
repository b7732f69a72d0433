import { count, counted } from '../../report/text/amounts.ts';
import type { StateReader } from '../../state/reader.ts';
import {
  isOpenOrder,
  nameOfRequest,
  type RedoAdded,
  RedoAsked,
  type RedoCounts,
  type RedoRequest,
} from '../../state/redo-order.ts';
import { usageError } from '../errors/cli-error.ts';
import { without } from '../errors/correction.ts';
import type { RevivalFlags } from '../flags.ts';
import { findJob, jobsInFile } from '../workspace/find-job.ts';

/** The jobs to remake, as the flags name them. */
export interface RedoWish {
  readonly requests: readonly RedoRequest[];
  /** True: the rest of earlier orders is dropped. */
  readonly cancels: boolean;
}

/** The redo orders of a state: in a run directory, or on an engine. */
export interface RedoTaker {
  add(request: RedoRequest): RedoAdded | Promise<RedoAdded>;
  cancel(): number | Promise<number>;
  close(): number | Promise<number>;
}

/** The outcome of redo orders in a run. */
export interface RedoOutcome extends RedoCounts {
  /** Number of jobs in the orders that the run completed and closed. */
  readonly closed: number;
}

/** Reads the redo flags. @throws CliError (exit 2) for contradicting flags, and for a job that the state does not know */
export async function redoWishOf(
  flags: RevivalFlags,
  state: StateReader | undefined,
  cwd: string,
): Promise<RedoWish> {
  const { redo, 'redo-jobs': redoJobs, 'redo-again': again, 'redo-cancel': cancels } = flags;
  if (again && redoJobs === undefined)
    throw usageError(
      '--redo-again goes with --redo-jobs; alone it names no job.',
      'Name the file of jobs: --redo-jobs FILE --redo-again. --redo JOB always makes its job anew.',
      without('--redo-again'),
    );
  if (cancels && (redo.length > 0 || redoJobs !== undefined))
    throw usageError(
      `--redo-cancel drops the jobs that are left to be made anew, and ${redoJobs === undefined ? '--redo' : '--redo-jobs'} asks for such jobs.`,
      'Give one of them; a run with --redo-cancel can be followed by one with the other.',
      without('--redo-cancel'),
    );
  if (state === undefined) {
    const given = redo.length > 0 ? '--redo' : redoJobs === undefined ? undefined : '--redo-jobs';
    if (given !== undefined) throw usageError(`${given}: nothing has run here yet.`);
    return { requests: [], cancels };
  }
  const named: string[] = [];
  for (const job of redo) named.push(await findJob(job, state));
  const listed = redoJobs === undefined ? [] : await jobsInFile(redoJobs, '--redo-jobs', state, cwd);
  return {
    requests: [
      ...(named.length === 0 ? [] : [{ keys: named, again: true }]),
      ...(listed.length === 0 ? [] : [{ keys: listed, again }]),
    ],
    cancels,
  };
}

/** Returns all jobs that the flags name. */
export const askedFor = ({ requests }: RedoWish): readonly string[] => [
  ...new Set(requests.flatMap(({ keys }) => keys)),
];

/** Returns a name for the flags' orders; undefined: there are none. */
export const nameOfWish = ({ requests, cancels }: RedoWish): string | undefined =>
  cancels ? 'cancel' : requests.length === 0 ? undefined : requests.map(nameOfRequest).join(' ');

/** Returns the jobs that a run would remake: open orders and those of the flags. Writes nothing. */
export async function plannedRedos(
  wish: RedoWish,
  { redos }: StateReader,
): Promise<{
  readonly keys: ReadonlySet<string>;
  readonly redo?: RedoCounts;
  /** Number of jobs that were remade already, and stay. */
  readonly stays: number;
}> {
  const keys = new Set<string>();
  if (!wish.cancels) for await (const key of redos.waiting()) keys.add(key);
  let stays = 0;
  for (const request of wish.requests) {
    const asked = new RedoAsked(request);
    for (const group of asked.groups())
      for (const [key, { state }] of group.take(await redos.entries(group.keys)))
        if (state === 'waiting') keys.add(key);
    stays += asked.sums.made;
  }
  const { begun, made } = wish.cancels ? { begun: 0, made: 0 } : await redos.counts();
  const counts = { waiting: keys.size, begun, made };
  return { keys, stays, ...(isOpenOrder(counts) && { redo: counts }) };
}

/**
 * Records the orders of the flags, before anything is submitted.
 *
 * @returns messages about the orders, for the user
 */
export async function takeOrders(
  wish: RedoWish,
  orders: RedoTaker,
  reader: StateReader,
): Promise<readonly string[]> {
  const told: string[] = [];
  if (wish.cancels) {
    const dropped = await orders.cancel();
    told.push(
      dropped === 0
        ? 'Redo: there is no order to drop.'
        : `Redo: the order is dropped; ${counted(dropped, 'job')} of it ${dropped === 1 ? 'is' : 'are'} not made anew.`,
    );
  }
  let stays = 0;
  for (const request of wish.requests) stays += (await orders.add(request)).made;
  if (stays > 0) told.push(`Redo: ${staysWords(stays, askedFor(wish).length)}.`);
  const { waiting, begun } = await reader.redos.counts();
  if (waiting + begun > 0)
    told.push(
      `Redo: ${counted(waiting + begun, 'job')} to be made anew${begun === 0 ? '' : `, ${count(begun)} of them begun`}. Every run continues with that; --redo-cancel drops what is left.`,
    );
  return told;
}

/** Describes how many jobs of a file an earlier order has remade already. */
export const staysWords = (stays: number, asked: number): string =>
  `${stays === asked ? (stays === 1 ? 'the job' : `all ${count(stays)} jobs`) : `${count(stays)} of ${counted(asked, 'job')}`} ${stays === 1 ? 'was' : 'were'} made anew already and ${stays === 1 ? 'stays' : 'stay'} so; --redo-again makes ${stays === 1 ? 'it' : 'them'} once more`;

/**
 * Closes completed orders, and describes what is still open.
 *
 * @param isDone a run has left nothing of its whole plan: no place asks for the jobs that are left in orders, which are dropped
 * @returns `redo` absent: there was no order; `notice` for the user: jobs were dropped
 */
export async function closeOrders(
  orders: Pick<RedoTaker, 'cancel' | 'close'>,
  { redos }: StateReader,
  isDone: boolean,
): Promise<{ readonly redo?: RedoOutcome; readonly notice?: string }> {
  const { waiting, begun, made } = await redos.counts();
  const dropped = isDone && waiting + begun > 0 ? await orders.cancel() : 0;
  const closed = dropped > 0 ? made : await orders.close();
  const counts = await redos.counts();
  const are = dropped === 1 ? 'is' : 'are';
  return {
    ...((closed > 0 || isOpenOrder(counts)) && { redo: { ...counts, closed } }),
    ...(dropped > 0 && {
      notice: `Redo: ${counted(dropped, 'job')} ${are} not part of the plan any more, and ${are} not made anew; the order is closed.`,
    }),
  };
}
