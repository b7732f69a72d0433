import { describe, expect, it } from 'vitest';
import type { JobRecord, TokenUsage } from '../../../src/plan/job.ts';
import { totalTokens } from '../../../src/plan/usage.ts';
import type { CallResult, JobContext } from '../../../src/run/machine/job.ts';
import { onAskResult, requeue, sumUsage, tokensUsed, usageOf } from '../../../src/run/machine/text-call.ts';
import { connectionFailure, rejection } from '../../../src/service/failures/classify.ts';
import type { ConnectionFailure } from '../../../src/service/http/reply.ts';
import { texts } from '../../../src/service/kinds.ts';
import { readReply } from '../../../src/service/text/reply/read.ts';
import { StreamReader } from '../../../src/service/text/stream/reader.ts';
import { failure } from '../../rig/failure.ts';
import { replyOf, textFacts } from '../../rig/gateway/reply.ts';
import { context, epoch, job, textRecord } from '../../rig/jobs.ts';
import { askedOf, textReply } from '../../rig/text-reply.ts';

const asking = (changes: Partial<JobRecord> = {}): JobRecord =>
  textRecord({ status: 'submitting', attempts: 1, submittedAt: epoch, ...changes });
const replied = (usage?: TokenUsage): CallResult => {
  const result = askedOf(asking(), textReply({ text: 'Hello.' }));
  if (result.kind !== 'answered') throw new Error('It is an answer.');
  const { usage: _, ...asked } = result.asked;
  return { ...result, asked: { ...asked, ...(usage && { usage }) } };
};
const unwritten = (usage?: TokenUsage): CallResult => ({
  kind: 'unwritten',
  error: { code: 'disk.full', class: 'stop', message: 'm' },
  ...(usage && { usage }),
});
const refused = (kind: Parameters<typeof failure>[1], more = {}): CallResult => ({
  kind: 'refused',
  error: failure('service.x', kind, more),
});
const unread: CallResult = {
  kind: 'unread',
  error: { code: 'input.missing', class: 'permanent', message: 'm' },
};

const accounted = (result: CallResult, record = asking(), changes: Partial<JobContext> = {}) => {
  const after = onAskResult(job(record, { nextRequest: { kind: 'answer' } }), result, context(changes)).job
    .record;
  const { usage, cost, assumed, partlyPriced } = after;
  return { usage, cost, assumed, partlyPriced };
};
/** A price of 1 for each token that is counted. */
const byTokens: Partial<JobContext> = { replyPrice: (_, usage) => usage && totalTokens(usage) };
const perCall: Partial<JobContext> = { replyPrice: () => 2 };

describe('the usage of a text call', () => {
  it('is added to the tokens and cost of earlier calls of the job', () => {
    const before = asking({ usage: { prompt: 1, total: 5 }, cost: 3 });
    expect(accounted(replied({ prompt: 2, candidates: 4 }), before, byTokens)).toEqual({
      usage: { prompt: 3, candidates: 4, total: 11 },
      cost: 9,
    });
    expect(accounted(replied({ total: 7 }), asking(), byTokens)).toEqual({ usage: { total: 7 }, cost: 7 });
  });

  const doubtful = (result: CallResult) =>
    onAskResult(job(asking(), { nextRequest: { kind: 'answer' } }), result, context({ price: () => 3 })).job
      .record.doubtful;
  const gone = (code: ConnectionFailure['code'], sent: boolean, more = {}): CallResult => ({
    kind: 'refused',
    error: connectionFailure({ code, what: 'it was lost', ...more }, sent, textFacts),
  });
  const status = (code: number, headers = {}): CallResult => {
    const reply = replyOf(code, { error: { message: 'no' } }, headers);
    return { kind: 'refused', error: rejection(reply, textFacts) };
  };
  const broken = (bytes: string): CallResult => {
    const reader = new StreamReader(texts.chat);
    reader.push(Buffer.from(bytes));
    const received = { kind: 'read', reply: replyOf(200, ''), end: reader.end() } as const;
    const result = readReply(received, { read: texts.chat.read, stream: true, accept: [] }, textFacts);
    if (result.ok) throw new Error('It is no answer.');
    return { kind: 'refused', error: result.error };
  };

  it.each<[string, CallResult]>([
    ['a reset', gone('connection.lost', true)],
    ['a time-out', gone('connection.timeout', true)],
    ['another protocol', gone('connection.protocol', true, { lasting: true })],
    ['a stream that ends early', broken('data: {"choices":[{"delta":{"content":"It"}}]}\n\n')],
    ['a stream that ends in an error', broken('data: {"choices":[]}\n\ndata: {"error":{"code":400}}\n\n')],
    ['no JSON', broken('{"choices":[')],
    ['a time-out that is not to be repeated', status(504, { 'x-should-retry': 'false' })],
    ...[500, 502, 504, 520, 524].map((code) => [`HTTP ${code}`, status(code)] as [string, CallResult]),
  ])('is unknown after %s: the call is counted as unanswered, with its possible price', (_, result) => {
    expect(doubtful(result)).toEqual({ count: 1, cost: 3, tokens: 40 });
  });

  it.each<[string, CallResult]>([
    ['a connection that was refused', gone('connection.refused', false)],
    ['a reply that broke off with its token count', refused('retry', { usage: { total: 6 } })],
    ['a reply', replied({ total: 7 })],
    ...[400, 401, 403, 404, 413, 429, 503].map(
      (code) => [`HTTP ${code}`, status(code)] as [string, CallResult],
    ),
  ])('is known after %s: nothing is counted as unanswered', (_, result) => {
    expect(doubtful(result)).toBeUndefined();
  });

  it('is counted for an answer that could not be written, and for one that broke off', () => {
    expect(accounted(unwritten({ total: 7 }), asking(), byTokens)).toMatchObject({
      usage: { total: 7 },
      cost: 7,
    });
    expect(accounted(refused('lost', { usage: { total: 6 } }), asking(), byTokens)).toMatchObject({
      usage: { total: 6 },
      cost: 6,
    });
  });

  it.each([refused('throttle'), refused('permanent'), unread])(
    'is nothing where nothing was answered: %#',
    (result) => {
      const before = asking({ usage: { total: 5 }, cost: 3 });
      expect(accounted(result, before, perCall)).toEqual({ usage: { total: 5 }, cost: 3 });
    },
  );

  it.each([replied(), replied({ total: 0 }), unwritten()])(
    'is assumed where the reply has no token count: %#',
    (result) => {
      const before = asking({ assumed: { answers: 2, tokens: 100, cost: 1.5 } });
      expect(accounted(result, asking()).assumed).toEqual({ answers: 1, tokens: 40 });
      expect(accounted(result, before).assumed).toEqual({ answers: 3, tokens: 140, cost: 1.5 });
      expect(accounted(replied({ total: 9 }), before).assumed).toEqual(before.assumed);
    },
  );

  it('without tokens costs as much as the assumed ones, unless its price is known', () => {
    const before = asking({ assumed: { answers: 2, tokens: 100, cost: 1.5 }, cost: 3 });
    expect(accounted(replied(), before, byTokens)).toEqual({
      cost: 3,
      partlyPriced: true,
      assumed: { answers: 3, tokens: 140, cost: 41.5 },
    });
    expect(accounted(replied(), asking(), byTokens).assumed).toEqual({ answers: 1, tokens: 40, cost: 40 });
    expect(accounted(replied(), before, perCall)).toEqual({
      cost: 5,
      assumed: { answers: 3, tokens: 140, cost: 1.5 },
    });
    expect(accounted(replied({ total: 9 }), asking()).partlyPriced).toBeUndefined();
  });
});

describe('a side of the tokens that the service did not count', () => {
  const bySide: Partial<JobContext> = {
    replyPrice: (_, usage) => usage && (usage.prompt ?? 0) + 10 * (usage.candidates ?? 0),
    assumedUsage: () => ({ prompt: 30, candidates: 10, total: 40 }),
  };

  it.each<[TokenUsage, object | undefined]>([
    [
      { candidates: 5, total: 5 },
      { answers: 1, tokens: 30, cost: 30 },
    ],
    [
      { prompt: 0, candidates: 5, total: 5 },
      { answers: 1, tokens: 30, cost: 30 },
    ],
    [
      { prompt: 9, total: 9 },
      { answers: 1, tokens: 10, cost: 100 },
    ],
    [
      { prompt: 9, candidates: 0, total: 9 },
      { answers: 1, tokens: 10, cost: 100 },
    ],
    [{ prompt: 9, thoughts: 3, total: 12 }, undefined],
    [{ prompt: 9, candidates: 5, total: 14 }, undefined],
    [{ prompt: 9, other: 90, total: 99 }, undefined],
    [{ other: 100, total: 100 }, undefined],
  ])('of %j is assumed as %j', (usage, assumed) => {
    expect(accounted(replied(usage), asking(), bySide).assumed).toEqual(assumed);
  });

  it('is nothing where the reply has no usage', () => {
    const result = replied({ prompt: 9, total: 9 });
    if (result.kind !== 'answered') throw new Error('It is an answer.');
    const empty: CallResult = { ...result, asked: { ...result.asked, text: { candidates: [] } } };
    expect(accounted(empty, asking(), bySide).assumed).toBeUndefined();
  });

  it('makes the known cost a part, where the price is per token', () => {
    expect(accounted(replied({ candidates: 5, total: 5 }), asking(), bySide).partlyPriced).toBe(true);
    expect(accounted(replied({ candidates: 5, total: 5 }), asking(), perCall).partlyPriced).toBeUndefined();
  });
});

describe('the tokens of an answer', () => {
  it('are added to others, and the total is always known', () => {
    expect(sumUsage(undefined, undefined)).toBeUndefined();
    expect(sumUsage({ prompt: 2 }, undefined)).toEqual({ prompt: 2, total: 2 });
    expect(sumUsage(undefined, { total: 3 })).toEqual({ total: 3 });
    expect(sumUsage({ prompt: 2, cached: 1 }, { prompt: 3, total: 9 })).toEqual({
      prompt: 5,
      cached: 1,
      total: 11,
    });
  });

  it.each<[string, CallResult, TokenUsage | undefined, number | undefined]>([
    ['a reply', replied({ total: 7 }), { total: 7 }, 7],
    ['a reply that reports none', replied(), undefined, undefined],
    ['a reply that could not be written', unwritten({ total: 8 }), { total: 8 }, 8],
    ['one that broke off', refused('lost', { usage: { total: 6 } }), { total: 6 }, 6],
    ['one that nobody received', refused('lost'), undefined, undefined],
    ['a failure of the service', refused('retry'), undefined, undefined],
    ['a refusal', refused('permanent'), undefined, 0],
    ['a deferral', refused('throttle'), undefined, 0],
    ['a request that never left', refused('unsent'), undefined, 0],
    ['the end of the run', refused('stop'), undefined, 0],
    ['an image that could not be read', unread, undefined, 0],
  ])('of %s', (_what, result, usage, used) => {
    expect([usageOf(result), tokensUsed(result)]).toEqual([usage, used]);
  });
});

it('a repeated call has no submission time, and keeps its attempt', () => {
  const { submittedAt: _, ...rest } = asking();
  expect(requeue(asking())).toStrictEqual({ ...rest, status: 'pending' });
});

it.each<[CallResult, string]>([
  [replied({ total: 1 }), 'done'],
  [refused('throttle'), 'throttle'],
  [unread, 'unread'],
  [unwritten(), 'unwritten'],
])('the history has the outcome of a call: %#', (result, outcome) => {
  const { attempt } = onAskResult(
    job(asking({ taskId: 'T' }), { nextRequest: { kind: 'answer' } }),
    result,
    context(),
  );
  expect(attempt).toMatchObject({ key: 'cc33', at: epoch, outcome });
  expect(attempt).not.toHaveProperty('taskId');
  expect(attempt?.error === undefined).toBe(outcome === 'done');
});
