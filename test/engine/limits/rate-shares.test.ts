import { expect, it } from 'vitest';
import { RouteShare } from '../../../src/engine/limits/rate-shares.ts';

it('counts a request that is sent again, because its key was refused, once more and gives its turn back once', () => {
  const clock = { now: () => 1000, at: () => () => undefined };
  const share = new RouteShare({ count: 3, perMs: 60_000 }, clock, () => undefined);
  share.onAnswer(1000, { granted: 3, fair: 3 });
  const pass = (): ((hasLeft: boolean) => void) => {
    const passed = share.pass(new AbortController().signal);
    if (passed instanceof Promise) throw new Error('It waits.');
    return passed;
  };
  const onLeft = pass();
  expect(share.ask(1000).used).toBe(1);
  for (const used of [1, 2]) {
    onLeft(true);
    expect(share.ask(1000).used).toBe(used);
  }
  pass();
  expect(share.pass(new AbortController().signal)).toBeInstanceOf(Promise);
});
