import { gridOf } from '../../src/plan/graph/frames.ts';
import { isSettled, type JobRecord } from '../../src/plan/job.ts';
import type { RunEnd, RunEvent } from '../../src/run/events.ts';
import { ownTasks } from '../../src/run/machine/search/own-tasks.ts';
import { type Effect, isPaid, type RunInput } from '../../src/run/scheduler/commit.ts';
import type { Task } from '../../src/service/image-service.ts';
import type { RedoRequest } from '../../src/state/redo-order.ts';
import type { Gateway } from '../rig/gateway/gateway.ts';
import type { MemoryStore } from '../rig/memory-store.ts';
import { mayPass } from './ends.ts';
import { Licences } from './licences.ts';
import { LimitsAuditor } from './limits-auditor.ts';
import { LineageAuditor, type Reads } from './lineage-auditor.ts';
import { Orders } from './orders.ts';
import type { Invocation, Scenario } from './scenario.ts';
import { TaskAuditor } from './task-auditor.ts';
import { TextAuditor } from './text-auditor.ts';
import { BrokenPromise } from './violation.ts';

/**
 * Watches a simulated history for broken promises (what comes first, in CONTRIBUTING.md). It knows the requests to the service, the results that
 * the run received, and what is durable.
 */
export class Auditor {
  readonly #store: MemoryStore;
  readonly #gateway: Gateway;
  readonly #licences: Licences;
  readonly #limits: LimitsAuditor;
  readonly #texts: TextAuditor;
  readonly #tasks: TaskAuditor;
  readonly #lineage: LineageAuditor;
  readonly #orders = new Orders();
  /** Jobs that were done, by what they had come to. */
  readonly #doneOnce = new Map<string, string>();
  /** Text jobs that were asked. */
  readonly #askedTexts = new Set<string>();
  readonly #mayUnkeep: boolean;
  /** The service lists all its tasks, by their tags and at once. */
  readonly #reportsAll: boolean;
  /** No reading of it fails or lags. */
  readonly #readsAll: boolean;
  /** What was sent that costs, over all starts. */
  #paid = 0;
  #invocation: Invocation | undefined;
  #isPlanned: (key: string) => boolean = () => true;

  /** @param readsOf keys of the jobs whose replies the templates of a job name */
  constructor(scenario: Scenario, store: MemoryStore, gateway: Gateway, readsOf: (key: string) => Reads) {
    this.#store = store;
    this.#gateway = gateway;
    this.#licences = new Licences(scenario);
    this.#limits = new LimitsAuditor(scenario, store, gateway);
    this.#texts = new TextAuditor(scenario, store);
    this.#tasks = new TaskAuditor(
      gateway,
      scenario.collides === 'nothing' ? (key) => store.attempts(key).map(({ taskId }) => taskId) : undefined,
    );
    this.#reportsAll = scenario.taskList === undefined;
    this.#readsAll = Object.keys(scenario.fetch).length === 0 && !scenario.lag;
    this.#lineage = new LineageAuditor(store, readsOf);
    this.#mayUnkeep = scenario.invocations.some(({ unkept }) => unkept === true);
  }

  /** The user's word: what a start of the command allows beyond the service's advice. */
  begin(
    invocation: Invocation,
    records: readonly JobRecord[],
    request: RedoRequest | undefined,
    isPlanned: (key: string) => boolean,
  ): void {
    const { known, counted } = this.#store.submissions();
    if (counted > known)
      throw new BrokenPromise(
        `a state that is whole knows ${known} submissions where ${counted} are counted`,
      );
    this.#isPlanned = isPlanned;
    if (invocation.cancels) this.#orders.cancel();
    const { open, waiting } = this.#orders.begin(request, (key) => this.#store.get(key));
    this.#texts.begin(invocation, records, waiting);
    this.#tasks.keeps(records);
    // What a crash left in the very turn in which it was begun again.
    this.#checkSettled();
    this.#invocation = invocation;
    this.#limits.begin(records);
    this.#licences.begin(invocation, records, waiting);
    this.#redone(this.#lineage.begin(open));
  }

  sends(effect: Effect, now: number): void {
    const { job, send } = effect;
    if (send.kind === 'cut') return this.#checkCut(job.record.key);
    this.#limits.sends();
    if (send.kind === 'search' && send.beside !== undefined) this.#limits.searches(now);
    if (send.kind === 'submit' || send.kind === 'ask') this.#lineage.sends({ job, send });
    if (isPaid(effect)) this.#checkPaid();
    if (send.kind === 'ask') {
      this.#askedTexts.add(job.record.key);
      return this.#texts.sends(job.record, now, this.#gateway.healed);
    }
    if (send.kind !== 'submit' && send.kind !== 'modal') return;
    const { key } = job.record;
    const durable = this.#store.get(key);
    const isModal = send.kind === 'modal';
    if (this.#invocation?.cells !== undefined && !this.#isPlanned(key))
      throw new BrokenPromise(`${key} is ${isModal ? 'answered' : 'submitted'} though no cell asks for it`);
    if (isModal && (durable?.modal?.sent ?? 0) < 1)
      throw new BrokenPromise(`${key} answers its modal while its record says that nothing was sent`);
    if (durable?.status !== 'submitting' || durable.attempts !== job.record.attempts)
      throw new BrokenPromise(`${key} is submitted while its record says ${durable?.status ?? 'nothing'}`);
    if (!isModal) this.#checkSearched(job.record, now);
    this.#licences.sends(job.record, send.kind);
    this.#limits.submits(now);
  }

  /** What is cut is durable as a whole: a run that dies meanwhile leaves a grid, and the next one cuts it. */
  #checkCut(key: string): void {
    const durable = this.#store.get(key);
    if (durable === undefined || gridOf(durable)?.ok !== true || durable.frames !== undefined)
      throw new BrokenPromise(`${key} is cut while its record has no grid, or its frames`);
  }

  #checkPaid(): void {
    this.#paid += 1;
    const { counted } = this.#store.submissions();
    if (counted < this.#paid)
      throw new BrokenPromise(`submission ${this.#paid} leaves where ${counted} are counted`);
  }

  /** Nothing is submitted again whose task the service lists: it is looked for before. */
  #checkSearched({ key, doubtful }: JobRecord, now: number): void {
    if (!this.#reportsAll || doubtful?.since === undefined) return;
    const known = new Set(this.#store.attempts(key).map(({ taskId }) => taskId));
    for (const { id, key: owner, at, end } of this.#gateway.tasks.values())
      if (owner === key && at >= doubtful.since && at < now && end !== 'lost' && !known.has(id))
        throw new BrokenPromise(`${key} is submitted again although the service lists its task ${id}`);
  }

  /** What was received until now is part of the turn that is made durable next. */
  takesTurn(): void {
    this.#texts.takesTurn();
  }

  /** A turn is durable. */
  committed(records: readonly JobRecord[]): void {
    this.#texts.committed();
    this.#orders.committed(records);
    this.#tasks.keeps(records);
    this.#redone(this.#lineage.committed(records));
  }

  /** What a run said, and how what it left is reported. */
  onEvents(events: readonly RunEvent[]): void {
    this.#lineage.onEvents(events);
    this.#orders.onEvents(events);
    this.#lineage.checkPressed();
  }

  /** A run is over; undefined: it was killed. */
  ends(end: RunEnd | undefined): void {
    this.#orders.end(end);
  }

  /**
   * A run with `--in-doubt find` has left nothing in doubt of which the service lists a task, now that nothing is under way. What a reading of the
   * list may not have shown is no promise.
   */
  checkFound(now: number): void {
    const listed = this.#gateway.taskList(now);
    if (!this.#reportsAll || this.#invocation?.inDoubt !== 'find' || !this.#readsAll || !listed.ok) return;
    for (const record of this.#store.withStatus('in-doubt')) {
      const [task] = ownTasks(record, this.#store.attempts(record.key), listed.value);
      if (task !== undefined)
        throw new BrokenPromise(
          `${record.key} stays in doubt although the service lists its task ${task.id}`,
        );
    }
  }

  /** This job is to be made anew. */
  owes(key: string): boolean {
    return this.#orders.open.includes(key);
  }

  /** Everything is settled: what was ordered is made, and paid anew once. @param asked keys of the jobs that cells ask for */
  checkOrders(asked: ReadonlySet<string>): void {
    this.#orders.checkMade(asked);
  }

  /** Everything is settled. @param asked keys of the jobs that cells ask for */
  checkLineage(asked: ReadonlySet<string>): void {
    this.#lineage.checkSettled(asked);
  }

  /** What came from a job that was made again is made again too. */
  #redone(keys: readonly string[]): void {
    for (const key of keys) {
      this.#licences.redone(key);
      this.#texts.redone(key);
    }
  }

  receives(input: RunInput, now: number): void {
    switch (input.type) {
      case 'listed': {
        this.#limits.receives();
        const { result, targets } = input;
        for (const task of result.ok ? result.value : []) {
          // Two jobs may hold one id.
          for (const { key, taskId } of targets) if (taskId === task.id) this.#sees(key, task);
        }
        return;
      }
      case 'asked': {
        this.#limits.receives();
        const { key, result } = input;
        if (result.kind === 'answered' && result.asked.verdict.kind === 'done') this.#doneOnce.delete(key);
        return this.#texts.receives(input, now);
      }
      case 'masked':
        this.#limits.receives();
        return this.#licences.masked(input);
      case 'saved':
      case 'seed':
        return this.#limits.receives();
      case 'searched': {
        const { key, result, beside = [] } = input;
        const found = [[key, result] as const, ...beside].filter(([, of]) => of.ok && of.value.length > 0);
        if (input.beside !== undefined) this.#limits.searched(found.length);
        return this.#limits.receives();
      }
      case 'unread':
        this.#limits.receives();
        return this.#licences.again(input.key);
      case 'fetched': {
        this.#limits.receives();
        const { key, result, why } = input;
        if (result.ok && (why === 'poll' || why === 'modal')) this.#sees(key, result.value);
        if (result.ok && why === 'parent') this.#licences.reads(key, result.value);
        return;
      }
      case 'submitted':
        this.#limits.receives();
        if (input.result.ok && 'taskId' in input.result.value) {
          this.#lineage.answered(input.key, input.result.value.taskId);
          this.#orders.answered(input.key, input.result.value.taskId);
        }
        return this.#licences.answered(input.key, input.result);
      default:
    }
  }

  holds(held: { readonly taskSlots: number; readonly jobs: number; readonly cells: number }): void {
    this.#limits.holds(held);
    this.#checkSettled();
  }

  /** Every attempt is counted: the state never says that less was spent than the service made. */
  checkCounted(): void {
    this.#texts.checkTokens();
    for (const [key, charged] of this.#gateway.charged) this.#checkCharged(key, charged);
    for (const [key, made] of this.#gateway.made) {
      const attempts = this.#store.get(key)?.attempts ?? 0;
      if (attempts < made)
        throw new BrokenPromise(`${made} tasks were made for ${key}, and ${attempts} attempts are counted`);
      const paid = this.#store.get(key);
      this.#checkCharged(key, made);
      if (paid?.status === 'failed' && paid.doubtful?.since !== undefined)
        throw new BrokenPromise(`${key} has failed while a task may have been made for it`);
    }
  }

  /** What the gateway charges at most is what is said of it, known and possible. */
  #checkCharged(key: string, charged: number): void {
    const paid = this.#store.get(key);
    // A run that died has left what it was submitting to the next one.
    const left = paid?.status === 'submitting' && paid.modal === undefined ? (paid.reserve?.cost ?? 0) : 0;
    const counted = (paid?.cost ?? 0) + (paid?.doubtful?.cost ?? 0) + left;
    if (counted < charged)
      throw new BrokenPromise(
        `${charged} may be charged for ${key}, and no more than ${counted} are counted as paid`,
      );
  }

  /** Whatever ended a run that was not killed, it has waited for the answers to what it sent, and kept them. */
  checkReported(): void {
    // Of the answer to a modal, a later poll may have to show what became of it.
    for (const { key, status, modal } of this.#store.unfinished())
      if (status === 'submitting' && modal === undefined)
        throw new BrokenPromise(`The run ended without the answer to ${key}, or has not kept it`);
  }

  /** A task that failed in a way that may pass is made again. */
  #sees(key: string, task: Task): void {
    const { state, failReason } = task;
    this.#tasks.sees(task);
    // From here on there is a new result, which what was there before may give way to.
    if (state === 'success') this.#doneOnce.delete(key);
    if (state === 'failure' && mayPass(failReason)) this.#licences.fresh(key);
  }

  /** A finished result never goes away again, but for another one. A redo that is under way leaves its files where they are. */
  #checkSettled(): void {
    for (const key of [...this.#gateway.made.keys(), ...this.#askedTexts]) {
      const record = this.#store.get(key);
      const had = this.#doneOnce.get(key);
      const has = record === undefined ? undefined : cameTo(record);
      if (had !== undefined && (has !== had || record === undefined))
        throw new BrokenPromise(`${key} was done and is ${record?.status ?? 'gone'} now: ${had} is ${has}`);
      // A text goes on after its answered rounds, which are paid, and while an answer may yet be heard.
      const goesOn = record?.turns !== undefined || record?.unheard !== undefined;
      if (record?.status === 'pending' && record.former !== undefined && !goesOn)
        throw new BrokenPromise(`${key} would be made again by a run that is not asked to`);
      // Files that are wanted only later may turn out to be gone.
      const isWhole = record?.status === 'done' && (record.artifacts.length > 0 || !this.#mayUnkeep);
      if (isWhole && has !== undefined) this.#doneOnce.set(key, has);
      if (
        record !== undefined &&
        isSettled(record.status) &&
        record.status !== 'done' &&
        record.error === undefined
      )
        throw new BrokenPromise(`${key} is ${record.status} without saying why`);
    }
  }
}

/** What a job that is done has come to, or what stands until it is made again; undefined: nothing. */
function cameTo({ status, taskId, text, artifacts, former }: JobRecord): string | undefined {
  const stands = status === 'done' ? { taskId, text } : former;
  return stands && JSON.stringify([stands.taskId ?? '', stands.text ?? '', artifacts]);
}
