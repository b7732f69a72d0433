import { afterEach, describe, expect, it } from 'vitest';
import { startDeadline } from '../../../src/artifacts/download/deadline.ts';

describe('the deadlines of many downloads', () => {
  const warnings: Error[] = [];
  const listener = (warning: Error): void => {
    warnings.push(warning);
  };
  afterEach(() => {
    process.off('warning', listener);
  });

  it('share one signal without a warning on standard error, and release it', async () => {
    process.on('warning', listener);
    const { signal } = new AbortController();
    const clock = { now: () => 0, at: () => () => {} };
    const deadlines = Array.from({ length: 40 }, () =>
      startDeadline(clock, { idleMs: 1000, totalMs: 2000 }, signal),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
    for (const deadline of deadlines) deadline.end();
    expect(deadlines.every((deadline) => !deadline.signal.aborted)).toBe(true);
  });
});
