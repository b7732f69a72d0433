import { TemplateError } from '../../pipeline/templates/template.ts';
import { numberIn } from '../../pipeline/values/value.ts';
import type { Cell } from '../cell.ts';
import type { Picks, SlotGraph, SlotTemplate } from '../graph/slot-template.ts';
import type { JobError } from '../job.ts';
import type { Slot } from '../slot.ts';
import type { Seen } from './group.ts';
import { CellSlot, type DependencyState, type ReadSteps, type Resolved } from './resolved.ts';
import { readNamedSteps } from './scope.ts';
import { readingOf } from './slot-status.ts';
import { doneDependency, openDependency, slotName } from './upstream.ts';

/** One of the jobs or outputs that a step picks from. */
export interface Candidate {
  readonly job: Resolved;
  readonly cell: Cell;
  /** The steps that templates read in its cell. */
  readonly steps: ReadSteps;
}

/** The slot that was picked. */
export interface Picked extends Pick<Slot, 'cell' | 'step' | 'branch'> {
  /** `best/1`. */
  readonly name: string;
  /** Number of the output that was picked (of a grid that is cut, the frame), from 1; 0: the whole job. */
  readonly output: number;
}

/** @param job a job, an output of one, or a pick of another step */
export function pickedAs(name: string, job: Resolved): Picked {
  let at = job;
  while (at.above !== undefined && (at.template.output !== undefined || at.template.pick !== undefined))
    at = at.above;
  const { cell, step, branch } = at.slot;
  return { name, cell, step, branch, output: job.output?.number ?? 0 };
}

/** What a step picked, the best first; or why that is not known, or nothing. */
export interface Choice {
  readonly dependency: DependencyState;
  readonly picked: readonly Candidate[];
  /** How many there were to pick from. */
  readonly count: number;
  /** A result that decides is being made anew: what is picked may change. */
  readonly isHeld: boolean;
}

type Stop = Exclude<DependencyState, { kind: 'done' }>;

/** A candidate with its number, or with what stands in its way. */
type Score = { readonly candidate: Candidate } & (
  | { readonly value: number; readonly isHeld: boolean }
  | { readonly dependency: Stop }
);

/**
 * Picks the best. What cannot change any more decides first: one that failed blocks, whatever becomes of the others, unless failed ones are
 * left out; then one that is not known yet; then one without a number.
 *
 * @param candidates in the manifest's order
 */
export function choose({ step }: Picks, candidates: readonly Candidate[]): Choice {
  const { best } = step;
  const scores = candidates.map((candidate) => scoreOf(step, candidate));
  const stopped = scores.flatMap((score) => ('dependency' in score ? score.dependency : []));
  const blocked = stopped.filter(({ kind }) => kind === 'blocked');
  const known = scores.flatMap((score) => ('value' in score ? score : []));
  const isBlocked = best.failed === 'block' || known.length === 0;
  const decisive =
    (best.failed === 'block' ? blocked.find((one) => !('own' in one)) : undefined) ??
    stopped.find(({ kind }) => kind === 'open') ??
    (isBlocked ? blocked[0] : undefined) ??
    (known.length === 0 ? stopped[0] : undefined);
  // Sorting is stable: of equal numbers the first one stays the first.
  const sorted = known.toSorted((one, other) => other.value - one.value);
  return {
    dependency: decisive ?? doneDependency,
    picked: decisive === undefined ? sorted.slice(0, best.top).map(({ candidate }) => candidate) : [],
    count: known.length,
    isHeld: known.some(({ isHeld }) => isHeld),
  };
}

function scoreOf({ best: { by, over } }: Picks['step'], candidate: Candidate): Score {
  const { job, steps, cell } = candidate;
  const { output, dependency, stands, scope } = job;
  const where = over === undefined ? '' : `cell ${cell.number}, `;
  const name = `${where}${slotName(job.slot)}`;
  const stops = (by: Stop): Score => ({
    candidate,
    dependency: 'cause' in by ? { ...by, cause: `${where}${by.cause}` } : by,
  });
  const fails = (error: JobError): Score => ({
    candidate,
    dependency: { kind: 'blocked', cause: `${name}: ${error.code}`, own: error },
  });
  if ('cause' in dependency) return stops(dependency);
  if (output?.error !== undefined) return fails(output.error);
  if ((dependency.kind === 'open' && !stands) || (output !== undefined && output.number === undefined))
    return stops({ kind: 'open' });
  let isHeld = job.isHeld || dependency.kind === 'open';
  const read = readingOf((): Score => {
    const names = [...new Set(by.steps.map(({ step }) => step))];
    const reading = readNamedSteps(names, job, steps);
    if (reading.kind !== 'known') return stops(reading);
    isHeld ||= reading.dependency.kind === 'open';
    const text = by.render({ ...scope, steps: reading.values, isExact: true });
    const value = numberIn(text);
    if (value !== undefined) return { candidate, value, isHeld };
    const message = `\`by\` is ${JSON.stringify(text.slice(0, 80))}, which is no number.`;
    throw new TemplateError('best.no-number', message);
  });
  if ('candidate' in read) return read;
  // While it is made anew, it may become a number.
  if (isHeld) return stops({ kind: 'open' });
  const { code = 'best.no-number', message = '' } = read.failure ?? {};
  // What a filter cannot calculate with is no number.
  return fails({
    code: code === 'template.filter' ? 'best.no-number' : code,
    message: `${name}: ${message}`,
  });
}

/**
 * Returns the steps that templates read below a pick: those of its cell, but of the group those that have their jobs for it.
 *
 * @param own those of the group's last cell
 */
export const readBelow = (
  { step: { reduced, best } }: Picks,
  graph: Pick<SlotGraph, 'steps'>,
  own: ReadSteps,
  { steps }: Candidate,
): ReadSteps => {
  if (best.over === undefined || reduced === undefined) return steps;
  const isOwn = (name: string): boolean =>
    graph.steps.get(name)?.step.reduced?.axes.join() === reduced.axes.join();
  return { get: (name) => (isOwn(name) ? own : steps).get(name) };
};

/**
 * Returns what stands for the picks at their places.
 *
 * @param seen the group that is picked from; without `over` the cell
 * @param stepsAt the steps that templates read below a pick
 */
export function picksAt(
  places: readonly SlotTemplate[],
  { step }: Picks,
  { dependency, picked, count, isHeld }: Choice,
  cell: number,
  { slotId, group, scope }: Seen,
  stepsAt: (candidate: Candidate) => ReadSteps,
): readonly Resolved[] {
  return places.map((template, index): Resolved => {
    const candidate = picked[index];
    const job = candidate?.job;
    const own: JobError = {
      code: 'best.fewer',
      message: `there ${count === 1 ? 'is only 1' : `are only ${count}`} to pick from, so there is no ${step.name}/${index + 1}`,
    };
    const fewer: DependencyState = { kind: 'skipped', cause: `${step.name}/${index + 1}: ${own.code}`, own };
    const ofCell = candidate && { vars: candidate.cell.vars, repeat: candidate.cell.repeat };
    const pickedGroup = job?.slot.group ?? (step.best.over === undefined ? group : (ofCell ?? group));
    const slot = new CellSlot(template, {
      cell,
      branch: template.branch,
      status: job?.slot.status ?? 'pending',
      ready: false,
      job: job?.slot.job,
      asks: undefined,
      record: job?.slot.record,
      prompt: job?.slot.prompt,
      error: undefined,
      unsaved: job?.slot.unsaved,
      uncut: job?.slot.uncut,
      bound: 1,
      group: pickedGroup,
      idOf: slotId,
      asWritten: true,
    });
    const known = job === undefined ? (dependency.kind === 'done' ? fewer : dependency) : job.dependency;
    return {
      template,
      above: job,
      slot,
      bound: 1,
      isHeld: isHeld || job?.isHeld === true,
      scope: job?.scope ?? scope,
      said: job?.said,
      dependency: isHeld ? openDependency : known,
      stands: job !== undefined && (isHeld || job.stands),
      ...(job?.output && { output: job.output }),
      steps: candidate && stepsAt(candidate),
    };
  });
}
