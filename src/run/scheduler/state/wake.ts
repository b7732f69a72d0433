import { isParked } from '../../machine/job.ts';
import { deferralCount } from '../../machine/retry/deferrals.ts';
import type { KindState } from '../routes/kinds.ts';
import { canOpenCell, givesBackAt, hasDueCells } from './queries.ts';
import type { SchedulerState } from './state.ts';

/** A process that wakes this long after its due time has slept, ms. */
const asleepMs = 60_000;

/** When the run reaches its maximum duration, Unix ms; undefined: never. */
export function durationEnd({ options: { settings, startedAt } }: SchedulerState): number | undefined {
  return settings.maxDurationMs === undefined ? undefined : startedAt + settings.maxDurationMs;
}

/** When a tick is due if nothing happens before; undefined: only a result or a cell moves the run on. */
export function nextWakeAt(state: SchedulerState): number | undefined {
  const { lifecycle, jobs, routes, stall, now, kinds } = state;
  if (lifecycle.isHalted) return undefined;
  if (hasDueCells(state) || (canOpenCell(state) && state.isLong())) return now;
  const moments = [
    jobs.delayed.nextAt(),
    jobs.overdue.givesBackAt,
    lookDueAt(state),
    routes.nextAt(now),
    ...[...kinds.all()].map((kind) => probeAt(state, kind)),
    kinds.judgesAt,
    ...(jobs.size > 0 ? [stall.nextAt] : []),
    ...(lifecycle.isEnding ? [] : [durationEnd(state)]),
    givesBackAt(state),
  ].filter((at) => at !== undefined);
  return moments.length === 0 ? undefined : Math.min(...moments);
}

/** When the next look at a task past its deadline may leave, Unix ms; undefined: never, or only a result decides. */
export function lookDueAt({ jobs, routes, lifecycle, now }: SchedulerState): number | undefined {
  const at = lifecycle.isEnding ? undefined : jobs.overdue.nextLook?.at;
  if (at === undefined || at > now) return at;
  const { poll } = routes.queues;
  const next = Math.max(poll.lane().nextAt(now), poll.knownAt());
  return routes.hasRoom('poll', now) && next < Number.POSITIVE_INFINITY ? Math.max(at, next) : undefined;
}

/** While a task past its deadline keeps its place, it is looked at so often at most. */
const mostLooks = 10;

/** When a task past its deadline is looked at next, Unix ms: rarely, and within the bound on polls. */
export const lookAgainAt = ({ polls, options: { settings }, now }: SchedulerState): number =>
  now + polls.waitMs(Math.max(settings.poll.maxMs, settings.timeouts.taskMs / mostLooks), now);

/** True while a job probes whether its kind is served again. One that cannot read its button lets another one do so. */
export function isProbed({ jobs }: SchedulerState, { probe }: KindState): boolean {
  const job = probe === undefined ? undefined : jobs.get(probe);
  if (job === undefined || isParked(job) || deferralCount(job, 'poll') > 0) return false;
  return ['pending', 'submitting'].includes(job.record.status);
}

/** When a job of a kind that rests probes it; undefined: none waits for that, or one does so already. */
const probeAt = (state: SchedulerState, kind: KindState): number | undefined =>
  kind.parked.size === 0 || isProbed(state, kind) ? undefined : kind.restsUntil;

/** Notes a sleep: a machine that sleeps, or a stopped process, misses its due moments. */
export function noteSleep(state: SchedulerState, now: number): void {
  if (now - state.now < asleepMs) return;
  const due = nextWakeAt(state);
  if (due === undefined || now - due < asleepMs) return;
  state.watchedSince = now;
  const minutes = Math.round((now - due) / 60_000);
  state.outbox.emit({
    type: 'run:notice',
    code: 'run.slept',
    message: `The run stood still for ${minutes} min: the machine slept, or the process was stopped. That time counts for no task (timeouts.task).`,
  });
}
