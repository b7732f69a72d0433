import type { SaveFailure } from '../../artifacts/writer.ts';
import { formatAddress } from '../../pipeline/selectors/address.ts';
import { inputsOf, type JobRecord } from '../../plan/job.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import type { Task } from '../../service/image-service.ts';
import type { Route, RunEnd } from '../events.ts';
import { become, isParked, type Job } from '../machine/job.ts';
import { backoffMs } from '../machine/retry/backoff.ts';
import { judgeTaskFailure } from '../machine/retry/fail-reason.ts';
import { wantFresh } from '../machine/save.ts';
import type { RunInput } from './commit.ts';
import { drain, halt, leaveJob } from './drain.ts';
import { failUnoffered, park, parkable, placeJob } from './place-job.ts';
import { filesInVain } from './routes/file-troubles.ts';
import { slotName } from './routes/kind-names.ts';
import type { Closing, KindState } from './routes/kinds.ts';
import { noteRouteOutcome, type RouteOutcome } from './routes/outcome.ts';
import { areAllCellsOpened } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';
import { isProbed } from './state/wake.ts';

/**
 * Notes an outcome on its kind, and on its route unless only that kind is refused. A result that makes further requests pointless
 * halts the run; one that makes further requests of its kind pointless closes that.
 */
export function noteOutcome(
  state: SchedulerState,
  outcome: RouteOutcome & { readonly kind?: KindState | undefined; readonly key?: string },
): void {
  const { kinds, options, now, routes } = state;
  const { kind, reading, isFirst } = outcome;
  const { retry, timeouts } = options.settings;
  const noted =
    kind === undefined || !('signal' in reading)
      ? undefined
      : kinds.note(kind, reading.signal, isFirst, {
          key: outcome.key ?? '',
          now,
          restMs: (times) => Math.max(retry.baseMs, backoffMs(times, retry, options.random)),
          taskMs: timeouts.taskMs,
          patienceMs: retry.patienceMs,
        });
  if ('signal' in reading && reading.signal.kind === 'served') {
    routes.onServed(outcome.route);
    if (kind !== undefined) kind.keyRefusedAt = undefined;
  }
  if ('end' in reading && reading.about === 'key' && asksKeyAgain(state, outcome.route, kind)) return;
  if (noted !== 'own') {
    const end = noteRouteOutcome(outcome, routes, now, (event) => state.outbox.emit(event));
    if (end !== undefined) halt(state, end);
  }
  if (kind === undefined || kind.closed !== undefined) return;
  if (noted !== undefined && noted !== 'own') return close(state, kind, noted);
  if (kind.restsUntil !== undefined) return parkWaiting(state, kind);
  // Its rest is over, however that ended: nothing else lets go on what waited for it.
  for (const key of kind.parked) release(state, kind, key);
  if (!('signal' in reading) || reading.signal.kind !== 'served' || kind === kinds.downloads) return;
  for (const [key, { failed }] of kind.refused) if (failed !== undefined) fail(state, kind, key, failed);
}

/** How often a key that had worked is asked again, and for how long, ms: the gateway may not read its own list of keys for a moment. */
const keyAsks = { everyMs: 10_000, forMs: 30_000 } as const;

/**
 * Lets the route of a kind rest that refuses a key which had worked, in this run or for who shares its limits. A kind that never takes it
 * is not asked for longer because others do.
 *
 * @returns false where the key never worked, or is refused for too long
 */
function asksKeyAgain(
  { routes: { queues }, kinds, now, options }: SchedulerState,
  name: Route,
  kind: KindState = kinds.polls,
): boolean {
  const served = options.shared?.served;
  const routes = [queues.submit.route, queues.text.route, queues.poll.route];
  if (!routes.some((route) => route.hasServed || served?.has(route.name))) return false;
  const since = kind.keyRefusedAt ?? now;
  kind.keyRefusedAt = since;
  if (now - since >= keyAsks.forMs) return false;
  const rested = Math.floor((now - since) / keyAsks.everyMs) + 1;
  queues[name].route.probeAt(since + rested * keyAsks.everyMs);
  return true;
}

/** Notes a file that came, or could not be had. */
export function noteSaved(
  state: SchedulerState,
  { key, result }: Extract<RunInput, { type: 'saved' }>,
): void {
  const { jobs, kinds, options, now } = state;
  const { files } = jobs;
  const job = jobs.get(key);
  if (result.ok) {
    files.saved();
    for (const [held, { failed }] of kinds.downloads.refused)
      if (failed !== undefined) fail(state, kinds.downloads, held, failed);
    return;
  }
  if (result.error.class === 'stop' || job === undefined) return;
  // An expired link says nothing of the fresh one, which is asked for next.
  if (result.error.class === 'fresh-link' && job.hasOldLinks) return;
  const { isShut: wasShut } = jobs;
  files.failed(`${key}/${job.record.artifacts.length}`, result.error, now);
  if (jobs.isShut && !wasShut) {
    const message = `Not one of the last ${filesInVain} files could be downloaded: no new task is begun until one can be. The last one: ${result.error.message}`;
    state.outbox.emit({ type: 'run:notice', code: 'downloads.in-vain', message });
  }
  const end = files.end(now, options.settings.retry.patienceMs);
  if (end !== undefined) halt(state, { kind: 'stopped', ...end });
}

/** Notes how a task ended on its kind. Words of an overload let the next submissions wait, as an answer of that status does. */
export function noteTask(state: SchedulerState, kind: KindState, task: Task): void {
  const { options, routes, now, outbox } = state;
  const { retry } = options.settings;
  const { failReason = '' } = task;
  if (task.state === 'success') kind.taskEnded();
  if (task.state !== 'failure') return;
  const isAccount = judgeTaskFailure(failReason, task.status, retry).about === 'account';
  const closing = kind.taskEnded({ reason: failReason, isAccount });
  if (closing !== undefined && kind.closed === undefined) return close(state, kind, closing);
  if (!overloaded.test(failReason)) return;
  const untilMs = now + Math.max(retry.baseMs, backoffMs(kind.failedInARow, retry, options.random));
  routes.queues.submit.route.restUntil(untilMs);
  outbox.emit({ type: 'route:pause', route: 'submit', untilMs, reason: failReason });
}

/** Words of 429 and of 500 to 504, as Discord says them, and of a file that did not reach it. */
const overloaded = /rate limit|\b50[0-4]\b|上传图片到discord失败/i;

/**
 * Holds a job whose file was given up while none can be had: it stays as it is, so that a later run downloads the file without paying. Once
 * no new task is begun, what may pass is tried again instead.
 */
export function holdUnsaved(state: SchedulerState, before: Job, failed: Job, failure: SaveFailure): void {
  const { kinds, jobs, now, options } = state;
  const { key } = before.record;
  const mayPass = failure.class === 'retry' || failure.class === 'throttle';
  const until = jobs.isShut && mayPass ? now + options.settings.retry.capMs : Number.POSITIVE_INFINITY;
  placeJob(state, before, { ...before, misses: 0, want: { kind: 'wait', until, next: wantFresh(before) } });
  if (Number.isFinite(until) || state.jobs.get(key) === undefined) return;
  const { refused } = kinds.downloads;
  refused.set(key, { failed, wasPutBack: false });
  const [oldest] = refused;
  if (refused.size > mostRefused && oldest?.[1].failed !== undefined)
    fail(state, kinds.downloads, oldest[0], oldest[1].failed);
}

/** Its jobs that have no request under way wait until the kind is served again. */
function parkWaiting(state: SchedulerState, kind: KindState): void {
  for (const job of state.jobs.all())
    if (parkable(job) && state.kinds.of(job) === kind && kind.probe !== job.record.key)
      park(state, kind, job);
}

/** Lets a job that waited for its kind go on. */
function release(state: SchedulerState, kind: KindState, key: string): void {
  kind.parked.delete(key);
  const job = state.jobs.get(key);
  if (job?.want.kind !== 'wait' || !isParked(job)) return;
  placeJob(state, job, { ...job, want: { ...job.want.next } });
}

/** Lets one job of each kind that has rested probe whether it is served again. */
export function probeKinds(state: SchedulerState): void {
  for (const kind of state.kinds.all()) {
    const [first] = kind.parked;
    if (first === undefined || (kind.restsUntil ?? Infinity) > state.now || isProbed(state, kind)) continue;
    kind.probe = first;
    release(state, kind, first);
  }
}

/**
 * Holds a job that was refused, and for which nothing was paid: it fails once others of its kind are served, and goes back to pending
 * where its kind closes.
 *
 * @param failed the job as it would have settled; absent: it is tried once more when nothing else is left to do
 */
export function holdRefused(
  state: SchedulerState,
  kind: KindState,
  before: Job,
  refused: Job,
  failed?: Job,
): void {
  const { key, request } = refused.record;
  const record = become(refused.record, 'pending', {
    finishedAt: undefined,
    invocation: undefined,
    submittedAt: undefined,
    putBack: true,
    tries: 0,
  });
  const { fresh: _, refused: __, ...rest } = refused;
  const next = { kind: isTextRequest(request) ? 'ask' : 'room' } as const;
  const held: Job = { ...rest, record, want: { kind: 'wait', until: Infinity, next } };
  const wasPutBack = before.record.putBack === true;
  placeJob(state, before, held);
  if (state.jobs.get(key) !== held) return;
  if (kind.closed !== undefined || (failed === undefined && wasPutBack)) return leave(state, kind, held);
  kind.refused.set(key, { wasPutBack, ...(failed && { failed }) });
  const [oldest] = kind.refused;
  if (kind.refused.size > mostRefused && oldest?.[1].failed !== undefined)
    fail(state, kind, oldest[0], oldest[1].failed);
}

/** Maximum of refused jobs of one kind that wait for a verdict: more than the equal refusals in a row that close it. */
const mostRefused = 32;

function fail(state: SchedulerState, kind: KindState, key: string, failed: Job): void {
  kind.refused.delete(key);
  const job = state.jobs.get(key);
  if (job === undefined || !isParked(job)) return;
  const { putBack: _, ...record } = failed.record;
  placeJob(state, job, { ...failed, record });
}

function leave(state: SchedulerState, kind: KindState, job: Job): void {
  kind.left += 1;
  leaveJob(state, job);
}

/** Nothing is left to do but jobs on whose refusal there is no verdict: they get one. @returns false where there is none */
export function judgeRefused(state: SchedulerState): boolean {
  const { jobs, kinds, routes, lifecycle } = state;
  if (jobs.size === 0 || routes.inFlight > 0 || lifecycle.isHalted) return false;
  if (!lifecycle.isEnding && !areAllCellsOpened(state)) return false;
  let held = 0;
  for (const { refused } of kinds.all()) held += refused.size;
  if (held === 0 || held < jobs.size) return false;
  for (const kind of kinds.all())
    for (const [key, { failed, wasPutBack }] of kind.refused) {
      const job = jobs.get(key);
      kind.refused.delete(key);
      if (job?.want.kind !== 'wait') continue;
      if (failed === undefined) placeJob(state, job, { ...job, want: { ...job.want.next } });
      else if (wasPutBack && !kind.isServed) leave(state, kind, job);
      else fail(state, kind, key, failed);
    }
  return true;
}

/** Closes a kind for the rest of the run: its jobs go back to pending, and no cell that needs it is begun. */
export function close(state: SchedulerState, kind: KindState, closing: Closing): void {
  const { kinds, jobs, outbox, options } = state;
  kind.closed = closing;
  if (kind === kinds.polls || kind === kinds.downloads)
    return halt(state, { kind: 'stopped', code: closing.code, message: closing.message });
  for (const job of jobs.all()) {
    if (kinds.of(job) !== kind) continue;
    bar(state, kind, job.record);
    if (!isParked(job) && !parkable(job) && !isResting(job)) continue;
    if (kind.refused.has(job.record.key) || !failUnoffered(state, kind, job)) leave(state, kind, job);
  }
  kind.refused.clear();
  kind.parked.clear();
  // The cells of the other workers need the kind as well, and each would ask for it anew.
  if (options.others !== undefined) return drain(state, closedEnd(state));
  outbox.emit({
    type: 'run:notice',
    code: closing.code,
    message: `${sentence(closing.message)} No more ${kind.name} are asked for in this run; all else goes on.`,
  });
}

const sentence = (words: string): string => (/[.!?。！？]$/.test(words) ? words : `${words}.`);

/** Pending, and waits for a moment of its own. */
const isResting = ({ record, want }: Job): boolean =>
  record.status === 'pending' && record.modal === undefined && want.kind === 'wait';

/** Notes which steps and branches lead to a job of a closed kind: cells that have not begun are not begun for it. */
export function bar({ kinds, lookup }: SchedulerState, kind: KindState, record: JobRecord): void {
  const name = slotName(record.origin);
  // Where a step asks several kinds, one of them says nothing about the cells of the others.
  if (kinds.named(name) !== kind || kinds.barred.has(name)) return;
  const seen = new Set<string>();
  const waiting = [record];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    kinds.barred.set(slotName(one.origin), kind);
    for (const key of inputsOf(one)) {
      const above = seen.has(key) ? undefined : lookup(key);
      seen.add(key);
      if (above !== undefined) waiting.push(above);
    }
  }
}

/** The end of a run in which kinds were closed. */
export function closedEnd(state: SchedulerState): RunEnd {
  const { closed } = state.kinds;
  const [first] = closed;
  const said = closed.map(({ name, left, closed: why }) => {
    const jobs =
      left === 0
        ? ''
        : ` ${counted(left, 'job')} of ${name} ${left === 1 ? 'waits' : 'wait'} for a later run.`;
    return `${sentence(why?.message ?? '')}${jobs}`;
  });
  const { left } = state.cells;
  const cells =
    left === 0
      ? []
      : [`${counted(left, 'cell')} that ${left === 1 ? 'needs it was' : 'need it were'} not begun.`];
  const others = left === 0 ? [] : state.kinds.openSteps;
  const only =
    others.length === 0
      ? []
      : [
          `${others.map((step) => `--only ${formatAddress({ step, segments: [] })}`).join(' ')} goes on without it.`,
        ];
  return {
    kind: 'stopped',
    code: first?.closed?.code ?? 'kind.unserved',
    message: [...said, ...cells, ...only].join(' '),
  };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
