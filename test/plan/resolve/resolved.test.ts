import { expect, test } from 'vitest';
import type { StepKind } from '../../../src/pipeline/pipeline.ts';
import { drawnAbove, oneParent, type Resolved } from '../../../src/plan/resolve/resolved.ts';

test('a single gathered job is named as the parent; two slots that share a job are two inputs', () => {
  expect(oneParent({})).toEqual({});
  expect(oneParent({ parent: 'a' })).toEqual({ parent: 'a' });
  expect(oneParent({ inputs: ['a'] })).toEqual({ parent: 'a' });
  expect(oneParent({ inputs: ['a', 'a'] })).toEqual({ inputs: ['a', 'a'] });
  expect(oneParent({ inputs: ['a', 'b'] })).toEqual({ inputs: ['a', 'b'] });
});

test.each<readonly [StepKind, boolean]>([
  ['imagine', true],
  ['click', true],
  ['blend', true],
  ['video', true],
  ['edit', true],
  ['describe', false],
  ['shorten', false],
  ['generate', false],
  ['chat', false],
])('below %s, its prompt is the nearest one of an image: %s', (kind, isDrawn) => {
  const above = { template: { kind } } as Resolved;
  expect(drawnAbove(above)).toBe(isDrawn ? above : undefined);
  expect(drawnAbove(undefined)).toBeUndefined();
});
