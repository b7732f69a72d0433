import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { KeySet } from '../../src/manifest/key-set.ts';

describe('KeySet', () => {
  it('behaves like a set of strings, whatever is added', () => {
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

  it('gives each key the number with which it came first, whenever it grows', () => {
    const set = new KeySet(true);
    for (let index = 0; index < 2000; index += 1) {
      set.add(`${index}`, index);
      expect(set.add(`${index >> 1}`, 4_000_000_000)).toBe(false);
    }
    const numbers = Array.from({ length: 2000 }, (_, index) => set.numberOf(`${index}`));
    expect(numbers).toEqual([...numbers.keys()]);
    expect(set.numberOf('2000')).toBeUndefined();
  });

  it('ends its search for a missing key, however many others are there', () => {
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

  it('keeps every key and the count of keys whenever it grows', () => {
    const set = new KeySet();
    const keyOf = (index: number): string => `key ${index}`;
    for (let index = 0; index < 5_000; index += 1) {
      set.add(keyOf(index));
      if ((index & (index + 1)) !== 0) continue;
      const known = Array.from({ length: index + 1 }, (_, n) => keyOf(n));
      expect(known.filter((key) => !set.has(key))).toEqual([]);
      expect(known.filter((key) => set.add(key))).toEqual([]);
      expect(set.size).toBe(index + 1);
    }
  });

  it('takes between 10 and 22 bytes per key, once there are some', () => {
    const tables: number[] = [];
    class Counted extends Uint32Array {
      constructor(length: number) {
        super(length);
        tables.push(4 * length);
      }
    }
    vi.stubGlobal('Uint32Array', Counted);
    try {
      const set = new KeySet();
      for (let index = 1; index <= 3_000; index += 1) {
        set.add(`key ${index}`);
        const bytes = tables.at(-1) ?? 0;
        expect(bytes).toBeGreaterThanOrEqual(10 * index);
        expect(bytes).toBeLessThanOrEqual(Math.max(64 * 8, 22 * index));
      }
    } finally {
      vi.unstubAllGlobals();
    }
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
