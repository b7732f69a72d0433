import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdsNone } from '../../../src/app/fingerprint/seen-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'promptpress-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function holdsNoneOf(text: string, texts: readonly string[]): boolean {
  const file = join(folder, 'manifest.csv');
  writeFileSync(file, text);
  return holdsNone(file, texts);
}

describe('a search for texts in a file', () => {
  it('finds the same texts as a plain search, at any position', () => {
    // Few letters, so that parts of a text stand in many places.
    const letters = (least: number, most: number): fc.Arbitrary<string> =>
      fc
        .array(fc.constantFrom('a', 'b', 'ä', '🦊'), { minLength: least, maxLength: most })
        .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        fc.array(letters(1, 30), { minLength: 1, maxLength: 4 }),
        letters(0, 200),
        letters(0, 200),
        fc.boolean(),
        (texts, before, after, isThere) => {
          const text = `${before}${isThere ? texts[0] : ''}${after}`;
          expect(holdsNoneOf(text, texts)).toBe(!texts.some((sought) => text.includes(sought)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('finds a text that spans two chunks', () => {
    const key = 'sk-0123456789abcdef';
    for (let before = 1_048_576 - key.length - 1; before <= 1_048_577; before += 1)
      for (const texts of [[key], [key, 'another-text-of-some-length']])
        expect(holdsNoneOf(`${'.'.repeat(before)}${key}${'.'.repeat(40)}`, texts)).toBe(false);
  });

  it('returns false for a missing file', () => {
    expect(holdsNone(join(folder, 'nothing'), ['sk-0123456789abcdef'])).toBe(false);
    expect(holdsNoneOf('a text', [])).toBe(true);
  });
});
