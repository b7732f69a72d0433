import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeySet } from '../../src/manifest/key-set.ts';

describe('KeySet', () => {
  it('behaves as a set of strings does, whatever is added', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 8 }), { maxLength: 300 }), fc.string(), (keys, other) => {
        const set = new KeySet();
        const model = new Set<string>();
        for (const key of keys) {
          expect(set.add(key)).toBe(!model.has(key));
          model.add(key);
        }
        expect(set.size).toBe(model.size);
        for (const key of model) expect(set.has(key)).toBe(true);
        expect(set.has(other)).toBe(model.has(other));
      }),
      { seed: 1 },
    );
  });

  it('ends its search for a key that is not there, however many others are', () => {
    const firstFound = (): number | undefined => {
      const set = new KeySet();
      for (let index = 0; index < 2000; index += 1) {
        if (set.has(`${index}`)) return index;
        set.add(`${index}`);
      }
      return undefined;
    };
    // A search without an end is broken off, which fails the test.
    expect(runInNewContext('firstFound()', { firstFound }, { timeout: 30_000 })).toBeUndefined();
  });

  it('keeps 100,000 job keys apart', () => {
    const set = new KeySet();
    const keyOf = (index: number): string => index.toString(16).padStart(32, '0');
    let added = 0;
    for (let index = 0; index < 100_000; index += 1) if (set.add(keyOf(index))) added += 1;
    expect([added, set.size]).toEqual([100_000, 100_000]);
    expect(set.has(keyOf(99_999))).toBe(true);
    expect(set.has(keyOf(100_000))).toBe(false);
  });
});
