import { isSettled, type JobRecord } from '../../src/plan/job.ts';
import { isTextKind } from '../../src/plan/job-request.ts';
import type { Errand, RunInput } from '../../src/run/turn.ts';
import type { Task } from '../../src/service/answer.ts';
import type { StateStore } from '../../src/state/store.ts';
import { mayPass } from './ends.ts';
import type { Gateway } from './gateway.ts';
import type { Invocation, Scenario } from './scenario.ts';
import { TaskAuditor } from './task-auditor.ts';
import { TextAuditor } from './text-auditor.ts';
import { Violation } from './violation.ts';

/** What a submission of a task costs in every history; the calls of models are not priced. */
export const priceOfTask = ({ kind }: JobRecord): number | undefined => (isTextKind(kind) ? undefined : 1);

/** The same, as a pipeline says it. */
export const pricesOfTasks = { imagine: 1, click: 1, blend: 1, describe: 1, video: 1, edit: 1 };

/**
 * Watches a simulated history for broken promises (DESIGN.md section 10). It knows what the service was asked and what the
 * run heard, and from that alone how often each job may be submitted: once, and again each time the service advised it
 * or the user said so.
 */
export class Auditor {
  readonly #scenario: Scenario;
  readonly #store: StateStore;
  readonly #gateway: Gateway;
  /** Submissions that each job still may make; a job that is not here may make one. */
  readonly #licences = new Map<string, number>();
  /** The same of answers to modals: one for each click. */
  readonly #modals = new Map<string, number>();
  /** Jobs that were told to try again what failed, which is one of the two. */
  readonly #either = new Set<string>();
  /** Which of the two was sent last. */
  readonly #asked = new Map<string, Map<string, number>>();
  /** Jobs whose mask was made since the command was started. */
  readonly #masked = new Set<string>();
  /** Clicks that were refused for what they name: with which customId, and in which words. */
  readonly #refused = new Map<string, { readonly customId: string; readonly words: string }>();
  readonly #pressed = new Map<string, string>();
  readonly #submitTimes: number[] = [];
  /** Jobs that were done, by what they had come to. */
  readonly #doneOnce = new Map<string, string>();
  /** Text jobs that were asked. */
  readonly #askedTexts = new Set<string>();
  #invocation: Invocation | undefined;
  readonly #texts: TextAuditor;
  readonly #tasks: TaskAuditor;
  #requests = 0;
  #isPlanned: (key: string) => boolean = () => true;
  readonly #mayUnkeep: boolean;
  /** Tasks that the run found on the service when it began: what was in doubt may have been found beyond the limit. */
  #found = 0;

  constructor(scenario: Scenario, store: StateStore, gateway: Gateway) {
    this.#scenario = scenario;
    this.#mayUnkeep = scenario.invocations.some(({ unkept }) => unkept === true);
    this.#store = store;
    this.#gateway = gateway;
    this.#texts = new TextAuditor(scenario, store);
    this.#tasks = new TaskAuditor(gateway);
  }

  /** The user's word: what a start of the command allows beyond the service's advice. */
  begin(
    invocation: Invocation,
    records: readonly JobRecord[],
    redo: readonly string[],
    isPlanned: (key: string) => boolean,
  ): void {
    this.#isPlanned = isPlanned;
    this.#texts.begin(invocation, records, redo);
    this.#tasks.keeps(records);
    // What a crash left in the very turn in which it was begun anew.
    this.#checkSettled();
    this.#invocation = invocation;
    this.#requests = 0;
    this.#submitTimes.length = 0;
    this.#masked.clear();
    this.#either.clear();
    this.#found = records.filter(({ status, kind }) => onService.has(status) && !isTextKind(kind)).length;
    for (const { key, status, modal, error } of records) {
      const doubtful = status === 'in-doubt' || status === 'submitting';
      const told =
        (doubtful && invocation.inDoubt === 'retry') ||
        (status === 'failed' && invocation.retryFailed) ||
        redo.includes(key);
      // What waits for its modal is told to answer that, and not to press again.
      const waits =
        modal !== undefined && !modal.accepted && !redo.includes(key) && error?.code !== 'modal.unanswered';
      // The word that an earlier run was given holds for that run.
      if (status === 'done') this.#licences.set(key, 0);
      if (told && waits) this.#modals.set(key, 1);
      else if (told) this.#licences.set(key, 1);
      // Nothing was made, and the run that was to look at its button has ended: this one reads that anyway.
      else if (status === 'pending' && this.#refused.has(key)) this.#licences.set(key, 1);
      // Where it waits no more, its button may be pressed instead.
      if (told && waits) this.#either.add(key);
    }
    this.#refused.clear();
  }

  sends({ job, send }: Errand, now: number): void {
    this.#requests += 1;
    if (this.#requests > this.#scenario.limits.requests)
      throw new Violation(`${this.#requests} requests at once, limit ${this.#scenario.limits.requests}`);
    if (send.kind === 'ask') {
      this.#askedTexts.add(job.record.key);
      return this.#texts.sends(job.record, now, this.#gateway.healed);
    }
    if (send.kind !== 'submit' && send.kind !== 'modal') return;
    const { key } = job.record;
    const durable = this.#store.get(key);
    const isModal = send.kind === 'modal';
    if (this.#invocation?.cells !== undefined && !this.#isPlanned(key))
      throw new Violation(`${key} is ${isModal ? 'answered' : 'submitted'} though no cell asks for it`);
    if (isModal && (durable?.modal?.sent ?? 0) < 1)
      throw new Violation(`${key} answers its modal while its record says that nothing was sent`);
    if (durable?.status !== 'submitting' || durable.attempts !== job.record.attempts)
      throw new Violation(`${key} is submitted while its record says ${durable?.status ?? 'nothing'}`);
    const { request } = job.record;
    if (!isModal && request.kind === 'click' && request.mask !== undefined && !this.#masked.has(key))
      throw new Violation(`${key} is clicked before its mask is known to fit`);
    const isEither = this.#either.delete(key);
    if (isEither && !isModal) this.#licences.set(key, 1);
    const licences = isModal ? this.#modals : this.#licences;
    const left = licences.get(key) ?? 1;
    if (left < 1)
      throw new Violation(
        `${key} ${isModal ? 'answers its modal' : 'is submitted'} again without the service's advice or the user's word`,
      );
    licences.set(key, left - 1);
    if (!isModal) this.#modals.set(key, 1);
    if (!isModal) this.#pressed.set(key, job.record.pressed?.customId ?? '');
    this.#asked.set(key, isModal ? this.#modals : this.#licences);
    this.#checkRate(now);
    this.#checkBudget();
  }

  /** A turn is durable. */
  committed(records: readonly JobRecord[]): void {
    this.#texts.committed();
    this.#tasks.keeps(records);
  }

  hears(input: RunInput, now: number): void {
    if (input.type === 'listed') {
      this.#requests -= 1;
      const { answer } = input;
      for (const task of answer.ok ? answer.value : []) {
        const look = input.looks.find(({ taskId }) => taskId === task.id);
        if (look !== undefined) this.#sees(look.key, task);
      }
      return;
    }
    if (input.type === 'asked') {
      this.#requests -= 1;
      const { key, answer } = input;
      if (answer.kind === 'answered' && answer.asked.verdict.kind === 'done') this.#doneOnce.delete(key);
      return this.#texts.hears(input, now);
    }
    if (input.type === 'masked') {
      this.#requests -= 1;
      if (input.error === undefined) this.#masked.add(input.key);
      return;
    }
    if (
      input.type !== 'submitted' &&
      input.type !== 'unread' &&
      input.type !== 'fetched' &&
      input.type !== 'saved'
    )
      return;
    this.#requests -= 1;
    if (input.type === 'saved') return;
    const { key } = input;
    if (input.type === 'unread') return this.#licenseAgain(key);
    if (input.type === 'fetched') {
      const { answer, why } = input;
      if (answer.ok && (why === 'poll' || why === 'modal')) this.#sees(key, answer.value);
      if (answer.ok && why === 'parent') this.#reads(key, answer.value);
      return;
    }
    const { answer } = input;
    if (answer.ok) {
      const { value } = answer;
      const customId = this.#pressed.get(key);
      const isPress = this.#asked.get(key) === this.#licences;
      if (isPress && customId && value.kind === 'refused' && (value.code === 3 || value.code === 4))
        this.#refused.set(key, { customId, words: value.message });
      if (answer.value.kind === 'queue-full') this.#licenseAgain(key);
      return;
    }
    const { class: kind, status, code } = answer.error;
    // No advice to repeat it reaches the answer to a modal that may have arrived.
    const isModal = this.#asked.get(key) === this.#modals;
    const isUnmade = status === 503 || code === 'service.not-ready';
    const advised =
      kind === 'retry' && (isUnmade || (!isModal && this.#scenario.retry.ambiguous === 'retry'));
    const told = (kind === 'lost' || (kind === 'retry' && isModal)) && this.#invocation?.inDoubt === 'retry';
    if (kind === 'throttle' || kind === 'unsent' || kind === 'stop' || advised || told)
      this.#licenseAgain(key);
  }

  holds(held: { readonly rooms: number; readonly jobs: number; readonly cells: number }): void {
    const { tasks, requests } = this.#scenario.limits;
    if (held.rooms > Math.max(tasks, this.#found))
      throw new Violation(`${held.rooms} tasks in flight, limit ${tasks}`);
    // Room for tasks, as many jobs again that are being saved, and what those cells have ready.
    const bound = 16 * (tasks + 2 * (tasks + requests));
    if (held.jobs > bound || held.cells > bound)
      throw new Violation(`${held.jobs} jobs and ${held.cells} cells are held, bound ${bound}`);
    this.#checkSettled();
  }

  /** Every attempt is counted: the state never says that less was spent than the service made. */
  checkCounted(): void {
    this.#texts.checkTokens();
    for (const [key, made] of this.#gateway.made) {
      const attempts = this.#store.get(key)?.attempts ?? 0;
      if (attempts < made)
        throw new Violation(`${made} tasks were made for ${key}, and ${attempts} attempts are counted`);
      const paid = this.#store.get(key);
      // A run that died has left what it was submitting to the next one.
      const left = paid?.status === 'submitting' && paid.modal === undefined ? 1 : 0;
      const counted = (paid?.cost ?? 0) + (paid?.doubtful?.cost ?? 0) + left;
      if (counted < made)
        throw new Violation(
          `${made} tasks were made for ${key}, and no more than ${counted} are counted as paid`,
        );
      if (paid?.status === 'failed' && paid.doubtful?.since !== undefined)
        throw new Violation(`${key} has failed while a task may have been made for it`);
    }
  }

  /** Whatever ended a run that was not killed, it has waited for the answers to what it sent, and kept them. */
  checkHeard(): void {
    // Of the answer to a modal, a later look may have to tell what became of it.
    for (const { key, status, modal } of this.#store.unfinished())
      if (status === 'submitting' && modal === undefined)
        throw new Violation(`The run ended without the answer to ${key}, or has not kept it`);
  }

  /** A task that failed in a way that may pass is made anew. */
  #sees(key: string, task: Task): void {
    const { state, failReason } = task;
    this.#tasks.sees(task);
    // From here on there is a new result, which what was there before may give way to.
    if (state === 'success') this.#doneOnce.delete(key);
    if (state === 'failure' && mayPass(failReason)) this.#license(key);
  }

  /** A click that was refused may be pressed again where its customId has changed, or where that may pass. */
  #reads(key: string, { state, buttons }: Task): void {
    const refused = this.#refused.get(key);
    if (refused === undefined || state !== 'success') return;
    this.#refused.delete(key);
    const isSame = buttons.some(({ customId }) => customId === refused.customId);
    if (!isSame || /关联任务不存在或已?失效|关联任务状态错误/.test(refused.words)) this.#license(key);
  }

  #license(key: string): void {
    this.#licences.set(key, (this.#licences.get(key) ?? 0) + 1);
  }

  /** For another of what was sent last. */
  #licenseAgain(key: string): void {
    const licences = this.#asked.get(key) ?? this.#licences;
    licences.set(key, (licences.get(key) ?? 0) + 1);
  }

  /** A finished result never goes away again, but for another one. A redo that is under way leaves its files where they are. */
  #checkSettled(): void {
    for (const key of [...this.#gateway.made.keys(), ...this.#askedTexts]) {
      const record = this.#store.get(key);
      const had = this.#doneOnce.get(key);
      const has = record === undefined ? undefined : cameTo(record);
      if (had !== undefined && (has !== had || record === undefined))
        throw new Violation(`${key} was done and is ${record?.status ?? 'gone'} now: ${had} is ${has}`);
      if (record?.status === 'pending' && record.former !== undefined)
        throw new Violation(`${key} would be made anew by a run that is not told to`);
      // Files that are wanted only later may turn out to be gone.
      const isWhole = record?.status === 'done' && (record.artifacts.length > 0 || !this.#mayUnkeep);
      if (isWhole && has !== undefined) this.#doneOnce.set(key, has);
      if (
        record !== undefined &&
        isSettled(record.status) &&
        record.status !== 'done' &&
        record.error === undefined
      )
        throw new Violation(`${key} is ${record.status} without saying why`);
    }
  }

  #checkRate(now: number): void {
    const { submitPerMinute } = this.#scenario.limits;
    if (submitPerMinute === undefined) return;
    this.#submitTimes.push(now);
    const lately = this.#submitTimes.filter((at) => at > now - 60_000);
    if (lately.length > submitPerMinute)
      throw new Violation(`${lately.length} submissions within a minute, limit ${submitPerMinute}`);
  }

  #checkBudget(): void {
    const { budget, costBudget } = this.#scenario;
    const { attempts, cost, possibleCost } = this.#store.totals();
    // The healing runs at the end have no budget.
    if (budget !== undefined && !this.#gateway.healed && attempts > budget)
      throw new Violation(`${attempts} attempts, budget ${budget}`);
    const underWay = this.#store
      .unfinished()
      .filter(
        ({ status, kind, modal }) => status === 'submitting' && !isTextKind(kind) && modal === undefined,
      );
    const most = cost + possibleCost + underWay.length;
    if (costBudget !== undefined && !this.#gateway.healed && most > costBudget)
      throw new Violation(`Up to ${most} may be paid, budget ${costBudget}`);
  }
}

const onService: ReadonlySet<string> = new Set(['running', 'modal', 'submitting']);

/** What a job that is done has come to, or what stands until it is made anew; undefined: nothing. */
function cameTo({ status, taskId, text, artifacts, former }: JobRecord): string | undefined {
  const stands = status === 'done' ? { taskId, text } : former;
  return stands && JSON.stringify([stands.taskId ?? '', stands.text ?? '', artifacts]);
}
