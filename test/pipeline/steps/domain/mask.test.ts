import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boxError, maskOf } from '../../../../src/pipeline/steps/domain/mask.ts';
import type { TemplateScope } from '../../../../src/pipeline/templates/template.ts';
import { compileTree, renderTree } from '../../../../src/pipeline/templates/tree.ts';
import { type Value, WrittenNumber } from '../../../../src/pipeline/values/value.ts';

const scope: TemplateScope = { vars: { n: 'neck', box: [0, 0, 1, 1] }, repeat: 1, steps: {} };
const tree = (value: Value) => {
  const compiled = compileTree(value, () => () => ({ line: 1, column: 1, length: 1 }));
  if (!compiled.ok) throw new Error('a test has a mistake');
  return compiled.value;
};

describe('maskOf', () => {
  it('reads each form of a mask into the same form', () => {
    const spec = (value: Value) => {
      const mask = maskOf(tree(value));
      return 'file' in mask
        ? { ...mask, file: mask.file.render(scope) }
        : { ...mask, shapes: renderTree(mask.shapes, scope) };
    };
    expect(spec('masks/{{ n }}.png')).toEqual({ file: 'masks/neck.png', invert: false });
    expect(spec({ file: 'a.png' })).toEqual({ file: 'a.png', invert: false });
    expect(spec({ file: 'a.png', invert: true })).toEqual({ file: 'a.png', invert: true });
    expect(
      spec({
        shapes: [{ rectangle: [0, 0.5, 1, new WrittenNumber('0.50', 0.5)] }, { ellipse: '{{ box }}' }],
      }),
    ).toEqual({
      shapes: [{ rectangle: [0, 0.5, 1, new WrittenNumber('0.50', 0.5)] }, { ellipse: [0, 0, 1, 1] }],
      invert: false,
    });
  });

  it('throws an internal error for anything else', () => {
    for (const wrong of [7, null, [], {}, { shapes: 3 }, { shapes: [{}] }, { shapes: [null] }, { file: 3 }]) {
      expect(() => maskOf(tree(wrong as Value))).toThrow(/^Internal error:/);
    }
  });
});

describe('boxMistake', () => {
  it('recognises boxes that are not in the image', () => {
    const reaches = 'extends beyond the';
    expect(boxError([0.9, 0.9, 0.9, 0.9])).toBe(
      `${reaches} right edge of the image: 0.9 + 0.9 is more than 1`,
    );
    expect(boxError([-0.1, 0, 0.6, 1])).toBe(`${reaches} left edge of the image: -0.1 is below 0`);
    expect(boxError([0, 0.5, 1, 0.6])).toBe(`${reaches} lower edge of the image: 0.5 + 0.6 is more than 1`);
    expect(boxError([0, -1, 1, 1])).toBe(`${reaches} upper edge of the image: -1 is below 0`);
    expect(boxError([0, 0, 0, 1])).toBe('covers no part of the image: its width must be above 0');
    expect(boxError([0, 0, 1, -1])).toBe('covers no part of the image: its height must be above 0');
    for (const wrong of [
      [],
      [0, 0, 1],
      [0, 0, 1, 1, 1],
      ['0', 0, 1, 1],
      [Number.NaN, 0, 1, 1],
      [0, 0, null, 1],
    ]) {
      expect(boxError(wrong)).toContain('four numbers');
    }
  });

  it('accepts every part of the image, whatever its fractions', () => {
    const part = fc.tuple(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 1, max: 1000 }));
    fc.assert(
      fc.property(part, part, ([x, width], [y, height]) => {
        fc.pre(x + width <= 1000 && y + height <= 1000);
        expect(boxError([x, y, width, height].map((one) => one / 1000))).toBeUndefined();
        expect(boxError([x, y, 1001 - x, height].map((one) => one / 1000))).toBeDefined();
      }),
    );
  });
});
