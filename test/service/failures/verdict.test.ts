import { describe, expect, test } from 'vitest';
import { readReplyWords } from '../../../src/service/failures/error-words.ts';
import type { RequestFacts } from '../../../src/service/failures/request-context.ts';
import { verdictOn } from '../../../src/service/failures/verdict.ts';
import type { ReplyBody } from '../../../src/service/http/reply.ts';
import { facts, json, reply } from './replies.ts';

const judged = (status: number, body: ReplyBody, more: Partial<RequestFacts> = {}) => {
  const answer = reply(status, body);
  return verdictOn(
    answer,
    readReplyWords(answer, (words) => words),
    facts(more),
  );
};
const enveloped = (code: unknown, message = 'm'): ReplyBody => json({ error: { code, message } });
const unread: ReplyBody = { kind: 'unread', failure: { code: 'connection.lost', what: 'it broke' } };
const broken: ReplyBody = { kind: 'broken', cause: undefined };

describe('a time-out hidden behind a status', () => {
  const ambiguous = { code: 'service.ambiguous', class: 'lost' };

  test.each<[string, number, ReplyBody]>([
    ['code 5 under 400', 400, json({ code: 5, description: 'd', type: 't' })],
    ['code 5 inside a 200', 200, json({ code: 5, description: 'd', result: null })],
    ['its word under 400', 400, enveloped('do_request_failed')],
    ['its word inside a 299', 299, enveloped('do_request_failed')],
    ['a 400 that broke off', 400, unread],
    ['a 400 whose JSON is broken', 400, broken],
  ])('is recognised: %s', (_what, status, body) => {
    expect(judged(status, body)).toMatchObject(ambiguous);
  });

  test.each<[string, number, ReplyBody, object]>([
    ['its word under 500', 500, enveloped('do_request_failed'), { class: 'retry' }],
    ['its word under 401', 401, enveloped('do_request_failed'), { class: 'stop' }],
    ['code 5 in an envelope', 400, enveloped(5), { code: 'service.rejected', class: 'permanent' }],
    ['a 500 that broke off', 500, unread, { class: 'retry' }],
    ['a 403 whose JSON is broken', 403, broken, { code: 'service.forbidden' }],
    ['a 400 that is a page', 400, { kind: 'html', title: 't' }, { code: 'service.rejected' }],
  ])('is not recognised in other refusals: %s', (_what, status, body, verdict) => {
    expect(judged(status, body)).toMatchObject(verdict);
  });

  test('leaves a task in doubt only if the request could make one', () => {
    expect(judged(400, broken).advice).toBe(
      'The gateway lost its connection to the service behind it: the task may exist.',
    );
    expect(judged(400, broken, { safe: true })).toEqual({
      code: 'service.ambiguous',
      class: 'retry',
      advice: 'The gateway lost its connection to the service behind it.',
    });
  });
});

test.each<[string, ReplyBody, string]>([
  ['of a gateway', json({ code: 30, description: 'd', type: 't' }), 'throttle'],
  ['of an image proxy', json({ code: 30, description: 'd', result: null }), 'throttle'],
  ['in an envelope', enveloped(30), 'permanent'],
])('code 30 %s has the class %s', (_whose, body, met) => {
  expect(judged(400, body).class).toBe(met);
});

const sameAgain = ['access_denied', 'invalid_request', 'prompt_blocked', 'sensitive_words_detected'];

test.each(sameAgain)('%s means the same under a server error, and under no other status', (code) => {
  for (const status of [500, 503, 599])
    expect(judged(status, enveloped(code))).toEqual({ code: 'service.rejected', class: 'permanent' });
  expect(judged(429, enveloped(code)).class).toBe('throttle');
  expect(judged(408, enveloped(code)).class).toBe('retry');
});

test('a refused key is reported with its source, if that is known', () => {
  expect(judged(401, enveloped('')).advice).toBe('Check that it is right, complete and still valid.');
  expect(judged(401, enveloped(''), { keySource: 'PROMPTPRESS_KEY' }).advice).toBe(
    'The API key came from PROMPTPRESS_KEY. Check that it is right, complete and still valid.',
  );
});

test('a request that is too large is reported with its largest part, if that is known', () => {
  expect(judged(413, { kind: 'empty' }).advice).toMatch(/^The request is too large: shorten it/);
  expect(judged(413, { kind: 'empty' }, { largestPart: () => undefined }).advice).toMatch(/too large:/);
  expect(judged(413, { kind: 'empty' }, { largestPart: () => '9 kB' }).advice).toMatch(/too large \(9 kB\):/);
});

describe('a used-up quota', () => {
  test('is recognised by codes, types and words under any status', () => {
    for (const code of ['insufficient_user_quota', 'pre_consume_token_quota_failed'])
      expect(judged(500, enveloped(code))).toMatchObject({ code: 'service.quota', class: 'stop' });
    for (const words of ['quota_not_enough', '用户额度不足', '令牌额度不足', '令牌额度已用尽'])
      expect(judged(400, enveloped('', words))).toMatchObject({ code: 'service.quota', about: 'quota' });
    expect(judged(400, enveloped('', 'no quota_not_enoughs')).code).toBe('service.rejected');
  });

  test('is recognised by words of the pipeline too, as code, as type and in the message', () => {
    const quotaWords = ['points_exhausted', 'Plan limit'];
    for (const body of [
      enveloped('points_exhausted'),
      json({ error: { message: 'm', type: 'points_exhausted' } }),
      enveloped('', 'Your plan limit is reached'),
    ])
      expect(judged(403, body, { quotaWords })).toMatchObject({ code: 'service.quota' });
    expect(judged(403, enveloped('points_exhausted')).code).toBe('service.forbidden');
  });
});

test('an endpoint gives its own advice, or else the general rules do', () => {
  expect(judged(403, enveloped(''), { advise: () => 'Ask your mother.' }).advice).toBe('Ask your mother.');
  expect(judged(403, enveloped(''), { advise: () => undefined }).advice).toMatch(/^The key, a rule/);
});

test.each([
  [499, 'service.rejected', 'permanent'],
  [500, 'service.unavailable', 'retry'],
  [501, 'service.rejected', 'permanent'],
  [505, 'service.rejected', 'permanent'],
  [506, 'service.unavailable', 'lost'],
  [519, 'service.unavailable', 'lost'],
  [525, 'service.unavailable', 'lost'],
])('status %i is %s with the class %s', (status, code, met) => {
  expect(judged(status, enveloped(''))).toEqual({ code, class: met });
});
