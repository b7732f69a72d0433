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
import { mostAsked } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';
import { isProbed } from './state/wake.ts';

/**
 * Notes an outcome on its kind, and on its route unless that kind alone is refused. A result that makes further requests pointless
 * halts the run; one that makes further requests of its kind pointless closes that.
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
  // The texts of a kind have a lane of their own.
  if (!kind?.isRefusedAlone || route === 'text') {
    const end = routes.note(outcome, now, (event) => state.outbox.emit(event));
    if (end !== undefined) halt(state, end);
  }
  if (kind === undefined || kind.closed !== undefined) return;
  if (closing !== undefined) return closeKind(state, kind, closing);
  if (kind.restsUntil !== undefined) return parkWaiting(state, kind);
  // Its rest is over, however that ended: nothing else lets go on what waited for it.
  for (const key of kind.parked) release(state, kind, key);
  if (signal?.kind === 'served' && kind !== kinds.downloads) failAllRefused(state, kind);
}

/** The routes whose requests carry the key. */
const keyed = ['submit', 'text', 'poll'] as const satisfies readonly Route[];

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

/** Notes how a task ended on its kind. Words of an overload let the next submissions wait, as an answer of that status does. */
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

/** Words of 429 and of 500 to 504, as Discord says them, and of a file that did not reach it. */
const overloaded = /rate limit|\b50[0-4]\b|上传图片到discord失败/i;

/** True where a job of it waits that is none of these, or for a job above it. */
function areOthersWaiting(
  { jobs, kinds, cells, options, lookup }: SchedulerState,
  kind: KindState,
  asked: ReadonlySet<string>,
): boolean {
  for (const key of kind.parked) if (!asked.has(key)) return true;
  for (const job of jobs.all())
    if (!asked.has(job.record.key) && parkable(job) && kinds.of(job) === kind) return true;
  // What follows from jobs under way may be of it too.
  return cells.open
    .all()
    .filter(({ hasMore, waiting }) => hasMore && [...waiting].every((key) => !asked.has(key)))
    .slice(0, mostAsked)
    .some(({ cell }) =>
      options
        .resolve(cell, lookup)
        .some((slot) => slot.status === 'pending' && !slot.ready && kinds.ofSlot(slot) === kind),
    );
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
