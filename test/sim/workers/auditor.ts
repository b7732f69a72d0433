import type { Cell } from '../../../src/plan/cell.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { RunEvent } from '../../../src/run/events.ts';
import type { Effect, RunInput } from '../../../src/run/scheduler/commit.ts';
import type { RedoRequest } from '../../../src/state/redo-order.ts';
import type { Committed, LateFact, Turn } from '../../../src/state/store.ts';
import { type FencedState, nameOf } from '../../rig/fenced/fenced-state.ts';
import type { Gateway } from '../../rig/gateway/gateway.ts';
import type { MadeTask } from '../../rig/gateway/made-tasks.ts';
import { Orders } from '../orders.ts';
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
export const maxCommitMs = 60_000;

/** How often what a job gathers was made anew before. */
const fromOf = ({ from = {} }: JobRecord): string => JSON.stringify(from);

/** Watches several workers: nothing is lost, nothing is paid twice, and only what cannot be known is in doubt. */
export class WorkersAuditor {
  readonly #state: FencedState;
  readonly #gateway: Pick<Gateway, 'tasks' | 'sharedIds'>;
  readonly #tasks: ReadonlyMap<string, MadeTask>;
  readonly #time: Timeline;
  readonly #killed = new Set<string>();
  /** Who intended each submission, by its key and moment, and how many older copies had come back until then. */
  readonly #intents = new Map<
    string,
    { readonly worker: string; readonly restores: number; readonly from: string }
  >();
  /** Submissions that left. */
  readonly #sent = new Set<string>();
  /** Text calls that are under way, and whose they are. */
  readonly #asking = new Map<
    string,
    { readonly name: string; readonly at: number; readonly record: JobRecord }
  >();
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
  readonly #orders = new Orders();
  /** The tasks that stood when their job was ordered anew, by its key. */
  readonly #former = new Map<string, Set<string>>();
  /** Jobs in doubt may be submitted again. */
  mayRetry = false;
  /** An older copy of the state was gone on with. */
  hasRestored = false;
  /** It may stay unknown what became of a submission of one who was not killed. */
  hasUnclear = false;
  /** All that was broken, in order. */
  readonly broken: Broken[] = [];
  /** Answered text calls that were made again, and cables that were cut. */
  twice = 0;
  cuts = 0;
  /** Of these, those that outlast a lease. */
  longCuts = 0;
  /** Jobs of orders. */
  ordered = 0;
  /** Submissions of workers that ended before they had counted them. */
  uncounted = 0;
  /** Older copies of the state that came back, and how many of them were refused. */
  restores = 0;
  refused = 0;
  /** Tasks that the state has forgotten, and that may be paid for again. */
  readonly #forgotten = new Set<string>();
  /** Tasks that it had never known when an older copy came back. */
  readonly #neverKnown = new Set<string>();
  /** Tasks that were found and that the state does not know: they are taken on in the place of a submission. */
  readonly #listed = new Map<string, string[]>();
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

  /** Jobs are to be made anew from now on, or what is left of them is dropped. */
  orders(request: RedoRequest | 'cancel'): void {
    if (request === 'cancel') return this.#orders.cancel();
    const before = new Set(this.#orders.open);
    const { open } = this.#orders.begin(request, (key) => this.#state.rows.get(key)?.record);
    for (const key of open) {
      if (before.has(key)) continue;
      this.ordered += 1;
      this.#answers.delete(key);
      const own = [...this.#tasks.values()].filter((task) => task.key === key);
      this.#former.set(key, new Set(own.map(({ id }) => id)));
    }
  }

  /** A run is over in good order: its orders of which nothing is left are closed. */
  closesOrders(): void {
    this.#orders.end({ kind: 'complete' });
  }

  /** A turn was executed. */
  committed({ records, slices }: Turn, { refused, lost }: Committed): void {
    this.#orders.committed(
      records.filter(({ key }) => !refused.has(key) && !lost.has(slices?.of.get(key) ?? -1)),
    );
  }

  /** What a worker said, also of what it could not write. */
  says(events: readonly RunEvent[]): void {
    this.#orders.onEvents(events, (key) => this.#state.redos.of(key) === undefined);
  }

  /** The first of the tasks that were found for a job and are not known yet. */
  takenOn(key: string): string | undefined {
    return this.#listed.get(key)?.find((id) => !this.#isKnown(key, id));
  }

  #isKnown(key: string, id: string): boolean {
    return (
      this.#state.rows.get(key)?.record.taskId === id ||
      this.#state.attempts(key).some(({ taskId }) => taskId === id)
    );
  }

  /** Tasks that the state does not know. */
  #unknown(): readonly MadeTask[] {
    return [...this.#tasks.values()].filter(
      ({ id, key }) => !this.#isKnown(key, id) && !this.#forgotten.has(id),
    );
  }

  /** An older copy is about to come back: what the state does not know by now, it does not forget. */
  comesBack(): void {
    this.restores += 1;
    for (const { id, key } of this.#unknown()) if (!this.#isIntended(key)) this.#neverKnown.add(id);
  }

  /** The job is being submitted, or in doubt: one of its tasks is that of a submission that the state knows. */
  #isIntended(key: string): boolean {
    return ['submitting', 'in-doubt'].includes(this.#state.rows.get(key)?.record.status ?? '');
  }

  /**
   * Goes on with an older copy of the state, which knows nothing of so many submissions.
   *
   * @param missing as the user was told; 0: nobody was told anything
   * @param finds the tasks are searched, and taken on
   * @param uncounted submissions that the workers at work have yet to count
   */
  goesOnWith(missing: number, finds: boolean, uncounted = 0): void {
    const unknown = this.#unknown();
    const intended = new Set(unknown.flatMap(({ key }) => (this.#isIntended(key) ? [key] : []))).size;
    // What was found before is taken on, and counted then.
    const isListed = ({ id, key }: MadeTask): boolean =>
      this.#neverKnown.has(id) || this.#listed.get(key)?.includes(id) === true;
    const forgotten = unknown.filter((task) => !isListed(task)).length - intended;
    if (forgotten > missing + this.uncounted + uncounted)
      this.breaks(
        'lost',
        `${forgotten} submissions are forgotten where ${missing} are told and ${this.uncounted} were never counted`,
      );
    this.hasRestored = true;
    // What was heard is forgotten too: texts are asked for again.
    for (const key of this.#answers.keys())
      if (this.#state.rows.get(key)?.record.status !== 'done') this.#answers.delete(key);
    for (const [key, { record }] of this.#asking) if (!this.#knowsOf(record)) this.#asking.delete(key);
    if (!finds) for (const { id } of unknown) this.#forgotten.add(id);
    else for (const { id, key } of unknown) this.#listed.set(key, [...(this.#listed.get(key) ?? []), id]);
  }

  /** A task that another submission of its job would pay for twice: not one that an order replaces, or that came from such a one. */
  #stands(task: MadeTask, parentTaskId: string | undefined, record: JobRecord): boolean {
    const { id, key, parentId } = task;
    const isReplaced = this.#orders.mayMake(key) && this.#former.get(key)?.has(id) === true;
    const isOutdated = parentId !== parentTaskId || this.#isOutdated(task, record);
    return !isReplaced && !this.#forgotten.has(id) && !isOutdated;
  }

  /** What the job gathers was made anew since the task was made. */
  #isOutdated({ id }: MadeTask, record: JobRecord | undefined): boolean {
    const made = this.#intents.get(this.#makers.get(id) ?? '')?.from;
    return made !== undefined && record !== undefined && made !== fromOf(record);
  }

  killed(worker: string): void {
    this.#killed.add(worker);
    for (const [key, { name }] of this.#asking) if (name === worker) this.#asking.delete(key);
  }

  intends(worker: string, { records, lateFacts = [] }: Turn): void {
    for (const record of records) {
      if (record.status === 'in-doubt' && this.cuts > 0) this.#doubted.add(record.key);
      if (record.status === 'submitting') {
        const { restores } = this;
        this.#intents.set(nameOf(record), { worker, restores, from: fromOf(record) });
      }
      const isAgain = record.status === 'submitting' || record.status === 'pending';
      const before = this.#state.rows.get(record.key)?.record;
      // A doubt that is retried at once need not be durable.
      const isDoubt =
        before?.status === 'in-doubt' ||
        (before?.status === 'submitting' && nameOf(before) !== nameOf(record));
      if (this.mayRetry && isAgain && isDoubt) this.#byWord.add(record.key);
    }
    for (const fact of lateFacts)
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
    const known = this.#state.rows.get(record.key)?.record;
    const isForgotten =
      this.#isOlderIntent(record) && (known === undefined || nameOf(known) !== nameOf(record));
    for (const { id, key } of this.#tasks.values())
      if (key === record.key && !this.#makers.has(id)) {
        this.#makers.set(id, nameOf(record));
        if (isForgotten) this.#forgotten.add(id);
      }
  }

  /** The submission was intended before an older copy of the state came back: it leaves all the same, and may be forgotten. */
  #isOlderIntent(record: JobRecord): boolean {
    return (this.#intents.get(nameOf(record))?.restores ?? this.restores) < this.restores;
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
      this.#asking.set(key, { name: worker, at: this.#time.now, record: job.record });
    }
    if (send.kind === 'modal' && this.#tasks.get(job.record.modal?.taskId ?? '')?.isAnswered)
      this.breaks('duplicated', `${key} is answered by ${worker} although that was done`);
    if (send.kind !== 'submit' || this.takenOn(key) !== undefined) return;
    this.submits += 1;
    // Somebody else may have put it in doubt since, and nothing more.
    const isIntended = durable?.status === 'submitting' || durable?.status === 'in-doubt';
    if (!this.#isOlderIntent(job.record) && (!isIntended || nameOf(durable) !== nameOf(job.record)))
      this.breaks(
        'nothing',
        `${key} is submitted by ${worker} while its record says ${durable?.status ?? 'nothing'}`,
      );
    for (const task of this.#tasks.values())
      if (
        task.key === key &&
        this.#stands(task, job.parentTaskId, job.record) &&
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
    return records.flatMap((intent) => {
      const { key, status, parentTaskId } = intent;
      const isOfSame = ({ record }: { readonly record: JobRecord }): boolean =>
        record.parentTaskId === parentTaskId && fromOf(record) === fromOf(intent);
      return status !== 'submitting'
        ? []
        : (this.#answers.get(key) ?? [])
            .filter((answer) => isOfSame(answer) && this.#knowsOf(answer.record))
            .map(({ record, worker }) => ({
              key,
              isKnown: this.#state.hasFact(record),
              hearer: worker,
            }));
    });
  }

  /** False for a call that an older copy of the state has forgotten: such a text is asked for again. */
  #knowsOf(call: JobRecord): boolean {
    const known = this.#state.rows.get(call.key)?.record;
    if (!this.hasRestored || known === undefined) return !this.hasRestored;
    return (
      nameOf(known) === nameOf(call) ||
      known.unheard?.includes(`${call.submittedAt}/${call.submittedBy}`) === true
    );
  }

  /** A turn was executed. */
  asked(worker: string, again: readonly AskedAgain[], { refused, lost }: Committed): void {
    for (const { key, isKnown, hearer } of again) {
      if (refused.has(key) || lost.size > 0) continue;
      this.twice += 1;
      const reachedAt = hearer.cutUntil + maxCommitMs;
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

  #comesFromDoubt({ parent }: JobRecord): boolean {
    const record = this.#state.rows.get(parent ?? '')?.record;
    return record !== undefined && (record.status === 'in-doubt' || this.#comesFromDoubt(record));
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
        // A text that is made anew waits for what it comes from.
        if (status === 'pending' && this.#comesFromDoubt(record)) continue;
        this.breaks('lost', `${key} is ${status} at the end`);
        continue;
      }
      if (record.error?.code === 'task.shared') {
        this.inDoubt += 1;
        continue;
      }
      const submission = nameOf(record);
      const by = this.#intents.get(submission)?.worker ?? 'nobody';
      if (this.#found.has(submission)) this.breaks('lost', `${key} is in doubt although its task was found`);
      // What is heard late of the answer to a dialog is not kept: to ask once more costs nothing.
      if (!this.#killed.has(by) && !this.hasUnclear && !this.hasRestored && record.modal === undefined)
        this.breaks('nothing', `${key} is in doubt although ${by} was never killed`);
      this.inDoubt += 1;
      if (!this.#sent.has(submission)) this.neverSent += 1;
    }
    for (const task of this.#tasks.values()) {
      const { id, key, end, parentId } = task;
      const record = this.#state.rows.get(key)?.record;
      const isNow = record?.request.kind !== 'click' || record.parentTaskId === parentId;
      // A task that was given up and found later stands for the one that was made in its place.
      const isForgotten = this.#forgotten.has(id) || this.#forgotten.has(record?.taskId ?? '');
      const isReplaced =
        this.#former.get(key)?.has(id) === true || isForgotten || !isNow || this.#isOutdated(task, record);
      const isLost =
        end === 'success' && record?.taskId !== id && record?.status !== 'in-doubt' && !isReplaced;
      if (isLost && !this.#byWord.has(key) && !this.hasUnclear)
        this.breaks(
          'lost',
          `task ${id} of ${key} is lost: ${record?.status ?? 'nothing'} of ${record?.taskId}`,
        );
    }
    const owed = new Set(this.#orders.open);
    for (const cell of cells) {
      const asked = new Map<string, JobRecord | undefined>();
      const slots = plan.resolve(cell, (key) => {
        asked.set(key, this.#state.rows.get(key)?.record);
        return asked.get(key);
      });
      // A doubt that ended late is gone on from by the next run, in cells that were closed below it, or end a group with it.
      const isDoubtful = [...asked].some(
        ([key, record]) => record?.status === 'in-doubt' || this.#doubted.has(key),
      );
      for (const { job } of isDoubtful ? [] : slots)
        if (owed.delete(job?.key ?? ''))
          this.breaks('lost', `${job?.key} was to be made anew, and never was`);
      for (const { step, branch, status } of slots)
        if (status !== 'done' && status !== 'in-doubt' && !(isDoubtful && status === 'pending'))
          this.breaks('lost', `${step} ${branch.join('/')} of cell ${cell.number} is ${status} at the end`);
    }
  }
}
