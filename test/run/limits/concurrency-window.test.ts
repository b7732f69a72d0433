import { describe, expect, it } from 'vitest';
import { ConcurrencyWindow } from '../../../src/run/limits/concurrency-window.ts';
import { got } from '../../bench/found.ts';
import { epoch } from '../../rig/jobs.ts';

const full = { kind: 'queue-full', code: 23, message: 'full' } as const;
const accepted = (code = 1, waiting?: number) =>
  ({ kind: 'accepted', taskId: 'T', code, ...(waiting === undefined ? {} : { waiting }) }) as const;

describe('the window that a full queue narrows', () => {
  it('leaves room for the tasks that the service has, and for one at least', () => {
    const concurrency = new ConcurrencyWindow(12);
    expect(concurrency.window).toBe(12);
    concurrency.note(full, 5);
    expect(concurrency.window).toBe(5);
    concurrency.note(full, 9);
    expect(concurrency.window).toBe(5);
    concurrency.note(full, 0);
    expect(concurrency.window).toBe(1);
  });

  const accept = (concurrency: ConcurrencyWindow, times: number, held: number): void => {
    for (let n = 0; n < times; n += 1) concurrency.note(accepted(), held);
  };

  it('is tried one wider after 80 tasks that began at once, and after each full window once that succeeds', () => {
    const concurrency = new ConcurrencyWindow(5);
    concurrency.note(full, 2);
    accept(concurrency, 79, 1);
    expect(concurrency.window).toBe(2);
    accept(concurrency, 1, 1);
    expect(concurrency.window).toBe(3);
    accept(concurrency, 3, 2);
    expect(concurrency.window).toBe(4);
    accept(concurrency, 9, 3);
    expect(concurrency.window).toBe(5);
  });

  it('is tried ever more rarely while that is refused, and soon again where the service has become narrower', () => {
    const concurrency = new ConcurrencyWindow(9);
    concurrency.note(full, 2);
    for (const tasks of [80, 160, 320, 320]) {
      accept(concurrency, tasks - 1, 1);
      expect(concurrency.window).toBe(2);
      accept(concurrency, 1, 1);
      expect(concurrency.window).toBe(3);
      concurrency.note(full, 2);
    }
    concurrency.note(full, 1);
    accept(concurrency, 80, 0);
    expect(concurrency.window).toBe(2);
  });

  it('begins as an earlier run found it, from 1 to the limit', () => {
    expect([4, 40, 0.5, undefined].map((learned) => new ConcurrencyWindow(12, learned).window)).toEqual([
      4, 12, 1, 12,
    ]);
  });

  it('grows when a task begins at once beside more tasks than it allowed', () => {
    const concurrency = new ConcurrencyWindow(12);
    // One row of a burst was refused before the others were taken.
    concurrency.note(full, 0);
    for (let held = 0; held < 5; held++) concurrency.note(accepted(), held);
    expect(concurrency.window).toBe(5);
  });

  it('does not grow while tasks wait on the service, with code 22 or code 1', () => {
    const concurrency = new ConcurrencyWindow(4);
    concurrency.note(full, 1);
    for (const answer of [accepted(22), accepted(1, 3), accepted(22, 0)])
      for (let n = 0; n < 99; n += 1) concurrency.note(answer, 1);
    expect(concurrency.window).toBe(1);
    concurrency.note(accepted(1, 0), 1);
    expect(concurrency.window).toBe(2);
  });

  it('counts only tasks that begin at once, and restarts the count when it changes', () => {
    const concurrency = new ConcurrencyWindow(9);
    concurrency.note(full, 2);
    accept(concurrency, 79, 1);
    concurrency.note({ kind: 'refused', code: 4, message: 'no' }, 1);
    concurrency.note(full, 2);
    accept(concurrency, 79, 1);
    expect(concurrency.window).toBe(2);
    accept(concurrency, 1, 1);
    expect(concurrency.window).toBe(3);
  });

  it('learns nothing from submissions that are refused', () => {
    const concurrency = new ConcurrencyWindow(9);
    concurrency.note(full, 2);
    for (let n = 0; n < 9; n += 1) concurrency.note({ kind: 'refused', code: 4, message: 'no' }, 9);
    expect(concurrency.window).toBe(2);
  });

  it('never exceeds the limit, whatever the service has', () => {
    const concurrency = new ConcurrencyWindow(4);
    concurrency.note(full, 2);
    concurrency.note(accepted(), 40);
    expect(concurrency.window).toBe(4);
    concurrency.note(accepted(), 40);
    expect(concurrency.window).toBe(4);
    concurrency.note(full, 40);
    expect(concurrency.window).toBe(4);
  });
});

describe('a service that takes a few tasks at a time', () => {
  it.each([3, 4, 8, 20])(
    'of %i: refuses at most 2 %% once that is found, and is as busy as if the limit was known',
    async (most) => {
      const unknown = await got(400, 40, ({ at }, service) => service.inFlight(at) < most);
      const known = await got(400, most, () => true);
      expect(unknown.refused).toBeLessThanOrEqual(0.02);
      expect(unknown.perSecond / known.perSecond).toBeGreaterThanOrEqual(0.95);
    },
  );

  it('is used by more tasks soon after it accepts more', async () => {
    const half = 400_000;
    const limit = (at: number): number => (at < epoch + half ? 4 : 12);
    const changed = await got(1000, 40, ({ at }, service) => service.inFlight(at) < limit(at), 10_000, 500);
    const known = await got(1000, 12, () => true, 10_000, 500);
    expect(changed.refused).toBeLessThanOrEqual(0.02);
    expect(changed.perSecond / known.perSecond).toBeGreaterThanOrEqual(0.9);
  });
});
