import { describe, expect, it } from 'vitest';
import type { MomentsAnswer, MomentsAsk } from '../../../src/engine/limits/moments/moments-question.ts';
import { RouteMoments } from '../../../src/engine/limits/moments/route-moments.ts';
import { ServerClock } from '../../../src/engine/limits/moments/server-clock.ts';
import { ServiceMoments } from '../../../src/engine/limits/moments/service-moments.ts';
import { EngineLimits } from '../../../src/engine/limits/shared-limits.ts';
import { SendGate } from '../../../src/run/effects/send-gate.ts';
import type { SendFence } from '../../../src/run/ports.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';

const rate = { count: 20, perMs: 1000 };
const spacing = 51;
const signal = new AbortController().signal;

/** A route whose worker knows the server's clock, give or take `error`, and has these moments in hand, ms from now. */
function route(time: VirtualTime, moments: readonly number[], error = 0, apart = spacing, lateMs = 20) {
  const clock = time.clock();
  const server = new ServerClock(clock);
  server.measure(time.now - 2 * error, time.now - error);
  let woken = 0;
  const text = new RouteMoments('text', rate, { clock, server, wake: () => (woken += 1) });
  text.nextAt();
  const ask = text.ask(time.now) as MomentsAsk;
  const answer: MomentsAnswer = {
    route: 'text',
    base_ms: null,
    spacing: apart,
    given: 0,
    next_at_ms: time.now,
    now_ms: time.now,
    late_ms: lateMs,
  };
  for (const at of moments) text.onAnswer(ask, { ...answer, base_ms: time.now + at, given: 1 });
  return { text, woken: () => woken };
}

/** How late a request passes that is decided at once, and whose commit takes so long. */
async function passedAfter(ms: number, error = 0): Promise<number> {
  const time = new VirtualTime();
  const { text } = route(time, [0, 500], error);
  const from = time.now;
  text.take(time.now);
  await time.pass(ms);
  let at = time.now;
  const passing = (async () => {
    await text.pass(signal);
    at = time.now;
  })();
  await time.pass(1000);
  await passing;
  // A clock drifts.
  return Math.floor(at - from);
}

describe('a request that is late for its moment', () => {
  it('passes only as late as leaves time for its way to the network', async () => {
    expect(await passedAfter(15)).toBe(15);
    expect(await passedAfter(17)).toBe(500);
  });

  it('passes less late where the clock of the server is known less well', async () => {
    expect(await passedAfter(12, 3)).toBe(12);
    expect(await passedAfter(14, 3)).toBe(503);
  });
});

describe('the first requests of a worker', () => {
  it('are decided early: their intents are slow to become durable', () => {
    const time = new VirtualTime();
    const { text } = route(time, [300]);
    expect(text.nextAt()).toBe(time.now + 240);
  });
});

describe('a request that leaves too late', () => {
  /** What its worker tells of a request whose way to the network takes so long. */
  async function told(ms: number, { error = 0, apart = spacing, waits = false, lateMs = 20 } = {}) {
    const time = new VirtualTime();
    const { text, woken } = route(time, [waits ? 60 : 0], error, apart, lateMs);
    text.take(time.now);
    const passed = text.pass(signal);
    expect(passed instanceof Promise).toBe(waits);
    if (waits) await time.pass(64);
    const onLeft = await passed;
    const before = woken();
    await time.pass(waits ? ms - 4 : ms);
    onLeft?.();
    return { credit: text.ask(time.now)?.credit, isWoken: woken() > before };
  }

  it.each([false, true])(
    'moves what comes after it by as much (waited for its moment: %s)',
    async (waits) => {
      expect(await told(18, { waits })).toEqual({ credit: 0, isWoken: false });
      const { credit = 0, isWoken } = await told(20 + 17, { waits });
      expect(credit).toBeCloseTo(-18 / spacing, 2);
      expect(isWoken).toBe(true);
    },
  );

  it('moves it by more where the clock of the server is known less well', async () => {
    expect((await told(20 + 14, { error: 3, waits: true })).credit).toBeCloseTo(-18 / spacing, 2);
  });

  it('tells once how late its worker sends, and again where nobody has heard', async () => {
    const time = new VirtualTime();
    const { text } = route(
      time,
      [0, 1, 2].map((i) => 100 * i),
    );
    // A clock drifts.
    await time.pass(1);
    const from = time.now;
    for (const [i, late] of [60, 5, 90].entries()) {
      await time.pass(from + 100 * i - time.now);
      text.take(time.now);
      const onLeft = await text.pass(signal);
      await time.pass(late);
      onLeft?.();
    }
    const ask = text.ask(time.now) as MomentsAsk;
    expect(ask.earliest).toBeCloseTo(6, 1);
    expect(ask.latest).toBeCloseTo(92, 1);
    expect([ask.later, ask.credit]).toEqual([2, expect.closeTo(-(42 + spacing) / spacing, 2)]);
    text.nextAt();
    expect(text.ask(time.now)).toMatchObject({ earliest: null, latest: 0, later: 0, credit: 0 });
    text.onUnanswered(ask, time.now);
    const { earliest, latest, later } = ask;
    expect(text.ask(time.now)).toMatchObject({ earliest, latest, later });
  });

  it('is late only where the moments after its own are not spaced for that', async () => {
    expect(await told(50, { lateMs: 55 })).toEqual({ credit: 0, isWoken: false });
    expect((await told(60, { lateMs: 55 })).credit).toBeCloseTo(-6 / spacing, 2);
  });

  it('is taken for no other that has passed and not left', async () => {
    const time = new VirtualTime();
    const { text } = route(time, [0, 10, 20]);
    await time.pass(1);
    for (let i = 0; i < 3; i += 1) {
      text.take(time.now);
      const onLeft = text.pass(signal);
      // The second is aborted on its way, the first takes long.
      if (i === 0) time.at(time.now + 30, onLeft as () => void);
      if (i === 2) (onLeft as () => void)();
      await time.pass(10);
    }
    await time.pass(100);
    const { earliest, latest, later } = text.ask(time.now) as MomentsAsk;
    expect([earliest, latest, later]).toEqual([expect.closeTo(1, 1), expect.closeTo(32, 1), 1]);
  });

  it.each([
    ['what was too late is told again', -1.5, -1.5],
    ['what was paid too much is not told again', 1.5, 0],
  ])('%s where nobody has answered', (_words, credit, told) => {
    const time = new VirtualTime();
    const { text } = route(time, []);
    text.refund(credit);
    text.onUnanswered(text.ask(time.now) as MomentsAsk, time.now);
    expect(text.ask(time.now)?.credit).toBe(told);
  });

  it('costs nothing where the route has no limit', async () => {
    const time = new VirtualTime();
    const clock = time.clock();
    const server = new ServerClock(clock);
    server.measure(time.now, time.now);
    const poll = new RouteMoments('poll', undefined, { clock, server, wake: () => undefined });
    expect(poll.nextAt()).toBeLessThan(time.now);
    poll.take(time.now);
    const onLeft = await poll.pass(signal);
    await time.pass(500);
    onLeft?.();
    expect(poll.ask(time.now)).toMatchObject({ sent: 1, earliest: null, latest: 0, later: 0, credit: 0 });
  });

  it('moves it by no more than one moment', async () => {
    expect((await told(500)).credit).toBe(-1);
    expect((await told(40, { apart: 5 })).credit).toBe(-1);
  });
});

it('tells the database of requests that leave too late, and of none that is held back', async () => {
  const time = new VirtualTime();
  const credits: number[][] = [];
  const database = {
    query: async (text: string, [, asks]: unknown[]) => {
      if (!text.includes('pace_reserve')) throw new Error('away');
      const asked = JSON.parse(asks as string) as MomentsAsk[];
      credits.push(asked.map(({ credit }) => credit));
      const answer = {
        base_ms: time.now,
        spacing,
        now_ms: time.now,
        late_ms: 20,
      };
      return {
        rows: asked.map(({ route: name, most }) => {
          const given = Math.min(1, most);
          return { ...answer, route: name, given, next_at_ms: time.now + given * spacing };
        }),
      };
    },
  };
  const limits = { tasks: 1, requests: 1, submit: rate, text: rate };
  const shared = new EngineLimits(
    { service: 'service', run: 1, worker: '1' },
    { limits, bounds: {}, makesTasks: true },
    { database, clock: time.clock(), random: () => 0.5 },
  );
  let isOpen = false;
  const fence: SendFence = {
    get isOpen() {
      return isOpen;
    },
    pass: () => undefined,
  };
  const none = { tasks: 1, requests: 1 };
  const gate = new SendGate(none, time.clock(), undefined, { moments: shared.moments, fence });
  let leave: () => unknown = () => undefined;
  const send = (onLeave?: () => unknown): Promise<number> => {
    leave = onLeave ?? leave;
    return Promise.resolve(1);
  };
  const { submit, text } = shared.moments;
  for (const moments of [submit, text]) moments?.nextAt();
  await time.pass(50);
  text?.take(time.now);
  await gate.send('text', { tellsLeaving: true }, signal, 0, send);
  await time.pass(100);
  // It is held back.
  expect(leave()).toBe(false);
  isOpen = true;
  expect(leave()).toBe(true);
  await time.pass(100);
  expect(credits.flat().filter((credit) => credit !== 0)).toEqual([-1]);
  await Promise.all([shared.stop(), time.pass(1000)]);
});

it('reserves nothing before it knows the clock of the server', async () => {
  const time = new VirtualTime();
  const roundTrips = [60, 30, 4, 4];
  const asked: { readonly at: number; readonly most: number }[] = [];
  const from = time.now;
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => time.at(time.now + ms, resolve));
  const moments = new ServiceMoments(
    'service',
    { tasks: 1, requests: 1, text: rate },
    {
      database: {
        query: async (_text, [, asks]) => {
          const [{ most }] = JSON.parse(asks as string) as [MomentsAsk];
          asked.push({ at: time.now - from, most });
          const roundTrip = roundTrips.shift() ?? 4;
          const now_ms = time.now + 2;
          await sleep(roundTrip);
          const given = Math.min(1, most);
          const answer = { route: 'text', spacing, given, now_ms, late_ms: 20 };
          return { rows: [{ ...answer, base_ms: given === 0 ? null : now_ms, next_at_ms: now_ms }] };
        },
      },
      clock: time.clock(),
      random: () => 0.5,
    },
    () => undefined,
  );
  moments.routes.text.nextAt();
  await time.pass(150);
  expect(asked.slice(0, 3).map(({ most }) => most)).toEqual([0, 0, 0]);
  expect(asked[3]?.most).toBeGreaterThan(0);
  expect(moments.server.error).toBeLessThan(3);
  await Promise.all([moments.stop(), time.pass(100)]);
});

it('takes a clock that is far away for known after some measurements', () => {
  const time = new VirtualTime();
  const server = new ServerClock(time.clock());
  for (let measured = 0; measured < 5; measured += 1) {
    expect(server.isKnown).toBe(false);
    server.measure(time.now - 100, time.now);
  }
  expect(server.isKnown).toBe(true);
  // It was set: what was measured of it says nothing.
  server.measure(time.now - 100, time.now + 3_600_000);
  expect(server.isKnown).toBe(false);
});
