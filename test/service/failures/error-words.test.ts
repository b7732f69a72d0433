import { describe, expect, test } from 'vitest';
import { readErrorWords, readReplyWords } from '../../../src/service/failures/error-words.ts';
import { json, reply } from './replies.ts';

const read = (body: unknown) => readErrorWords(body, (words) => `<${words}>`);
const none = { shape: 'other', message: '', code: '' };

describe('the words of an error body', () => {
  test.each<[string, unknown, object]>([
    ['an envelope', { error: { code: 'c', message: 'm' } }, { shape: 'envelope', message: '<m>', code: 'c' }],
    [
      "the gateway's own refusal",
      { description: 'd', type: 'upstream_error', code: 4 },
      { shape: 'gateway', message: '<d>', code: '4' },
    ],
    [
      "the image proxy's refusal",
      { code: 3, description: 'd', result: null, properties: {} },
      { shape: 'submit', message: '<d>', code: '3' },
    ],
    [
      "the image proxy's refusal with a type beside its result",
      { code: 3, description: 'd', result: null, type: 't' },
      { shape: 'submit', message: '<d>', code: '3' },
    ],
    [
      'a refusal without a type',
      { code: 3, description: 'd' },
      { shape: 'submit', message: '<d>', code: '3' },
    ],
    ['no code', { description: 'd', type: 't' }, { shape: 'other', message: '<d>', code: '' }],
    ['an empty code', { description: 'd', code: '' }, { shape: 'other', message: '<d>', code: '' }],
    ['a code of null', { description: 'd', code: null }, { shape: 'other', message: '<d>', code: '' }],
  ])('%s', (_what, body, words) => {
    expect(read(body)).toStrictEqual(words);
  });

  test.each([[undefined], [null], ['words'], [7], [[]], [['words']]])('are empty for %j', (body) => {
    expect(read(body)).toStrictEqual(none);
  });

  test('are read from a list of one error, as a text vendor sends it', () => {
    expect(read([{ error: { message: 'm', code: 400 } }])).toStrictEqual({
      shape: 'envelope',
      message: '<m>',
      code: '400',
    });
  });

  test.each(['message', 'status', 'type'])(
    'are found in the %s of an envelope without the members before it',
    (last) => {
      const members = ['message', 'status', 'type'];
      const after = members.slice(members.indexOf(last));
      const error = Object.fromEntries(members.map((name) => [name, after.includes(name) ? name : '']));
      expect(read({ error })).toMatchObject({ message: `<${last}>` });
    },
  );

  test.each(['description', 'error', 'message', 'msg', 'detail'])(
    'are found in the %s of a body without the members before it',
    (last) => {
      const members = ['description', 'error', 'message', 'msg', 'detail'];
      const after = members.slice(members.indexOf(last));
      expect(read(Object.fromEntries(after.map((name) => [name, name])))).toMatchObject({
        message: `<${last}>`,
      });
    },
  );

  test('skip a member that is not text, and include a number as text', () => {
    expect(read({ description: { deep: true }, message: 'm' })).toMatchObject({ message: '<m>' });
    expect(read({ description: true, message: 7 })).toMatchObject({ message: '<7>' });
    expect(read({ description: 'd', code: 14_001_929_738_841_620_123n })).toMatchObject({
      code: '14001929738841620123',
    });
    expect(read({ error: { message: 'm', code: ['c'] } })).toMatchObject({ code: '' });
  });

  test.each<[string, unknown, string]>([
    [
      'a list of what is wrong with fields',
      { detail: [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required' }] },
      'body.messages: Field required',
    ],
    ['a detail with members', { detail: { error: 'no' } }, 'no'],
    [
      'a list of errors',
      { success: false, errors: [{ code: 7003, message: 'a' }, { message: 'b' }] },
      'a; b',
    ],
    [
      'a status beside the answer',
      { base_resp: { status_code: 1008, status_msg: 'no balance' } },
      'no balance',
    ],
    ['an envelope with a description', { error: { code: 500, description: 'd' } }, 'd'],
    [
      'an error behind the gateway, as JSON in a text',
      { error: { message: 'Provider returned error', metadata: { raw: '{"error":"max_tokens <= 4096"}' } } },
      'Provider returned error: max_tokens <= 4096',
    ],
    [
      'an error behind the gateway, as a text',
      { error: { message: 'Provider returned error', metadata: { raw: 'slow down' } } },
      'Provider returned error: slow down',
    ],
    ['one that is said twice', { error: { message: 'no: why', metadata: { raw: 'why' } } }, 'no: why'],
  ])('are found in %s', (_what, body, words) => {
    expect(read(body)).toMatchObject({ message: `<${words}>` });
  });

  test('are not searched for beyond a certain depth', () => {
    let body: unknown = 'deep';
    for (let i = 0; i < 50; i++) body = { error: [body] };
    expect(read(body)).toMatchObject({ message: '<>' });
  });

  test('include the cleaned request id when it stands alone', () => {
    expect(read({ error: { message: 'm (request id: R1)' } })).toStrictEqual({
      shape: 'envelope',
      message: '<m>',
      requestId: '<R1>',
      code: '',
    });
  });

  test('the first delay among the details is used, wherever it stands', () => {
    const details = [null, 'words', {}, { retryDelay: 'soon' }, { retryDelay: '7s' }, { retryDelay: '9s' }];
    expect(read({ error: { message: 'm', details } })).toStrictEqual({
      shape: 'envelope',
      message: '<m>',
      code: '',
      retryDelayMs: 7000,
    });
    expect(read({ error: { message: 'm', details: { retryDelay: '7s' } } })).not.toHaveProperty(
      'retryDelayMs',
    );
    expect(read({ error: { message: 'm', details: [{}] } })).not.toHaveProperty('retryDelayMs');
  });
});

test.each<[Parameters<typeof reply>[1], object]>([
  [json({ error: 'e' }), { shape: 'other', message: '<e>', code: '' }],
  [
    { kind: 'html', title: 'A title' },
    { shape: 'other', message: '<A title>', code: '' },
  ],
  [
    { kind: 'text', text: 'a text' },
    { shape: 'other', message: '<a text>', code: '' },
  ],
  [json({ ok: false, ids: [7] }), { message: '<{"ok":false,"ids":[7]}>' }],
  [json({ a: 'x'.repeat(400) }), { message: `<{"a":"${'x'.repeat(294)}>` }],
  [json({}), { message: '' }],
  [
    { kind: 'broken', cause: 0, text: '{"code":4,"description":"d"}{"code":4}' },
    { shape: 'submit', message: '<d>', code: '4' },
  ],
  [{ kind: 'broken', cause: 0, text: '{"code":4,"descr' }, { message: '<{"code":4,"descr>' }],
  [{ kind: 'broken', cause: 0 }, { message: '' }],
  [{ kind: 'empty' }, { shape: 'other', message: '', code: '' }],
])('the words of %j are read', (body, words) => {
  expect(readReplyWords(reply(500, body), (text) => (text === '' ? '' : `<${text}>`))).toMatchObject(words);
});
