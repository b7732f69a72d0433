import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/run/clock.ts';
import type { ImageService } from '../../src/service/image-service.ts';
import { sentFact } from '../../src/state/store.ts';
import { epoch } from '../rig/jobs.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { run } from './engine-rig.ts';

const minute = 60_000;
const settings = { limits: { tasks: 10, requests: 8, submit: { count: 2, perMs: minute } } } as const;

/** A clock that jumps to the earliest moment that is waited for, once everything else has had its turn. */
function orderedClock(): Clock {
  let now = epoch;
  const timers = new Set<{ readonly at: number; readonly call: () => void }>();
  let turns = 0;
  const jump = (): void => {
    turns += 1;
    if (turns % 20 !== 0) return void setImmediate(jump);
    const [first] = [...timers].sort((a, b) => a.at - b.at);
    if (first === undefined) return;
    timers.delete(first);
    now = Math.max(now, first.at);
    first.call();
    setImmediate(jump);
  };
  return {
    now: () => now,
    at: (at, call) => {
      const timer = { at, call };
      if (timers.size === 0) setImmediate(jump);
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
}

/** Runs whose submissions leave a while after they were decided. */
function world() {
  const store = memoryStore();
  const clock = orderedClock();
  const begin = clock.now();
  const left: number[] = [];
  const leavingAfter =
    (ms: number, onLeft: () => void = () => undefined) =>
    (port: ImageService): Partial<ImageService> => ({
      tellsLeaving: true,
      begin: async (request, signal, onLeave) => {
        await new Promise<void>((resolve) => void clock.at(clock.now() + ms, resolve));
        left.push(clock.now() - begin);
        onLeave?.();
        onLeft();
        return await port.begin(request, signal);
      },
      fetchTask: async (id, signal, onLeave) => {
        onLeave?.();
        return await port.fetchTask(id, signal);
      },
    });
  return { store, clock, left, leavingAfter };
}

describe('the log of recent sends', () => {
  it('counts a request in the run after a kill from its sending, not from its decision', async () => {
    const { store, clock, left, leavingAfter } = world();
    const leave = new AbortController();
    // As if the process was killed: what is kept at the end of a run is missing.
    const killed = { ...store, setFact: () => undefined };
    await run({
      store: killed,
      clock,
      settings,
      control: { leave: leave.signal },
      service: leavingAfter(45_000, () => left.length === 2 && leave.abort()),
    });
    expect(left.length).toBe(2);
    await run({ store, clock, settings, service: leavingAfter(0) });
    expect(left.length).toBeGreaterThan(4);
    for (const at of left)
      expect(left.filter((other) => other > at - minute && other <= at).length).toBeLessThanOrEqual(2);
  });

  it('is saved at the end of a run, when all requests were sent', async () => {
    const { store, clock, left, leavingAfter } = world();
    const begin = clock.now();
    await run({ store, clock, settings, service: leavingAfter(1000) });
    const { submit } = JSON.parse(store.fact(sentFact) ?? '{}') as { submit: readonly [number, number][] };
    const latest = begin + (left.at(-1) ?? 0) + minute;
    expect(submit.at(-1)?.[0]).toBeGreaterThanOrEqual(latest);
    expect(submit.at(-1)?.[0]).toBeLessThan(latest + minute / 32);
  });
});
