import type { JobError } from '../../../plan/job.ts';
import type { Route } from '../../events.ts';
import type { Job, JobContext, Tally, Vain } from '../job.ts';

/** So many of its own tell that it is about the job, and one more says nothing about the route. */
const telling = 2;

/** Bad luck that is less likely than this is none. */
const unlikely = 1e-6;

/** The job after one more such answer. */
export function inVain(
  job: Job,
  route: Route,
  { now, tally: tallyOf }: Pick<JobContext, 'now' | 'tally'>,
): Job {
  const before = job.vain?.[route];
  const tally = tallyOf(route);
  const { served } = tally;
  const vain: Vain =
    before === undefined
      ? { times: 1, own: 0, since: now, before: tally, served }
      : {
          ...before,
          times: before.times + 1,
          own: before.own + Number(served > before.served),
          served,
        };
  return { ...job, vain: { ...job.vain, [route]: vain } };
}

/** The job after any other answer of the route. */
export function servedBy(job: Job, route: Route): Job {
  if (job.vain?.[route] === undefined) return job;
  const { [route]: _, ...vain } = job.vain;
  return { ...job, vain };
}

/** How often in a row the route has taken it no further. */
export const timesInVain = ({ vain }: Job, route: Route): number => vain?.[route]?.times ?? 0;

/**
 * True where waiting longer is pointless: the route has taken it no further for `timeouts.task`, `retry.attempts` times at
 * least, went on serving others, and served so many of those that came meanwhile that bad luck cannot be the reason. So neither
 * an outage, in which nobody is served, nor a service that takes one request of five ever makes it so.
 */
export function isHopeless(
  { vain }: Job,
  route: Route,
  { now, retry, taskMs, tally: tallyOf }: Pick<JobContext, 'now' | 'retry' | 'taskMs' | 'tally'>,
): boolean {
  const waited = vain?.[route];
  if (waited === undefined || waited.own < telling) return false;
  const { times, since, before } = waited;
  const tally = tallyOf(route);
  const firsts = tally.firsts - before.firsts;
  const refused = firsts - (tally.firstsServed - before.firstsServed);
  // The rule of succession: what is seldom asked is not taken to be certain.
  const luck = ((refused + 1) / (firsts + 2)) ** times;
  return times >= retry.attempts && now - since >= taskMs && luck < unlikely;
}

/** True where one more answer that puts it off would say nothing about its route. */
export function isKnown(job: Job | undefined, route: Route, { served }: Tally): boolean {
  const vain = job?.vain?.[route];
  return vain !== undefined && vain.own >= telling && served > vain.served;
}

/** What is said of a job that is hopeless. */
export function hopeless(error: JobError, job: Job, route: Route, now: number): JobError {
  const { times, since } = job.vain?.[route] ?? { times: 1, since: now };
  const minutes = Math.round((now - since) / 6000) / 10;
  return {
    ...error,
    message: `${error.message} (${times} times in ${minutes} min, in which others were served)`,
  };
}
