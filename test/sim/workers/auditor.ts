import type { Cell } from '../../../src/plan/cell.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { type Effect } from '../../../src/run/scheduler/commit.ts';
import type { LateFact, Turn } from '../../../src/state/store.ts';
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
  readonly #asking = new Map<string, string>();
  /** Submissions that are known to have made a task, since when. */
  readonly #known = new Map<string, number>();
  /** Jobs in doubt that were submitted again, as the user allows. */
  readonly #byWord = new Set<string>();
  /** The submission of each task. */
  readonly #makers = new Map<string, string>();
  /** Submissions of which a task was found, and these tasks. */
  readonly #found = new Map<string, string>();
  /** Jobs in doubt may be submitted again. */
  mayRetry = false;
  /** It may stay unknown what became of a submission of one who was not killed. */
  hasUnclear = false;
  /** All that was broken, in order. */
  readonly broken: Broken[] = [];
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
    for (const [key, name] of this.#asking) if (name === worker) this.#asking.delete(key);
  }

  intends(worker: string, { records, heard = [] }: Turn): void {
    for (const record of records) {
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
      if (by !== undefined) this.breaks('duplicated', `${key} is asked by ${worker} while ${by} asks it`);
      this.#asking.set(key, worker);
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

  hears(worker: string, { job, send }: Effect): void {
    if (send.kind === 'ask' && this.#asking.get(job.record.key) === worker)
      this.#asking.delete(job.record.key);
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
      const isDoubtful = slots.some(({ status }) => status === 'in-doubt');
      for (const { step, branch, status } of slots)
        if (status !== 'done' && status !== 'in-doubt' && !(isDoubtful && status === 'pending'))
          this.breaks('lost', `${step} ${branch.join('/')} of cell ${cell.number} is ${status} at the end`);
    }
  }
}
