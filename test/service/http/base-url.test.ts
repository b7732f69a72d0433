import { expect, test } from 'vitest';

import { readApiKey, readBaseUrl } from '../../../src/service/http/base-url.ts';

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  [' https://API.example.com:443/ \n', 'https://api.example.com'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['https://api.example.com/a/b//', 'https://api.example.com/a/b'],
  [`https://x.test/a${'/'.repeat(3_000)}`, 'https://x.test/a'],
  ['https://bücher.example', 'https://xn--bcher-kva.example'],
])('the address %j reads as %s', (text, value) => {
  expect(readBaseUrl(text)).toEqual({ ok: true, value });
});

test.each([
  '',
  'api.example.com',
  'ftp://api.example.com',
  'file:///etc/passwd',
  'https://user:hunter2@api.example.com',
  'https://:hunter2@api.example.com',
  'https://hunter2@api.example.com',
  'https://api.example.com?key=hunter2',
  'https://api.example.com/#hunter2',
  'https://',
  `https://x.test${'/'.repeat(400_000)}`,
  `https://x.test/${'a'.repeat(4_000)}`,
])('the address %j is refused, and nothing secret is shown', (text) => {
  const answer = readBaseUrl(text);
  expect(answer).toMatchObject({ ok: false, error: { code: 'service.bad-address' } });
  expect(JSON.stringify(answer)).not.toContain('hunter2');
});

test('a key may have white space around it', () => {
  expect(readApiKey(' sk-1\r\n')).toEqual({ ok: true, value: 'sk-1' });
});

test.each(['', ' \n', 'hunter 2', 'hunter\n2', 'hünter2', 'hunter\u00002'])(
  'the key %j is refused',
  (text) => {
    const answer = readApiKey(text);
    expect(answer).toMatchObject({ ok: false, error: { code: 'service.bad-key' } });
    expect(JSON.stringify(answer)).not.toMatch(/h.nter/);
  },
);

test('a base address may have at most 4,000 characters', () => {
  const address = (length: number): string => `https://x.test/${'a'.repeat(length - 15)}`;
  expect(readBaseUrl(address(4000))).toEqual({ ok: true, value: address(4000) });
  expect(readBaseUrl(address(4001)).ok).toBe(false);
});
