import { describe, expect, it } from 'vitest';
import { readSeed } from '../../../src/service/image/seed.ts';
import { facts, replyOf } from '../../rig/gateway/reply.ts';

const read = (status: number, body: unknown) => readSeed(replyOf(status, body), facts(true));

describe('readSeed', () => {
  it.each([
    [{ code: 1, description: 'Submit success', result: '3065183466' }, '3065183466'],
    [{ code: 1, result: 77 }, '77'],
    [{ code: 1, result: ' 0 ' }, '0'],
  ])('reads %j', (body, seed) => {
    expect(read(200, body)).toEqual({ ok: true, value: seed });
  });

  it.each([
    ['a page', 200, '<html></html>', 'service.not-offered', 'permanent'],
    ['a missing path', 404, '<html></html>', 'service.not-offered', 'permanent'],
    ['a missing path in JSON', 404, { detail: 'Not Found' }, 'service.not-offered', 'permanent'],
    ['a missing task', 404, { code: 3, description: 'task not found' }, 'service.not-found', 'permanent'],
    ['a redirect', 301, '<html></html>', 'service.not-offered', 'permanent'],
    [
      'an unfinished task',
      400,
      { code: 4, description: 'task is not finished' },
      'service.rejected',
      'permanent',
    ],
    ['no digits', 200, { code: 1, result: 'abc' }, 'service.malformed', 'permanent'],
    [
      'more digits than a seed has',
      200,
      { code: 1, result: '1'.repeat(21) },
      'service.malformed',
      'permanent',
    ],
    ['another code', 200, { code: 4, result: '77' }, 'service.malformed', 'permanent'],
    ['a failure that passes', 503, { error: { message: 'busy' } }, 'service.unavailable', 'retry'],
    ['too many requests', 429, { error: { message: 'slow down' } }, 'service.throttled', 'throttle'],
    ['a refused key', 401, { error: { message: 'invalid token' } }, 'service.unauthorized', 'stop'],
  ])('takes %s as %i %j: %s, %s', (_, status, body, code, kind) => {
    expect(read(status, body)).toMatchObject({ ok: false, error: { code, class: kind } });
  });

  it.each([
    [404, '<html></html>'],
    [404, { detail: 'task expired' }],
    [302, ''],
    [200, '<html>maintenance</html>'],
  ])('takes %i %j for one task where it told seeds before', (status, body) => {
    const answered = readSeed(replyOf(status, body), { ...facts(true), standing: () => 'right' });
    expect(answered.ok ? answered : answered.error.code).not.toBe('service.not-offered');
    expect(answered).toMatchObject({ ok: false, error: { class: expect.stringMatching(/permanent|retry/) } });
  });
});
