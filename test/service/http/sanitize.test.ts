import { describe, expect, it } from 'vitest';
import { makeClean } from '../../../src/service/http/sanitize.ts';
import { secretMaskOf } from '../../../src/service/http/secrets.ts';

const key = 'sk-0123456789abcdef';
const clean = makeClean(secretMaskOf([key]));

describe('words of the service', () => {
  it('are cut behind 600 characters', () => {
    expect(clean('a'.repeat(600))).toBe('a'.repeat(600));
    expect(clean('a'.repeat(601))).toBe(`${'a'.repeat(600)}…`);
  });

  it('are read up to 65,536 characters, and say so where more was left out', () => {
    expect(clean(`${' '.repeat(65_535)}x`)).toBe('x');
    expect(clean(`${' '.repeat(65_536)}x`)).toBe('…');
  });

  it('show no key that only its white space had hidden', () => {
    const spaced = makeClean(secretMaskOf(['long pass phrase']));
    expect(spaced('x long\n pass\tphrase y')).toBe('x [secret] y');
  });

  it.each([0, 590, 65_520, 65_530])('show no part of a key that stands at %i', (at) => {
    const shown = clean(`${' '.repeat(at)}${key}${' '.repeat(65_536)}`);
    expect(shown).not.toContain('sk-');
    expect(shown).not.toContain('0123');
  });
});
