import type { RequestFacts, Verdict } from './classify.ts';
import type { ErrorWords } from './error-words.ts';
import type { Reply } from './reply.ts';

/**
 * The parent is not finished for the gateway yet: its copy lags behind, by up to 15 s (protocol.md 2.2), or for no known
 * reason right after SUCCESS (protocol.md 6.3). Nothing was made of the submission.
 */
const notReady = /task_status_not_success|关联任务状态错误/i;

/** What the refusals of the submit endpoints mean beyond the rules for all endpoints. Undefined: nothing more than those. */
export function judgeSubmit(_reply: Reply, words: ErrorWords, _facts: RequestFacts): Verdict | undefined {
  if (notReady.test(words.message)) {
    return {
      code: 'service.not-ready',
      class: 'retry',
      advice: 'To the gateway, the task whose button is pressed is not finished yet. Nothing was made.',
    };
  }
  const action = /unknown_action:?\s*(\S*)/i.exec(words.message);
  if (action !== null) {
    return {
      code: 'service.rejected',
      class: 'permanent',
      advice: 'This gateway does not know what that button does: press another one.',
    };
  }
  return undefined;
}

/** Submit code 4 says this too: see {@link judgeSubmit}. */
export const isNotReady = (message: string): boolean => notReady.test(message);
