import { expect, it } from 'vitest';
import { addUsage, UsageSum, usageCounts } from '../../../src/plan/estimate/usage.ts';

it('seven counts of tokens are known', () => {
  expect(usageCounts).toEqual(['prompt', 'cached', 'candidates', 'thoughts', 'tool', 'other', 'total']);
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

it('a sum has its counts in their order, whatever was added first, and is nothing before anything was added', () => {
  const sum = new UsageSum();
  expect(sum.value).toBeUndefined();
  sum.add({ total: 3 });
  sum.add({ total: 4, prompt: 2 });
  const { value } = sum;
  sum.add({ thoughts: 1, prompt: 5 });
  expect(JSON.stringify([value, sum.value])).toBe(
    '[{"prompt":2,"total":7},{"prompt":7,"thoughts":1,"total":7}]',
  );
});
