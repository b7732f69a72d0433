import { classify, rejection, rejectionInside, unusableResponse } from '../failures/classify.ts';
import { readErrorWords } from '../failures/error-words.ts';
import type { RequestFacts } from '../failures/request-context.ts';
import { isNotReady } from '../failures/submit-verdict.ts';
import { isOutOfQuota } from '../failures/verdict.ts';
import { members, readInteger } from '../http/json.ts';
import type { Reply } from '../http/reply.ts';
import type { SubmitResult } from '../image-service.ts';
import type { ServiceResult } from '../result.ts';
import { readTaskId, readTaskIds } from './task-id.ts';

/** Reads the response to a submission (gateway 3.1, 3.2), whichever endpoint it came from. */
export function readSubmit(reply: Reply, facts: RequestFacts): ServiceResult<SubmitResult> {
  const body = reply.body.kind === 'json' ? members(reply.body.value) : undefined;
  // The image proxy answers a missing parent with 404 and a submit code (gateway 3.3).
  if (body !== undefined && (reply.status === 400 || reply.status === 404)) {
    const words = readErrorWords(body, facts.clean);
    const isSubmitCode = words.shape === 'submit' && ['3', '4', '9', '23', '24'].includes(words.code);
    if (isSubmitCode) return readCode(Number(words.code), body, reply, facts);
  }
  const failure = classify(reply, facts);
  if (failure !== undefined) return { ok: false, error: failure };
  if (body === undefined) {
    return { ok: false, error: unusableResponse(reply, 'but its JSON is no submit response', facts) };
  }
  const code = readInteger(body['code']);
  if (code !== undefined) return readCode(code, body, reply, facts);
  const envelope = members(body['error']);
  if (envelope !== undefined) return { ok: false, error: rejectionInside(envelope, reply, facts) };
  return { ok: false, error: unusableResponse(reply, 'but its JSON has no submit code', facts) };
}

function readCode(
  code: number,
  body: Readonly<Record<string, unknown>>,
  reply: Reply,
  facts: RequestFacts,
): ServiceResult<SubmitResult> {
  const id = readTaskId(body['result']);
  // An id is kept, shown and put into addresses as it is.
  const holdsSecret = id !== undefined && facts.dataMask(id) !== id;
  const taskId = holdsSecret ? undefined : id;
  const words = readErrorWords(body, facts.clean);
  const queueFull = (): ServiceResult<SubmitResult> => ({
    ok: true,
    value: { kind: 'queue-full', code, message: words.message || 'the queue of the service is full' },
  });
  const rejectedResult = (): ServiceResult<SubmitResult> => ({
    ok: true,
    value: {
      kind: 'refused',
      code,
      message: rejectionMessage(code, words.message, body, facts),
      ...(words.requestId !== undefined && { requestId: words.requestId }),
    },
  });
  const several = readTaskIds(body['result']);
  const accepted = (kind: 'accepted' | 'modal'): ServiceResult<SubmitResult> => {
    if (several.length > 1)
      return {
        ok: true,
        value: { kind: 'refused', code, message: severalMessage(code, several, facts), made: true },
      };
    return taskId === undefined
      ? {
          ok: false,
          error: unusableResponse(
            reply,
            `code ${code}, but its result ${holdsSecret ? 'holds a secret of yours' : 'is not the id of one task'}`,
            facts,
          ),
        }
      : { ok: true, value: { kind, taskId, code, ...waitingIn(body['properties']) } };
  };

  switch (code) {
    case 1:
    case 22:
      return accepted('accepted');
    case 21:
      return accepted(exists(body['properties']) ? 'accepted' : 'modal');
    case 9:
    case 23:
      return queueFull();
    case 3:
      return wantsAccount(words.message) ? queueFull() : rejectedResult();
    case 4:
      // A passing state of the parent is no wrong parameter, and neither is an empty account.
      return isNotReady(words.message) || isOutOfQuota(words)
        ? { ok: false, error: rejection(reply, facts) }
        : rejectedResult();
    case 24:
      return rejectedResult();
    case 5:
    case 30:
      return { ok: false, error: rejection(reply, facts) };
    default:
      // An undocumented code. With an id there is a task to poll, which may have to be paid.
      return taskId !== undefined && /^[\w-]{8,}$/.test(taskId) && /\d/.test(taskId)
        ? accepted('accepted')
        : rejectedResult();
  }
}

/**
 * Code 21 of old gateways: the very same task exists already, with its status or its image in the properties. Of newer
 * ones: a window waits for its modal, with `remix` and `finalPrompt` there, or with nothing (gateway 3.2). Assuming the old
 * meaning by error costs one poll of the task, which would show MODAL; assuming the new one by error would confirm a
 * modal that no task has.
 */
function exists(properties: unknown): boolean {
  const values = members(properties);
  if (values === undefined || 'remix' in values) return false;
  const { status, imageUrl } = values;
  if (typeof status === 'string' && status !== '') return status !== 'MODAL';
  return typeof imageUrl === 'string' && imageUrl !== '';
}

/** How many tasks go before this one, where the service says so: under 1 too, for some gateways turn a 22 into it. */
function waitingIn(properties: unknown): { readonly waiting?: number } {
  const number = readInteger(members(properties)?.['numberOfQueues']);
  return number === undefined || number < 0 ? {} : { waiting: number };
}

/** Code 3 says either "no usable account" (later) or "the related task is missing" (never): its text decides which. */
const wantsAccount = (message: string): boolean =>
  /账号|帐号|账户|实例|\baccounts?\b|\binstances?\b/i.test(message) && !/任务|\btasks?\b/i.test(message);

/** Known to be made, so nothing is in doubt; but a job is one task, and to press it again would pay again. */
const severalMessage = (code: number, ids: readonly string[], facts: RequestFacts): string =>
  `The service took this as several tasks (code ${code}: ${facts.clean(ids.join(', '))}), and a job is one. They are made, and may be paid for; ` +
  'press a button that begins one task instead.';

function rejectionMessage(
  code: number,
  words: string,
  body: Readonly<Record<string, unknown>>,
  facts: RequestFacts,
): string {
  const banned = members(body['properties'])?.['bannedWord'];
  const word = typeof banned === 'string' && banned !== '' ? ` (banned word: ${facts.clean(banned)})` : '';
  const what = code === 24 ? 'The service refused the prompt' : 'The service refused the submission';
  return `${what} (code ${code})${words === '' ? '' : `: ${words}`}${word}`;
}
