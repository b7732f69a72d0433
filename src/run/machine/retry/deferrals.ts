import type { JobError } from '../../../plan/job.ts';
import type { Route } from '../../events.ts';
import type { Deferrals, Job, JobContext, Tally } from '../job.ts';

/** Number of deferrals in a row after which the job itself is the cause, and further ones prove nothing about the route. */
const ownFaultDeferrals = 2;

/** Probability below which a series of deferrals is not chance. */
const luckLimit = 1e-6;

/** Returns the job after one more deferral. */
export function withDeferral(
  job: Job,
  route: Route,
  { now, tally: tallyOf }: Pick<JobContext, 'now' | 'tally'>,
): Job {
  const before = job.deferrals?.[route];
  const tally = tallyOf(route);
  const { served } = tally;
  const after: Deferrals =
    before === undefined
      ? { times: 1, own: 0, since: now, before: tally, served }
      : {
          ...before,
          times: before.times + 1,
          own: before.own + Number(served > before.served),
          served,
        };
  return { ...job, deferrals: { ...job.deferrals, [route]: after } };
}

/** Returns the job without its deferrals in a row: the route gave another result, or the job needs none of it. */
export function clearDeferrals(job: Job, route: Route): Job {
  if (job.deferrals?.[route] === undefined) return job;
  const { [route]: _, ...deferrals } = job.deferrals;
  return { ...job, deferrals };
}

/** Returns how many times in a row the route has deferred the job. */
export const deferralCount = ({ deferrals }: Job, route: Route): number => deferrals?.[route]?.times ?? 0;

/**
 * Whether a longer wait is pointless: the route has deferred the job for `timeouts.task` and at least `retry.attempts` times, served other
 * jobs, and accepted so many first requests meanwhile that chance cannot be the reason. So neither an outage, in which no job is served,
 * nor a service that accepts one request of five starves a job.
 */
export function isStarved(
  { deferrals }: Job,
  route: Route,
  { now, retry, taskMs, tally: tallyOf }: Pick<JobContext, 'now' | 'retry' | 'taskMs' | 'tally'>,
): boolean {
  const waited = deferrals?.[route];
  if (waited === undefined || waited.own < ownFaultDeferrals) return false;
  const { times, since, before } = waited;
  const tally = tallyOf(route);
  const firsts = tally.firsts - before.firsts;
  const refused = firsts - (tally.firstsServed - before.firstsServed);
  // The rule of succession: few samples give no certainty.
  const luck = ((refused + 1) / (firsts + 2)) ** times;
  return times >= retry.attempts && now - since >= taskMs && luck < luckLimit;
}

/** Whether one more deferral of the job would prove nothing about its route. */
export function isOwnFault(job: Job | undefined, route: Route, { served }: Tally): boolean {
  const waited = job?.deferrals?.[route];
  return waited !== undefined && waited.own >= ownFaultDeferrals && served > waited.served;
}

/** Returns the error of a job that is starved. */
export function starvedError(error: JobError, job: Job, route: Route, now: number): JobError {
  const { times, since } = job.deferrals?.[route] ?? { times: 1, since: now };
  const minutes = Math.round((now - since) / 6000) / 10;
  return {
    ...error,
    message: `${error.message} (${times} times in ${minutes} min, in which others were served)`,
  };
}
