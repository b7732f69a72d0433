import { makesWords } from '../../pipeline/kinds.ts';
import type { StepKind } from '../../pipeline/pipeline.ts';
import type { TemplateScope } from '../../pipeline/templates/template.ts';
import type { SlotTemplate } from '../graph/slot-template.ts';
import { type Artifact, inputsOf, type JobError, type JobRecord, type JobSpec } from '../job.ts';
import type { ShownJob } from '../job-request.ts';
import { placeText } from '../key.ts';
import type { Slot, SlotStatus } from '../slot.ts';

/** A slot with what those below it ask of it. */
export interface Resolved {
  readonly template: SlotTemplate;
  readonly above: Resolved | undefined;
  readonly slot: CellSlot;
  /** Upper bound of the slots that this one stands for: more than 1 until the items of a list are known, for it and all below. */
  readonly bound: number;
  /** Whether it is an item of a list that is being made anew, or follows from one. */
  readonly isHeld: boolean;
  /** The cell's variables, and the names that its branch adds to them: what templates below it see. */
  readonly scope: TemplateScope;
  /** The slot's prompt, where the pipeline says it: a suggested one is shown, and made no key of. */
  readonly said: string | undefined;
  readonly dependency: DependencyState;
  /** Set for an output of the job above, which is no slot of its own; and for a pick of one. */
  readonly output?: ResolvedOutput;
  /** Set for a pick, and all that follows from it: the steps that templates read there. */
  readonly steps?: ReadSteps | undefined;
  /** Its job was done and is being redone, or is to be: its former result stands until then. */
  readonly stands: boolean;
}

/** The slots of steps, by the step's name. */
export type ReadSteps = Pick<ReadonlyMap<string, readonly Resolved[]>, 'get'>;

/** An output that a branch stands for. Without an `error`, what is missing is not known yet. */
export interface ResolvedOutput {
  readonly number?: number;
  readonly file?: Artifact;
  /** Why there is no such output. A button can still be pressed where the number is known. */
  readonly error?: JobError;
}

/** What is found out about one slot, beside what its place says. */
interface SlotFacts
  extends Pick<Slot, 'cell' | 'branch' | 'status' | 'ready'>,
    Partial<
      Readonly<
        Record<
          'outdated' | 'waitsForRedo' | 'unsaved' | 'uncut' | 'unseeded' | 'held' | 'accepted',
          true | undefined
        >
      >
    > {
  readonly job: JobSpec | undefined;
  readonly asks: Slot['asks'] | undefined;
  readonly record: JobRecord | undefined;
  readonly prompt: string | undefined;
  readonly error: JobError | undefined;
  readonly group: Slot['group'] | undefined;
  /** {@link slotIdsOf} its cell. */
  readonly idOf: (place: string) => string;
  readonly bound: number;
  /** Its branch is the one that the file says. */
  readonly asWritten: boolean;
}

/**
 * A slot of a cell. Members come in one order, so that slots have few shapes. Its id is worked out when it is asked for: most slots
 * of most passes over a plan are never asked.
 */
export class CellSlot implements Slot {
  readonly cell: number;
  readonly step: string;
  readonly kind: StepKind;
  readonly branch: readonly string[];
  readonly place: number;
  readonly needs: ReadonlySet<number | string>;
  readonly depth: number;
  readonly keep: boolean;
  declare readonly split?: true;
  declare readonly seed?: true;
  readonly status: SlotStatus;
  readonly ready: boolean;
  declare readonly outdated?: true;
  declare readonly waitsForRedo?: true;
  declare readonly job?: JobSpec;
  declare readonly asks?: NonNullable<Slot['asks']>;
  declare readonly record?: JobRecord;
  declare readonly prompt?: string;
  declare readonly error?: JobError;
  declare readonly unsaved?: true;
  declare readonly uncut?: true;
  declare readonly unseeded?: true;
  declare readonly held?: true;
  declare readonly accepted?: true;
  declare readonly bound?: number;
  declare readonly group?: NonNullable<Slot['group']>;
  readonly #idOf: (place: string) => string;
  /** Absent: the file says another branch. */
  readonly #text: string | undefined;

  constructor({ step, kind, index, needs, depth, keep, split, seed, text }: SlotTemplate, facts: SlotFacts) {
    this.cell = facts.cell;
    this.step = step.name;
    this.kind = kind;
    this.branch = facts.branch;
    this.place = index;
    this.needs = needs;
    this.depth = depth;
    this.keep = keep;
    if (split === true) this.split = true;
    if (seed === true) this.seed = true;
    this.status = facts.status;
    this.ready = facts.ready;
    if (facts.outdated === true) this.outdated = true;
    if (facts.waitsForRedo === true) this.waitsForRedo = true;
    if (facts.job !== undefined) this.job = facts.job;
    if (facts.asks !== undefined) this.asks = facts.asks;
    if (facts.record !== undefined) this.record = facts.record;
    if (facts.prompt !== undefined) this.prompt = facts.prompt;
    if (facts.error !== undefined) this.error = facts.error;
    if (facts.unsaved === true) this.unsaved = true;
    if (facts.uncut === true) this.uncut = true;
    if (facts.unseeded === true) this.unseeded = true;
    if (facts.held === true) this.held = true;
    if (facts.accepted === true) this.accepted = true;
    if (facts.bound > 1) this.bound = facts.bound;
    if (facts.group !== undefined) this.group = facts.group;
    this.#idOf = facts.idOf;
    this.#text = facts.asWritten ? text : undefined;
  }

  /** Notes what is wrong although its job may be done: its error, unless it has one. */
  warn(error: JobError): void {
    (this as { error?: JobError }).error ??= error;
  }

  /** No member of its own: a copy of the members lacks it. */
  get id(): string {
    return this.#idOf(this.#text ?? placeText(this.step, this.branch));
  }
}

/** What a slot means for all that follows from it. */
export type DependencyState =
  /** Its result is there. */
  | { readonly kind: 'done' }
  /** Not settled yet, or in doubt: what follows waits. `made`: only files are missing, as below. */
  | { readonly kind: 'open'; readonly made?: true }
  /** What follows is skipped, or blocked, for this reason. */
  | {
      readonly kind: 'skipped' | 'blocked';
      readonly cause: string;
      /** Only files are missing: what presses its buttons does not need them. */
      readonly made?: true;
      /** The pipeline accepts the failure that blocks it. */
      readonly accepted?: true;
      /** Why a slot that starts here directly fails, or is skipped, by itself. */
      readonly own?: JobError;
    };

/**
 * The slot above, where its prompt is the nearest one of an image. The buttons of a describe draw what it suggests, not
 * what its own image was drawn from, and what a text model was asked is no prompt of an image.
 */
export const drawnAbove = (above: Resolved | undefined): Resolved | undefined =>
  above === undefined || makesWords(above.template.kind) ? undefined : above;

/** How a request names a job, or its output; undefined while its file is not known. */
export const shownAs = ({ slot: { job }, output }: Resolved): ShownJob | undefined => {
  if (job === undefined || (output !== undefined && output.file === undefined)) return undefined;
  return { job: job.key, ...(output?.file && { output: output.file.output }) };
};

/** A job that gathers one job has the key of one that continues it: both are the same in all they say. */
export function oneParent(keys: Pick<JobSpec, 'parent' | 'inputs'>): Pick<JobSpec, 'parent' | 'inputs'> {
  const [parent, ...more] = inputsOf(keys);
  return parent === undefined || more.length > 0 ? keys : { parent };
}
