import { describe, expect, it } from 'vitest';
import { served } from '../../bench/shares.ts';

describe('text calls beside downloads of 3 s an image, 16 requests in flight', () => {
  it.each([
    // Long texts take most places, and tasks end too soon for them: what is left to submit waits for texts too, and how soon a text is
    // answered says nothing.
    { textMs: 1000, taskMs: 200, submitted: 1.15, answered: Number.POSITIVE_INFINITY },
    { textMs: 300, taskMs: 2000, submitted: 1.1, answered: 1.1 },
    { textMs: 3000, taskMs: 2000, submitted: 1.15, answered: Number.POSITIVE_INFINITY },
    { textMs: 1000, taskMs: 10_000, submitted: 1.1, answered: 1.1 },
  ])(
    'of $textMs ms, tasks of $taskMs ms: are no slower than without downloads, answered as soon, and hold up no submission',
    async ({ textMs, taskMs, submitted, answered }) => {
      const beside = await served(3000, textMs, taskMs);
      const alone = await served(undefined, textMs, taskMs);
      expect(beside.texts / alone.texts).toBeLessThan(1.1);
      expect(beside.submitted / alone.submitted).toBeLessThan(submitted);
      // Where all places are taken, one that a poll has borrowed comes back with its answer, after 50 ms.
      expect(beside.text).toBeLessThan(answered * alone.text + 0.05);
    },
  );
});
