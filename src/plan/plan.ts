import { type Diagnostic, err, ok, type Result } from '../pipeline/diagnostics/diagnostic.ts';
import { SourceText } from '../pipeline/diagnostics/source.ts';
import type { FilePort } from '../pipeline/files.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { Cell } from './cell.ts';
import { buildGraph, gatheredPerCellLimit, slotsPerCellLimit, type TooLarge } from './graph/build.ts';
import type { SlotGraph } from './graph/slot-template.ts';
import { prepareMatrix } from './matrix/matrix.ts';
import { type Matrix } from './matrix/types.ts';
import type { ImageFiles } from './request/image-files.ts';
import { resolveCell } from './resolve/resolve.ts';
import { KnownReadings } from './resolve/slot-status.ts';
import type { RecordLookup, Slot } from './slot.ts';

/** The plan of a pipeline's steps, with everything that is the same in every cell. */
export interface StepsPlan {
  readonly pipeline: Pipeline;
  /** Part of every job key: `service.id`, else the origin of the address; the word sandbox for the sandbox. */
  readonly serviceId: string;
  readonly slotGraph: SlotGraph;
  /** Access to the images that requests show; absent: nothing is known about files. */
  readonly images?: ImageFiles;
  /** Slots of every cell, at most: a list counts with its bound; a wildcard with everything below it counts once. */
  readonly slotsPerCell: number;
  /** Whether some place has as many slots as a wildcard finds buttons, or a job has outputs: known only when its parents are done. */
  readonly hasWildcards: boolean;
  /** {@link resolveCell} of this plan. */
  resolve(cell: Cell, lookup: RecordLookup): readonly Slot[];
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

/** Makes the part of a plan that needs no tables and is enough to run given cells. Its diagnostic is `plan.too-large`. */
export function prepareSteps(
  pipeline: Pipeline,
  { serviceId, images }: StepsSurroundings,
): Result<StepsPlan, readonly Diagnostic[]> {
  const slotGraph = buildGraph(pipeline.steps, pipeline.models);
  if ('tooMany' in slotGraph) return err([tooLargeDiagnostic(pipeline, slotGraph)]);
  const known = images === undefined ? {} : { images };
  const resolvable = {
    serviceId,
    slotGraph,
    ...known,
    known: new KnownReadings(slotGraph.templates.length),
    accepted: new Set(pipeline.acceptedFailures),
  };
  return ok({
    pipeline,
    serviceId,
    slotGraph,
    ...known,
    slotsPerCell: slotsPerCellOf(slotGraph),
    hasWildcards: slotGraph.templates.some(({ open }) => open),
    resolve: (cell: Cell, lookup: RecordLookup) => resolveCell(resolvable, cell, lookup),
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
  const steps = prepareSteps(pipeline, surroundings);
  const matrix = await prepareMatrix(pipeline.matrix, files, pipeline.source.file, signal);
  if (!matrix.ok) return err([...matrix.error, ...(steps.ok ? [] : steps.error)]);
  return steps.ok ? ok({ ...steps.value, matrix: matrix.value }) : steps;
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
