import { isTextKind } from '../../pipeline/kinds.ts';
import type { AxisSetting, Pipeline } from '../../pipeline/pipeline.ts';
import {
  aFlag,
  aMapping,
  aNumber,
  aText,
  aWord,
  either,
  listOf,
  mapOf,
} from '../../pipeline/values/shape.ts';
import { isObject } from '../../pipeline/values/value.ts';
import { isSelection, type Selection } from '../../plan/cell.ts';
import type { StepsPlan } from '../../plan/plan.ts';
import type { InputTable } from '../../report/facts/run.ts';
import type { RunSettings } from '../../run/ports.ts';
import { usageError } from '../errors/cli-error.ts';
import { version } from '../version.ts';
import { largestCopy } from '../workspace/tables.ts';
import type { QueueChoice } from './queue.ts';

/** A table of the pipeline: a worker needs the names of its columns, and only for groups of cells its rows, which the engine has. */
export interface SpecTable {
  /** Path as the pipeline names it. */
  readonly declared: string;
  readonly format: Extract<Pipeline['matrix']['axes'][number], { kind: 'rows' }>['format'];
  readonly columns: readonly string[];
  readonly sha256: string;
}

/** The place of a run's files, for all of its workers. */
export type SpecPlace =
  /** A folder that all workers share, and the id in its mark. */
  | { readonly kind: 'folder'; readonly path: string; readonly id: string }
  /** A bucket, `s3://bucket/prefix`, and the id of its run. */
  | { readonly kind: 's3'; readonly url: string; readonly id: string };

/** The service, as every worker must reach it. Names of variables and keys come from each worker's own environment. */
export interface SpecService {
  readonly id: string;
  readonly origin: string;
  /** The full address, if no part of it is a secret. */
  readonly baseUrl?: string;
}

/**
 * The description of a run for workers on other machines: everything that decides what its jobs are and how they run, and no secret. The
 * same command gives the same text, by which an interrupted run is recognised.
 */
export interface RunSpec {
  /** Version of promptpress: another release may make other jobs of the same pipeline. */
  readonly promptpress: string;
  readonly pipeline: {
    readonly file: string;
    readonly folder: string;
    readonly text: string;
    readonly set?: readonly AxisSetting[];
  };
  readonly tables: readonly SpecTable[];
  /** The folder that the pipeline's files must lie in, on the machine where the run was begun. */
  readonly filesRoot: string;
  readonly service: SpecService;
  readonly selection: Selection;
  readonly settings: RunSettings;
  /** Name of the flags' orders to remake jobs; a different name starts new orders. Absent: no orders. */
  readonly redo?: string;
  readonly place: SpecPlace;
  readonly queue: QueueChoice;
}

/** Whether any step submits tasks; false where all steps are text calls. */
export const makesTasks = ({ slotGraph }: Pick<StepsPlan, 'slotGraph'>): boolean =>
  slotGraph.templates.some(({ step }) => !isTextKind(step.kind));

/** Whether a step is about groups of cells: a worker finds the cells of a group by the matrix. */
export const hasGroups = ({ steps, bests }: Pick<Pipeline, 'steps' | 'bests'>): boolean =>
  [...steps, ...bests].some(({ reduced }) => reduced !== undefined);

/** Returns the tables of a pipeline as workers need them. @throws CliError (exit 2) where the engine lacks rows that a worker needs */
export function specTables(pipeline: Pipeline, kept: readonly InputTable[]): readonly SpecTable[] {
  const large = hasGroups(pipeline) ? kept.find(({ copied }) => !copied) : undefined;
  if (large !== undefined)
    throw usageError(
      `A step gathers or picks over axes, for which each worker needs the whole table ${large.file}, and the engine keeps tables of at most ${largestCopy / 1024 ** 2} MiB.`,
      'Split the table, or run the pipeline on one machine, without --engine.',
    );
  return pipeline.matrix.axes.flatMap((axis) => {
    if (axis.kind !== 'rows') return [];
    const { declared, format, columns, file } = axis;
    const { sha256 = '' } = kept.find((table) => table.file === file) ?? {};
    return [{ declared, format, columns, sha256 }];
  });
}

/** Returns the settings for every worker, without those that only the coordinator applies (forgetting rates, searching tasks). */
export function specSettings({ relearn: _once, findInDoubt: _for, ...settings }: RunSettings): RunSettings {
  return settings;
}

/** Returns the spec as the text that the engine stores. */
export const specText = (spec: Omit<RunSpec, 'promptpress'>): string =>
  JSON.stringify({ promptpress: version, ...spec });

/** The result of reading a spec: the spec, or the release that wrote an unreadable one. */
export type ReadSpec =
  | { readonly spec: RunSpec }
  /** The release that wrote it; absent: the text is damaged. */
  | { readonly other: string | undefined };

/** Reads the text of {@link specText}. */
export function readSpec(text: string | null): ReadSpec {
  const value = parsed(text ?? '');
  const release = isObject(value) ? value['promptpress'] : undefined;
  if (typeof release !== 'string') return { other: undefined };
  if (release !== version) return { other: release };
  return isSpec(value) ? { spec: value } : { other: undefined };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const rate = aMapping({ count: aNumber, perMs: aNumber });
const reasons = listOf(
  either(aMapping({ kind: aWord('text'), text: aText }), aMapping({ kind: aWord('pattern'), source: aText })),
);
const rates = { submit: rate, poll: rate, download: rate, text: rate, tokens: rate };
const settings = aMapping(
  {
    limits: aMapping({ tasks: aNumber, requests: aNumber }, rates),
    retry: aMapping(
      {
        attempts: aNumber,
        baseMs: aNumber,
        capMs: aNumber,
        resubmits: aNumber,
        ambiguous: aWord('retry', 'hold'),
        patienceMs: aNumber,
        invalid: aNumber,
        permanent: reasons,
        transient: reasons,
      },
      { quota: listOf(aText) },
    ),
    timeouts: aMapping({ taskMs: aNumber }, { queueMs: aNumber, textMs: aNumber }),
    poll: aMapping({ minMs: aNumber, maxMs: aNumber }, { list: aFlag }),
    budget: aMapping({}, { submits: aNumber, tokens: aNumber, cost: aNumber, ask: aNumber }),
    prices: mapOf(either(aNumber, aMapping({ input: aNumber, output: aNumber }))),
    inDoubt: aWord('hold', 'retry'),
    failFast: aFlag,
  },
  {
    speed: aWord('relax', 'fast', 'turbo'),
    tag: aFlag,
    keepReplies: aWord('all', 'failed', 'none'),
    acceptedFailures: listOf(aText),
    retryFailed: aMapping({}, { code: aText }),
    maxFailures: aNumber,
    maxSubmits: aNumber,
    maxDurationMs: aNumber,
  },
);

/** Anybody who can write to the engine may have written the text, so its whole form is checked. */
const isSpec = aMapping(
  {
    pipeline: aMapping(
      { file: aText, folder: aText, text: aText },
      { set: listOf(aMapping({ axis: aText, value: aText })) },
    ),
    tables: listOf(
      aMapping({
        declared: aText,
        format: aWord('csv', 'tsv', 'jsonl', 'json', 'yaml', 'files'),
        columns: listOf(aText),
        sha256: aText,
      }),
    ),
    filesRoot: aText,
    service: aMapping({ id: aText, origin: aText }, { baseUrl: aText }),
    selection: isSelection,
    settings,
    place: either(
      aMapping({ kind: aWord('folder'), path: aText, id: aText }),
      aMapping({ kind: aWord('s3'), url: aText, id: aText }),
    ),
    queue: either(
      aMapping({ kind: aWord('bullmq', 'lease') }),
      aMapping({ kind: aWord('redis'), url: aText }),
    ),
  },
  { redo: aText },
) as (value: unknown) => value is RunSpec;
