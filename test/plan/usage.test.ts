import { expect, it } from 'vitest';
import { addUsage, tokenSides, totalTokens, UsageSum, usageSince } from '../../src/plan/usage.ts';

it("the total is the service's count, else the sum of the parts, with the cache in the prompt", () => {
  expect(totalTokens({ total: 7, prompt: 1 })).toBe(7);
  expect(totalTokens({ prompt: 1, candidates: 20, thoughts: 300, tool: 4000, cached: 50_000 })).toBe(4321);
  expect(totalTokens({})).toBe(0);
});

it('the sides are known if one of their parts is', () => {
  expect(tokenSides({ cached: 1, total: 9 })).toBeUndefined();
  expect(tokenSides({ prompt: 1, tool: 2, candidates: 4, thoughts: 8, other: 16 })).toEqual({
    sent: 3,
    made: 12,
    other: 16,
  });
  expect(tokenSides({ thoughts: 0 })).toEqual({ sent: 0, made: 0, other: 0 });
});

it('an increase includes counts that were unknown before', () => {
  expect(usageSince({ prompt: 1, tool: 2 }, { prompt: 3, thoughts: 4 })).toStrictEqual({
    prompt: 2,
    thoughts: 4,
  });
});

it('counts are added member by member, and unknown members of both stay unknown', () => {
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

it('a sum has its counts in a fixed order, and is undefined before the first addition', () => {
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
