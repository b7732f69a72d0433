import { expect, test } from 'vitest';
import { splitRequestId, withRequestId } from '../../../src/service/failures/request-id.ts';
import { reply } from './replies.ts';

test.each([
  ['bad (requestid:R) thing', 'bad  thing', 'R'],
  ['bad (request id: R)', 'bad', 'R'],
  ['bad (request_id:R)', 'bad', 'R'],
  ['bad (Request-ID : R )', 'bad', 'R'],
  ['(  request id  :  R  )', '', 'R'],
  ['(request id：R)', '', 'R'],
  [`(request id: ${'r'.repeat(128)})`, '', 'r'.repeat(128)],
  ['(request id: first) and (request id: second)', 'and', 'first'],
])('splits the id off %j', (text, message, requestId) => {
  expect(splitRequestId(text)).toStrictEqual({ message, requestId });
});

test.each([
  'bad',
  '(request id: )',
  '(request id R)',
  '(my request id: R)',
  '(request idea: R)',
  '(request id: two words)',
  `(request id: ${'r'.repeat(129)})`,
])('finds no id in %j', (text) => {
  expect(splitRequestId(text)).toStrictEqual({ message: text });
});

test('trims the rest of the message', () => {
  expect(splitRequestId(' bad \n')).toStrictEqual({ message: 'bad' });
});

test('prefers the id of the message, then that of the gateway, then that of any proxy', () => {
  const both = { 'x-oneapi-request-id': 'gateway', 'x-request-id': 'proxy' };
  const clean = (words: string): string => `<${words}>`;
  const idOf = (fromMessage: string | undefined, headers: Readonly<Record<string, string>>) =>
    withRequestId(fromMessage, reply(500, { kind: 'empty' }, headers), { clean });
  expect(idOf('message', both)).toStrictEqual({ requestId: '<message>' });
  expect(idOf(undefined, both)).toStrictEqual({ requestId: '<gateway>' });
  expect(idOf(undefined, { 'x-request-id': 'proxy' })).toStrictEqual({ requestId: '<proxy>' });
  expect(idOf(undefined, { 'x-request-id': '' })).toStrictEqual({});
  expect(idOf(undefined, {})).toStrictEqual({});
});
