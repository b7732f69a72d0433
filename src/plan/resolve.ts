import { TemplateError, type TemplateScope } from '../pipeline/template.ts';
import type { Cell } from './cell.ts';
import { doneGate, followError, type Gate, gateOf } from './gate.ts';
import type { JobError, JobRecord, JobSpec, Press } from './job.ts';
import { cellIdentity, keyFromText, placeText, slotIdIn } from './key.ts';
import { stepNamed } from './order.ts';
import type { Place, Skeleton } from './place.ts';
import { readSteps } from './scope.ts';
import type { RecordLookup, Slot, SlotStatus } from './slot.ts';
import { wildcardChoice } from './wildcard.ts';

/** What resolving needs of a plan. */
export interface Resolvable {
  readonly serviceId: string;
  readonly skeleton: Skeleton;
}

/** A slot with what those below it ask of it. */
export interface Resolved {
  readonly place: Place;
  readonly above: Resolved | undefined;
  readonly slot: Slot;
  readonly gate: Gate;
}

/**
 * Everything that the plan and the state say about one cell: which slots it has, what each one asks for, and whether
 * that may be asked for now. Pure; the same plan, cell and records give the same slots. In the manifest's order.
 *
 * Asks `lookup` at most once for each slot. As records settle, slots only ever go forward: one that is done, failed,
 * skipped or blocked stays so until the user has its job tried again.
 */
export function resolveCell(plan: Resolvable, cell: Cell, lookup: RecordLookup): readonly Slot[] {
  return new CellResolution(plan, cell, lookup).slots();
}

/** What an operation turns out to be in one cell, before anything is known of what it depends on. */
interface Reading {
  readonly job?: JobSpec;
  readonly prompt?: string;
  /** Why it can never have a job. */
  readonly failure?: JobError;
  /** Its condition does not hold. */
  readonly off?: true;
  /** What its templates wait for. */
  readonly gate: Gate;
}

/** A slot's state, as far as it follows from everything else. */
interface Verdict {
  readonly status: SlotStatus;
  readonly error?: JobError;
  readonly ready?: true;
  readonly unsaved?: true;
  /** What broke the chain that it hangs on. */
  readonly cause?: string;
}

class CellResolution {
  readonly #plan: Resolvable;
  readonly #cell: Cell;
  readonly #lookup: RecordLookup;
  readonly #scope: TemplateScope;
  readonly #identity: string;
  /** By step, depth first. */
  readonly #resolved = new Map<string, Resolved[]>();

  constructor(plan: Resolvable, cell: Cell, lookup: RecordLookup) {
    this.#plan = plan;
    this.#cell = cell;
    this.#lookup = lookup;
    this.#scope = { vars: cell.vars, repeat: cell.repeat, steps: {} };
    this.#identity = cellIdentity(cell.vars, cell.repeat);
  }

  slots(): readonly Slot[] {
    const { order, steps } = this.#plan.skeleton;
    for (const { step, operations, from } of order) {
      const found: Resolved[] = [];
      this.#resolved.set(step.name, found);
      if (from === undefined) for (const place of operations) this.#resolve(place, undefined, found);
      else
        for (const above of stepNamed(this.#resolved, from.step)) {
          const place = from.operations.get(above.place);
          if (place !== undefined) this.#resolve(place, above, found);
        }
    }
    const slots: Slot[] = [];
    for (const name of steps.keys()) for (const { slot } of stepNamed(this.#resolved, name)) slots.push(slot);
    return slots;
  }

  /** One place below one slot: its slot (of a wildcard: slots), and what its step presses on them. */
  #resolve(place: Place, above: Resolved | undefined, found: Resolved[]): void {
    if (place.wild) this.#resolveWild(place, above, found);
    else this.#add(place, above, place.segment, this.#read(place, above), found);
  }

  #resolveWild(place: Place, above: Resolved | undefined, found: Resolved[]): void {
    const single = (reading: Reading): void => this.#add(place, above, place.segment, reading, found);
    const condition = this.#readCondition(place);
    if (condition !== undefined) return single(condition);
    if (place.selector === undefined || above?.gate.kind !== 'done') return single({ gate: doneGate });

    const choice = wildcardChoice(place.selector, above.slot.record?.result?.buttons ?? []);
    if (choice.kind === 'missing') return single({ gate: doneGate, failure: choice.error });
    for (const { name, press } of choice.found)
      this.#add(place, above, name, this.#read(place, above, press), found);
  }

  #add(
    place: Place,
    above: Resolved | undefined,
    segment: string | undefined,
    reading: Reading,
    found: Resolved[],
  ): void {
    const asWritten =
      segment === place.segment && (above === undefined || above.slot.branch === above.place.branch);
    const branch = asWritten
      ? place.branch
      : [...(above?.slot.branch ?? []), ...(segment === undefined ? [] : [segment])];
    const { job } = reading;
    const record = job === undefined ? undefined : this.#lookup(job.key);
    const { cause, status, ready, ...more } = judge(place, above, reading, record);
    const prompt = reading.prompt ?? (place.request.hasPrompt ? undefined : above?.slot.prompt);
    const slot: Slot = {
      cell: this.#cell.number,
      step: place.step.name,
      kind: place.kind,
      branch,
      place: place.index,
      depth: place.depth,
      keep: place.step.keep,
      id: slotIdIn(this.#identity, asWritten ? place.text : placeText(place.step.name, branch)),
      status,
      ready: ready ?? false,
      ...(job === undefined ? {} : { job }),
      ...(record === undefined ? {} : { record }),
      ...(prompt === undefined ? {} : { prompt }),
      ...more,
    };
    const resolved = { place, above, slot, gate: gateOf(slot, cause) };
    found.push(resolved);
    for (const next of place.below) this.#resolve(next, resolved, found);
  }

  /** What this place asks for in this cell, whether or not it may be asked for yet. */
  #read(place: Place, above: Resolved | undefined, found?: Press): Reading {
    return (
      this.#readCondition(place) ??
      readingOf(() => {
        if (place.waits.length === 0) return this.#request(place, above, this.#scope, found);
        const steps = readSteps(place.waits, above, this.#resolved);
        if (steps.kind !== 'known') return { gate: steps };
        const scope = { ...this.#scope, steps: steps.values };
        if (place.whenWaits && place.when?.holds(scope) === false) return { gate: doneGate, off: true };
        return this.#request(place, above, scope, found);
      })
    );
  }

  /** A condition that waits for nothing decides before anything else; undefined when it holds. */
  #readCondition({ when, whenWaits }: Place): Reading | undefined {
    if (when === undefined || whenWaits) return undefined;
    const reading = readingOf(() =>
      when.holds(this.#scope) ? { gate: doneGate } : { gate: doneGate, off: true },
    );
    return reading.off === true || reading.failure !== undefined ? reading : undefined;
  }

  /** The job, once all that its key is made of is known. */
  #request(
    place: Place,
    above: Resolved | undefined,
    scope: TemplateScope,
    found: Press | undefined,
  ): Reading {
    const { request, text } = place.request.render(scope, found);
    const { prompt } = request.fields;
    const reading: Reading = { gate: doneGate, ...(typeof prompt === 'string' ? { prompt } : {}) };
    const parent = above?.slot.job?.key;
    if (above !== undefined && parent === undefined) return reading;
    const inputs = parent === undefined ? [] : [parent];
    const key = keyFromText(text, this.#plan.serviceId, inputs, this.#cell.repeat);
    return {
      ...reading,
      job: { key, kind: place.kind, request, ...(parent === undefined ? {} : { parent }) },
    };
  }
}

/** A template that fails for one cell is that slot's failure; anything else thrown is a bug and goes on up. */
function readingOf(read: () => Reading): Reading {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { gate: doneGate, failure: { code: error.code, message: error.message } };
  }
}

/**
 * The state of a slot. The order of the questions is what keeps settled slots settled: what may still change above
 * is never overtaken by what is known below.
 */
function judge(
  place: Place,
  above: Resolved | undefined,
  reading: Reading,
  record: JobRecord | undefined,
): Verdict {
  const gate = above?.gate ?? doneGate;
  if (gate.kind === 'skipped') return stopped(gate);
  if (reading.off === true && !place.whenWaits) return off;
  // With nothing above that may turn out skipped, a mistake in a template is told before money is spent above it.
  const isSure = place.waits.length === 0 && above?.place.maySkip !== true;
  if (reading.failure !== undefined && isSure) return failed(place, reading.failure);
  // What was done or sent stands, also when the job above it is tried again.
  if (record !== undefined && record.status !== 'pending') return fromRecord(place, record);
  if (gate.kind === 'blocked') return stopped(gate);
  if (gate.kind === 'open') return { status: 'pending' };
  if (reading.gate.kind === 'open') return { status: 'pending' };
  if (reading.gate.kind !== 'done') return stopped(reading.gate);
  if (reading.off === true) return off;
  if (reading.failure !== undefined) return failed(place, reading.failure);
  return { status: 'pending', ready: true };
}

function fromRecord(place: Place, record: JobRecord): Verdict {
  const { status, error } = record;
  if (status === 'failed' && error !== undefined) return failed(place, error);
  const wantsFile =
    status === 'done' &&
    place.step.keep &&
    record.artifacts.length === 0 &&
    record.result?.imageUrl !== undefined;
  if (wantsFile) return { status: 'saving', unsaved: true };
  return { status, ...(status === 'in-doubt' && error !== undefined ? { error } : {}) };
}

/** An optional button that is not there is no failure; the job's record, which other slots share, says only that it is not. */
function failed(place: Place, error: JobError): Verdict {
  const isFine = error.code === 'button.missing' && place.selector?.optional === true;
  return { status: isFine ? 'skipped' : 'failed', error };
}

const stopped = (gate: Extract<Gate, { cause: string }>): Verdict => ({
  status: gate.kind,
  error: followError(gate),
  cause: gate.cause,
});

const off: Verdict = {
  status: 'skipped',
  error: { code: 'when.false', message: 'its `when` does not hold' },
};
