import type { SaveFailure } from '../../../artifacts/writer.ts';
import type { ServiceFailure, ServiceResult } from '../../../service/result.ts';
import type { SavedResult } from '../../machine/job.ts';
import type { JobResult } from './outcome.ts';

/**
 * An overloaded service refuses some requests with 503 instead of 429, as proxies before it do (nginx's `limit_req`, a full queue
 * of haproxy). One request is refused and the next is served: that is about the pace, not about the job. So a 503 on a route that
 * serves others is treated as 429: later, slower, and no attempt. On a route that serves nobody it is an outage, and stays a
 * failure to be tried again (gateway 8.2).
 */

/** Of a submission, also a channel that is closed for the moment, which some gateways report with another status. */
const isShed = (failure: ServiceFailure | SaveFailure): boolean => {
  if (failure.class !== 'retry') return false;
  if (!('unmade' in failure)) return isFile(failure) && failure.status === 503;
  return failure.code === 'service.unavailable' || failure.code === 'service.no-channel';
};

/** Of a file, which other servers have. */
const isFile = ({ code }: { readonly code: string }): boolean => !code.startsWith('service.');

/** A result of a route that serves others, with a 503 treated as a throttle. */
export function shedAsThrottle<A extends ServiceResult<unknown> | SavedResult>(answer: A): A {
  if (answer.ok || !isShed(answer.error)) return answer;
  return { ...answer, error: { ...answer.error, class: 'throttle' } };
}

/** The same for the result of a single job. */
export function readOnServingRoute(input: JobResult): JobResult {
  switch (input.type) {
    case 'submitted':
      return { ...input, result: shedAsThrottle(input.result) };
    case 'fetched':
      return { ...input, result: shedAsThrottle(input.result) };
    case 'searched':
      return { ...input, result: shedAsThrottle(input.result) };
    case 'saved':
      return { ...input, result: shedAsThrottle(input.result) };
    case 'asked': {
      const { result } = input;
      return result.kind === 'refused' && isShed(result.error)
        ? { ...input, result: { ...result, error: { ...result.error, class: 'throttle' } } }
        : input;
    }
    case 'unread':
    case 'masked':
      return input;
  }
}
