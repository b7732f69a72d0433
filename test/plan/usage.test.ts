import { expect, it } from 'vitest';
import { addUsage, tokenSides, totalTokens, UsageSum, usageSince } from '../../src/plan/usage.ts';

it('the total is what the service said, else the sum of the parts, with the cache in the prompt', () => {
  expect(totalTokens({ total: 7, prompt: 1 })).toBe(7);
  expect(totalTokens({ prompt: 1, candidates: 20, thoughts: 300, tool: 4000, cached: 50_000 })).toBe(4321);
  expect(totalTokens({})).toBe(0);
});

it('the sides are known as soon as one part of them is', () => {
  expect(tokenSides({ cached: 1, total: 9 })).toBeUndefined();
  expect(tokenSides({ prompt: 1, tool: 2, candidates: 4, thoughts: 8, other: 16 })).toEqual({
    sent: 3,
    made: 12,
    other: 16,
  });
  expect(tokenSides({ thoughts: 0 })).toEqual({ sent: 0, made: 0, other: 0 });
});

it('a count has grown by what it knows now', () => {
  expect(usageSince({ prompt: 1, tool: 2 }, { prompt: 3, thoughts: 4 })).toStrictEqual({
    prompt: 2,
    thoughts: 4,
  });
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
