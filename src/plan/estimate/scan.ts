import type { Cell } from '../cell.ts';
import { mayBeGrid } from '../graph/frames.ts';
import type { SlotTemplate } from '../graph/slot-template.ts';
import type { ChosenSteps } from '../graph/step-selection.ts';
import { droppedCode, type JobRecord, type JobSpec, type JobStatus, needsOf } from '../job.ts';
import { type CellGroups, reductionId } from '../matrix/groups.ts';
import type { Plan } from '../plan.ts';
import { formerOf } from '../resolve/former.ts';
import { sourcesOf } from '../resolve/lineage.ts';
import { type RecordLoader, withRecords } from '../resolve/load-records.ts';
import { hasImages } from '../resolve/reply.ts';
import { slotName } from '../resolve/upstream.ts';
import { droppedItemsCode, type RecordLookup, type Slot } from '../slot.ts';
import { costOf, MeanCosts, placeholderCost, priceName } from './cost.ts';
import type { PlanReport, PromptExample } from './report.ts';
import { interruptedRecord, isMaskError, isRetried, type RevivalFlags, revivedStatus } from './revival.ts';
import { Bill, type Cost, StepTotals, type SubmitReason } from './totals.ts';

/** The port by which an estimate reads a run's state. */
export interface PlanState {
  many: RecordLoader;
  /** Returns the keys of the jobs that each of these slots asked for first; slots without such jobs are absent. */
  keysOfSlots(slots: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  totals(): Promise<PlanTotals>;
}

/** Options of a scan. */
export interface ScanOptions extends RevivalFlags {
  /** Whether a run is in progress, so that jobs being submitted count as running. Default: nobody waits for the answer any more. */
  readonly running?: boolean;
  /** Jobs that the run takes over from other run directories first: the state with them. */
  readonly reuse?: { many: RecordLoader; isReused(record: JobRecord): boolean } | undefined;
  /** Receives each job that an earlier run left in progress or unsaved, once. */
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

/** Jobs that must be redone if their images are wanted. */
export interface NotKept {
  readonly count: number;
  /** Slot of the first job, for a message. */
  readonly first: string;
  /** Key of the first job. */
  readonly key: string;
}

/** Upscales that are redone although their grid is not: the service returns the existing image. */
export interface SameAgain {
  readonly count: number;
  /** Slot of the first upscale, for a message. */
  readonly first: string;
  /** Key of its grid. */
  readonly parent: string;
}

const maxExamples = 3;
const maxNames = 20;

/** Rows that warn of items that are not used. */
export interface Dropped {
  readonly count: number;
  /** The first of them, for a message. */
  readonly first: string;
}

/** Examines slots, cell by cell, and counts what a run would do about them. */
export class Scan {
  readonly #plan: Plan;
  readonly #chosen: ChosenSteps;
  readonly #state: PlanState | undefined;
  readonly #flags: ScanOptions;
  readonly #redo: ReadonlySet<string>;
  readonly #stepTotals: ReadonlyMap<string, StepTotals>;
  /** Keys that are counted: at most one per examined slot, which the caller bounds. */
  readonly #seen = new Set<string>();
  /** Keys of jobs in doubt and of all jobs that depend on them. */
  readonly #held = new Set<string>();
  /** Reasons for resubmitting jobs, by the record with which the run resumes the job. */
  readonly #again = new WeakMap<JobRecord, SubmitReason>();
  /** Keys of the jobs that the currently examined slots asked for before. */
  #before: ReadonlyMap<string, readonly string[]> = new Map();
  readonly #prompts = new Map<string, PromptExample>();
  readonly #costs = new MeanCosts();
  readonly #unpriced = new Set<string>();
  #firstInvalid: string | undefined;
  #notKept: NotKept | undefined;
  #sameAgain: SameAgain | undefined;
  #dropped: Dropped | undefined;
  #reusedJobs = 0;
  readonly #saved = new Bill();
  /** Number of examined slots. */
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

  /** Totals of the steps, in file order. */
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

  /** A slot that fails without a job, for a message. */
  get firstInvalid(): string | undefined {
    return this.#firstInvalid;
  }

  /** Replies with images that have no file, although slots now want them. */
  get notKept(): NotKept | undefined {
    return this.#notKept;
  }

  /** The jobs that are taken over, and what submitting them would cost. */
  get reuse(): NonNullable<PlanReport['reuse']> {
    return { jobs: this.#reusedJobs, ...this.#saved.amounts() };
  }

  /** Upscales that would be paid for an existing image. */
  get sameAgain(): SameAgain | undefined {
    return this.#sameAgain;
  }

  /** Lists with more items than are used. */
  get dropped(): Dropped | undefined {
    return this.#dropped;
  }

  /** Examines these cells; their records are in memory together. */
  async add(cells: readonly Cell[]): Promise<void> {
    const found = await withRecords(
      cells,
      (cell, lookup) => {
        const slots = this.#resolve(cell, lookup);
        return { cell, slots, lacks: sourcesToCome(slots, lookup) };
      },
      async (keys) => (await (this.#flags.reuse ?? this.#state)?.many(keys)) ?? new Map(),
      this.#plan.images,
    );
    const chosen = found.map(({ slots, ...others }) => ({
      ...others,
      slots: slots.filter((slot) => this.#chosen.includes(slot)),
      isHeld: heldBelow(slots, this.#held),
    }));
    const pending = chosen.flatMap(({ slots }) => slots.filter(({ status }) => status === 'pending'));
    this.#before =
      this.#state === undefined || pending.length === 0
        ? new Map()
        : await this.#state.keysOfSlots(pending.map(({ id }) => id));
    for (const { cell, slots, isHeld, lacks } of chosen)
      for (const slot of slots) {
        this.examined += 1;
        // What it gathers lies in a cell that is not chosen.
        const isLeftOut = (lacks.get(slot) ?? []).some((key) => !this.#seen.has(key));
        this.#count(slot, cell, isHeld, isLeftOut);
      }
  }

  /** Resolves the slots of a cell as a run with these flags finds them. */
  #resolve(cell: Cell, lookup: RecordLookup): readonly Slot[] {
    const fine = this.#fineIn(cell, lookup);
    return this.#plan.resolve(cell, (key) => this.#revived(key, lookup(key), fine));
  }

  /**
   * Returns the failed jobs of a cell whose missing button is optional for each slot that asks for it. A run does not treat them as
   * failures, so `--retry-failed` leaves them alone.
   */
  #fineIn(cell: Cell, lookup: RecordLookup): ReadonlySet<string> {
    const fine = new Set<string>();
    if (this.#flags.retryFailed === undefined || this.#state === undefined) return fine;
    const slots = this.#plan.resolve(cell, lookup).filter(({ record }) => record?.status === 'failed');
    for (const { status, record } of slots) if (status === 'skipped' && record) fine.add(record.key);
    for (const { status, record } of slots) if (status === 'failed' && record) fine.delete(record.key);
    return fine;
  }

  /** Returns the record with which a run with these flags resumes the job. */
  #revived(key: string, found: JobRecord | undefined, fine: ReadonlySet<string>): JobRecord | undefined {
    if (found === undefined || (fine.has(key) && !this.#redo.has(key))) return found;
    const record = this.#flags.running ? found : interruptedRecord(found);
    if (record !== found && record.status === 'pending') this.#again.set(record, 'retry');
    // The run first finds out whether the answer to a modal arrived: only then may the click be submitted again.
    if (record !== found && record.modal !== undefined) return record;
    const status = revivedStatus(record, this.#flags, this.#redo);
    if (status === undefined) return record;
    // A job that depends on a redone job is redone too.
    const isRedone = record.status === 'done' && status === 'pending';
    const revived: JobRecord = { ...record, status, ...(isRedone && { former: formerOf(record) }) };
    if (status === 'pending') this.#again.set(revived, isRedone ? 'anew' : 'retry');
    return revived;
  }

  #count(slot: Slot, cell: Cell, isHeld: (slot: Slot) => boolean, isLeftOut: boolean): void {
    const totals = this.#stepTotals.get(slot.step);
    if (totals === undefined) throw new Error(`Internal error: step "${slot.step}" is not in the plan.`);
    const { job, status, error } = slot;
    if (error?.code === droppedItemsCode)
      this.#dropped = {
        count: (this.#dropped?.count ?? 0) + 1,
        first: this.#dropped?.first ?? `cell ${slot.cell}, ${slotName(slot)}: ${error.message}`,
      };
    if (slot.accepted && !(isRemade(slot) && !isHeld(slot))) return totals.slot('accepted');
    if (status === 'skipped' || status === 'blocked') return totals.slot(status);
    if (job === undefined) return this.#countWithoutJob(slot, cell, totals);
    // The request's images are known to be missing before it is sent.
    if (status === 'failed' && slot.record === undefined) return this.#countWithoutJob(slot, cell, totals);
    const cost = costOf(this.#plan.pipeline.prices, job);
    this.#costs.add(slot, cost);
    if (this.#seen.has(job.key)) return totals.slot('shared');
    if (isLeftOut) return totals.wait(cost);
    this.#seen.add(job.key);
    if (slot.record?.status === 'done' && this.#flags.reuse?.isReused(slot.record)) {
      this.#reusedJobs += 1;
      this.#saved.add(cost, 1);
    }
    if (isToCut(slot, this.#plan, isHeld)) totals.cut();
    switch (status) {
      case 'pending': {
        if (isHeld(slot)) return totals.job('held');
        this.#keepExample(slot);
        if (cost.price === undefined && this.#unpriced.size < maxNames) this.#unpriced.add(priceName(job));
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
        if (isRemade(slot) && !isHeld(slot)) return this.#countRedo(slot, totals, cost);
        return slot.held === true ? totals.wait(cost) : totals.job(status);
      case 'failed':
        if (isRemade(slot) && !isHeld(slot)) return this.#countRedo(slot, totals, cost);
        if (!this.#failsAgain(slot)) return totals.job(status);
        return this.#countInvalid(slot, totals);
    }
  }

  #countRedo({ job }: Slot, totals: StepTotals, cost: Cost): void {
    if (job !== undefined && cost.price === undefined && this.#unpriced.size < maxNames)
      this.#unpriced.add(priceName(job));
    totals.submit('anew', cost);
  }

  #countWithoutJob(slot: Slot, cell: Cell, totals: StepTotals): void {
    if (slot.status !== 'failed') {
      const template = this.#plan.slotGraph.templates[slot.place ?? -1];
      if (template === undefined)
        throw new Error(`Internal error: ${slotName(slot)} has no template in the plan.`);
      if (template.open) totals.open = true;
      if (slot.bound !== undefined) totals.isBound = true;
      const cost = placeholderCost(
        this.#plan.pipeline.prices,
        template,
        cell,
        groupsOf(this.#plan, template)?.largest,
      );
      this.#costs.add(slot, cost);
      return totals.wait(cost, slot.bound);
    }
    this.#countInvalid(slot, totals);
  }

  #countInvalid(slot: Slot, totals: StepTotals): void {
    this.#firstInvalid ??= `cell ${slot.cell}, ${slotName(slot)}: ${slot.error?.message ?? slot.error?.code}`;
    totals.slot('invalid');
  }

  /** Whether a run with these flags evaluates this slot again, and fails in the same way before anything is submitted. */
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

  /** Notes a press that takes one frame out of its grid, which always gives the same image. */
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
    // A slot's id is costly: it hashes the cell.
    const keys = this.#before.size === 0 ? [] : (this.#before.get(slot.id) ?? []);
    return keys.some((key) => key !== slot.job?.key) ? 'changed' : 'new';
  }

  #keepExample({ cell, step, job }: Slot): void {
    const prompt = job?.request.fields.prompt;
    if (typeof prompt !== 'string' || this.#prompts.size >= maxExamples || this.#prompts.has(prompt)) return;
    this.#prompts.set(prompt, { cell, step, prompt });
  }
}

/** Buttons that take one frame out of a grid of four, with every model (gateway 5.3). */
const upscales: ReadonlySet<string> = new Set(['U1', 'U2', 'U3', 'U4']);

/** Whether a slot wants images of its reply that were never written to files. They have no links, so they cannot be fetched. */
export const isNotKept = ({ record, keep }: Slot): boolean =>
  keep && record !== undefined && record.artifacts.length === 0 && hasImages(record.text);

/** Returns the groups that a place has one slot for each of; undefined where it has one for each cell. */
export const groupsOf = (
  { matrix }: Pick<Plan, 'matrix'>,
  { step: { reduced } }: SlotTemplate,
): CellGroups | undefined => reduced && matrix.groups.get(reductionId(reduced));

/** Whether a file is still to be made or cut, and its frames are wanted if it is a grid. */
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

/** Whether a settled job depends on a job that is or was redone. */
const isRemade = ({ record, outdated, waitsForRedo }: Slot): boolean =>
  record !== undefined &&
  (outdated === true || (waitsForRedo === true && record.error?.code !== droppedCode));

/** For each slot of a group that may not begin its job yet: the jobs that are not done of those that it comes from. */
function sourcesToCome(slots: readonly Slot[], lookup: RecordLookup): ReadonlyMap<Slot, readonly string[]> {
  const waits = slots.filter(({ group, ready, status }) => group && !ready && status === 'pending');
  const isToCome = (key: string): boolean => lookup(key)?.status !== 'done';
  return new Map(waits.map((slot) => [slot, slot.job ? sourcesOf(slot.job).filter(isToCome) : []]));
}

/** Tells whether a slot depends, directly or not, on a job in doubt. @param keys such jobs of cells before; those of this one are added */
function heldBelow(slots: readonly Slot[], keys: Set<string>): (slot: Slot) => boolean {
  if (keys.size === 0 && !slots.some(({ status }) => status === 'in-doubt')) return () => false;
  const hangs = (job: JobSpec): boolean => needsOf(job).some((key) => keys.has(key));
  // A job is deeper than every job that it depends on.
  for (const { job, status } of slots.toSorted((one, other) => one.depth - other.depth))
    if (job !== undefined && (status === 'in-doubt' || hangs(job))) keys.add(job.key);
  return ({ job }) => job !== undefined && hangs(job);
}
