import type { Cell } from '../cell.ts';
import { mayBeGrid } from '../graph/frames.ts';
import type { ChosenSteps } from '../graph/step-selection.ts';
import { droppedCode, type JobRecord, type JobSpec, type JobStatus, needsOf } from '../job.ts';
import type { Plan } from '../plan.ts';
import { formerOf } from '../resolve/former.ts';
import { type RecordLoader, withRecords } from '../resolve/load-records.ts';
import { hasImages } from '../resolve/reply.ts';
import { slotName } from '../resolve/upstream.ts';
import type { RecordLookup, Slot } from '../slot.ts';
import { costOf, MeanCosts, placeholderCost, priceName } from './cost.ts';
import type { PromptExample } from './report.ts';
import { interruptedRecord, isMaskError, isRetried, type RevivalFlags, revivedStatus } from './revival.ts';
import { type Cost, StepTotals, type SubmitReason } from './totals.ts';

/** What an estimate asks of a run's state. */
export interface PlanState {
  many: RecordLoader;
  /** Keys of the jobs first asked for by each of these slots; a slot that asked for none is absent. */
  keysOfSlots(slots: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  totals(): Promise<PlanTotals>;
}

/** How the jobs of a state are looked at. */
export interface ScanOptions extends RevivalFlags {
  /** A run is on: what is being submitted is under way. Default: nobody awaits the answer any more. */
  readonly running?: boolean;
  /** Told of each job that an earlier run has left under way or unsaved, once. */
  readonly onFollowed?: (key: string) => void;
}

/** Sums over all jobs of a run's state. */
export interface PlanTotals {
  readonly jobs: Readonly<Record<JobStatus, number>>;
  readonly attempts: number;
  readonly tokens: number;
  readonly assumedTokens: number;
  readonly cost: number;
  readonly possibleCost: number;
}

/** Jobs that are to be made again if their images are wanted. */
export interface NotKept {
  readonly count: number;
  /** The first one's slot, for a message. */
  readonly first: string;
  /** The first one's key. */
  readonly key: string;
}

/** Upscales that are made anew though their grid is not: the service gives the very image that is there. */
export interface SameAgain {
  readonly count: number;
  /** The first one's slot, for a message. */
  readonly first: string;
  /** Key of its grid. */
  readonly parent: string;
}

const mostExamples = 3;
const mostNames = 20;

/** Examines slots, cell by cell, and counts what a run would do about them. */
export class Scan {
  readonly #plan: Plan;
  readonly #chosen: ChosenSteps;
  readonly #state: PlanState | undefined;
  readonly #flags: ScanOptions;
  readonly #redo: ReadonlySet<string>;
  readonly #stepTotals: ReadonlyMap<string, StepTotals>;
  /** Keys that are counted: at most one for each examined slot, which the caller bounds. */
  readonly #seen = new Set<string>();
  /** Why a run would submit what it takes up again, by the record as the run takes it up. */
  readonly #again = new WeakMap<JobRecord, SubmitReason>();
  /** Keys of the jobs that slots asked for before; of the slots that are examined now. */
  #before: ReadonlyMap<string, readonly string[]> = new Map();
  readonly #prompts = new Map<string, PromptExample>();
  readonly #costs = new MeanCosts();
  readonly #unpriced = new Set<string>();
  #firstInvalid: string | undefined;
  #notKept: NotKept | undefined;
  #sameAgain: SameAgain | undefined;
  /** Slots examined. */
  examined = 0;

  constructor(plan: Plan, chosen: ChosenSteps, state: PlanState | undefined, flags: ScanOptions) {
    this.#plan = plan;
    this.#chosen = chosen;
    this.#state = state;
    this.#flags = flags;
    this.#redo = flags.redo ?? new Set();
    const { steps } = plan.slotGraph;
    this.#stepTotals = new Map(
      [...steps.values()]
        .filter(({ step }) => chosen.steps.has(step.name))
        .map(({ step }) => [step.name, new StepTotals(step)]),
    );
  }

  /** In file order. */
  get stepTotals(): ReadonlyMap<string, StepTotals> {
    return this.#stepTotals;
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

  /** Upscales that would be paid for the image that is there. */
  get sameAgain(): SameAgain | undefined {
    return this.#sameAgain;
  }

  /** Looks at these cells; their records are in memory together. */
  async add(cells: readonly Cell[]): Promise<void> {
    const found = await withRecords(
      cells,
      (cell, lookup) => ({ cell, slots: this.#resolve(cell, lookup) }),
      async (keys) => (await this.#state?.many(keys)) ?? new Map(),
      this.#plan.images,
    );
    const chosen = found.map(({ cell, slots }) => ({
      cell,
      slots: slots.filter((slot) => this.#chosen.includes(slot)),
      isHeld: heldBelow(slots),
    }));
    const pending = chosen.flatMap(({ slots }) => slots.filter(({ status }) => status === 'pending'));
    this.#before =
      this.#state === undefined || pending.length === 0
        ? new Map()
        : await this.#state.keysOfSlots(pending.map(({ id }) => id));
    for (const { cell, slots, isHeld } of chosen)
      for (const slot of slots) {
        this.examined += 1;
        this.#count(slot, cell, isHeld);
      }
  }

  /** The slots of a cell as a run with these flags finds them. */
  #resolve(cell: Cell, lookup: RecordLookup): readonly Slot[] {
    const fine = this.#fineIn(cell, lookup);
    return this.#plan.resolve(cell, (key) => this.#revived(key, lookup(key), fine));
  }

  /**
   * Jobs of a cell whose button is not there, where each slot that asks for it calls it optional: to a run they are no
   * failures, so that `--retry-failed` leaves them alone.
   */
  #fineIn(cell: Cell, lookup: RecordLookup): ReadonlySet<string> {
    const fine = new Set<string>();
    if (this.#flags.retryFailed === undefined || this.#state === undefined) return fine;
    const slots = this.#plan.resolve(cell, lookup).filter(({ record }) => record?.status === 'failed');
    for (const { status, record } of slots) if (status === 'skipped' && record) fine.add(record.key);
    for (const { status, record } of slots) if (status === 'failed' && record) fine.delete(record.key);
    return fine;
  }

  /** The record as a run with these flags takes it up. */
  #revived(key: string, found: JobRecord | undefined, fine: ReadonlySet<string>): JobRecord | undefined {
    if (found === undefined || (fine.has(key) && !this.#redo.has(key))) return found;
    const record = this.#flags.running ? found : interruptedRecord(found);
    if (record !== found && record.status === 'pending') this.#again.set(record, 'retry');
    // Whether the answer to a modal arrived is looked up first: only then may the click be submitted again.
    if (record !== found && record.modal !== undefined) return record;
    const status = revivedStatus(record, this.#flags, this.#redo);
    if (status === undefined) return record;
    // A job that came from a redone one is redone too.
    const isRedone = record.status === 'done' && status === 'pending';
    const revived: JobRecord = { ...record, status, ...(isRedone && { former: formerOf(record) }) };
    if (status === 'pending') this.#again.set(revived, isRedone ? 'anew' : 'retry');
    return revived;
  }

  #count(slot: Slot, cell: Cell, isHeld: (slot: Slot) => boolean): void {
    const totals = this.#stepTotals.get(slot.step);
    if (totals === undefined) throw new Error(`Internal error: step "${slot.step}" is not in the plan.`);
    const { job, status } = slot;
    if (status === 'skipped' || status === 'blocked') return totals.slot(status);
    if (job === undefined) return this.#countWithoutJob(slot, cell, totals);
    // The request shows no image, which is known before it is sent.
    if (status === 'failed' && slot.record === undefined) return this.#countWithoutJob(slot, cell, totals);
    const cost = costOf(this.#plan.pipeline.prices, job);
    this.#costs.add(slot, cost);
    if (this.#seen.has(job.key)) return totals.slot('shared');
    this.#seen.add(job.key);
    if (isToCut(slot, this.#plan, isHeld)) totals.cut();
    switch (status) {
      case 'pending': {
        if (isHeld(slot)) return totals.job('held');
        this.#keepExample(slot);
        if (cost.price === undefined && this.#unpriced.size < mostNames) this.#unpriced.add(priceName(job));
        const reason = this.#reason(slot);
        if (reason === 'anew' && slot.outdated !== true && slot.waitsForRedo !== true)
          this.#checkUpscale(slot);
        return totals.submit(reason, cost);
      }
      case 'submitting':
      case 'running':
      case 'modal':
        this.#flags.onFollowed?.(job.key);
        return totals.job('running');
      case 'saving':
        this.#flags.onFollowed?.(job.key);
        return totals.job('unsaved');
      case 'in-doubt':
        return totals.job('inDoubt');
      case 'done':
        this.#checkFiles(slot);
        return isRemade(slot) && !isHeld(slot) ? this.#countRedo(slot, totals, cost) : totals.job(status);
      case 'failed':
        if (isRemade(slot) && !isHeld(slot)) return this.#countRedo(slot, totals, cost);
        if (!this.#failsAgain(slot)) return totals.job(status);
        return this.#countInvalid(slot, totals);
    }
  }

  #countRedo({ job }: Slot, totals: StepTotals, cost: Cost): void {
    if (job !== undefined && cost.price === undefined && this.#unpriced.size < mostNames)
      this.#unpriced.add(priceName(job));
    totals.submit('anew', cost);
  }

  #countWithoutJob(slot: Slot, cell: Cell, totals: StepTotals): void {
    if (slot.status !== 'failed') {
      const template = this.#plan.slotGraph.templates[slot.place ?? -1];
      if (template === undefined)
        throw new Error(`Internal error: ${slotName(slot)} has no template in the plan.`);
      if (template.open) totals.open = true;
      const cost = placeholderCost(this.#plan.pipeline.prices, template, cell);
      this.#costs.add(slot, cost);
      return totals.wait(cost);
    }
    this.#countInvalid(slot, totals);
  }

  #countInvalid(slot: Slot, totals: StepTotals): void {
    this.#firstInvalid ??= `cell ${slot.cell}, ${slotName(slot)}: ${slot.error?.message ?? slot.error?.code}`;
    totals.slot('invalid');
  }

  /** A run with these flags evaluates this slot again, and fails in the same way before anything is submitted. */
  #failsAgain({ record }: Slot): boolean {
    return record !== undefined && isMaskError(record) && isRetried(record, this.#flags);
  }

  #checkFiles(slot: Slot): void {
    const { record } = slot;
    if (record === undefined || !isNotKept(slot)) return;
    const {
      count = 0,
      first = `cell ${slot.cell}, ${slotName(slot)}`,
      key = record.key,
    } = this.#notKept ?? {};
    this.#notKept = { count: count + 1, first, key };
  }

  /** The press takes one frame out of its grid: however often, the same one. */
  #checkUpscale(slot: Slot): void {
    const { record } = slot;
    const { label = '' } = record?.pressed ?? record?.former?.pressed ?? {};
    if (record?.parent === undefined || !upscales.has(label)) return;
    const {
      count = 0,
      first = `cell ${slot.cell}, ${slotName(slot)}`,
      parent = record.parent,
    } = this.#sameAgain ?? {};
    this.#sameAgain = { count: count + 1, first, parent };
  }

  #reason(slot: Slot): SubmitReason {
    const again = slot.record && this.#again.get(slot.record);
    if (again !== undefined) return again;
    // To ask a slot for its id hashes the cell.
    const keys = this.#before.size === 0 ? [] : (this.#before.get(slot.id) ?? []);
    return keys.some((key) => key !== slot.job?.key) ? 'changed' : 'new';
  }

  #keepExample({ cell, step, job }: Slot): void {
    const prompt = job?.request.fields.prompt;
    if (typeof prompt !== 'string' || this.#prompts.size >= mostExamples || this.#prompts.has(prompt)) return;
    this.#prompts.set(prompt, { cell, step, prompt });
  }
}

/** Buttons under a grid of four that take out one of its frames, whatever model drew it (gateway 5.3). */
const upscales: ReadonlySet<string> = new Set(['U1', 'U2', 'U3', 'U4']);

/** Its reply has images that it wants. They are in files or nowhere, because no link leads to them, and there are no files. */
export const isNotKept = ({ record, keep }: Slot): boolean =>
  keep && record !== undefined && record.artifacts.length === 0 && hasImages(record.text);

/** Its file is still to be made or cut, and frames of it are wanted, should it turn out to be a grid. */
function isToCut(slot: Slot, { slotGraph }: Plan, isHeld: (slot: Slot) => boolean): boolean {
  if (
    !slot.split ||
    isHeld(slot) ||
    ((slot.status === 'done' || slot.status === 'failed' || slot.status === 'in-doubt') && !isRemade(slot))
  )
    return false;
  const template = slotGraph.templates[slot.place ?? -1];
  return template !== undefined && mayBeGrid(template);
}

/** True for a settled job that came from a job which is or was redone. */
const isRemade = ({ record, outdated, waitsForRedo }: Slot): boolean =>
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
