import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rate } from '../../../src/pipeline/pipeline.ts';
import type { Clock } from '../../../src/run/clock.ts';
import { SendGate } from '../../../src/run/effects/send-gate.ts';
import { EvenSendTimes, graceMs } from '../../../src/run/limits/even-send-times.ts';
import type { SendFence } from '../../../src/run/ports.ts';
import { seededRandom } from '../../rig/virtual-run.ts';

type MovedClock = Clock & {
  readonly runTo: (end: number) => Promise<void>;
  /** Whatever is due in this time happens at its end. */
  readonly standStill: (ms: number) => void;
};

/** A clock that a test moves, whose timers are late by what `late` draws. */
function movedClock(late: () => number): MovedClock {
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
    standStill: (ms) => {
      now += ms;
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

/** The most in any window. */
function maxInWindow(times: readonly number[], perMs: number): number {
  let [most, from] = [0, 0];
  for (const [to, at] of times.entries()) {
    while ((times[from] ?? 0) <= at - perMs) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((done) => void clock.at(clock.now() + ms, done));

/** Decisions of a route that always has something to send, each followed by a commit. */
function decide(rate: Rate, clock: Clock, random: () => number, send: () => void): void {
  const known = new EvenSendTimes(rate, [], Math.max(250, graceMs(rate)));
  let decided = 0;
  const turn = (): void => {
    for (; known.nextAt() <= clock.now(); decided += 1) known.take(clock.now());
    if (decided === 0) return void clock.at(known.nextAt(), turn);
    const commitMs = random() < 0.05 ? 60 : 12 * random();
    clock.at(clock.now() + commitMs, () => {
      for (; decided > 0; decided -= 1) send();
      turn();
    });
  };
  turn();
}

const limits = { tasks: 1, requests: 1, submit: { count: 100, perMs: 1000 } };

const refused = -1;
const untold = {};

describe('the gate before the service', () => {
  it('lets requests of routes without a rate pass at once', async () => {
    const gate = new SendGate(
      limits,
      movedClock(() => 0),
    );
    let sent = 0;
    const send = (): Promise<number> => Promise.resolve((sent += 1));
    const both = [1, 2].map(() => gate.send('poll', untold, new AbortController().signal, 0, send));
    expect(sent).toBe(2);
    expect(await Promise.all(both)).toEqual([1, 2]);
  });

  it('lets a request with a shared rate be sent when that allows it, whatever its own rate', async () => {
    let pass: (onLeft?: () => void) => void = () => undefined;
    const shared = {
      poll: {
        nextAt: () => 0,
        take: () => undefined,
        pass: () => new Promise<(() => void) | undefined>((resolve) => void (pass = resolve)),
      },
    };
    const clock = movedClock(() => 0);
    const gate = new SendGate(limits, clock, undefined, { sendTimes: shared });
    let sent = 0;
    const send = (): Promise<number> => Promise.resolve((sent += 1));
    const first = gate.send('poll', untold, new AbortController().signal, refused, send);
    await clock.runTo(1000);
    expect(sent).toBe(0);
    pass(() => undefined);
    expect(await first).toBe(1);
    const second = gate.send('poll', untold, new AbortController().signal, refused, send);
    pass();
    expect([await second, sent]).toEqual([refused, 1]);
  });

  it('reports each sending of a request to the shared rate, including a retry with another form of its key', async () => {
    const told: boolean[] = [];
    const pass = () => (hasLeft: boolean) => void told.push(hasLeft);
    const text = { nextAt: () => 0, take: () => undefined, pass };
    const clock = movedClock(() => 0);
    const gate = new SendGate(limits, clock, undefined, { sendTimes: { text } });
    const { signal } = new AbortController();
    for (const times of [2, 0])
      await gate.send('text', { tellsLeaving: true }, signal, refused, (onLeave) => {
        for (let n = 0; n < times; n += 1) onLeave?.();
        return Promise.resolve(1);
      });
    expect(told).toEqual([true, true, false]);
  });

  it.each(['fenced', 'of one worker'])(
    'reports to the shared rate of its own route when a request is sent: %s',
    async (of) => {
      let isOpen = true;
      const left: string[] = [];
      const moments = (route: string) => ({
        nextAt: () => 0,
        take: () => undefined,
        pass: () => () => void left.push(route),
      });
      const fence: SendFence = {
        get isOpen() {
          return isOpen;
        },
        pass: () => undefined,
      };
      const gate = new SendGate(
        limits,
        movedClock(() => 0),
        undefined,
        {
          sendTimes: { submit: moments('submit'), text: moments('text') },
          ...(of === 'fenced' && { fence }),
        },
      );
      const { signal } = new AbortController();
      const leaving: (() => unknown)[] = [];
      const send = (onLeave?: () => unknown): Promise<number> => {
        leaving.push(onLeave ?? (() => undefined));
        return Promise.resolve(1);
      };
      // The submission passes last, and the text call leaves first.
      const sent = (['text', 'submit'] as const).map((route) =>
        gate.send(route, { tellsLeaving: true }, signal, refused, send),
      );
      expect(left).toEqual([]);
      leaving[0]?.();
      expect(left).toEqual(['text']);
      leaving[1]?.();
      expect(left).toEqual(['text', 'submit']);
      expect(await Promise.all(sent)).toEqual([1, 1]);
      if (of !== 'fenced') return;
      // A request whose connection is repeated has left already, and what is held back does not leave.
      isOpen = false;
      leaving[0]?.();
      expect(left).toEqual(['text', 'submit']);
    },
  );

  it('holds paid requests while others may consider the worker dead, and checks again when it sends', async () => {
    let isOpen = false;
    let open: (may: boolean) => void = () => undefined;
    const fence: SendFence = {
      get isOpen() {
        return isOpen;
      },
      pass: () => (isOpen ? undefined : new Promise<boolean>((resolve) => void (open = resolve))),
    };
    const gate = new SendGate(
      { tasks: 1, requests: 1 },
      movedClock(() => 0),
      undefined,
      { fence },
    );
    const { signal } = new AbortController();
    let sent = 0;
    /** A service that finds a connection, and then tells that the request leaves. */
    const told = async (onLeave?: () => unknown): Promise<number> => {
      await Promise.resolve();
      isOpen = stays;
      return onLeave?.() === false ? refused : (sent += 1);
    };
    let stays = true;
    const send = (
      route: 'submit' | 'text' | 'poll',
      port: object = { tellsLeaving: true },
    ): Promise<number> => gate.send<number>(route, port, signal, refused, told);
    expect(await send('poll')).toBe(1);
    isOpen = false;
    const first = send('submit');
    await Promise.resolve();
    expect(sent).toBe(1);
    isOpen = true;
    open(true);
    expect(await first).toBe(2);
    // The process stands still between the gate and the network.
    stays = false;
    expect([await send('text'), sent]).toEqual([refused, 2]);
    const second = send('text', {});
    open(false);
    expect([await second, sent]).toEqual([refused, 2]);
  });

  it('spaces requests bunched by a commit: never above the rate in any second, and nearly at it', async () => {
    let step = 0;
    const clock = movedClock(() => ((step += 1) % 40 === 0 ? 60 : step % 5));
    const gate = new SendGate(limits, clock);
    const times: number[] = [];
    // Five together, every 48 ms: a little more than the rate.
    const commit = (): void => {
      for (let one = 0; one < 5; one += 1)
        void gate.send(
          'submit',
          untold,
          new AbortController().signal,
          undefined,
          async () => void times.push(clock.now()),
        );
      if (clock.now() < 20_000) clock.at(clock.now() + 48, commit);
    };
    commit();
    await clock.runTo(20_000);
    expect(maxInWindow(times, 1000)).toBeLessThanOrEqual(100);
    expect(times.length / 2000).toBeGreaterThan(0.97);
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
      const times: number[] = [];
      decide(rate, clock, random, () => {
        void gate.send('submit', untold, new AbortController().signal, undefined, async () => {
          times.push(clock.now());
        });
      });
      const end = Math.max(20_000, 3 * perMs);
      await clock.runTo(end);
      expect(maxInWindow(times, perMs)).toBeLessThanOrEqual(count);
      expect(times.length / ((end * count) / perMs)).toBeGreaterThanOrEqual(least);
    },
  );

  it.each([
    [20, 1000],
    [600, 60_000],
    [7, 1000],
    [100, 1000],
  ])(
    'however long requests take from the gate to the network, and whenever the process stands still: at most %d in %d ms',
    async (count, perMs) => {
      await fc.assert(
        fc.asyncProperty(fc.nat(), fc.nat(300), fc.nat(3000), async (seed, shakeMs, pauseMs) => {
          const random = seededRandom(seed);
          const clock = movedClock(() => 2 * random());
          const rate = { count, perMs };
          const left: number[] = [];
          const told: number[] = [];
          let stoodMs = 0;
          const gate = new SendGate({ tasks: 1, requests: 1, submit: rate }, clock, (_, at) => told.push(at));
          const send = async (onLeave?: () => void): Promise<void> => {
            // What is due while the process stands still happens at its end, all at once.
            if (random() < perMs / count / 10_000) {
              const pause = pauseMs * random();
              clock.standStill(pause);
              stoodMs += pause;
            }
            if (random() < 0.6) await sleep(clock, shakeMs * random());
            // Some never leave.
            if (random() < 0.02) return;
            left.push(clock.now());
            onLeave?.();
            await sleep(clock, 500);
          };
          decide(rate, clock, random, () => {
            void gate.send('submit', { tellsLeaving: true }, new AbortController().signal, undefined, send);
          });
          const end = Math.max(10_000, 2 * perMs);
          await clock.runTo(end);
          expect(maxInWindow(left, perMs)).toBeLessThanOrEqual(count);
          expect(told).toEqual(left);
          expect(left.length / (((end - stoodMs) * count) / perMs)).toBeGreaterThan(0.5);
        }),
        { numRuns: 10 },
      );
    },
    60_000,
  );

  it('continues after requests that end unsent, and counts repeated sends', async () => {
    const clock = movedClock(() => 0);
    const gate = new SendGate({ tasks: 1, requests: 1, submit: { count: 2, perMs: 1000 } }, clock);
    const { signal } = new AbortController();
    const passed: number[] = [];
    const ends: (() => void)[] = [];
    const leaves: (() => void)[] = [];
    const begin = (): void =>
      void gate.send('submit', { tellsLeaving: true }, signal, undefined, async (onLeave) => {
        passed.push(clock.now());
        if (onLeave !== undefined) leaves.push(onLeave);
        await new Promise<void>((done) => ends.push(done));
      });
    for (let one = 0; one < 5; one += 1) begin();
    await clock.runTo(5000);
    // Two wait for a connection, and may leave at any time.
    expect(passed.length).toBe(2);
    ends[0]?.();
    await clock.runTo(5100);
    expect(passed.length).toBe(3);
    leaves[1]?.();
    await clock.runTo(5500);
    leaves[1]?.();
    ends[2]?.();
    // Twice the same one, both within the second.
    await clock.runTo(6090);
    expect(passed.length).toBe(3);
    await clock.runTo(6200);
    expect(passed.length).toBe(4);
  });

  it('catches up after a pause at twice the rate, for a quarter of a second', async () => {
    const clock = movedClock(() => 0);
    const gate = new SendGate({ tasks: 1, requests: 1, submit: { count: 20, perMs: 1000 } }, clock);
    const times: number[] = [];
    const send = async (): Promise<void> => void times.push(clock.now());
    const begin = (): unknown => gate.send('submit', untold, new AbortController().signal, undefined, send);
    begin();
    await clock.runTo(700);
    for (let one = 0; one < 12; one += 1) begin();
    await clock.runTo(5000);
    const gaps = times.slice(2).map((at, place) => at - (times[place + 1] as number));
    expect(gaps.filter((gap) => gap < 40).length).toBe(10);
    expect(Math.min(...gaps)).toBeGreaterThan(19);
  });

  it('ends a wait when the run is left, and the request is not sent', async () => {
    const clock = movedClock(() => 0);
    const gate = new SendGate({ tasks: 1, requests: 1, text: { count: 1, perMs: 60_000 } }, clock);
    const leave = new AbortController();
    let sent = 0;
    const send = (): Promise<number> => Promise.resolve((sent += 1));
    const ask = (): Promise<number> => gate.send('text', untold, leave.signal, refused, send);
    expect(await ask()).toBe(1);
    const waiting = [ask(), ask()];
    leave.abort();
    expect(await Promise.all(waiting)).toEqual([refused, refused]);
    expect(await ask()).toBe(refused);
    expect(sent).toBe(1);
  });
});
