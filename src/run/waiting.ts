import type { Desk } from './desk.ts';
import type { RunEvent } from './event.ts';
import { routeOrder } from './traffic.ts';

/** A run in which no job has changed for so long says what it waits for. */
export const quietMs = 600_000;

/** How many of the jobs are named. */
const named = 5;

/** What a run waits for: a route that is paused, else the tasks on the service, else answers. */
export function whatIsWaitedFor(
  desk: Desk,
  sinceMs: number,
  now: number,
): Extract<RunEvent, { type: 'run:waiting' }> {
  const jobs = [...desk.all()];
  const event = (reason: string, waiting = jobs): Extract<RunEvent, { type: 'run:waiting' }> => ({
    type: 'run:waiting',
    sinceMs,
    reason,
    jobs: waiting.slice(0, named).map(({ record }) => record.key),
  });
  for (const name of routeOrder) {
    const { route, line } = desk.traffic.lanes[name];
    if (line.front() === undefined || route.nextAt() <= now) continue;
    const seconds = Math.ceil((route.nextAt() - now) / 1000);
    return event(
      `no ${name} request may leave for another ${seconds} s, by its rate or because the service refused the last one`,
    );
  }
  const running = jobs.filter(({ record }) => record.status === 'running');
  if (running.length > 0) {
    const oldest = Math.min(...running.map(({ record }) => record.submittedAt ?? now));
    const minutes = Math.round((now - oldest) / 60_000);
    return event(
      `${running.length} tasks are not finished on the service; the oldest was submitted ${minutes} min ago`,
      running,
    );
  }
  return event(`${desk.traffic.underWay} requests are under way`);
}
