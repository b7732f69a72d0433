import { isParked } from '../../machine/job.ts';
import { deferralCount } from '../../machine/retry/deferrals.ts';
import type { KindState } from '../routes/kinds.ts';
import { canOpenCell, givesBackAt, hasDueCells, pollsTakeMs } from './queries.ts';
import type { SchedulerState } from './state.ts';

/** Delay of a due timer after which the process counts as having slept, ms. */
const asleepMs = 60_000;

/** Returns when the run reaches its maximum duration, Unix ms; undefined: never. */
export function durationEnd({ options: { settings, startedAt } }: SchedulerState): number | undefined {
  return settings.maxDurationMs === undefined ? undefined : startedAt + settings.maxDurationMs;
}

/** Returns when a tick is due if nothing happens before; undefined where only a result or a cell advances the run. */
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

/** Returns when the next read of a task past its deadline may be sent, Unix ms; undefined: never, or only a result decides. */
export function lookDueAt({ jobs, routes, lifecycle, now }: SchedulerState): number | undefined {
  const at = lifecycle.isEnding ? undefined : jobs.overdue.nextLook?.at;
  if (at === undefined || at > now) return at;
  const { poll } = routes.queues;
  const next = Math.max(poll.lane().nextAt(now), poll.knownAt());
  return routes.hasRoom('poll', now) && next < Number.POSITIVE_INFINITY ? Math.max(at, next) : undefined;
}

/** Largest number of reads of a task while it takes a slot past its deadline. */
const maxOverdueReads = 10;

/** Returns when to read a task past its deadline next, Unix ms: rarely, and within the limit on polls. */
export function lookAgainAt(state: SchedulerState): number {
  const { settings } = state.options;
  const inMs = Math.max(settings.poll.maxMs, settings.timeouts.taskMs / maxOverdueReads);
  return state.now + Math.max(inMs, pollsTakeMs(state, state.jobs.tasksInFlight));
}

/** Whether a job is testing if its kind is served again. A job that cannot read its button leaves that to another one. */
export function isProbed({ jobs }: SchedulerState, { probe }: KindState): boolean {
  const job = probe === undefined ? undefined : jobs.get(probe);
  if (job === undefined || isParked(job) || deferralCount(job, 'poll') > 0) return false;
  return ['pending', 'submitting'].includes(job.record.status);
}

/** Returns when a job of a paused kind tests it; undefined where none waits for that, or one is testing already. */
const probeAt = (state: SchedulerState, kind: KindState): number | undefined =>
  kind.parked.size === 0 || isProbed(state, kind) ? undefined : kind.restsUntil;

/** Notes a sleep: timers fire late after the machine slept or the process was stopped. */
export function noteSleep(state: SchedulerState, now: number): void {
  if (now - state.now < asleepMs) return;
  const due = nextWakeAt(state);
  if (due === undefined || now - due < asleepMs) return;
  state.watchedSince = now;
  const minutes = Math.round((now - due) / 60_000);
  state.outbox.emit({
    type: 'run:notice',
    code: 'run.slept',
    message: `The run stood still for ${minutes} min: the machine slept, or the process was stopped. That time does not count for any task (timeouts.task).`,
  });
}
