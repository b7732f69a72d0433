import type { Cell } from '../../../src/plan/cell.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { Effect, RunInput } from '../../../src/run/scheduler/commit.ts';
import type { Committed, LateFact, Turn } from '../../../src/state/store.ts';
import { type FencedState, nameOf } from '../../rig/fenced/fenced-state.ts';
import type { Gateway } from '../../rig/gateway/gateway.ts';
import type { MadeTask } from '../../rig/gateway/made-tasks.ts';
import type { Timeline } from './timeline.ts';

/** What a broken promise costs: something was paid twice, or is not there at the end; or it may come to that another time. */
export type Cost = 'duplicated' | 'lost' | 'nothing';

/** A broken promise of several workers. */
export interface Broken {
  readonly cost: Cost;
  readonly what: string;
}

/** A worker that hears answers. */
interface Hearer {
  readonly name: string;
  /** When it could reach the state again last, or will. */
  readonly cutUntil: number;
}

interface AskedAgain {
  readonly key: string;
  readonly isKnown: boolean;
  readonly hearer: Hearer;
}

/** A text call is under way for so long at most, ms. */
export const textMs = 30_000;

/** A commit is executed, and its repetition, within this time after a cut, ms. */
export const mostCommitMs = 60_000;

/** Watches several workers: nothing is lost, nothing is paid twice, and only what cannot be known is in doubt. */
export class WorkersAuditor {
  readonly #state: FencedState;
  readonly #gateway: Pick<Gateway, 'tasks' | 'sharedIds'>;
  readonly #tasks: ReadonlyMap<string, MadeTask>;
  readonly #time: Timeline;
  readonly #killed = new Set<string>();
  /** Who intended each submission, by its key and moment. */
  readonly #intents = new Map<string, string>();
  /** Submissions that left. */
  readonly #sent = new Set<string>();
  /** Text calls that are under way, and whose they are. */
  readonly #asking = new Map<string, { readonly name: string; readonly at: number }>();
  /** Answers to text calls, by the keys of their jobs: of what, and who has heard them. */
  readonly #answers = new Map<string, readonly { readonly record: JobRecord; readonly worker: Hearer }[]>();
  /** Submissions that are known to have made a task, since when. */
  readonly #known = new Map<string, number>();
  /** Jobs in doubt that were submitted again, as the user allows. */
  readonly #byWord = new Set<string>();
  /** The submission of each task. */
  readonly #makers = new Map<string, string>();
  /** Jobs that were in doubt, where cables are cut. */
  readonly #doubted = new Set<string>();
  /** Submissions of which a task was found, and these tasks. */
  readonly #found = new Map<string, string>();
  /** Jobs in doubt may be submitted again. */
  mayRetry = false;
  /** It may stay unknown what became of a submission of one who was not killed. */
  hasUnclear = false;
  /** All that was broken, in order. */
  readonly broken: Broken[] = [];
  /** Answered text calls that were made again, and cables that were cut. */
  twice = 0;
  cuts = 0;
  submits = 0;
  inDoubt = 0;
  neverSent = 0;

  constructor(state: FencedState, gateway: Pick<Gateway, 'tasks' | 'sharedIds'>, time: Timeline) {
    this.#state = state;
    this.#gateway = gateway;
    this.#tasks = gateway.tasks;
    this.#time = time;
  }

  breaks(cost: Cost, what: string): void {
    this.broken.push({ cost, what });
  }

  killed(worker: string): void {
    this.#killed.add(worker);
    for (const [key, { name }] of this.#asking) if (name === worker) this.#asking.delete(key);
  }

  intends(worker: string, { records, heard = [] }: Turn): void {
    for (const record of records) {
      if (record.status === 'in-doubt' && this.cuts > 0) this.#doubted.add(record.key);
      if (record.status === 'submitting') this.#intents.set(nameOf(record), worker);
      const isAgain = record.status === 'submitting' || record.status === 'pending';
      const before = this.#state.rows.get(record.key)?.record;
      // A doubt that is retried at once need not be durable.
      const isDoubt =
        before?.status === 'in-doubt' ||
        (before?.status === 'submitting' && nameOf(before) !== nameOf(record));
      if (this.mayRetry && isAgain && isDoubt) this.#byWord.add(record.key);
    }
    for (const fact of heard)
      if (fact.taskId !== undefined && !this.#known.has(nameOf(fact)))
        this.#known.set(nameOf(fact), this.#time.now);
  }

  /** Tasks of jobs in doubt were found, and noted as heard late. */
  finds(facts: readonly LateFact[]): void {
    for (const fact of facts) this.#found.set(nameOf(fact), fact.taskId ?? '');
  }

  /** The service has what was sent. */
  sent({ job: { record }, send }: Effect): void {
    if (send.kind !== 'submit') return;
    for (const { id, key } of this.#tasks.values())
      if (key === record.key && !this.#makers.has(id)) this.#makers.set(id, nameOf(record));
  }

  /** The user has allowed to pay for a job again whose task nobody knows. */
  #isByWord(task: MadeTask): boolean {
    if (!this.#byWord.has(task.key) || [...this.#found.values()].includes(task.id)) return false;
    const knownAt = this.#known.get(this.#makers.get(task.id) ?? '');
    return knownAt === undefined || knownAt > this.#time.now - 60_000;
  }

  sends(worker: string, { job, send }: Effect): void {
    const { key } = job.record;
    const durable = this.#state.rows.get(key)?.record;
    if (send.kind === 'ask') {
      const by = this.#asking.get(key);
      if (durable?.status === 'done')
        this.breaks('duplicated', `${key} is asked by ${worker} although it is done`);
      // Who was stopped hears of it after any time-out.
      if (by !== undefined && this.#time.now - by.at < textMs)
        this.breaks('duplicated', `${key} is asked by ${worker} while ${by.name} asks it`);
      this.#asking.set(key, { name: worker, at: this.#time.now });
    }
    if (send.kind === 'modal' && this.#tasks.get(job.record.modal?.taskId ?? '')?.isAnswered)
      this.breaks('duplicated', `${key} is answered by ${worker} although that was done`);
    if (send.kind !== 'submit') return;
    this.submits += 1;
    // Somebody else may have put it in doubt since, and nothing more.
    const isIntended = durable?.status === 'submitting' || durable?.status === 'in-doubt';
    if (!isIntended || nameOf(durable) !== nameOf(job.record))
      this.breaks(
        'nothing',
        `${key} is submitted by ${worker} while its record says ${durable?.status ?? 'nothing'}`,
      );
    for (const task of this.#tasks.values())
      if (
        task.key === key &&
        (task.end === 'success' || task.endsAt > this.#time.now) &&
        !this.#isByWord(task)
      )
        this.breaks('duplicated', `${key} is submitted by ${worker} although ${task.id} was made for it`);
    this.#sent.add(nameOf(job.record));
  }

  hears(worker: Hearer, { job: { record }, send }: Effect, input: RunInput): void {
    if (send.kind !== 'ask') return;
    const { key } = record;
    if (this.#asking.get(key)?.name === worker.name) this.#asking.delete(key);
    if (input.type !== 'asked' || input.result.kind !== 'answered') return;
    if (input.result.asked.verdict.kind === 'done')
      this.#answers.set(key, [...(this.#answers.get(key) ?? []), { record, worker }]);
  }

  /** Text calls that this turn intends to make though they were answered, and whether the state knows of an answer. */
  asksAgain({ records }: Turn): readonly AskedAgain[] {
    return records.flatMap(({ key, status }) =>
      status !== 'submitting'
        ? []
        : (this.#answers.get(key) ?? []).map(({ record, worker }) => ({
            key,
            isKnown: this.#state.hasFact(record),
            hearer: worker,
          })),
    );
  }

  /** A turn was executed. */
  asked(worker: string, again: readonly AskedAgain[], { refused, lost }: Committed): void {
    for (const { key, isKnown, hearer } of again) {
      if (refused.has(key) || lost.size > 0) continue;
      this.twice += 1;
      const reachedAt = hearer.cutUntil + mostCommitMs;
      if (isKnown)
        this.breaks('duplicated', `${key} is asked again by ${worker} although its answer is known`);
      else if (!this.#killed.has(hearer.name) && this.#time.now > reachedAt)
        this.breaks(
          'duplicated',
          `${key} is asked again by ${worker} although ${hearer.name} has its answer`,
        );
    }
  }

  /** Nobody is done with the task of another, unless nobody could know, or it is said. */
  #checkOwn({ key, taskId = '' }: JobRecord): void {
    const owner = this.#tasks.get(taskId)?.key;
    if (owner === undefined || owner === key) return;
    const isHeard = this.#state.attempts(owner).some((attempt) => attempt.taskId === taskId);
    const isSaid = this.#state.rows.get(owner)?.record.shared?.jobs.includes(key) === true;
    if (!this.#gateway.sharedIds.has(taskId) || (isHeard && !isSaid))
      this.breaks('lost', `${key} is done with the task ${taskId}, which was made for ${owner}`);
  }

  /** All slices are done: so is everything but what cannot be known, and what comes from that. */
  checkEnd(plan: Plan, cells: readonly Cell[]): void {
    for (const { record } of this.#state.rows.values()) {
      const { key, status } = record;
      if (status === 'done') {
        this.#checkOwn(record);
        continue;
      }
      if (status !== 'in-doubt') {
        this.breaks('lost', `${key} is ${status} at the end`);
        continue;
      }
      if (record.error?.code === 'task.shared') {
        this.inDoubt += 1;
        continue;
      }
      const submission = nameOf(record);
      const by = this.#intents.get(submission) ?? 'nobody';
      if (this.#found.has(submission)) this.breaks('lost', `${key} is in doubt although its task was found`);
      // What is heard late of the answer to a dialog is not kept: to ask once more costs nothing.
      if (!this.#killed.has(by) && !this.hasUnclear && record.modal === undefined)
        this.breaks('nothing', `${key} is in doubt although ${by} was never killed`);
      this.inDoubt += 1;
      if (!this.#sent.has(submission)) this.neverSent += 1;
    }
    for (const { id, key, end } of this.#tasks.values()) {
      const record = this.#state.rows.get(key)?.record;
      const isLost = end === 'success' && record?.taskId !== id && record?.status !== 'in-doubt';
      if (isLost && !this.#byWord.has(key) && !this.hasUnclear)
        this.breaks(
          'lost',
          `task ${id} of ${key} is lost: ${record?.status ?? 'nothing'} of ${record?.taskId}`,
        );
    }
    for (const cell of cells) {
      const slots = plan.resolve(cell, (key) => this.#state.rows.get(key)?.record);
      // A doubt that ended late is gone on from by the next run, in cells that were closed below it.
      const isDoubtful = slots.some(
        ({ status, job }) => status === 'in-doubt' || this.#doubted.has(job?.key ?? ''),
      );
      for (const { step, branch, status } of slots)
        if (status !== 'done' && status !== 'in-doubt' && !(isDoubtful && status === 'pending'))
          this.breaks('lost', `${step} ${branch.join('/')} of cell ${cell.number} is ${status} at the end`);
    }
  }
}
