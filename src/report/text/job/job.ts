import { memberAt } from '../../../pipeline/values/path.ts';
import type { Value } from '../../../pipeline/values/value.ts';
import { framesError } from '../../../plan/graph/frames.ts';
import { type FailureRules, type IsOptional, isSkipped } from '../../../plan/graph/optional.ts';
import {
  type Attempt,
  artifactsOf,
  type JobRecord,
  knownCost,
  needsOf,
  type UnconfirmedSubmits,
} from '../../../plan/job.ts';
import type { JobRequest, ReplyPlace } from '../../../plan/job-request.ts';
import { isOutdated, parentTaskOf } from '../../../plan/resolve/lineage.ts';
import { withRecords } from '../../../plan/resolve/load-records.ts';
import { nearestPrompt } from '../../../plan/resolve/nearest-prompt.ts';
import type { RecordLookup } from '../../../plan/slot.ts';
import { isInDoubt } from '../../../results/sums.ts';
import { segmentPath } from '../../../state/files/segment-files.ts';
import type { StateReader } from '../../../state/reader.ts';
import type { JobReference, JsonOutputs, ReplyLine } from '../../facts/json-outputs.generated.ts';
import type { RunPlace } from '../../facts/place.ts';
import type { Commands } from '../next-commands.ts';
import { acceptedAdvice, adviceFor, nextSteps } from './advice.ts';
import { type ImageReport, imageReport } from './image-calls.ts';
import { referenceTo } from './mention.ts';

type Shown = JsonOutputs['show'];

/** All facts about one job, as printed by `show --json`. */
export interface JobReport extends Omit<Shown, 'request' | 'artifacts' | keyof ImageReport>, ImageReport {
  readonly request: JobRequest;
  readonly artifacts: JobRecord['artifacts'];
}

const maxChildren = 100;

/**
 * Reads the facts of a job. Each read is short, so that an active run is not delayed; finding the children reads all records, page by
 * page.
 */
export async function readJobReport(
  place: RunPlace,
  state: StateReader,
  key: string,
  commands: Commands,
  { isOptional, accepted }: FailureRules,
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
    ? 'Its button is optional: this is not an error, and slots below it are skipped too.'
    : error && (accepted.has(error.code) ? acceptedAdvice : adviceFor(error.code, record));
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
    ...(record.reusedFrom === undefined ? {} : { reusedFrom: record.reusedFrom }),
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

const doubtfulOf = ({ count, cost }: UnconfirmedSubmits): Pick<UnconfirmedSubmits, 'count' | 'cost'> => ({
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
    if (children.length === maxChildren) return { children, more: true };
    children.push(referenceTo(record.key, record, isOptional));
  }
  return { children, more: false };
}

/** Returns the history of a job. A submission without a response has no entry, so its time comes from the job's record. */
function historyOf(
  { submittedAt, reusedFrom }: JobRecord,
  attempts: readonly Attempt[],
): JobReport['history'] {
  const entries = attempts.map(({ at, outcome, taskId, error }) => ({
    at: iso(at),
    outcome,
    ...(taskId === undefined ? {} : { taskId }),
    ...(error === undefined ? {} : { error }),
  }));
  // A job that was taken over was submitted elsewhere: that run has its history.
  if (submittedAt === undefined || reusedFrom !== undefined || attempts.some(({ at }) => at === submittedAt))
    return entries;
  return [...entries, { at: iso(submittedAt), outcome: 'unanswered' }].sort((a, b) =>
    a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
  );
}

const lineOf = ({ segment, ...line }: ReplyPlace): ReplyLine => ({ file: segmentPath(segment), ...line });

type TextReport = Pick<JsonOutputs['show'], 'answer' | 'usage' | 'rounds' | 'unusable'>;

/** Returns the part of a report that only text jobs have; empty for other jobs. */
function textReport({ text, usage, turns, rounds: places = [], invalid }: JobRecord): TextReport {
  const called = (turns ?? []).map(callsIn).filter((calls) => calls.length > 0);
  // If some replies were not kept, the others cannot be assigned to their calls.
  const areAllKept = places.length === called.length;
  const rounds = called.map((calls, index) => {
    const place = areAllKept ? places[index] : undefined;
    return { calls, ...(place === undefined ? {} : { reply: lineOf(place) }) };
  });
  return {
    ...(text === undefined ? {} : { answer: replyFactsOf(text) }),
    ...(usage === undefined ? {} : { usage }),
    ...(rounds.length === 0 ? {} : { rounds }),
    ...(invalid === undefined || invalid === 0 ? {} : { unusable: invalid }),
  };
}

function replyFactsOf({
  candidates,
  reply,
  ...facts
}: NonNullable<JobRecord['text']>): NonNullable<TextReport['answer']> {
  return {
    ...facts,
    candidates: candidates.map(({ text, finishReason, read }) => ({
      text,
      ...(finishReason === undefined ? {} : { finishReason }),
      ...(read === undefined ? {} : { passedOver: read.passed }),
    })),
    ...(reply === undefined ? {} : { reply: lineOf(reply) }),
  };
}

/** Names of the functions that the model calls in a content (gateway 6.5); none in replies to them. */
function callsIn(turn: Value): readonly string[] {
  const parts = memberAt(turn, ['parts']);
  if (!Array.isArray(parts)) return [];
  return (parts as readonly Value[]).flatMap((part) => {
    const name = memberAt(part, ['functionCall', 'name']);
    return typeof name === 'string' ? [name] : [];
  });
}
