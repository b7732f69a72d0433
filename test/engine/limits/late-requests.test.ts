import { describe, expect, it } from 'vitest';
import type { MomentsAnswer, MomentsAsk } from '../../../src/engine/limits/moments-question.ts';
import { RouteMoments } from '../../../src/engine/limits/route-moments.ts';
import { ServerClock } from '../../../src/engine/limits/server-clock.ts';
import { ServiceMoments } from '../../../src/engine/limits/service-moments.ts';
import { EngineLimits } from '../../../src/engine/limits/shared-limits.ts';
import { SendGate } from '../../../src/run/effects/send-gate.ts';
import type { SendFence } from '../../../src/run/ports.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';

const rate = { count: 20, perMs: 1000 };
const spacing = 51;
const signal = new AbortController().signal;

/** A route whose worker knows the server's clock, give or take `error`, and has these moments in hand, ms from now. */
function route(time: VirtualTime, moments: readonly number[], error = 0, apart = spacing) {
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
    paused_ms: 0,
    sent_rate: 0,
    now_ms: time.now,
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
  const passed = text.pass(signal);
  let at = time.now;
  const passing = passed?.then(() => (at = time.now));
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
  async function told(ms: number, { error = 0, apart = spacing, waits = false } = {}) {
    const time = new VirtualTime();
    const { text, woken } = route(time, [waits ? 60 : 0], error, apart);
    text.take(time.now);
    const passed = text.pass(signal);
    expect(passed === undefined).toBe(!waits);
    if (waits) await time.pass(64);
    expect(await passed).not.toBe(false);
    const before = woken();
    await time.pass(waits ? ms - 4 : ms);
    text.noteLeft();
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

  it.each([
    ['once where all are equally late', [60, 60, 60, 60], 41 / spacing],
    ['once where only some leave on time', [60, 18, 60, 18, 18, 60], 41 / spacing],
    ['again after many that left on time', [60, ...Array.from({ length: 40 }, () => 5), 60], 82 / spacing],
    ['by what is more, where they leave later and later', [40, 60, 80], (21 + 12 + 8) / spacing],
  ])('moves it %s', async (_words, lateBy, moved) => {
    const time = new VirtualTime();
    const { text } = route(
      time,
      lateBy.map((_late, i) => 100 * i),
    );
    const from = time.now;
    let credit = 0;
    for (const [i, late] of lateBy.entries()) {
      await time.pass(from + 100 * i - time.now);
      text.take(time.now);
      void text.pass(signal);
      await time.pass(late);
      text.noteLeft();
      credit += text.ask(time.now)?.credit ?? 0;
    }
    expect(credit).toBeCloseTo(-moved, 1);
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
      const answer = { base_ms: time.now, spacing, paused_ms: 0, sent_rate: 0, now_ms: time.now };
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
          const answer = { route: 'text', spacing, given, paused_ms: 0, sent_rate: 0, now_ms };
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
