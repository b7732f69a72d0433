import { framesError } from '../../../plan/graph/frames.ts';
import { type IsOptional, isSkipped } from '../../../plan/graph/optional.ts';
import {
  type Attempt,
  artifactsOf,
  type DoubtfulSubmits,
  type JobError,
  type JobRecord,
  type JobStatus,
  knownCost,
  needsOf,
} from '../../../plan/job.ts';
import type { JobRequest } from '../../../plan/job-request.ts';
import { isOutdated, parentTaskOf } from '../../../plan/resolve/lineage.ts';
import { withRecords } from '../../../plan/resolve/load-records.ts';
import { nearestPrompt } from '../../../plan/resolve/nearest-prompt.ts';
import type { RecordLookup } from '../../../plan/slot.ts';
import { isInDoubt } from '../../../results/sums.ts';
import type { StateReader } from '../../../state/reader.ts';
import type { RunPlace } from '../../facts/place.ts';
import type { Commands } from '../next-commands.ts';
import { adviceFor, type NextStep, nextSteps } from './advice.ts';
import { type ImageReport, imageReport } from './image-calls.ts';
import { type JobReference, referenceTo } from './mention.ts';
import { type TextReport, textReport } from './text-calls.ts';

/** Everything a run directory knows of one job: what `show --json` prints (schemas/show.schema.json). */
export interface JobReport extends ImageReport, TextReport {
  /** Relative to the current folder. */
  readonly directory: string;
  /** A run is on. */
  readonly running: boolean;
  readonly job: string;
  /** Failed for an optional button that is not there is skipped. */
  readonly status: JobStatus | 'skipped';
  /** A submission was sent, and no process awaits its response any more: `resolve` settles it. */
  readonly inDoubt: boolean;
  /** Where it was first asked for, and whether that place had asked for another job before. */
  readonly asked: {
    readonly cell: number;
    readonly step: string;
    readonly branch: string;
    readonly reason: 'new' | 'changed';
    /** Of `changed`: what the place asked for before. */
    readonly replaces?: string;
  };
  readonly request: JobRequest;
  /** Its own prompt, else that of its nearest ancestor, exactly as sent. */
  readonly prompt?: string;
  readonly speed?: string;
  /** The button that was pressed. */
  readonly pressed?: { readonly customId: string; readonly label: string; readonly emoji: string };
  /**
   * What it continues: its parent, or all that it gathers, in order; of a text job also what it shows. Its parent is named with
   * the task that the job was made from, which is not that of today where the parent was made again.
   */
  readonly inputs: readonly JobReference[];
  /** The task whose button it pressed, or that it was made from. Absent: none, or unknown. */
  readonly parentTaskId?: string;
  /** What it came from was made again since: the next run that plans it makes it again too. */
  readonly outdated?: true;
  /** What continues it, oldest first; at most 100. */
  readonly children: readonly JobReference[];
  /** There are more children than are listed. */
  readonly moreChildren: boolean;
  /** Submissions that may have cost money. */
  readonly attempts: number;
  /** Submissions and decisions, oldest first. */
  readonly history: readonly {
    readonly at: string;
    /** `unanswered`: it was sent, and no reply is on record. */
    readonly outcome: string;
    readonly taskId?: string;
    readonly error?: JobError;
  }[];
  readonly taskId?: string;
  readonly submittedAt?: string;
  readonly finishedAt?: string;
  readonly cost?: number;
  /** Submissions that may have made a task, and their possible cost; absent: none. */
  readonly doubtful?: Pick<DoubtfulSubmits, 'count' | 'cost'>;
  readonly error?: JobError;
  /** What the error means for the user. */
  readonly advice?: string;
  /** The service's link to the image, which may be outdated. */
  readonly imageUrl?: string;
  /** Labels (or emoji) of the buttons that its task offers. */
  readonly buttons: readonly string[];
  /** Its files; behind a grid its frames. */
  readonly artifacts: JobRecord['artifacts'];
  /** Frames were wanted of its file, and there are none, or not all those of the service: why. */
  readonly whole?: Pick<JobError, 'code' | 'message'>;
  /** Commands to copy. */
  readonly next: readonly NextStep[];
}

const mostChildren = 100;

/**
 * Collects the facts of a job. Every read is short, so that a running run is not held up; finding the children reads all
 * records, page by page.
 */
export async function readJobReport(
  place: RunPlace,
  state: StateReader,
  key: string,
  commands: Commands,
  isOptional: IsOptional,
): Promise<JobReport> {
  const record = await state.get(key);
  if (record === undefined) throw new Error(`Internal error: job ${key} was found and has no record.`);
  const running = (await place.owner()) !== undefined;
  const [{ inputs, ...lineage } = noLineage] = await withRecords([record], lineageReport, (keys) =>
    state.many(keys),
  );
  const { children, more } = await childrenOf(key, state, isOptional);
  const { origin, taskId, error } = record;
  const cost = knownCost(record);
  const skipped = isSkipped(record, isOptional);
  const advice = skipped
    ? 'Its button is optional: nothing is wrong, and what hangs on it is skipped too.'
    : error && adviceFor(error.code, record);
  return {
    directory: place.name,
    running,
    job: key,
    status: skipped ? 'skipped' : record.status,
    inDoubt: isInDoubt(record, running),
    asked: { cell: origin.cell, step: origin.step, branch: origin.branch, ...(await whyOf(record, state)) },
    request: record.request,
    ...lineage.images,
    ...(lineage.prompt === undefined ? {} : { prompt: lineage.prompt }),
    ...(record.speed === undefined ? {} : { speed: record.speed }),
    ...(record.pressed === undefined ? {} : { pressed: record.pressed }),
    inputs,
    ...(lineage.parentTaskId === undefined ? {} : { parentTaskId: lineage.parentTaskId }),
    ...(lineage.outdated && { outdated: true }),
    children,
    moreChildren: more,
    attempts: record.attempts,
    history: historyOf(record, await state.attempts(key)),
    ...(taskId === undefined ? {} : { taskId }),
    ...(record.submittedAt === undefined ? {} : { submittedAt: iso(record.submittedAt) }),
    ...(record.finishedAt === undefined ? {} : { finishedAt: iso(record.finishedAt) }),
    ...(cost === undefined ? {} : { cost }),
    ...(record.doubtful === undefined ? {} : { doubtful: doubtfulOf(record.doubtful) }),
    ...(error === undefined ? {} : { error }),
    ...(advice === undefined ? {} : { advice }),
    ...(record.result?.imageUrl === undefined ? {} : { imageUrl: record.result.imageUrl }),
    buttons: (record.result?.buttons ?? []).map(({ label, emoji, customId }) => label || emoji || customId),
    artifacts: artifactsOf(record),
    ...wholeReport(record),
    ...textReport(record),
    next: skipped ? [] : nextSteps({ record, running, shared: place.engine !== undefined, inputs }, commands),
  };
}

function wholeReport(record: JobRecord): Pick<JobReport, 'whole'> {
  const error = record.split ? framesError(record) : undefined;
  return error === undefined ? {} : { whole: { code: error.code, message: error.message } };
}

/** What a story says of the jobs that a job comes from. */
interface LineageReport extends Pick<JobReport, 'inputs' | 'prompt' | 'parentTaskId'> {
  readonly images: ImageReport;
  readonly outdated: boolean;
}

const noLineage: LineageReport = { inputs: [], images: { shows: [] }, outdated: false };

function lineageReport(record: JobRecord, lookup: RecordLookup): LineageReport {
  const parentTaskId = parentTaskOf(record, lookup);
  const prompt = nearestPrompt(record, lookup);
  const inputs = [...new Set(needsOf(record))].map((input): JobReference => {
    const { taskId: now, ...mentioned } = referenceTo(input, lookup(input));
    const pressed = input === record.parent ? parentTaskId : now;
    return { ...mentioned, ...(pressed === undefined ? {} : { taskId: pressed }) };
  });
  return {
    inputs,
    images: imageReport(record, lookup),
    outdated: isOutdated(record, lookup),
    ...(prompt === undefined ? {} : { prompt }),
    ...(parentTaskId === undefined ? {} : { parentTaskId }),
  };
}

const doubtfulOf = ({ count, cost }: DoubtfulSubmits): Pick<DoubtfulSubmits, 'count' | 'cost'> => ({
  count,
  ...(cost === undefined ? {} : { cost }),
});

const iso = (unixMs: number): string => new Date(unixMs).toISOString();

async function whyOf(
  { key, origin }: JobRecord,
  state: StateReader,
): Promise<Pick<JobReport['asked'], 'reason' | 'replaces'>> {
  const keys = (await state.keysOfSlots([origin.slot])).get(origin.slot) ?? [];
  const replaces = keys[keys.indexOf(key) - 1];
  return replaces === undefined ? { reason: 'new' } : { reason: 'changed', replaces };
}

async function childrenOf(
  key: string,
  state: StateReader,
  isOptional: IsOptional,
): Promise<{ readonly children: readonly JobReference[]; readonly more: boolean }> {
  const children: JobReference[] = [];
  for await (const record of state.mentioning(key)) {
    if (!needsOf(record).includes(key)) continue;
    if (children.length === mostChildren) return { children, more: true };
    children.push(referenceTo(record.key, record, isOptional));
  }
  return { children, more: false };
}

/** A submission whose reply never came has left no entry of its own: its time is in the job's record. */
function historyOf({ submittedAt }: JobRecord, attempts: readonly Attempt[]): JobReport['history'] {
  const entries = attempts.map(({ at, outcome, taskId, error }) => ({
    at: iso(at),
    outcome,
    ...(taskId === undefined ? {} : { taskId }),
    ...(error === undefined ? {} : { error }),
  }));
  if (submittedAt === undefined || attempts.some(({ at }) => at === submittedAt)) return entries;
  return [...entries, { at: iso(submittedAt), outcome: 'unanswered' }].sort((a, b) =>
    a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
  );
}
