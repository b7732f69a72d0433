import type { Cell } from '../cell.ts';
import type { ChosenSteps } from '../graph/step-selection.ts';
import { droppedCode, type JobRecord, type JobSpec, type JobStatus, needsOf } from '../job.ts';
import type { Plan } from '../plan.ts';
import { formerOf } from '../resolve/former.ts';
import { hasImages } from '../resolve/reply.ts';
import { slotName } from '../resolve/upstream.ts';
import type { Slot } from '../slot.ts';
import { costOf, MeanCosts, placeholderCost, priceName } from './cost.ts';
import type { PromptExample } from './report.ts';
import { type Cost, StepTally, type SubmitReason } from './totals.ts';

/** What an estimate asks of a run's state. */
export interface PlanState {
  get(key: string): JobRecord | undefined;
  keysOfSlot(slot: string): readonly string[];
  totals(): {
    readonly jobs: Readonly<Record<JobStatus, number>>;
    readonly attempts: number;
    readonly tokens: number;
    readonly assumedTokens: number;
    readonly cost: number;
    readonly possibleCost: number;
  };
}

/** The flags that have settled jobs tried again; they mean what they mean to a run. */
export interface RevivalFlags {
  readonly retryFailed?: { readonly code?: string };
  /** Keys of jobs to submit again. */
  readonly redo?: readonly string[];
  readonly inDoubt?: 'hold' | 'retry';
}

/** Jobs that are to be made again if their images are wanted. */
export interface NotKept {
  readonly count: number;
  /** The first one's slot, for a message. */
  readonly first: string;
  /** The first one's key. */
  readonly key: string;
}

const mostExamples = 3;
const mostNames = 20;

/** Examines slots, cell by cell, and counts what a run would do about them. */
export class Scan {
  readonly #plan: Plan;
  readonly #chosen: ChosenSteps;
  readonly #state: PlanState | undefined;
  readonly #flags: RevivalFlags;
  readonly #redo: ReadonlySet<string>;
  readonly #tallies: ReadonlyMap<string, StepTally>;
  /** Keys that are counted: at most one for each examined slot, which the caller bounds. */
  readonly #seen = new Set<string>();
  readonly #retried = new Set<string>();
  readonly #redone = new Set<string>();
  readonly #prompts = new Map<string, PromptExample>();
  readonly #costs = new MeanCosts();
  readonly #unpriced = new Set<string>();
  #firstInvalid: string | undefined;
  #notKept: NotKept | undefined;
  /** Slots examined. */
  looked = 0;

  constructor(plan: Plan, chosen: ChosenSteps, state: PlanState | undefined, flags: RevivalFlags) {
    this.#plan = plan;
    this.#chosen = chosen;
    this.#state = state;
    this.#flags = flags;
    this.#redo = new Set(flags.redo);
    const { steps } = plan.slotGraph;
    this.#tallies = new Map(
      [...steps.values()]
        .filter(({ step }) => chosen.steps.has(step.name))
        .map(({ step }) => [step.name, new StepTally(step)]),
    );
  }

  /** In file order. */
  get tallies(): ReadonlyMap<string, StepTally> {
    return this.#tallies;
  }

  get examples(): readonly PromptExample[] {
    return [...this.#prompts.values()];
  }

  /** See `PlanReport.unpricedNames`. */
  get unpricedNames(): readonly string[] {
    return [...this.#unpriced];
  }

  /** Average tokens and cost of the examined text calls. */
  get costs(): MeanCosts {
    return this.#costs;
  }

  /** One of the slots that fail without a job, for a message. */
  get firstInvalid(): string | undefined {
    return this.#firstInvalid;
  }

  /** Replies with images that have no file, though slots want them now. */
  get notKept(): NotKept | undefined {
    return this.#notKept;
  }

  add(cell: Cell): void {
    const fine = this.#fineIn(cell);
    const slots = this.#plan.resolve(cell, (key) => this.#recordOf(key, fine));
    const isHeld = heldBelow(slots);
    for (const slot of slots) {
      if (!this.#chosen.includes(slot)) continue;
      this.looked += 1;
      this.#count(slot, cell, isHeld);
    }
  }

  /**
   * Jobs of a cell whose button is not there, where each slot that asks for it calls it optional: to a run they are no
   * failures, so that `--retry-failed` leaves them alone.
   */
  #fineIn(cell: Cell): ReadonlySet<string> {
    const fine = new Set<string>();
    if (this.#flags.retryFailed === undefined || this.#state === undefined) return fine;
    const slots = this.#plan
      .resolve(cell, (key) => this.#state?.get(key))
      .filter(({ record }) => record?.status === 'failed');
    for (const { status, record } of slots) if (status === 'skipped' && record) fine.add(record.key);
    for (const { status, record } of slots) if (status === 'failed' && record) fine.delete(record.key);
    return fine;
  }

  /** The record as a run with these flags takes it up. */
  #recordOf(key: string, fine: ReadonlySet<string>): JobRecord | undefined {
    const record = this.#state?.get(key);
    if (record === undefined) return undefined;
    if (fine.has(key) && !this.#redo.has(key)) return record;
    const status = revivedStatus(record, this.#flags, this.#redo);
    if (status === undefined) return record;
    if (status === 'pending') (record.status === 'done' ? this.#redone : this.#retried).add(key);
    // A job that came from a redone one is redone too.
    const isRedone = record.status === 'done' && status === 'pending';
    return { ...record, status, ...(isRedone && { former: formerOf(record) }) };
  }

  #count(slot: Slot, cell: Cell, isHeld: (slot: Slot) => boolean): void {
    const tally = this.#tallies.get(slot.step);
    if (tally === undefined) throw new Error(`Internal error: step "${slot.step}" is not in the plan.`);
    const { job, status } = slot;
    if (status === 'skipped' || status === 'blocked') return tally.slot(status);
    if (job === undefined) return this.#countWithoutJob(slot, cell, tally);
    // The request shows no image, which is known before it is sent.
    if (status === 'failed' && slot.record === undefined) return this.#countWithoutJob(slot, cell, tally);
    const cost = costOf(this.#plan.pipeline.prices, job);
    this.#costs.add(slot, cost);
    if (this.#seen.has(job.key)) return tally.slot('shared');
    this.#seen.add(job.key);
    switch (status) {
      case 'pending': {
        if (isHeld(slot)) return tally.job('held');
        this.#keepExample(slot);
        if (cost.price === undefined && this.#unpriced.size < mostNames) this.#unpriced.add(priceName(job));
        return tally.submit(this.#reason(slot), cost);
      }
      case 'submitting':
      case 'running':
      case 'modal':
        return tally.job('running');
      case 'saving':
        return tally.job('unsaved');
      case 'in-doubt':
        return tally.job('inDoubt');
      case 'done':
        this.#lookForFiles(slot);
        return isRemade(slot) && !isHeld(slot) ? this.#countRedo(slot, tally, cost) : tally.job(status);
      case 'failed':
        if (isRemade(slot) && !isHeld(slot)) return this.#countRedo(slot, tally, cost);
        if (!this.#failsAgain(slot)) return tally.job(status);
        return this.#countInvalid(slot, tally);
    }
  }

  #countRedo({ job }: Slot, tally: StepTally, cost: Cost): void {
    if (job !== undefined && cost.price === undefined && this.#unpriced.size < mostNames)
      this.#unpriced.add(priceName(job));
    tally.submit('anew', cost);
  }

  #countWithoutJob(slot: Slot, cell: Cell, tally: StepTally): void {
    if (slot.status !== 'failed') {
      const place = this.#plan.slotGraph.places[slot.place ?? -1];
      if (place === undefined) throw new Error(`Internal error: ${slotName(slot)} has no place in the plan.`);
      if (place.open) tally.open = true;
      const cost = placeholderCost(this.#plan.pipeline.prices, place, cell);
      this.#costs.add(slot, cost);
      return tally.wait(cost);
    }
    this.#countInvalid(slot, tally);
  }

  #countInvalid(slot: Slot, tally: StepTally): void {
    this.#firstInvalid ??= `cell ${slot.cell}, ${slotName(slot)}: ${slot.error?.message ?? slot.error?.code}`;
    tally.slot('invalid');
  }

  /** A run with these flags evaluates this slot again, and fails in the same way before anything is submitted. */
  #failsAgain({ record }: Slot): boolean {
    return record !== undefined && isMaskError(record) && isRetried(record, this.#flags);
  }

  /** Images of a reply are in its files or nowhere: no link leads to them. */
  #lookForFiles(slot: Slot): void {
    const { record, keep } = slot;
    if (!keep || record === undefined || record.artifacts.length > 0 || !hasImages(record.text)) return;
    const {
      count = 0,
      first = `cell ${slot.cell}, ${slotName(slot)}`,
      key = record.key,
    } = this.#notKept ?? {};
    this.#notKept = { count: count + 1, first, key };
  }

  #reason({ id, job }: Slot): SubmitReason {
    if (job !== undefined && this.#redone.has(job.key)) return 'anew';
    if (job !== undefined && this.#retried.has(job.key)) return 'retry';
    const keys = this.#state?.keysOfSlot(id) ?? [];
    return keys.some((key) => key !== job?.key) ? 'changed' : 'new';
  }

  #keepExample({ cell, step, job }: Slot): void {
    const prompt = job?.request.fields.prompt;
    if (typeof prompt !== 'string' || this.#prompts.size >= mostExamples || this.#prompts.has(prompt)) return;
    this.#prompts.set(prompt, { cell, step, prompt });
  }
}

/** True for a settled job that came from a job which is or was redone. */
const isRemade = ({ record, outdated, waitsAnew: waitsForRedo }: Slot): boolean =>
  record !== undefined &&
  (outdated === true || (waitsForRedo === true && record.error?.code !== droppedCode));

/** Says which slots of a cell depend, over any number of jobs, on a job in doubt. */
function heldBelow(slots: readonly Slot[]): (slot: Slot) => boolean {
  if (!slots.some(({ status }) => status === 'in-doubt')) return () => false;
  /** Keys of jobs that are in doubt, and of all that hang on them. */
  const keys = new Set<string>();
  const hangs = (job: JobSpec): boolean => needsOf(job).some((key) => keys.has(key));
  // What a job hangs on is less deep than the job itself.
  for (const { job, status } of slots.toSorted((one, other) => one.depth - other.depth))
    if (job !== undefined && (status === 'in-doubt' || hangs(job))) keys.add(job.key);
  return ({ job }) => job !== undefined && hangs(job);
}

/** The status in which a run takes up a settled job on the user's word; undefined: it leaves the job alone. */
function revivedStatus(
  record: JobRecord,
  flags: RevivalFlags,
  redo: ReadonlySet<string>,
): JobStatus | undefined {
  const { status, error } = record;
  if (status !== 'done' && status !== 'failed' && status !== 'in-doubt') return undefined;
  if (redo.has(record.key)) return 'pending';
  if (status === 'in-doubt') return flags.inDoubt === 'retry' ? 'pending' : undefined;
  // Where the job that uses this image is redone, its image may be another one.
  if (!isRetried(record, flags) || (isMaskError(record) && redo.size === 0)) return undefined;
  // What is already made is only downloaded.
  const isMade = record.result !== undefined && error?.code.startsWith('download.') === true;
  return isMade ? 'saving' : 'pending';
}

const isRetried = ({ status, error }: JobRecord, { retryFailed }: RevivalFlags): boolean =>
  status === 'failed' &&
  retryFailed !== undefined &&
  (retryFailed.code === undefined || retryFailed.code === error?.code);

/** The job is known by its mask's content and by what it is for, so its mask will not do the next time either. */
const isMaskError = ({ error }: JobRecord): boolean => error?.code.startsWith('mask.') === true;
