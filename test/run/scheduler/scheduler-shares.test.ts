import { describe, expect, it } from 'vitest';
import { served } from '../../bench/shares.ts';

describe('text calls beside downloads of 3 s an image, 16 requests in flight', () => {
  it.each([
    [1000, 200],
    [300, 2000],
    [1000, 2000],
    [3000, 2000],
    [1000, 10_000],
  ])(
    'of %i ms, tasks of %i ms: are no slower than without downloads, and hold up no submission',
    async (textMs, taskMs) => {
      const beside = await served(3000, textMs, taskMs);
      const alone = await served(undefined, textMs, taskMs);
      expect(beside.texts / alone.texts).toBeLessThan(1.1);
      // Long texts take most places, and tasks end too soon for them: what is left to submit waits for texts too.
      expect(beside.submitted / alone.submitted).toBeLessThan(textMs > taskMs ? 1.15 : 1.1);
    },
  );

  it.each([
    [300, 2000],
    [1000, 2000],
    [1000, 10_000],
  ])('of %i ms, tasks of %i ms: are answered as soon', async (textMs, taskMs) => {
    const beside = await served(3000, textMs, taskMs);
    const alone = await served(undefined, textMs, taskMs);
    // Where all places are taken, one that a poll has borrowed comes back with its answer, after 50 ms.
    expect(beside.text).toBeLessThan(1.1 * alone.text + 0.05);
  });
});
