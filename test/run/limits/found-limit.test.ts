import { expect, it } from 'vitest';
import { FoundLimit } from '../../../src/run/limits/found-limit.ts';

it('pays for a refusal with forty served requests, however many were served before', () => {
  const limit = new FoundLimit({ perMinute: 60 });
  let now = 0;
  /** How many requests are served until a higher rate is tried. */
  const untilRaised = (): number => {
    for (let served = 1; ; served += 1) {
      now += 60_000;
      limit.served(now, 0, () => 0);
      if (limit.isTrying) return served;
    }
  };
  const raises = Array.from({ length: 50 }, untilRaised);
  expect(raises[0]).toBe(20);
  limit.owe();
  limit.takeBack();
  expect(untilRaised()).toBe(40);
});
