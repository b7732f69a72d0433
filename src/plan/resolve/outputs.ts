import { TemplateError } from '../../pipeline/templates/template.ts';
import { framesError, framesIn, mayBeGrid } from '../graph/frames.ts';
import { stepNamed } from '../graph/order.ts';
import type { SlotTemplate } from '../graph/slot-template.ts';
import type { Artifact, JobError, JobRecord } from '../job.ts';
import { decimal } from '../request/render.ts';
import { hasImages } from './reply.ts';
import { CellSlot, type DependencyState, type Resolved } from './resolved.ts';
import { readNamedSteps } from './scope.ts';
import { type Reading, readingOf } from './slot-status.ts';
import { doneDependency, slotName } from './upstream.ts';

/** The outputs of a job that branches name, by their numbers there; or why it has none. */
type NamedOutputs =
  | { readonly ok: true; readonly files: ReadonlyMap<number, Artifact> }
  /** Codes: `output.not-cut`, `input.missing`. */
  | { readonly ok: false; readonly error: JobError };

/**
 * Returns the outputs of a finished job that `#1`, `#2` and so on stand for: the frames of a grid that is cut, else its images or
 * videos by their output numbers. Undefined while the grid is not cut yet.
 *
 * @param place of the job: whether its grids are cut
 */
function namedOutputs(
  record: JobRecord,
  place: Pick<SlotTemplate, 'split' | 'selector'>,
): NamedOutputs | undefined {
  const { artifacts, frames, text, key } = record;
  if (artifacts.length === 0 && hasImages(text)) {
    const message = `Its images were not kept when it was made. Run with --redo ${key} to make it again.`;
    return { ok: false, error: { code: 'input.missing', message } };
  }
  if (place.split !== true || artifacts.length !== 1 || !mayBeGrid(place))
    return { ok: true, files: new Map(artifacts.filter(isMedia).map((file) => [file.output, file])) };
  const error = framesError(record);
  if (frames !== undefined && frames.files.length > 0)
    return { ok: true, files: new Map(frames.files.map((file) => [file.output - 1, file])) };
  if (error === undefined) return undefined;
  return { ok: false, error: { code: 'output.not-cut', message: `The grid was not cut: ${error.message}` } };
}

/** The words of a reply are no output that a branch stands for. */
const isMedia = ({ mime }: Artifact): boolean => /^(?:image|video)\//.test(mime);

/** The numbers of the outputs that a place stands for in one cell, or why they are not known. */
type Numbers = { readonly numbers: readonly number[]; readonly dependency: DependencyState } | Reading;

/** The outputs of one cell's jobs that branches stand for. Each is resolved once, so that steps from the same output meet in it. */
export class CellOutputs {
  readonly #resolved: ReadonlyMap<string, readonly Resolved[]>;
  readonly #slotId: (place: string) => string;
  readonly #known = new Map<Resolved, Map<number | string, Resolved>>();

  /** @param resolved the slots of the cell so far, by step */
  constructor(resolved: ReadonlyMap<string, readonly Resolved[]>, slotId: (place: string) => string) {
    this.#resolved = resolved;
    this.#slotId = slotId;
  }

  /** Returns the outputs that a place stands for, of the job of the place above it, by number; one without a number while none is known. */
  at(place: SlotTemplate, job: Resolved): readonly Resolved[] {
    const known = this.#known.get(job) ?? new Map<number | string, Resolved>();
    this.#known.set(job, known);
    const found = this.#numbers(place, job);
    const numbers = 'numbers' in found ? found.numbers : [undefined];
    return numbers.map((number) => {
      const name = number ?? place.segment ?? '';
      const resolved = known.get(name) ?? this.#output(place, job, number, found);
      known.set(name, resolved);
      // Another place may name the same output, and not wait for the step that chooses it here.
      const waits = resolved.dependency.kind === 'done' && found.dependency.kind !== 'done';
      return waits ? { ...resolved, above: resolved, dependency: found.dependency } : resolved;
    });
  }

  /** Returns the jobs of a step at some of its places, and their outputs, in the manifest's order. */
  *jobsAt(
    step: string,
    places: Pick<ReadonlySet<SlotTemplate>, 'has'>,
  ): Generator<readonly [SlotTemplate, Resolved]> {
    for (const job of stepNamed(this.#resolved, step)) {
      if (places.has(job.template)) yield [job.template, job];
      for (const place of job.template.outputs.values())
        if (places.has(place)) for (const output of this.at(place, job)) yield [place, output];
    }
  }

  #numbers({ output, waits }: SlotTemplate, job: Resolved): Numbers {
    if (output === undefined)
      throw new Error('Internal error: a place of a job is taken for one of outputs.');
    if (typeof output === 'number') return { numbers: [output], dependency: doneDependency };
    if (output === 'each') return this.#each(job);
    return readingOf((): Numbers => {
      const steps = readNamedSteps(waits, job, job.steps ?? this.#resolved);
      if (steps.kind !== 'known') return { dependency: steps };
      const value = output.evaluate({ ...job.scope, steps: steps.values });
      const number = decimal(value);
      if (number !== undefined && Number.isInteger(number) && number >= 1)
        return { numbers: [number], dependency: steps.dependency };
      const shown = JSON.stringify(value)?.slice(0, 80);
      throw new TemplateError(
        'output.number',
        `Outputs have whole numbers from 1, but #${output.source} is ${shown}.`,
      );
    });
  }

  #each(job: Resolved): Numbers {
    const outputs = outputsOf(job);
    if (outputs === undefined) return { dependency: doneDependency };
    if (!outputs.ok) return { dependency: doneDependency, failure: outputs.error };
    if (outputs.files.size > 0) return { numbers: [...outputs.files.keys()], dependency: doneDependency };
    const failure: JobError = { code: 'output.missing', message: `${slotName(job.slot)} has no outputs.` };
    return { dependency: doneDependency, failure };
  }

  #output(place: SlotTemplate, job: Resolved, number: number | undefined, found: Numbers): Resolved {
    const { slot, isHeld, scope, said, stands, steps } = job;
    const bound = job.bound * (number === undefined ? framesIn(place.output, job.template) : 1);
    const branch = [...slot.branch, number === undefined ? (place.segment ?? '') : `#${number}`];
    const { status, unsaved, uncut, record, prompt, cell, group } = slot;
    return {
      template: place,
      above: job,
      bound,
      isHeld,
      slot: new CellSlot(place, {
        cell,
        group,
        branch,
        status,
        ready: false,
        // Nothing can begin there before it is known which output is meant.
        job: number === undefined ? undefined : slot.job,
        asks: undefined,
        record,
        prompt,
        error: undefined,
        unsaved,
        uncut,
        bound,
        idOf: this.#slotId,
        asWritten: false,
      }),
      scope: number === undefined ? scope : { ...scope, vars: { ...scope.vars, frame: number } },
      said,
      dependency: job.dependency.kind === 'done' && number === undefined ? found.dependency : job.dependency,
      stands,
      steps,
      output: outputOf(job, number, found),
    };
  }
}

/** Where the files of a job are known, or were before it is redone. */
const outputsOf = ({ dependency, stands, slot, template }: Resolved): NamedOutputs | undefined =>
  slot.record === undefined || slot.unsaved === true || !(dependency.kind === 'done' || stands)
    ? undefined
    : namedOutputs(slot.record, template);

function outputOf(
  job: Resolved,
  number: number | undefined,
  found: Numbers,
): NonNullable<Resolved['output']> {
  if (number === undefined) return 'failure' in found && found.failure ? { error: found.failure } : {};
  const outputs = outputsOf(job);
  if (outputs === undefined) return { number };
  if (!outputs.ok) return { number, error: outputs.error };
  const file = outputs.files.get(number);
  if (file !== undefined) return { number, file };
  const numbers = [...outputs.files.keys()];
  const has = numbers.length === 0 ? 'none' : numbers.map((one) => `#${one}`).join(', ');
  const error: JobError = {
    code: 'output.missing',
    message: `${slotName(job.slot)} has no output #${number}; it has ${has}.`,
  };
  return { number, error };
}
