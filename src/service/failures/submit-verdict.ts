import type { Reply } from '../http/reply.ts';
import type { ErrorWords } from './error-words.ts';
import type { Verdict } from './request-context.ts';

/** The state of the related task is wrong: in English by the gateway, in Chinese by the proxy. */
const notReady = /task_status_not_success|关联任务状态错误/i;

/**
 * Whether a submission is refused for the state in which its task is: the gateway's copy of it lags behind, by up to 15 s
 * (gateway 3.5), or for no known reason right after SUCCESS (gateway 5.6). Nothing was made of the submission. The gateway
 * may respond in the same way to a modal that was confirmed already.
 */
export const isNotReady = (message: string): boolean => notReady.test(message);

/** What error responses of the submit endpoints mean, beyond the rules for all endpoints. Undefined: those rules decide. */
export function submitVerdict(_reply: Reply, words: ErrorWords): Verdict | undefined {
  if (isNotReady(words.message)) {
    return {
      code: 'service.not-ready',
      class: 'retry',
      advice:
        'To the gateway, the task is not in the state that this needs; it may lag behind. Nothing was made.',
    };
  }
  if (words.code === 'model_not_found') {
    return {
      code: 'service.not-found',
      class: 'permanent',
      advice: 'The service has nobody to do this for this key.',
    };
  }
  // Stock gateways know the ordinary buttons only (gateway 3.5).
  if (/\bunknown_action\b/i.test(words.message)) {
    return {
      code: 'service.rejected',
      class: 'permanent',
      advice: 'This gateway does not know what that button does: press another one.',
    };
  }
  return undefined;
}
