import { type Diagnostic, err, ok, type Result } from '../pipeline/diagnostics/diagnostic.ts';
import { SourceText } from '../pipeline/diagnostics/source.ts';
import type { FilePort } from '../pipeline/files.ts';
import type { Pipeline, Step } from '../pipeline/pipeline.ts';
import type { Cell } from './cell.ts';
import { buildGraph, gatheredPerCellLimit, slotsPerCellLimit, type TooLarge } from './graph/build.ts';
import type { SlotGraph } from './graph/slot-template.ts';
import { type CellGroups, reductionId } from './matrix/groups.ts';
import { prepareMatrix } from './matrix/matrix.ts';
import { type Matrix } from './matrix/types.ts';
import type { ImageFiles } from './request/image-files.ts';
import type { Picked } from './resolve/picks.ts';
import { picksIn, resolveCell } from './resolve/resolve.ts';
import { KnownReadings } from './resolve/slot-status.ts';
import type { RecordLookup, Slot } from './slot.ts';

/** The plan of a pipeline's steps, with everything that is the same in every cell. */
export interface StepsPlan {
  readonly pipeline: Pipeline;
  /** Part of every job key: `service.id`, else the origin of the address; the word sandbox for the sandbox. */
  readonly serviceId: string;
  readonly slotGraph: SlotGraph;
  /** The groups by which steps are reduced, by `reductionId`; without the matrix: none. */
  readonly groups: ReadonlyMap<string, CellGroups>;
  /** Access to the images that requests show; absent: nothing is known about files. */
  readonly images?: ImageFiles;
  /** Slots that are resolved for a cell, at most: those of its groups count, and a list with its bound; a wildcard with everything below it once. */
  readonly slotsPerCell: number;
  /** Whether some place has as many slots as a wildcard finds buttons, or a job has outputs: known only when its parents are done. */
  readonly hasWildcards: boolean;
  /** {@link picksIn} this plan. */
  picks(cell: Cell, lookup: RecordLookup): readonly Picked[];
  /** {@link resolveCell} of this plan. */
  resolve(cell: Cell, lookup: RecordLookup, isOwn?: boolean): readonly Slot[];
}

/** A pipeline ready for enumeration: its steps, and the cells of its matrix. */
export interface Plan extends StepsPlan {
  readonly matrix: Matrix;
}

/** The inputs of planning the steps, besides the pipeline. */
export interface StepsSurroundings {
  readonly serviceId: string;
  /** Files that requests show, including masks. Without it, a slot that shows one fails with `input.missing`. */
  readonly images?: ImageFiles;
}

/** The inputs of planning, besides the pipeline. */
export interface PlanSurroundings extends StepsSurroundings {
  readonly files: FilePort;
  /** Aborts the reading of tables. */
  readonly signal?: AbortSignal;
}

/** See `StepsPlan.slotsPerCell`. */
export const slotsPerCellOf = ({ templates }: Pick<SlotGraph, 'templates'>): number =>
  templates.reduce((sum, { bound }) => sum + bound, 0);

/**
 * Makes the part of a plan that needs no tables and is enough to run given cells. Its diagnostic is `plan.too-large`.
 *
 * @param groups the groups of the matrix; without them a plan with reduced steps resolves no cell
 */
export function prepareSteps(
  pipeline: Pipeline,
  { serviceId, images }: StepsSurroundings,
  groups: ReadonlyMap<string, CellGroups> = new Map(),
): Result<StepsPlan, readonly Diagnostic[]> {
  const slotGraph = buildGraph(pipeline.steps, pipeline.models, pipeline.bests);
  if ('tooMany' in slotGraph) return err([tooLargeDiagnostic(pipeline, slotGraph)]);
  const known = images === undefined ? {} : { images };
  const resolvable = {
    serviceId,
    slotGraph,
    groups,
    ...known,
    known: new KnownReadings(slotGraph.templates.length),
    accepted: new Set(pipeline.acceptedFailures),
  };
  return ok({
    pipeline,
    serviceId,
    slotGraph,
    groups,
    ...known,
    slotsPerCell:
      slotsPerCellOf(slotGraph) * Math.max(1, ...[...groups.values()].map(({ largest }) => largest)),
    hasWildcards: slotGraph.templates.some(({ open }) => open),
    picks: (cell, lookup) => picksIn(resolvable, cell, lookup),
    resolve: (cell, lookup, isOwn) => resolveCell(resolvable, cell, lookup, isOwn),
  });
}

/**
 * Makes a plan of a valid pipeline. Reads the matrix's tables once, to count and hash them, without expanding the matrix. Its diagnostics
 * are those of tables, and `plan.too-large`.
 */
export async function preparePlan(
  pipeline: Pipeline,
  { files, signal, ...surroundings }: PlanSurroundings,
): Promise<Result<Plan, readonly Diagnostic[]>> {
  const all = [...pipeline.steps, ...pipeline.bests];
  const reductions = all.flatMap(({ reduced }) => reduced ?? []);
  const matrix = await prepareMatrix(pipeline.matrix, files, pipeline.source.file, signal, reductions);
  const groups = matrix.ok ? matrix.value.groups : undefined;
  const steps = prepareSteps(pipeline, surroundings, groups);
  if (!matrix.ok) return err([...matrix.error, ...(steps.ok ? [] : steps.error)]);
  const tooLarge = all.flatMap((step) => groupDiagnostic(pipeline, step, matrix.value.groups) ?? []);
  if (tooLarge.length > 0) return err(tooLarge);
  return steps.ok ? ok({ ...steps.value, matrix: matrix.value }) : steps;
}

/** Most cells that are gathered, or picked from, together. */
const maxMembers = 10_000;

function groupDiagnostic(
  { source }: Pipeline,
  { name, reduced, ...step }: Step,
  groups: Matrix['groups'],
): Diagnostic | undefined {
  const over = step.over ?? step.best?.over;
  const largest = (reduced && groups.get(reductionId(reduced))?.largest) ?? 0;
  if (reduced === undefined || over === undefined || largest <= maxMembers) return undefined;
  return {
    severity: 'error',
    code: 'plan.too-large',
    message: `Step "${name}" ${step.best ? 'picks from' : 'gathers'} ${largest} cells over ${reduced.axes.join(', ')}; at most ${maxMembers} are ${step.best ? 'compared' : 'gathered'} together.`,
    hint: `${step.best ? 'Pick' : 'Gather'} over fewer axes.`,
    ...over.position,
    file: source.file,
    sourceLine: new SourceText(source.file, source.text).line(over.position.line).slice(0, 200),
  };
}

function tooLargeDiagnostic({ source }: Pipeline, { tooMany, of }: TooLarge): Diagnostic {
  const { name, position } = tooMany;
  return {
    severity: 'error',
    code: 'plan.too-large',
    ...(of === 'slots'
      ? {
          message: `With step "${name}" every cell has more than ${slotsPerCellLimit} slots.`,
          hint: 'Press fewer buttons on each level of its path, or start it from fewer branches.',
        }
      : {
          message: `With step "${name}" the steps of every cell gather more than ${gatheredPerCellLimit} jobs.`,
          hint: 'Gather fewer branches.',
        }),
    ...position,
    file: source.file,
    sourceLine: new SourceText(source.file, source.text).line(position.line).slice(0, 200),
  };
}
