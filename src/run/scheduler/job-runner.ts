import type { JobRecord } from '../../plan/job.ts';
import { begunFrom, lineageNow } from '../../plan/resolve/lineage.ts';
import type { Task } from '../../service/image-service.ts';
import type { ServiceResult } from '../../service/result.ts';
import { type FetchReason, type Job, type JobEvent, type SeenTask, withLease } from '../machine/job.ts';
import { step } from '../machine/machine.ts';
import { unconfirmedBy } from '../machine/ownership.ts';
import { hasOtherButton } from '../machine/retry/button-freshness.ts';
import { bannedPrompt, jobError } from '../machine/retry/service-failure.ts';
import { hasNoListing } from '../machine/search/listing.ts';
import { visitDueCells } from './cell-admission.ts';
import { isPaid, routeOf } from './commit.ts';
import { drain } from './drain.ts';
import { suspendUnsaved } from './failed-files.ts';
import { jobContext } from './job-context.ts';
import { noteOutcome, noteTask } from './kind-results.ts';
import { noteFailedRedo, placeJob, returnToCells } from './place-job.ts';
import { suspendRefused } from './refused-jobs.ts';
import type { KindState } from './routes/kinds.ts';
import { failureOf } from './routes/outcome.ts';
import { taskOf } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';

/**
 * Applies an event to a job: the state machine decides the next state, the record goes into the outbox, and the job into the queue for its
 * next request, or out of the active jobs.
 */
export function advance(state: SchedulerState, job: Job, event: JobEvent): void {
  if (event.type !== 'granted' || !isFirstSubmission(job)) return apply(state, job, event);
  const { record, parentTaskId } = job;
  // The parent was redone while the job waited: the job's cell takes it up again, to press the new task.
  if (parentTaskId !== undefined && taskOf(state, record.parent) !== parentTaskId) {
    returnToCells(state, job);
    return visitDueCells(state);
  }
  const lineage = lineageNow(record, parentTaskId, state.lookup);
  apply(state, { ...job, record: begunFrom(record, lineage) }, event);
}

function apply(state: SchedulerState, job: Job, event: JobEvent): void {
  if (event.type === 'searched' && hasNoListing(event.result)) endSearches(state, job);
  if (event.type === 'fetched' && event.result.ok) noteShown(state, job, event.why, event.result.value);
  const { routes, estimators, outbox, now, watchedSince, clicks, buttons } = state;
  const {
    job: made,
    send,
    attempt,
    unused = [],
    redoError,
    refusal,
  } = step(job, event, jobContext(state, job));
  const next = withLease(job, made);
  if (event.type === 'fetched') noteLost(state, job, next, event.result);
  if (event.type === 'seed') noteSeed(state, next, event.result);
  if (hasOtherButton(job, next)) buttons.distrust();
  if (attempt !== undefined) outbox.attempt(attempt);
  for (const entry of unused) outbox.attempt(entry);
  if (redoError !== undefined) noteFailedRedo(state, next.record, redoError);
  estimators.noteTask(job, next.record, now, watchedSince);
  noteAssumedTokens(state, job.record, next.record);
  if (job.record.taskId === undefined && next.record.taskId !== undefined) clicks.worked(next.record);
  const kind = state.kinds.of(job);
  if (refusal !== undefined) {
    const words = refusal === job.earlierFailure ? {} : { words: refusal };
    const about = next.record.error?.code === 'service.not-offered' ? { about: 'not-offered' as const } : {};
    const reading = { signal: { kind: 'refused', ...words, ...about } } as const;
    noteOutcome(state, { route: 'submit', reading, isFirst: false, kind, key: job.record.key });
  }
  const refused = kind && refusedJob(state, kind, job, next, event, refusal);
  if (event.type === 'saved' && !event.result.ok && isGivenUp(state, job, next))
    suspendUnsaved(state, job, next, event.result.error);
  else if (kind === undefined || refused === undefined) placeJob(state, job, next);
  else suspendRefused(state, kind, job, ...refused);
  // A task that has ended is polled again while it may turn out to belong to another job.
  const isPolledOn = next.record.status === 'running' && next.record.taskId === job.record.taskId;
  if (
    kind !== undefined &&
    event.type === 'fetched' &&
    event.why === 'poll' &&
    event.result.ok &&
    !isPolledOn
  )
    noteTask(state, kind, event.result.value);
  visitDueCells(state);
  if (send === undefined) return;
  if (send.kind === 'ask' && routes.tokens.isLimited)
    routes.tokens.take(job.record.key, estimators.costModel.tokens(job.record), now);
  const route = routeOf[send.kind];
  if (route !== undefined) routes.onSent(route, now, job.record.key);
  if (isPaid({ send })) state.kinds.onSent(job);
  outbox.send({ job: next, send });
}

/** Notes whether the service knows the requested tasks. */
function noteLost(state: SchedulerState, job: Job, next: Job, result: ServiceResult<Task>): void {
  const { lost, jobs, outbox, now } = state;
  if (result.ok) lost.found(job.record.taskId === result.value.id ? job.record : undefined);
  else if (result.error.code === 'service.task-unknown' && !lost.hasFoundLater(job.record)) {
    const notice = lost.unknown(jobs.tasksOnService, now);
    if (notice !== undefined) outbox.emit(notice);
  }
  const end = job.lost === undefined && next.lost !== undefined ? lost.lost(next.record) : undefined;
  if (end !== undefined) drain(state, end);
  jobs.isForgetting = lost.isForgetting;
}

function noteShown(state: SchedulerState, job: Job, why: FetchReason, task: SeenTask): void {
  const { buttons, owners, ended, outbox, now } = state;
  const { record } = job;
  const { taskId } = record;
  for (const key of task.claims?.keys ?? []) owners.note({ key, ...(taskId !== undefined && { taskId }) });
  buttons.note(task, now);
  owners.shown(task);
  if (why !== 'poll' || (task.state !== 'success' && task.state !== 'failure')) return;
  ended.note(record, now);
  const unconfirmed = unconfirmedBy(record, task, jobContext(state, job));
  if (unconfirmed.length === 0) return;
  outbox.emit({
    type: 'run:notice',
    code: 'task.shared',
    message: `The service gave one task id (${task.id}) to job ${record.key} and to ${unconfirmed.join(', ')}, which had ended with that task before this was known: the result there may be that of another job. Check it; --redo makes it again.`,
  });
}

/** Reports once in a run that a seed could not be read, and asks a gateway that tells none for no other. */
function noteSeed(state: SchedulerState, { record }: Job, result: ServiceResult<string>): void {
  if (result.ok || record.status !== 'done') return;
  const { code, message } = result.error;
  const tellsNone = code === 'service.not-offered';
  if (tellsNone) state.tellsSeeds = false;
  if (state.notedSeed) return;
  state.notedSeed = true;
  const { step: name, cell } = record.origin;
  state.outbox.emit({
    type: 'run:notice',
    code: 'seed.unread',
    message: `The seed of ${name} in cell ${cell} could not be read, so the column seed stays empty ${tellsNone ? 'for all grids' : 'there'}: ${message}`,
  });
}

/** Ends searches at a gateway that lists no tasks, with one notice to the user. */
function endSearches(state: SchedulerState, { record }: Job): void {
  if (!state.searches) return;
  state.searches = false;
  const message = record.status === 'in-doubt' ? noUnconfirmedSearch : noSearch;
  state.outbox.emit({ type: 'run:notice', code: 'service.no-listing', message });
}

/** Reports once in a run that budgets count estimated tokens; the manifest does not show the estimate. */
function noteAssumedTokens(state: SchedulerState, before: JobRecord, after: JobRecord): void {
  const tokens = (after.assumed?.tokens ?? 0) - (before.assumed?.tokens ?? 0);
  if (state.notedAssumedTokens || after.assumed?.answers === before.assumed?.answers) return;
  state.notedAssumedTokens = true;
  const { step: name, cell } = after.origin;
  state.outbox.emit({
    type: 'run:notice',
    code: 'tokens.untold',
    message: `The reply to ${name} in cell ${cell} has no usable token count: the estimate of about ${tokens} counts against the budgets instead, as for all such replies. The manifest's token columns stay empty there.`,
  });
}

/** Whether a job is about to be submitted or called, and cannot have a task yet. */
const isFirstSubmission = ({ record: { status, doubtful }, nextRequest }: Job): boolean =>
  (nextRequest.kind === 'submit' || nextRequest.kind === 'ask') &&
  status === 'pending' &&
  doubtful?.since === undefined;

const noUnconfirmedSearch =
  'This gateway does not list its tasks: --in-doubt find finds none of them, and jobs in doubt stay in doubt.';

const noSearch =
  'A submission got no clear answer, and this gateway does not list its tasks: such a submission is sent again without looking for its task, and may be paid twice. retry.ambiguous: hold holds it instead.';

/** Whether a file is given up while no file can be downloaded. Where the user limits failures, jobs fail at once. */
const isGivenUp = (
  { jobs, lifecycle, options: { settings } }: SchedulerState,
  before: Job,
  { nextRequest }: Job,
): boolean =>
  before.record.status === 'saving' &&
  nextRequest.kind !== 'wait' &&
  jobs.files.isInVain &&
  (!lifecycle.isEnding || lifecycle.isHalted) &&
  !settings.failFast &&
  settings.maxFailures === undefined;

/** Codes of refusals about one request: it is too large, or its kind is not offered at all. */
const ownRefusals: ReadonlySet<string> = new Set([
  'service.not-offered',
  'service.too-large',
  'request.too-large',
  'service.bad-id',
]);

const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** Whether an error message names a field of the request, quoted or spelled as in code: the request is wrong, whatever else is served. */
function namesField(words: string, { request }: JobRecord): boolean {
  const fields = new Set(Object.keys({ ...request.fields, ...request.extra }).map(plain));
  const named = words.match(/\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]+[A-Z]\w*\b|(?<=["'`])\w+(?=["'`])/g) ?? [];
  return named.some((name) => fields.has(plain(name)));
}

/**
 * Returns a refused job as it would settle, if the refusal may apply to every job of its kind; undefined where there is a verdict on the
 * kind or none is needed. Where the user limits failures, jobs fail at once.
 */
function refusedJob(
  { options: { settings } }: SchedulerState,
  kind: KindState,
  before: Job,
  next: Job,
  event: JobEvent,
  refusal: string | undefined,
): readonly [refused: Job, failed?: Job] | undefined {
  if (before.record.modal !== undefined || before.earlierFailure !== undefined) return undefined;
  const failure = failureOf(event);
  if (failure?.about === 'quota' && next.record.status === 'pending')
    return [{ ...next, record: { ...next.record, error: jobError(failure) } }];
  const { error, status } = next.record;
  const isGeneral = refusal !== undefined || failure?.class === 'permanent' || isRefusedByCode(event);
  if (status !== 'failed' || error === undefined || !isGeneral || ownRefusals.has(error.code))
    return undefined;
  if (error.httpStatus === 413) return undefined;
  if (error.httpStatus === 400 && namesField(failure?.serviceMessage ?? error.message, next.record))
    return undefined;
  if (settings.failFast || settings.maxFailures !== undefined) return undefined;
  if (before.record.putBack === true && kind.isServed) return undefined;
  return failure?.about === undefined ? [next, next] : [next];
}

function isRefusedByCode(event: JobEvent): boolean {
  if (event.type !== 'submitted' || !event.result.ok) return false;
  const { value } = event.result;
  return value.kind === 'refused' && value.code !== bannedPrompt && value.made === undefined;
}
