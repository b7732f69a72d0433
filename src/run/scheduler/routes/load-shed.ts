import type { SaveResult } from '../../../artifacts/writer.ts';
import type { ServiceResult } from '../../../service/result.ts';
import type { OneAnswer } from './outcome.ts';

/**
 * A service that has more to do than it can take refuses some requests with 503 instead of 429, as proxies before it do (nginx's
 * `limit_req`, a full queue of haproxy). One request is answered so and the next is served: that tells about the pace, not about the
 * job. So a 503 on a route that serves others is read as 429 is: later, slower, and no attempt. On a route that serves
 * nobody it is an outage, and stays a failure to be tried again (gateway 8.2).
 */

interface Failure {
  readonly class: string;
  readonly status?: number;
}

const isShed = ({ class: kind, status }: Failure): boolean => status === 503 && kind === 'retry';

/** An answer of a route that serves others, with a 503 in it read as a throttle. */
export function shedAsThrottle<A extends ServiceResult<unknown> | SaveResult>(answer: A): A {
  if (answer.ok || !isShed(answer.error)) return answer;
  return { ...answer, error: { ...answer.error, class: 'throttle' } };
}

/** The same of an answer to one job. */
export function readOnServingRoute(input: OneAnswer): OneAnswer {
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
