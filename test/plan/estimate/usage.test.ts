import { expect, it } from 'vitest';
import { addUsage, usageCounts } from '../../../src/plan/estimate/usage.ts';

it('six counts of tokens are known', () => {
  expect(usageCounts).toEqual(['prompt', 'cached', 'candidates', 'thoughts', 'tool', 'total']);
});

it('counts are added one by one, and what neither side knows stays unknown', () => {
  const sum = { prompt: 1, total: 4 };
  expect(addUsage(sum, { prompt: 2, cached: 0, tool: 5 })).toStrictEqual({
    prompt: 3,
    cached: 0,
    tool: 5,
    total: 4,
  });
  expect(sum).toStrictEqual({ prompt: 1, total: 4 });
  expect(addUsage(undefined, { thoughts: 7, candidates: 8 })).toStrictEqual({ thoughts: 7, candidates: 8 });
  expect(addUsage({ cached: 1 }, {})).toStrictEqual({ cached: 1 });
});
