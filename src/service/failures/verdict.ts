import { members, readInteger } from '../http/json.ts';
import type { Reply } from '../http/reply.ts';
import type { FailureClass } from '../result.ts';
import type { ErrorWords } from './error-words.ts';
import { askingOf, lostClass, type RequestFacts, type Verdict } from './request-context.ts';
import { type Meaning, type Meant, meaningOf, meanings } from './table.ts';
import { addressAdvice } from './wrong-address.ts';

/** Looks up the meaning of an error response in the table. If no row matches, the request is wrong. */
export function meantBy(reply: Reply, words: ErrorWords, facts: RequestFacts): Meant {
  const { status, body } = reply;
  const submit = words.shape === 'gateway' || words.shape === 'submit' ? readInteger(words.code) : undefined;
  const refusal = {
    status,
    on: askingOf(facts),
    message: words.message,
    codes: codesIn(body, words),
    submit,
  };
  const meant = meaningOf(refusal, facts.quotaWords);
  // An incomplete body may hide a time-out behind a 400, as do_request_failed does.
  const mayHide = status === 400 && (body.kind === 'unread' || body.kind === 'broken');
  return meant ?? (mayHide ? 'ambiguous' : 'rejected');
}

/** Lists the machine words of an error: its code, type and status, and the reasons in its details. */
function codesIn(body: Reply['body'], { code }: ErrorWords): readonly string[] {
  const value = body.kind === 'json' ? body.value : undefined;
  const record = members(Array.isArray(value) ? value[0] : value);
  const error = members(record?.['error']) ?? record ?? {};
  const details: readonly unknown[] = Array.isArray(error['details']) ? error['details'] : [];
  const all = [code, error['type'], error['status'], ...details.map((detail) => members(detail)?.['reason'])];
  return all.filter((word): word is string => typeof word === 'string' && word !== '');
}

/** Returns what an error response means, and what to do about it. */
export function verdictOn(reply: Reply, words: ErrorWords, facts: RequestFacts): Verdict {
  const meant = meantBy(reply, words, facts);
  const meaning: Meaning = meanings[meant];
  const { about, made, likeBadGateway } = meaning;
  const code = meaning.code || 'service.malformed';
  const advice = facts.advise?.(meant, reply, words) ?? adviceOn(meant, facts);
  const said = advice === undefined ? {} : { advice };
  const standing = facts.standing?.() ?? 'unknown';
  // Only a gateway that accepts any first segment forwards a path that it does not have (gateway 8.3).
  if (
    meant === 'ambiguous' &&
    standing === 'unknown' &&
    words.message.includes('unmarshal_response_body_failed')
  )
    return {
      code,
      class: 'stop',
      about: 'address',
      wrongAddress: true,
      ...(facts.safe ? {} : { mayBeDone: true }),
      advice: addressAdvice(facts),
    };
  const hasAnswered = standing === 'right' || standing === 'lost';
  // A task that no fetch has ever shown is paid for, but cannot be saved. A page is not the gateway's own answer.
  const isOwn = reply.body.kind !== 'html';
  if (meant === 'forbidden' && facts.offer === 'fetch' && !hasAnswered && standing !== 'unknown' && isOwn)
    return {
      code,
      class: 'stop',
      about: 'key',
      advice: 'This key may submit tasks but not fetch them: give it that right, or use another key.',
    };
  const kind = asTold(meaning.class === 'lost' ? lostClass(facts) : meaning.class, reply, facts);
  return {
    code,
    class: kind,
    ...(about && { about }),
    ...(kind === 'retry' && made === 'nothing' && { unmade: true }),
    ...(kind === 'permanent' && made === 'maybe' && { mayBeDone: true as const }),
    ...(kind === 'lost' && likeBadGateway && { likeBadGateway }),
    ...said,
  };
}

/** Applies the service's own advice on repeating a text call (`x-should-retry` of the vendors' own clients). */
function asTold(kind: FailureClass, reply: Reply, facts: RequestFacts): FailureClass {
  if (askingOf(facts) !== 'text' || (kind !== 'retry' && kind !== 'permanent')) return kind;
  const told = reply.header('x-should-retry')?.trim().toLowerCase();
  return told === 'true' ? 'retry' : told === 'false' ? 'permanent' : kind;
}

function adviceOn(meant: Meant, facts: RequestFacts): string | undefined {
  switch (meant) {
    case 'quota':
      return 'The quota of the account or of the key is used up. Top it up and run the same command again: it continues from here.';
    case 'key':
      return `${facts.keySource === undefined ? '' : `The API key came from ${facts.keySource}. `}Check that it is right, complete and still valid.`;
    case 'not offered':
      return 'This gateway, or its account, does not offer this.';
    case 'no channel':
      return 'The service has no channel for this key now. Nothing was made.';
    case 'made, not noted':
      return 'The gateway has forwarded the request, but could not record the task that was made.';
    case 'ambiguous':
    case 'broken behind':
      return `The gateway lost its connection to the service behind it${facts.safe ? '' : ': the task may exist'}.`;
    case 'not ready':
      return 'The task is not yet in the state that this needs, by what the gateway knows; that may lag behind. Nothing was made.';
    case 'unknown button':
      return 'This gateway does not know what that button does: press another one.';
    case 'forbidden':
      return 'The key, a rule of the platform or the model does not allow this request: try a plain prompt without extra fields.';
    case 'too large': {
      const part = facts.largestPart?.();
      return `The request is too large${part === undefined ? '' : ` (${part})`}: shorten it, send smaller images, or links instead of data.`;
    }
    default:
      return undefined;
  }
}
