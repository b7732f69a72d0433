import { describe, expect, it } from 'vitest';
import { InFlight } from '../../../src/run/effects/in-flight.ts';

const never = new AbortController().signal;

/** Work that lasts until its signal, or until it is ended. */
function work(inFlight: InFlight, kind: 'free' | 'paid') {
  const state = { isAborted: false, isDone: false, end: (): void => undefined };
  inFlight.begin(kind, async (signal) => {
    await new Promise<void>((resolve) => {
      state.end = resolve;
      signal.addEventListener('abort', () => {
        state.isAborted = true;
        resolve();
      });
    });
    state.isDone = true;
  });
  return state;
}

const noBug = (bug: unknown): void => {
  throw new Error('a bug', { cause: bug });
};

describe('the requests of a run', () => {
  it('that are paid are waited for, and all others are aborted', async () => {
    const inFlight = new InFlight(noBug);
    const [free, paid] = [work(inFlight, 'free'), work(inFlight, 'paid')];
    const waiting = inFlight.awaitPaid(never);
    expect([free.isAborted, paid.isAborted, inFlight.isOver]).toEqual([true, false, false]);
    paid.end();
    await waiting;
    expect([paid.isDone, paid.isAborted, inFlight.isOver]).toEqual([true, false, false]);
  });

  it('that are paid are waited for only until the user leaves', async () => {
    const inFlight = new InFlight(noBug);
    const paid = work(inFlight, 'paid');
    await inFlight.awaitPaid(AbortSignal.abort());
    const leave = new AbortController();
    const waiting = inFlight.awaitPaid(leave.signal);
    leave.abort();
    await waiting;
    expect([paid.isDone, paid.isAborted]).toEqual([false, false]);
    await inFlight.stop();
    expect([paid.isDone, paid.isAborted]).toEqual([true, true]);
  });

  it('are all aborted at the end, which comes once each of them has ended', async () => {
    const inFlight = new InFlight(noBug);
    const all = [work(inFlight, 'free'), work(inFlight, 'paid')];
    await inFlight.stop();
    expect(all.map(({ isAborted, isDone }) => [isAborted, isDone])).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(inFlight.isOver).toBe(true);
  });

  it('report an exception, which is a bug, and go on', async () => {
    const bugs: unknown[] = [];
    const inFlight = new InFlight((bug) => bugs.push(bug));
    const bug = new Error('Internal error: x');
    inFlight.begin('paid', () => Promise.reject(bug));
    await inFlight.awaitPaid(never);
    await inFlight.stop();
    expect(bugs).toEqual([bug]);
  });
});
