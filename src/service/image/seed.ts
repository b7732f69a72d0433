import { classify, rejectionInside, unusableResponse } from '../failures/classify.ts';
import type { RequestFacts } from '../failures/request-context.ts';
import { members, readInteger } from '../http/json.ts';
import type { Reply } from '../http/reply.ts';
import type { ServiceFailure, ServiceResult } from '../result.ts';

/**
 * Reads the response to image-seed (gateway 4.1): a submit response with code 1 and the seed as `result`, at most 20 digits.
 *
 * The endpoint is not part of the contract. A redirect, a page or a missing path is `service.not-offered` where no seed was told yet, any
 * other refusal is about one task; both are of class `permanent`.
 */
export function readSeed(reply: Reply, facts: RequestFacts): ServiceResult<string> {
  const body = reply.body.kind === 'json' ? members(reply.body.value) : undefined;
  // A missing task is said with a submit code (gateway 3.3).
  const isMissingPath = reply.status === 404 && body?.['code'] === undefined;
  const failure = classify(reply, facts);
  // Where seeds were told before, a page, a redirect or a 404 passes, or is about one task.
  const hasTold = facts.standing?.() === 'right';
  if (failure !== undefined) return { ok: false, error: seedFailure(failure, hasTold, isMissingPath) };
  const envelope = members(body?.['error']);
  if (envelope !== undefined)
    return { ok: false, error: seedFailure(rejectionInside(envelope, reply, facts), hasTold) };
  const result = body?.['result'];
  const seed = ['string', 'number', 'bigint'].includes(typeof result) ? String(result).trim() : '';
  if (readInteger(body?.['code']) === 1 && /^\d{1,20}$/.test(seed)) return { ok: true, value: seed };
  const error = unusableResponse(reply, 'but its JSON has no seed', facts);
  return { ok: false, error: { ...error, class: 'permanent' } };
}

function seedFailure(failure: ServiceFailure, hasTold: boolean, isMissingPath = false): ServiceFailure {
  const { about, wrongAddress, ...facts } = failure;
  if (about === 'key' || about === 'quota') return failure;
  if (!hasTold && (wrongAddress || isMissingPath))
    return {
      ...facts,
      code: 'service.not-offered',
      class: 'permanent',
      message: `The service tells no seeds. ${facts.message}`,
    };
  return facts.class === 'stop' ? { ...facts, class: 'permanent' } : failure;
}
