import type { Task } from '../../service/image-service.ts';
import type { Route } from '../events.ts';
import { isParked } from '../machine/job.ts';
import { backoffMs } from '../machine/retry/backoff.ts';
import { judgeTaskFailure } from '../machine/retry/fail-reason.ts';
import { closeKind } from './closed-kinds.ts';
import { halt } from './drain.ts';
import { park, parkable, placeJob } from './place-job.ts';
import { failAllRefused } from './refused-jobs.ts';
import type { KindState } from './routes/kinds.ts';
import type { RouteOutcome } from './routes/routes.ts';
import { maxAsked } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';
import { isProbed } from './state/wake.ts';

/**
 * Notes an outcome for its kind, and for its route unless only that kind is refused. A result that makes further requests pointless halts
 * the run; one that makes further requests of its kind pointless closes the kind.
 */
export function noteOutcome(
  state: SchedulerState,
  outcome: RouteOutcome & {
    readonly kind?: KindState | undefined;
    /** The result is for one job, which the route had not deferred before. */
    readonly isFirst: boolean;
  },
): void {
  const { kinds, options, now, routes } = state;
  const { kind, reading, isFirst, key, route } = outcome;
  const { signal } = reading;
  const { retry, timeouts } = options.settings;
  const closing =
    kind === undefined || signal === undefined
      ? undefined
      : kinds.note(kind, signal, {
          key,
          isFirst,
          now,
          areMoreWaiting: (asked) => areOthersWaiting(state, kind, asked),
          restMs: (times) => Math.max(retry.baseMs, backoffMs(times, retry, options.random)),
          taskMs: timeouts.taskMs,
          patienceMs: retry.patienceMs,
        });
  if (signal?.kind === 'served') {
    routes.onServed(route);
    if (kind !== undefined) kind.keyRefusedAt = undefined;
  }
  if (reading.about === 'key' && asksKeyAgain(state, outcome, kind)) return;
  // Each kind of text call has a lane of its own.
  if (!kind?.isRefusedAlone || route === 'text') {
    const end = routes.note(outcome, now, (event) => state.outbox.emit(event));
    if (end !== undefined) halt(state, end);
  }
  if (kind === undefined || kind.closed !== undefined) return;
  if (closing !== undefined) return closeKind(state, kind, closing);
  if (kind.restsUntil !== undefined) return parkWaiting(state, kind);
  // The pause of the kind is over, however it ended: nothing else releases the jobs that waited for it.
  for (const key of kind.parked) release(state, kind, key);
  if (signal?.kind === 'served' && kind !== kinds.downloads) failAllRefused(state, kind);
}

/** Routes whose requests contain the API key. */
const keyed = ['submit', 'text', 'poll'] as const satisfies readonly Route[];

/** Interval and duration of retries with an API key that worked before, ms: the gateway may fail to read its list of keys for a moment. */
const keyAsks = { everyMs: 10_000, forMs: 30_000 } as const;

/**
 * Pauses the route of a kind after it refused an API key that worked before, in this run or for others who share its limits. A kind that
 * never accepts the key is not asked longer because others are.
 *
 * @returns false where the key never worked, or is refused for too long
 */
function asksKeyAgain(
  { routes: { queues }, kinds, now, options }: SchedulerState,
  { route: name, lane = queues[name].lane() }: RouteOutcome,
  kind: KindState = kinds.polls,
): boolean {
  const { served } = options.shared ?? {};
  const hasWorked =
    [...kinds.all()].some(({ route, isServed }) => isServed && route !== 'download') ||
    keyed.some((route) => served?.has(route));
  if (!hasWorked) return false;
  const since = kind.keyRefusedAt ?? now;
  kind.keyRefusedAt = since;
  if (now - since >= keyAsks.forMs) return false;
  const rested = Math.floor((now - since) / keyAsks.everyMs) + 1;
  lane.probeAt(since + rested * keyAsks.everyMs);
  return true;
}

/** Notes for a kind how a task ended. A message about overload delays the next submissions, as a response with that status does. */
export function noteTask(state: SchedulerState, kind: KindState, task: Task): void {
  const { options, routes, now, outbox } = state;
  const { retry } = options.settings;
  const { id, failReason = '' } = task;
  if (task.state === 'success') kind.taskEnded(id);
  if (task.state !== 'failure') return;
  const isAccount = judgeTaskFailure(failReason, task.status, retry).about === 'account';
  const closing = kind.taskEnded(id, failReason, isAccount);
  if (closing !== undefined && kind.closed === undefined) return closeKind(state, kind, closing);
  if (!overloaded.test(failReason)) return;
  const untilMs = now + Math.max(retry.baseMs, backoffMs(kind.failedInARow, retry, options.random));
  routes.queues.submit.lane().restUntil(untilMs);
  outbox.emit({ type: 'route:pause', route: 'submit', untilMs, reason: failReason });
}

/** Messages of 429 and of 500 to 504, as Discord words them, and of a file that could not be uploaded to it. */
const overloaded = /rate limit|\b50[0-4]\b|上传图片到discord失败/i;

/** Whether a job of this kind waits that is not one of these, or a job that it depends on does. */
function areOthersWaiting(
  { jobs, kinds, cells, options, lookup }: SchedulerState,
  kind: KindState,
  asked: ReadonlySet<string>,
): boolean {
  for (const key of kind.parked) if (!asked.has(key)) return true;
  for (const job of jobs.all())
    if (!asked.has(job.record.key) && parkable(job) && kinds.of(job) === kind) return true;
  // Jobs that follow from those in flight may be of this kind too.
  return cells.open
    .all()
    .filter(({ hasMore, waiting }) => hasMore && [...waiting].every((key) => !asked.has(key)))
    .slice(0, maxAsked)
    .some(({ cell }) =>
      options
        .resolve(cell, lookup)
        .some((slot) => slot.status === 'pending' && !slot.ready && kinds.ofSlot(slot) === kind),
    );
}

/** Parks the jobs of a kind that have no request in flight, until the kind is served again. */
function parkWaiting(state: SchedulerState, kind: KindState): void {
  for (const job of state.jobs.all())
    if (parkable(job) && state.kinds.of(job) === kind && kind.probe !== job.record.key)
      park(state, kind, job);
}

function release(state: SchedulerState, kind: KindState, key: string): void {
  kind.parked.delete(key);
  const job = state.jobs.get(key);
  if (job?.nextRequest.kind !== 'wait' || !isParked(job)) return;
  placeJob(state, job, { ...job, nextRequest: { ...job.nextRequest.next } });
}

/** Lets one job of each paused kind test whether the kind is served again. */
export function probeKinds(state: SchedulerState): void {
  for (const kind of state.kinds.all()) {
    const [first] = kind.parked;
    if (first === undefined || (kind.restsUntil ?? Infinity) > state.now || isProbed(state, kind)) continue;
    kind.probe = first;
    release(state, kind, first);
  }
}
