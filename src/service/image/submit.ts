import { classify, rejection, rejectionInside, unusableResponse } from '../failures/classify.ts';
import { type ErrorWords, readErrorWords } from '../failures/error-words.ts';
import type { RequestFacts } from '../failures/request-context.ts';
import { isKnownCode, type Meaning, meanings } from '../failures/table.ts';
import { meantBy } from '../failures/verdict.ts';
import { members, readInteger } from '../http/json.ts';
import type { Reply } from '../http/reply.ts';
import type { SubmitResult } from '../image-service.ts';
import type { ServiceResult } from '../result.ts';
import { readTaskId, readTaskIds } from './task-id.ts';

/** Reads the response to a submission (gateway 3.1, 3.2) from any endpoint. */
export function readSubmit(reply: Reply, facts: RequestFacts): ServiceResult<SubmitResult> {
  const body = reply.body.kind === 'json' ? members(reply.body.value) : undefined;
  const isSuccess = reply.status >= 200 && reply.status < 300;
  const code = body === undefined ? undefined : readInteger(body['code']);
  // The image proxy answers a missing parent with 404 and a submit code (gateway 3.3).
  if (
    body !== undefined &&
    code !== undefined &&
    (isSuccess || reply.status === 400 || reply.status === 404)
  ) {
    const read = readCode(code, body, reply, facts);
    if (read !== undefined) return read;
  }
  const failure = classify(reply, facts);
  if (failure !== undefined) return { ok: false, error: failure };
  if (body === undefined) {
    return { ok: false, error: unusableResponse(reply, 'but its JSON is not a submit response', facts) };
  }
  const envelope = members(body['error']);
  if (envelope !== undefined) return { ok: false, error: rejectionInside(envelope, reply, facts) };
  return { ok: false, error: unusableResponse(reply, 'but its JSON has no submit code', facts) };
}

/** Reads a response with a submit code. Undefined: its status decides. */
function readCode(
  code: number,
  body: Readonly<Record<string, unknown>>,
  reply: Reply,
  facts: RequestFacts,
): ServiceResult<SubmitResult> | undefined {
  const words = readErrorWords(body, facts.clean);
  const isSuccess = reply.status >= 200 && reply.status < 300;
  // An undocumented code. With an id there is a task to poll, which may be charged, whatever the words say.
  const id = readTaskId(body['result']);
  if (isSuccess && !isKnownCode(code) && id !== undefined && /^[\w-]{8,}$/.test(id) && /\d/.test(id))
    return acceptedAs('accepted', code, body, reply, facts);
  const meant = meantBy(reply, words, facts);
  switch (meant) {
    case 'accepted':
    case 'modal':
      return acceptedAs(
        meant === 'modal' && !exists(body['properties']) ? 'modal' : 'accepted',
        code,
        body,
        reply,
        facts,
      );
    case 'queue full':
    case 'no account': {
      const message = words.message || 'the queue of the service is full';
      const { about }: Meaning = meanings[meant];
      return { ok: true, value: { kind: 'queue-full', code, message, ...(about && { about }) } };
    }
    case 'banned':
      return refused(code, words, body, meanings[meant], facts);
    case 'refused':
    case 'account':
      // The gateway's own refusals are judged by their status.
      return words.shape === 'submit' || isSuccess
        ? refused(code, words, body, meanings[meant], facts)
        : undefined;
    case 'rejected':
      return isSuccess ? refused(code, words, body, meanings[meant], facts) : undefined;
    default:
      return { ok: false, error: rejection(reply, facts) };
  }
}

/** Returns the result of a submission that has made the task which the response names. */
function acceptedAs(
  kind: 'accepted' | 'modal',
  code: number,
  body: Readonly<Record<string, unknown>>,
  reply: Reply,
  facts: RequestFacts,
): ServiceResult<SubmitResult> {
  const several = readTaskIds(body['result']);
  if (several.length > 1)
    return {
      ok: true,
      value: { kind: 'refused', code, message: severalMessage(code, several, facts), made: true },
    };
  const taskId = readTaskId(body['result']);
  // An id is kept, shown and put into addresses as it is.
  const holdsSecret = taskId !== undefined && facts.dataMask(taskId) !== taskId;
  if (taskId !== undefined && !holdsSecret)
    return { ok: true, value: { kind, taskId, code, ...waitingIn(body['properties']) } };
  const what = holdsSecret ? 'holds a secret of yours' : 'is not the id of one task';
  return { ok: false, error: unusableResponse(reply, `code ${code}, but its result ${what}`, facts) };
}

const refused = (
  code: number,
  { message, requestId }: ErrorWords,
  body: Readonly<Record<string, unknown>>,
  { about }: Meaning,
  facts: RequestFacts,
): ServiceResult<SubmitResult> => ({
  ok: true,
  value: {
    kind: 'refused',
    code,
    message: rejectionMessage(code, message, body, facts),
    ...(requestId !== undefined && { requestId }),
    ...(about && { about }),
  },
});

/**
 * Whether code 21 means that the very same task exists already, as in old gateways: its status or image is in the properties. In newer
 * ones a window waits for its modal, with `remix` and `finalPrompt` there, or nothing (gateway 3.2). If wrong, the old meaning costs
 * one poll, which would show MODAL; the new one would confirm a modal that no task has.
 */
function exists(properties: unknown): boolean {
  const values = members(properties);
  if (values === undefined || 'remix' in values) return false;
  const { status, imageUrl } = values;
  if (typeof status === 'string' && status !== '') return status !== 'MODAL';
  return typeof imageUrl === 'string' && imageUrl !== '';
}

/** Reads how many tasks are ahead of this one; with code 1 too, because some gateways turn a 22 into it. */
function waitingIn(properties: unknown): { readonly waiting?: number } {
  const number = readInteger(members(properties)?.['numberOfQueues']);
  return number === undefined || number < 0 ? {} : { waiting: number };
}

/** Message for several tasks. They are certainly made, but a job is one task, and pressing the button again would pay again. */
const severalMessage = (code: number, ids: readonly string[], facts: RequestFacts): string =>
  `The service made several tasks of this (code ${code}: ${facts.clean(ids.join(', '))}), and a job is one task. They may be charged; ` +
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
