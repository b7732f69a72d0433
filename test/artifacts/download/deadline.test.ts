import { afterEach, describe, expect, it } from 'vitest';
import { startDeadline, TimedOut } from '../../../src/artifacts/download/deadline.ts';
import { ManualClock } from '../places.ts';

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

describe('a deadline', () => {
  const started = (idleMs: number, totalMs: number) => {
    const clock = new ManualClock();
    const caller = new AbortController();
    const deadline = startDeadline(clock, { idleMs, totalMs }, caller.signal);
    const reason = () => (deadline.signal.aborted ? (deadline.signal.reason as Error).message : 'none');
    return { clock, caller, deadline, reason };
  };

  it('ends when nothing has arrived for the idle time, to the millisecond', () => {
    const { clock, deadline, reason } = started(1000, 60_000);
    clock.advance(999);
    expect(reason()).toBe('none');
    deadline.arrived();
    clock.advance(1);
    expect(reason()).toBe('none');
    clock.advance(998);
    expect(reason()).toBe('none');
    // A second after the last arrival, and not a second after the alarm that came too early.
    clock.advance(1);
    expect(reason()).toBe('nothing arrived for 1 s');
    expect(deadline.signal.reason).toBeInstanceOf(TimedOut);
  });

  it('ends after the total time, however often something arrives', () => {
    const { clock, deadline, reason } = started(1000, 2500);
    for (let ms = 0; ms < 2499; ms += 1) {
      clock.advance(1);
      deadline.arrived();
    }
    expect(reason()).toBe('none');
    clock.advance(1);
    expect(reason()).toBe('it took longer than 2.5 s');
  });

  it('ends with its caller, for the same reason, also if that happened before', () => {
    const { caller, deadline } = started(1000, 2000);
    const stop = new Error('stop');
    caller.abort(stop);
    expect(deadline.signal.reason).toBe(stop);
    const late = startDeadline(new ManualClock(), { idleMs: 1000, totalMs: 2000 }, caller.signal);
    expect(late.signal.reason).toBe(stop);
  });

  it('that has ended watches nothing any more', () => {
    const { clock, caller, deadline } = started(1000, 2000);
    clock.advance(500);
    deadline.arrived();
    clock.advance(500);
    deadline.end();
    expect(clock.pending).toBe(0);
    clock.advance(9999);
    caller.abort();
    expect(deadline.signal.aborted).toBe(false);
  });
});
