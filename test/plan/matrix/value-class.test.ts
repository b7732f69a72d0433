import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClassList } from '../../../src/plan/matrix/value-class.ts';
import { listed, varsOf } from './spec.ts';

describe('the classes of an axis', () => {
  it('keep their numbers, for any size and order', () => {
    const id = fc.oneof(fc.nat(3), fc.nat(0xff), fc.nat(0xffff), fc.nat(0xffff_ffff));
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.nat(200)), { maxLength: 12 }), (runs) => {
        const list = new ClassList();
        const ids = runs.flatMap(([each, times]) => Array.from({ length: times }, () => each));
        for (const each of ids) list.push(each);
        expect(Array.from({ length: list.length }, (_, index) => list.get(index))).toEqual(ids);
      }),
      { seed: 1 },
    );
  });

  it('stay distinct if hundreds of includes precede many other values', async () => {
    const numbers = Array.from({ length: 1000 }, (_, index) => index);
    const include = numbers.slice(0, 300).map((a) => ({ a, note: `note ${a}` }));
    expect(await varsOf({ axes: [listed('a', numbers)], include })).toEqual(
      numbers.map((a) => (a < 300 ? { a, note: `note ${a}` } : { a })),
    );
  });
});
