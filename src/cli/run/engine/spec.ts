import type { AxisSetting, Pipeline } from '../../../pipeline/pipeline.ts';
import { isObject } from '../../../pipeline/values/value.ts';
import type { Selection } from '../../../plan/cell.ts';
import { isTextKind } from '../../../plan/job-request.ts';
import type { StepsPlan } from '../../../plan/plan.ts';
import type { RunSettings } from '../../../run/ports.ts';
import { version } from '../../version.ts';
import type { QueueChoice } from './queue.ts';

/** A table of which a worker needs the names of the columns, and no row. */
export interface SpecTable {
  /** As the pipeline names it. */
  readonly declared: string;
  readonly format: Extract<Pipeline['matrix']['axes'][number], { kind: 'rows' }>['format'];
  readonly columns: readonly string[];
}

/** Where the files of a run lie, for all of its workers. */
export type SpecPlace =
  /** A folder that all of them share, and what its marker says. */
  | { readonly kind: 'folder'; readonly path: string; readonly id: string }
  /** `s3://bucket/prefix`, and whose it is. */
  | { readonly kind: 's3'; readonly url: string; readonly id: string };

/** The service, as every worker must reach it. Names and keys come from each one's own environment. */
export interface SpecService {
  readonly id: string;
  readonly origin: string;
  /** The whole address, where nothing of it is a secret. */
  readonly baseUrl?: string;
}

/**
 * What a run is, for workers on other machines: all that decides what its jobs are and how they are carried out, and no secret. The same
 * command gives the same text, by which a run that was left is known again.
 */
export interface RunSpec {
  /** The release: another one may make other jobs of the same pipeline. */
  readonly promptpress: string;
  readonly pipeline: {
    readonly file: string;
    readonly folder: string;
    readonly text: string;
    readonly set?: readonly AxisSetting[];
  };
  readonly tables: readonly SpecTable[];
  /** The folder that files of the pipeline must lie in, where the run was begun. */
  readonly filesRoot: string;
  readonly service: SpecService;
  readonly selection: Selection;
  readonly settings: RunSettings;
  /** Names what its flags say of jobs that are to be made anew: other words begin anew. Absent: nothing. */
  readonly redo?: string;
  readonly place: SpecPlace;
  readonly queue: QueueChoice;
}

/** False where all steps are text calls. */
export const makesTasks = ({ slotGraph }: Pick<StepsPlan, 'slotGraph'>): boolean =>
  slotGraph.templates.some(({ step }) => !isTextKind(step.kind));

/** The tables of a pipeline as a worker needs them. */
export const specTables = ({ matrix }: Pick<Pipeline, 'matrix'>): readonly SpecTable[] =>
  matrix.axes.flatMap((axis) => {
    if (axis.kind !== 'rows') return [];
    const { declared, format, columns } = axis;
    return [{ declared, format, columns }];
  });

/** The settings that every worker obeys. What is forgotten when a run begins, its coordinator forgets; it searches what is in doubt, too. */
export function specSettings({ relearn: _once, findInDoubt: _for, ...settings }: RunSettings): RunSettings {
  return settings;
}

/** The text that is kept. */
export const specText = (spec: Omit<RunSpec, 'promptpress'>): string =>
  JSON.stringify({ promptpress: version, ...spec });

/** What is known of a run whose text another release wrote, or nobody. */
export type ReadSpec =
  | { readonly spec: RunSpec }
  /** The release that wrote it; absent: it is damaged. */
  | { readonly other: string | undefined };

/** Reads what {@link specText} wrote. */
export function readSpec(text: string | null): ReadSpec {
  const value = parsed(text ?? '');
  const release = isObject(value) ? value['promptpress'] : undefined;
  if (typeof release !== 'string') return { other: undefined };
  if (release !== version) return { other: release };
  // The same release wrote it: where its parts are there, they are what they should be.
  return isSpec(value) ? { spec: value } : { other: undefined };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSpec(value: unknown): value is RunSpec {
  if (!isObject(value)) return false;
  const { pipeline, tables, filesRoot, service, selection, settings, place, queue } = value;
  return (
    isObject(pipeline) &&
    areTexts(pipeline, 'file', 'folder', 'text') &&
    Array.isArray(tables) &&
    tables.every(
      (table) =>
        isObject(table) &&
        areTexts(table, 'declared', 'format') &&
        Array.isArray(table['columns']) &&
        table['columns'].every((column) => typeof column === 'string'),
    ) &&
    typeof filesRoot === 'string' &&
    isObject(service) &&
    areTexts(service, 'id', 'origin') &&
    isObject(selection) &&
    isObject(settings) &&
    isObject(settings['limits']) &&
    isObject(settings['retry']) &&
    isObject(settings['budget']) &&
    isObject(place) &&
    areTexts(place, 'kind', 'id') &&
    isObject(queue) &&
    areTexts(queue, 'kind')
  );
}

const areTexts = (value: Readonly<Record<string, unknown>>, ...names: readonly string[]): boolean =>
  names.every((name) => typeof value[name] === 'string');
