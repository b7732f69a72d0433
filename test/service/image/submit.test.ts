import { describe, expect, test } from 'vitest';
import type { RequestFacts } from '../../../src/service/failures/request-context.ts';
import { readSubmit } from '../../../src/service/image/submit.ts';

const same = (text: string): string => text;
const facts: RequestFacts = {
  safe: false,
  label: 'POST /img/submit/imagine',
  baseUrl: 'https://x.test',
  mask: same,
  dataMask: (text) => text.replaceAll('secret', '[secret]'),
  clean: same,
  now: () => 0,
};

/** What comes of a response: its kind and task, or the code of the failure. */
const read = (value: object, status = 200): string => {
  const result = readSubmit({ status, header: () => null, body: { kind: 'json', value } }, facts);
  if (!result.ok) return result.error.code;
  const { kind } = result.value;
  const task = 'taskId' in result.value ? ` ${result.value.taskId}` : '';
  const waiting = 'waiting' in result.value ? ` behind ${result.value.waiting}` : '';
  return `${kind}${task}${waiting}`;
};
const result = '1700000000000001';

describe('the submit code (gateway 3.2)', () => {
  test.each([
    [1, {}, `accepted ${result}`],
    [22, { properties: { numberOfQueues: 3 } }, `accepted ${result} behind 3`],
    [1, { properties: { numberOfQueues: 0 } }, `accepted ${result} behind 0`],
    [1, { properties: { numberOfQueues: -1 } }, `accepted ${result}`],
    [21, {}, `modal ${result}`],
    [21, { properties: { remix: true, status: 'SUCCESS' } }, `modal ${result}`],
    [21, { properties: { status: 'MODAL' } }, `modal ${result}`],
    [21, { properties: { status: 'SUCCESS' } }, `accepted ${result}`],
    [21, { properties: { imageUrl: 'https://x.test/a.png' } }, `accepted ${result}`],
    [21, { properties: { status: '', imageUrl: '' } }, `modal ${result}`],
    [9, {}, 'queue-full'],
    [23, {}, 'queue-full'],
    [3, { description: 'no usable account' }, 'queue-full'],
    [3, { description: 'no idle instance' }, 'queue-full'],
    [3, { description: 'All Accounts are busy' }, 'queue-full'],
    [3, { description: 'no instances' }, 'queue-full'],
    [3, { description: '无可用账号' }, 'queue-full'],
    [3, { description: '无可用帐号' }, 'queue-full'],
    [3, { description: '无可用账户' }, 'queue-full'],
    [3, { description: '无可用实例' }, 'queue-full'],
    [3, { description: '账号中没有该任务' }, 'refused'],
    [3, { description: 'the task is gone' }, 'refused'],
    [3, { description: 'no account has the task' }, 'refused'],
    [4, { description: 'parameter error' }, 'refused'],
    [24, { description: 'banned' }, 'refused'],
    [77, {}, `accepted ${result}`],
    [77, { result: '1234567' }, 'refused'],
    [77, { result: 'a2345678' }, 'accepted a2345678'],
    [77, { result: 'abcdefgh' }, 'refused'],
    [1, { result: '17,18' }, 'refused'],
  ])('%i with %j means %s', (code, more, wanted) => {
    expect(read({ code, description: '', result, ...more })).toBe(wanted);
  });

  test.each([
    ['3', 'no usable account', 'queue-full'],
    ['9', '', 'queue-full'],
    ['23', '', 'queue-full'],
    ['24', 'banned', 'refused'],
    ['4', 'parameter error', 'refused'],
  ])('%s is read with the status 400 and 404 too', (code, description, wanted) => {
    for (const status of [400, 404])
      expect([status, read({ code: Number(code), description, result: '' }, status)]).toEqual([
        status,
        wanted,
      ]);
  });

  test('without an id, or with one that holds a secret, is not an answer', () => {
    for (const odd of ['', 'a-secret-1', null])
      expect(read({ code: 1, result: odd })).toMatch(/^(service|response)\./);
  });

  test('of several tasks is reported with these tasks, and without a secret', () => {
    const reply = { status: 200, header: () => null } as const;
    const value = { code: 1, description: '', result: '17-secret,18' };
    const hiding = { ...facts, clean: (text: string) => text.replaceAll('secret', '[secret]') };
    const read = readSubmit({ ...reply, body: { kind: 'json', value } }, hiding);
    expect(read).toMatchObject({
      ok: true,
      value: { kind: 'refused', code: 1, made: true, message: expect.stringContaining('17-[secret], 18') },
    });
  });

  test('of an unknown kind means a task only if its result can be the id of one', () => {
    for (const odd of ['17 (waiting)', '1700000000000001?', 'task/17'])
      expect([odd, read({ code: 77, description: '', result: odd })]).toEqual([odd, 'refused']);
  });
});
