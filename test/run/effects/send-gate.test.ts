import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/run/clock.ts';
import { SendGate } from '../../../src/run/effects/send-gate.ts';
import { RouteTraffic } from '../../../src/run/limits/route.ts';
import { seededRandom, virtualSettings } from '../../rig/virtual-run.ts';

/** A clock that a test moves, whose timers are late by what `late` draws. */
function movedClock(late: () => number): Clock & { readonly runTo: (end: number) => Promise<void> } {
  let now = 0;
  let order = 0;
  const timers = new Map<number, { readonly at: number; readonly call: () => void }>();
  return {
    now: () => now,
    at: (at, call) => {
      const id = (order += 1);
      timers.set(id, { at: Math.max(now, at) + late(), call });
      return () => timers.delete(id);
    },
    runTo: async (end) => {
      for (;;) {
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        const next = [...timers].sort(([, a], [, b]) => a.at - b.at)[0];
        if (next === undefined || next[1].at > end) break;
        timers.delete(next[0]);
        now = Math.max(now, next[1].at);
        next[1].call();
      }
      now = end;
    },
  };
}

const limits = { tasks: 1, requests: 1, submit: { count: 100, perMs: 1000 } };

describe('the gate before the service', () => {
  it('lets requests of routes without a rate pass at once', () => {
    const gate = new SendGate(
      limits,
      movedClock(() => 0),
    );
    expect(gate.pass('poll', new AbortController().signal)).toBeUndefined();
  });

  it('spreads what a commit bunches together: never more than the count in any second, and nearly all of it', async () => {
    let step = 0;
    const clock = movedClock(() => ((step += 1) % 40 === 0 ? 60 : step % 5));
    const gate = new SendGate(limits, clock);
    const { signal } = new AbortController();
    const times: number[] = [];
    // Five together, every 48 ms: a little more than the rate.
    const commit = (): void => {
      for (let one = 0; one < 5; one += 1)
        void (async () => {
          if ((await gate.pass('submit', signal)) !== false) times.push(clock.now());
        })();
      if (clock.now() < 20_000) clock.at(clock.now() + 48, commit);
    };
    commit();
    await clock.runTo(20_000);
    for (const at of times)
      expect(times.filter((other) => other > at - 1000 && other <= at).length).toBeLessThanOrEqual(100);
    expect(times.length / 2000).toBeGreaterThan(0.88);
  });

  it.each([
    [20, 1000, 0.96],
    [100, 1000, 0.96],
    [600, 60_000, 0.98],
  ])(
    'behind decisions at the same rate and commits of up to 12 ms, one in twenty of 60 ms: %d in %d ms are used to %d, never exceeded',
    async (count, perMs, least) => {
      const random = seededRandom(3);
      const clock = movedClock(() => 5 * random());
      const rate = { count, perMs };
      const gate = new SendGate({ tasks: 1, requests: 1, submit: rate }, clock);
      const route = new RouteTraffic('submit', rate, virtualSettings().retry, random);
      const { signal } = new AbortController();
      const times: number[] = [];
      let decided = 0;
      const pass = async (): Promise<void> => {
        if ((await gate.pass('submit', signal)) !== false) times.push(clock.now());
      };
      const turn = (): void => {
        for (; route.nextAt() <= clock.now(); decided += 1) route.take(clock.now());
        if (decided === 0) return void clock.at(route.nextAt(), turn);
        const commitMs = random() < 0.05 ? 60 : 12 * random();
        clock.at(clock.now() + commitMs, () => {
          for (; decided > 0; decided -= 1) void pass();
          turn();
        });
      };
      turn();
      const end = Math.max(20_000, 3 * perMs);
      await clock.runTo(end);
      for (const at of times)
        expect(times.filter((other) => other > at - perMs && other <= at).length).toBeLessThanOrEqual(count);
      expect(times.length / ((end * count) / perMs)).toBeGreaterThanOrEqual(least);
    },
  );

  it('ends a wait when the run is left, and the request does not leave', async () => {
    const clock = movedClock(() => 0);
    const gate = new SendGate({ tasks: 1, requests: 1, text: { count: 1, perMs: 60_000 } }, clock);
    const leave = new AbortController();
    expect(gate.pass('text', leave.signal)).toBeUndefined();
    const waiting = gate.pass('text', leave.signal);
    leave.abort();
    expect(await waiting).toBe(false);
  });
});
