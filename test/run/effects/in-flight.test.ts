import { getEventListeners } from 'node:events';
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
  it('wait for paid ones, and abort all others', async () => {
    const inFlight = new InFlight(noBug);
    const [free, paid] = [work(inFlight, 'free'), work(inFlight, 'paid')];
    const waiting = inFlight.awaitPaid(never);
    expect([free.isAborted, paid.isAborted, inFlight.isOver]).toEqual([true, false, false]);
    paid.end();
    await waiting;
    expect([paid.isDone, paid.isAborted, inFlight.isOver]).toEqual([true, false, false]);
  });

  it('wait for paid ones only until the user leaves', async () => {
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

  it('wait for paid ones until the last of them has ended', async () => {
    const inFlight = new InFlight(noBug);
    const [first, second] = [work(inFlight, 'paid'), work(inFlight, 'paid')];
    let isOver = false;
    const waiting = (async () => {
      await inFlight.awaitPaid(never);
      isOver = true;
    })();
    first.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect([first.isDone, second.isDone, isOver]).toEqual([true, false, false]);
    second.end();
    await waiting;
    expect(second.isDone).toBe(true);
  });

  it('leave no listener on the signal by which the user leaves', async () => {
    const leave = new AbortController();
    const inFlight = new InFlight(noBug);
    const paid = work(inFlight, 'paid');
    const waiting = inFlight.awaitPaid(leave.signal);
    expect(getEventListeners(leave.signal, 'abort')).toHaveLength(1);
    paid.end();
    await waiting;
    expect(getEventListeners(leave.signal, 'abort')).toEqual([]);
  });

  it.each(['free', 'paid'] as const)('delay the end while one still cleans up: %s', async (kind) => {
    const inFlight = new InFlight(noBug);
    let tidied: () => void = () => undefined;
    inFlight.begin(kind, () => new Promise((resolve) => (tidied = resolve)));
    let isOver = false;
    const stopping = (async () => {
      await inFlight.stop();
      isOver = true;
    })();
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    tidied();
    await stopping;
    expect(isOver).toBe(true);
  });

  it('are all aborted at the end, which waits until each of them has ended', async () => {
    const inFlight = new InFlight(noBug);
    const all = [work(inFlight, 'free'), work(inFlight, 'paid')];
    await inFlight.stop();
    expect(all.map(({ isAborted, isDone }) => [isAborted, isDone])).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(inFlight.isOver).toBe(true);
  });

  it('may all listen to one signal without a warning', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): number => warnings.push(warning);
    process.on('warning', onWarning);
    const inFlight = new InFlight(noBug);
    for (let count = 0; count < 20; count += 1)
      for (const kind of ['free', 'paid'] as const) work(inFlight, kind);
    await new Promise((resolve) => setImmediate(resolve));
    await inFlight.stop();
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('report an exception as a bug, and continue', async () => {
    const bugs: unknown[] = [];
    const inFlight = new InFlight((bug) => bugs.push(bug));
    const bug = new Error('Internal error: x');
    inFlight.begin('paid', () => Promise.reject(bug));
    await inFlight.awaitPaid(never);
    await inFlight.stop();
    expect(bugs).toEqual([bug]);
  });
});
