import type { Cell } from '../cell.ts';
import type { ChosenSteps } from '../graph/step-selection.ts';
import { droppedCode, type JobRecord, type JobSpec, type JobStatus, needsOf } from '../job.ts';
import type { Plan } from '../plan.ts';
import { formerOf } from '../resolve/former.ts';
import { hasImages } from '../resolve/reply.ts';
import { slotName } from '../resolve/upstream.ts';
import type { Slot } from '../slot.ts';
import { costOf, MeanCharges, placeholderCost, priceName } from './cost.ts';
import type { PromptExample } from './report.ts';
import { type Cost, type Reason, StepTally } from './totals.ts';

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
  /** Keys of jobs to submit anew. */
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

/** Looks at slots, cell by cell, and counts what a run would do about them. */
export class Scan {
  readonly #plan: Plan;
  readonly #chosen: ChosenSteps;
  readonly #state: PlanState | undefined;
  readonly #flags: RevivalFlags;
  readonly #redo: ReadonlySet<string>;
  readonly #tallies: ReadonlyMap<string, StepTally>;
  /** Keys that are counted; as many as slots are looked at, which the caller bounds. */
  readonly #seen = new Set<string>();
  readonly #retried = new Set<string>();
  readonly #redone = new Set<string>();
  readonly #prompts = new Map<string, PromptExample>();
  readonly #charges = new MeanCharges();
  readonly #unpriced = new Set<string>();
  #firstInvalid: string | undefined;
  #notKept: NotKept | undefined;
  /** Slots looked at. */
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

  /** What the text calls that were looked at take on the average. */
  get charges(): MeanCharges {
    return this.#charges;
  }

  /** One of the slots that fail without a job, for a message. */
  get firstInvalid(): string | undefined {
    return this.#firstInvalid;
  }

  /** Answers with images of which there is no file, though slots want them now. */
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
    // What came from it is made anew too.
    const isRedone = record.status === 'done' && status === 'pending';
    return { ...record, status, ...(isRedone && { former: formerOf(record) }) };
  }

  #count(slot: Slot, cell: Cell, isHeld: (slot: Slot) => boolean): void {
    const tally = this.#tallies.get(slot.step);
    if (tally === undefined) throw new Error(`Internal error: step "${slot.step}" is not in the plan.`);
    const { job, status } = slot;
    if (status === 'skipped' || status === 'blocked') return tally.slot(status);
    if (job === undefined) return this.#countWithoutJob(slot, cell, tally);
    // It has nothing to show, which is known before it is asked for.
    if (status === 'failed' && slot.record === undefined) return this.#countWithoutJob(slot, cell, tally);
    const charge = costOf(this.#plan.pipeline.prices, job);
    this.#charges.add(slot, charge);
    if (this.#seen.has(job.key)) return tally.slot('shared');
    this.#seen.add(job.key);
    switch (status) {
      case 'pending': {
        if (isHeld(slot)) return tally.job('held');
        this.#keepExample(slot);
        if (charge.price === undefined && this.#unpriced.size < mostNames) this.#unpriced.add(priceName(job));
        return tally.submit(this.#reason(slot), charge);
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
        return isMadeAnew(slot) && !isHeld(slot) ? this.#countAnew(slot, tally, charge) : tally.job(status);
      case 'failed':
        if (isMadeAnew(slot) && !isHeld(slot)) return this.#countAnew(slot, tally, charge);
        if (!this.#failsAgain(slot)) return tally.job(status);
        return this.#countInvalid(slot, tally);
    }
  }

  #countAnew({ job }: Slot, tally: StepTally, charge: Cost): void {
    if (job !== undefined && charge.price === undefined && this.#unpriced.size < mostNames)
      this.#unpriced.add(priceName(job));
    tally.submit('anew', charge);
  }

  #countWithoutJob(slot: Slot, cell: Cell, tally: StepTally): void {
    if (slot.status !== 'failed') {
      const place = this.#plan.slotGraph.places[slot.place ?? -1];
      if (place === undefined) throw new Error(`Internal error: ${slotName(slot)} has no place in the plan.`);
      if (place.open) tally.open = true;
      const charge = placeholderCost(this.#plan.pipeline.prices, place, cell);
      this.#charges.add(slot, charge);
      return tally.wait(charge);
    }
    this.#countInvalid(slot, tally);
  }

  #countInvalid(slot: Slot, tally: StepTally): void {
    this.#firstInvalid ??= `cell ${slot.cell}, ${slotName(slot)}: ${slot.error?.message ?? slot.error?.code}`;
    tally.slot('invalid');
  }

  /** A run with these flags looks at it again, and comes to the same end before anything is submitted. */
  #failsAgain({ record }: Slot): boolean {
    return record !== undefined && isMaskMistake(record) && isRetried(record, this.#flags);
  }

  /** Images of an answer are in its files or nowhere: no link leads to them. */
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

  #reason({ id, job }: Slot): Reason {
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

/** It is settled, and what it came from is made anew, or was. */
const isMadeAnew = ({ record, outdated, waitsAnew }: Slot): boolean =>
  record !== undefined && (outdated === true || (waitsAnew === true && record.error?.code !== droppedCode));

/** Tells which slots of a cell hang, over any number of jobs, on one that is in doubt. */
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
  // Where what it is for is made anew, its image may be another.
  if (!isRetried(record, flags) || (isMaskMistake(record) && redo.size === 0)) return undefined;
  // What is already made is only downloaded.
  const isMade = record.result !== undefined && error?.code.startsWith('download.') === true;
  return isMade ? 'saving' : 'pending';
}

const isRetried = ({ status, error }: JobRecord, { retryFailed }: RevivalFlags): boolean =>
  status === 'failed' &&
  retryFailed !== undefined &&
  (retryFailed.code === undefined || retryFailed.code === error?.code);

/** The job is known by its mask's content and by what it is for, so its mask will not do the next time either. */
const isMaskMistake = ({ error }: JobRecord): boolean => error?.code.startsWith('mask.') === true;
