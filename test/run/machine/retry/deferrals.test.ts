import { describe, expect, it } from 'vitest';
import { type Tally } from '../../../../src/run/machine/job.ts';
import { isOwnFault, isStarved, withDeferral } from '../../../../src/run/machine/retry/deferrals.ts';
import { context, epoch, imagineRecord, job } from '../../../rig/jobs.ts';

/** What the route has answered by its `n`th answer to the job, where it serves ten others between two of them. */
const servesOthers = (n: number): Tally => ({ served: 10 * n, firsts: 10 * n, firstsServed: 10 * n });

/** Whether waiting longer is pointless after so many deferrals, the last of them so long after the first. */
function judged(times: number, ms: number, tally = servesOthers): { starved: boolean; known: boolean } {
  const at = (n: number) =>
    context({ now: epoch + (times < 2 ? ms : (ms * (n - 1)) / (times - 1)), tally: () => tally(n) });
  let waiting = job(imagineRecord());
  for (let n = 1; n <= times; n++) waiting = withDeferral(waiting, 'submit', at(n));
  return {
    starved: isStarved(waiting, 'submit', at(times)),
    known: isOwnFault(waiting, 'submit', tally(times + 1)),
  };
}

describe('a job that its route defers', () => {
  const { retry, taskMs } = context();

  it.each([
    [retry.attempts, taskMs, true],
    [retry.attempts - 1, taskMs, false],
    [retry.attempts - 1, 10 * taskMs, false],
    [retry.attempts, taskMs - 1, false],
    [10 * retry.attempts, taskMs - 1, false],
  ])(
    '%i times in %i ms is given up only after retry.attempts and timeouts.task: %s',
    (times, ms, starved) => {
      expect(judged(times, ms)).toEqual({ starved, known: true });
    },
  );

  it('keeps waiting where the route serves no job, or one request of five', () => {
    const serves = (share: number) => (n: number) => ({
      served: Math.floor(10 * n * share),
      firsts: 10 * n,
      firstsServed: Math.floor(10 * n * share),
    });
    expect(judged(10 * retry.attempts, 10 * taskMs, serves(0))).toEqual({ starved: false, known: false });
    expect(judged(3 * retry.attempts, 10 * taskMs, serves(0.2))).toEqual({ starved: false, known: true });
  });
});
