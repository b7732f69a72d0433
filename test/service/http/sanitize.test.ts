import { describe, expect, it } from 'vitest';
import { makeClean } from '../../../src/service/http/sanitize.ts';
import { secretMaskOf } from '../../../src/service/http/secrets.ts';

const key = 'sk-0123456789abcdef';
const clean = makeClean(secretMaskOf([key]));

describe('words of the service', () => {
  it('are cut after 600 characters', () => {
    expect(clean('a'.repeat(600))).toBe('a'.repeat(600));
    expect(clean('a'.repeat(601))).toBe(`${'a'.repeat(600)}…`);
  });

  it('are read up to 65,536 characters, and marked if more was left out', () => {
    expect(clean(`${' '.repeat(65_535)}x`)).toBe('x');
    expect(clean(`${' '.repeat(65_536)}x`)).toBe('…');
  });

  it('show no key that was hidden only by white space in it', () => {
    const spaced = makeClean(secretMaskOf(['long pass phrase']));
    expect(spaced('x long\n pass\tphrase y')).toBe('x [secret] y');
  });

  it.each([0, 590, 65_520, 65_530])('show no part of a key at position %i', (at) => {
    const shown = clean(`${' '.repeat(at)}${key}${' '.repeat(65_536)}`);
    expect(shown).not.toContain('sk-');
    expect(shown).not.toContain('0123');
  });

  it.each([
    0x00, 0x1b, 0x7f, 0x9b, 0xad, 0x61c, 0x200b, 0x200e, 0x200f, 0x202a, 0x202e, 0x2060, 0x2066, 0x2069,
    0x206f, 0xfff9, 0xfffb, 0xe0001, 0xe007f,
  ])('show the invisible character %i by its number', (code) => {
    const number = code.toString(16).padStart(2, '0');
    expect(clean(`a${String.fromCodePoint(code)}b`)).toBe(`a\\u{${number}}b`);
  });

  it('keep every visible character', () => {
    const seen = '狐 é \u{1f98a} \u0301 \u200d →';
    expect(clean(seen)).toBe(seen);
    expect(clean('a\u2028b\u2029c\ufeffd\u00a0e')).toBe('a b c d e');
    expect(clean('a\ud83e')).toBe('a\\u{d83e}');
  });
});
