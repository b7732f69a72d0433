import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Places } from '../../../src/report/serve/index/places.ts';

describe('the places of results', () => {
  it('equal a count from the first cell, even after cells gained or lost results', () => {
    const cells = fc.array(fc.tuple(fc.nat(3), fc.nat(4)), { minLength: 1, maxLength: 60 });
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(5)), { maxLength: 10 });
    fc.assert(
      fc.property(cells, changes, (gaps, later) => {
        const places = new Places();
        const sizes = new Map<number, number>();
        let number = 0;
        for (const [gap, results] of gaps) {
          number += 1 + gap;
          places.append(number, results);
          sizes.set(number, results);
        }
        const numbers = [...sizes.keys()];
        for (const [which, results] of later) {
          const cell = numbers[which % numbers.length] ?? 0;
          places.change(cell, results - (sizes.get(cell) ?? 0));
          sizes.set(cell, results);
        }
        const all = [...sizes].flatMap(([cell, results]) =>
          Array.from({ length: results }, (_, index) => ({ cell, index })),
        );
        expect(places.total).toBe(all.length);
        expect(all.map((_, place) => places.find(place))).toEqual(all);
        expect(places.find(all.length)).toBeUndefined();
        let first = 0;
        for (const [cell, results] of sizes) {
          expect(places.firstOf(cell)).toBe(first);
          first += results;
        }
        expect(places.firstOf(number + 1)).toBeUndefined();
      }),
    );
  });
});
