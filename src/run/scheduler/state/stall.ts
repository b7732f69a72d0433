import { isTextRequest } from '../../../plan/job-request.ts';
import type { RunEvent } from '../../events.ts';
import type { Job } from '../../machine/job.ts';
import { routeOrder } from '../routes/routes.ts';
import type { ActiveJobs } from './active-jobs.ts';

/** Time without a change of any job after which a run reports what it waits for, and the interval of further reports, ms. */
const quietMs = 600_000;

/** Largest number of jobs named in a notice. */
const named = 5;

/** Detects that no job changes. Times are Unix ms. */
export class StallDetector {
  #movedAt: number;
  #speakAt: number;

  constructor(startedAt: number) {
    this.#movedAt = startedAt;
    this.#speakAt = startedAt + quietMs;
  }

  /** When the next notice is due. */
  get nextAt(): number {
    return this.#speakAt;
  }

  /** Notes that a job changed. */
  moved(now: number): void {
    this.#movedAt = now;
    this.#speakAt = now + quietMs;
  }

  /** Returns the notice, if one is due. */
  notice(activeJobs: ActiveJobs, now: number): RunEvent | undefined {
    if (activeJobs.size === 0 || now < this.#speakAt) return undefined;
    this.#speakAt = now + quietMs;
    return whatIsWaitedFor(activeJobs, now - this.#movedAt, now);
  }
}

/** Returns what a run waits for: a paused route, else tasks on the service, else text calls, else deferred jobs, else other requests. */
function whatIsWaitedFor(
  activeJobs: ActiveJobs,
  sinceMs: number,
  now: number,
): Extract<RunEvent, { type: 'run:waiting' }> {
  const jobs = [...activeJobs.all()];
  const event = (reason: string, waiting = jobs): Extract<RunEvent, { type: 'run:waiting' }> => ({
    type: 'run:waiting',
    sinceMs,
    reason,
    jobs: waiting.slice(0, named).map(({ record }) => record.key),
  });
  for (const name of routeOrder) {
    const at = activeJobs.routes.nextAtOf(name, now);
    // A time that depends on a result or on another job is covered below.
    if (at <= now || at === Number.POSITIVE_INFINITY) continue;
    const seconds = Math.ceil((at - now) / 1000);
    return event(
      `no ${name} request may be sent for another ${seconds} s, by its rate${name === 'text' ? ', by the rate of tokens,' : ''} or because the service refused the last one`,
    );
  }
  const asked = jobs.filter(({ record }) => record.status === 'submitting' && isTextRequest(record.request));
  const running = jobs.filter(({ record }) => record.status === 'running');
  if (running.length > 0) return event(tasksText(running, now), running);
  if (asked.length > 0)
    return event(
      `${counted(asked.length, 'text call is', 'text calls are')} not answered; ${ageText(asked, 'was sent', now)}`,
      asked,
    );
  for (const name of routeOrder) {
    const deferred = jobs.filter(
      ({ nextRequest, deferrals }) => nextRequest.kind === 'wait' && deferrals?.[name] !== undefined,
    );
    if (deferred.length > 0)
      return event(
        `${counted(deferred.length, 'job was', 'jobs were')} deferred by the service, and ${deferred.length === 1 ? 'waits' : 'wait'} for another ${name} request`,
        deferred,
      );
  }
  return event(`${counted(activeJobs.routes.inFlight, 'request is', 'requests are')} under way`);
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

function ageText(jobs: readonly Job[], verb: string, now: number): string {
  const oldest = Math.min(...jobs.map(({ record }) => record.submittedAt ?? now));
  return `${jobs.length === 1 ? 'it' : 'the oldest'} ${verb} ${Math.round((now - oldest) / 60_000)} min ago`;
}

/** Lists tasks unknown to the service separately: they may be lost, or their ids mistyped. */
function tasksText(running: readonly Job[], now: number): string {
  const unknown = running.filter((job) => job.unknown === true);
  const known = running.filter((job) => job.unknown !== true);
  const ids = unknown.slice(0, named).map(({ record }) => record.taskId);
  const more = unknown.length > named ? ', …' : '';
  return [
    ...(known.length === 0
      ? []
      : [
          `${counted(known.length, 'task is', 'tasks are')} not finished on the service; ${ageText(known, 'was submitted', now)}`,
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `the service does not know ${counted(unknown.length, 'task', 'tasks')} (${ids.join(', ')}${more}) yet`,
        ]),
  ].join('; ');
}
