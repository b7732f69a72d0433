import { expect, test } from 'vitest';

import { readReplyBody } from '../../../src/service/http/reply.ts';

const read = (text: string, type: string | null = null) => readReplyBody(Buffer.from(text), type);

test.each<readonly [string, string | null, object]>([
  ['{"a":1}', 'text/plain', { kind: 'json', value: { a: 1 } }],
  [' \n', 'application/json', { kind: 'empty' }],
  ['Moved', 'TEXT/HTML; charset=utf-8', { kind: 'html', title: '' }],
  ['<p>Hello', null, { kind: 'html', title: '' }],
  ['<html><TITLE lang="en"> Back\nsoon </TITLE>', null, { kind: 'html', title: 'Back\nsoon' }],
  [`<title>${'x'.repeat(501)}</title>`, null, { kind: 'html', title: 'x'.repeat(500) }],
  ['\ufeff{"a":"ä"}', null, { kind: 'json', value: { a: 'ä' } }],
  ['oops', 'Application/JSON', { kind: 'broken' }],
  ['{"a":', null, { kind: 'broken' }],
  ['"cut of', null, { kind: 'broken' }],
  ['[1,', 'text/plain', { kind: 'broken' }],
  [' It works! ', 'text/plain', { kind: 'text', text: 'It works!' }],
])('the body %j of type %s is classified by its content', (text, type, body) => {
  expect(read(text, type)).toMatchObject(body);
});

test('bytes that are not UTF-8 are a page if the type says so, else broken', () => {
  const latin = Buffer.from('<title>Fermé</title>', 'latin1');
  expect(readReplyBody(latin, 'Text/HTML')).toEqual({ kind: 'html', title: '' });
  expect(readReplyBody(latin, 'application/json')).toMatchObject({ kind: 'broken' });
  expect(readReplyBody(latin, null)).toMatchObject({ kind: 'broken', cause: expect.any(TypeError) });
});
