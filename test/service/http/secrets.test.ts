import { describe, expect, test } from 'vitest';
import { dataMaskOf, sandboxKey, secretMask, secretMaskOf } from '../../../src/service/http/secrets.ts';

const secret = 'Sk-1234 "ü/+?ABCDefgh';

describe('a secret in a message', () => {
  const mask = secretMaskOf([secret]);

  test.each<readonly [string, string]>([
    ['as it is', secret],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in an address', encodeURIComponent(secret)],
    [
      'in an address in lower case',
      encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
    ],
    ['in CSV', secret.replaceAll('"', '""')],
    ['in lower case', secret.toLowerCase()],
    ['as hex', Buffer.from(secret).toString('hex')],
    ['as hex in capitals', Buffer.from(secret).toString('hex').toUpperCase()],
    ['as base64', Buffer.from(secret).toString('base64')],
  ])('is found %s', (_, form) => {
    expect(mask(`before ${form} after ${form}`)).toBe(`before ${secretMask} after ${secretMask}`);
  });

  test.each([0, 1, 2, 3, 4, 5])('is found in base64 of a longer text, after %i bytes', (before) => {
    for (const encoding of ['base64', 'base64url'] as const) {
      const text = Buffer.from(`${'x'.repeat(before)}${secret}${'y'.repeat(7)}`).toString(encoding);
      const masked = mask(text);
      expect(masked).toContain(secretMask);
      // What is left stands for no more than one character at each end.
      const known = Buffer.from(masked.replace(secretMask, ''), 'base64').toString('latin1');
      expect(known).not.toContain('1234');
    }
  });

  test('is removed as a whole if it contains another one', () => {
    const [short, long] = ['abcdefgh', 'abcdefghijkl'];
    for (const secrets of [
      [short, long],
      [long, short],
    ])
      expect(secretMaskOf(secrets)(`x ${long} ${short} y`)).toBe(`x ${secretMask} ${secretMask} y`);
  });

  test.each(['none', 'dummy', 'EMPTY', 'ollama', 'secret', '1234567', sandboxKey])(
    'does not include %s, which is too short or a word',
    (key) => {
      const text = `pr-${key} ${key} ${Buffer.from(key).toString('hex')} ${key.toLowerCase()}`;
      expect(secretMaskOf([key])(text)).toBe(text);
    },
  );

  test('is searched for from eight characters on', () => {
    expect(secretMaskOf(['ABCDEFGH'])('ABCDEFGH')).toBe(secretMask);
  });

  test('may contain half of a character without an error', () => {
    expect(secretMaskOf(['abcdefg\uD83E'])('x abcdefg\uD83E')).toBe(`x ${secretMask}`);
  });
});

test('a credential is searched for in data from 16 characters on', () => {
  const [short, long] = ['a'.repeat(15), 'b'.repeat(16)];
  expect(dataMaskOf([short, long])(`${short} ${long}`)).toBe(`${short} ${secretMask}`);
});
