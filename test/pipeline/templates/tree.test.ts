import { describe, expect, test } from 'vitest';
import {
  compileTree,
  isTemplate,
  type LeafPath,
  renderTree,
  treeSteps,
  treeVariables,
} from '../../../src/pipeline/templates/tree.ts';
import type { Value } from '../../../src/pipeline/values/value.ts';
import { inText, scopeOf, written } from '../liquid-rig.ts';

const compile = (value: Value, locate: (path: LeafPath) => typeof inText = () => inText) => {
  const result = compileTree(value, locate);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
};

describe('a tree of templates', () => {
  test('renders its strings and keeps everything else', () => {
    const w = written('6.0');
    const value = { a: 'x {{ n }}', b: '{{ n }}', c: ['{{ l }}', 1, true, null, w], d: { e: 'plain' } };
    const tree = compile(value);
    const rendered = renderTree(tree, scopeOf({ n: 3, l: [1, 2] }));
    expect(rendered).toEqual({ a: 'x 3', b: 3, c: [[1, 2], 1, true, null, w], d: { e: 'plain' } });
    expect((rendered as { c: unknown[] }).c[4]).toBe(w);
    expect(compile(w)).toBe(w);
  });

  test('keeps names that are special in JavaScript', () => {
    const tree = compile(JSON.parse('{"__proto__": "{{ n }}", "constructor": "x", "render": "y"}') as Value);
    expect(isTemplate(tree)).toBe(false);
    const rendered = renderTree(tree, scopeOf({ n: 1 }));
    expect(Object.entries(rendered as object)).toEqual([
      ['__proto__', 1],
      ['constructor', 'x'],
      ['render', 'y'],
    ]);
    expect(Object.getPrototypeOf(rendered)).toBe(Object.prototype);
  });

  test('lists the names that it reads, in written order', () => {
    const tree = compile({ b: '{{ x }}{{ steps.s.a }}', a: ['{{ y.z }}', { c: '{{ steps.t.b }}' }] });
    expect(treeVariables(tree).map(({ path }) => path.join('.'))).toEqual(['x', 'y.z']);
    expect(treeSteps(tree).map(({ step }) => step)).toEqual(['s', 't']);
    expect(treeVariables(written('1.0'))).toEqual([]);
  });

  test('gives the errors of all leaves with their positions', () => {
    const result = compileTree({ a: ['{{ steps }}', 'ok'], b: '{{ x' }, (path) => (offset, length) => ({
      line: path.length,
      column: offset,
      length,
    }));
    expect(result.ok ? [] : result.error.map(({ code, path, position }) => [code, path, position])).toEqual([
      ['template.steps', ['a', 0], { line: 2, column: 3, length: 5 }],
      ['template.syntax', ['b'], { line: 1, column: 0, length: 2 }],
    ]);
  });

  test('is limited in depth', () => {
    let value: Value = 'x';
    for (let depth = 0; depth < 5000; depth += 1) value = [value];
    const result = compileTree(value, () => inText);
    expect(result.ok ? '' : result.error[0]?.code).toBe('template.too-deep');
  });
});
