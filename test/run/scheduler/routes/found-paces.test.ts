import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../../src/run/events.ts';
import type { FoundPace } from '../../../../src/run/limits/found-limit.ts';
import { learnedFact } from '../../../../src/run/limits/learned.ts';
import { type LearnedLimits, limitsText, readLimits } from '../../../../src/run/limits/learned-limits.ts';
import type { Job } from '../../../../src/run/machine/job.ts';
import { Routes } from '../../../../src/run/scheduler/routes/routes.ts';
import { failure } from '../../../rig/failure.ts';
import type { GatewayScript } from '../../../rig/gateway/scripted-gateway.ts';
import { job, textRecord } from '../../../rig/jobs.ts';
import { seededRandom, virtualSettings } from '../../../rig/virtual-run.ts';
import { type World, world } from '../../../rig/world.ts';

const settings = virtualSettings({ limits: { tasks: 4, requests: 32, submit: { count: 10, perMs: 1000 } } });

const asking = job(textRecord({ key: 'a', request: { kind: 'generate', fields: { model: 'text-pro' } } }));

/** Routes that began with what an earlier run found; `finds` is what the pace of a lane finds from now on. */
function routesWith(learned?: LearnedLimits) {
  const jobs = new Map<string, Job>([['a', asking]]);
  const routes = new Routes(settings, jobs, () => 1, learned && { learned });
  const lanes = {
    submit: routes.queues.submit.lane(),
    poll: routes.queues.poll.lane(),
    text: routes.queues.text.lane(asking),
  };
  const finds = (route: keyof typeof lanes, found: FoundPace): void => {
    Object.defineProperty(lanes[route].pace, 'found', { get: () => found, configurable: true });
  };
  const events: RunEvent[] = [];
  /** A request is served. */
  const serve = (route: keyof typeof lanes, now: number): void => {
    const outcome = { route, reading: { signal: { kind: 'served' } }, key: 'a' } as const;
    routes.note({ ...outcome, lane: lanes[route] }, now, (event) => events.push(event));
  };
  return { routes, finds, serve, events };
}

describe('what the pace of a lane has found', () => {
  it('is told by its model once it has held', () => {
    const { finds, serve, events } = routesWith();
    serve('text', 0);
    finds('text', { atOnce: 2, perMinute: 118 });
    for (let now = 1000; now <= 120_000; now += 1000) serve('text', now);
    finds('text', {});
    for (let now = 121_000; now <= 140_000; now += 1000) serve('text', now);
    const named = { route: 'text', kind: 'text-pro' };
    expect(events).toEqual([
      { type: 'route:pace', ...named, atOnce: 2, perMinute: 118 },
      { type: 'route:pace', ...named },
    ]);
  });

  it('is told and kept only where it is less than a limit that is known', () => {
    const { routes, finds, serve, events } = routesWith();
    finds('submit', { atOnce: 4, perMinute: 600 });
    finds('text', { atOnce: 32 });
    for (let now = 0; now <= 60_000; now += 1000) {
      serve('submit', now);
      serve('text', now);
    }
    expect([events, routes.learned]).toEqual([[], { perMinute: {} }]);
  });

  it('is kept of each lane, and what was not asked for as it was found, but for chance', () => {
    const before: LearnedLimits = {
      tasks: 2,
      perMinute: { submit: 50, download: 70 },
      lanes: { 'text-pro': 6, another: 7 },
      atOnce: { 'text/text-pro': 2, 'text/another': 3 },
      byChance: { 'text/text-pro': 0.3, 'text/another': 0.4, submit: 0.5 },
    };
    const { routes, finds } = routesWith(before);
    const { byChance: _, ...inherited } = before;
    expect(routes.learned).toEqual(inherited);
    expect(routes.queues.text.lane(asking).pace.window).toBe(2);
    finds('submit', { atOnce: 3, byChance: 0.256 });
    finds('poll', { atOnce: 5 });
    finds('text', { perMinute: 60 });
    expect(routes.learned).toEqual({
      tasks: 3,
      perMinute: { download: 70 },
      lanes: { 'text-pro': 60, another: 7 },
      atOnce: { poll: 5, 'text/another': 3 },
      byChance: { submit: 0.26 },
    });
  });
});

describe('what a run found', () => {
  const throttled = failure('service.throttled', 'throttle', { status: 429 });
  const calls = (count: number): string => `name: test
matrix: { n: { from: 1, to: ${count} } }
steps: { say: { generate: { prompt: "Say {{ n }}", model: text-pro } } }
`;
  const kept = ({ store }: World) => readLimits(store.fact(learnedFact('limits')));

  /** Refuses this part of the text calls. */
  function chance(share: number): GatewayScript {
    const random = seededRandom(3);
    return { onAsk: () => (random() < share ? throttled : undefined) };
  }

  it('is kept and told with what is refused by chance', async () => {
    const here = await world(calls(400), chance(0.3));
    const duration = seededRandom(103);
    const { events } = here.run({ settings, latency: () => 500 + 1000 * duration() });
    expect(kept(here)).toMatchObject({ perMinute: {}, byChance: { 'text/text-pro': expect.any(Number) } });
    const said = events.flatMap((event) => (event.type === 'route:pace' ? [event] : []));
    expect(said).toHaveLength(1);
    expect(said[0]).toMatchObject({ route: 'text', kind: 'text-pro', byChance: expect.any(Number) });
  });

  it.each([
    ['window', { perMinute: {}, atOnce: { 'text/text-pro': 2 } }, ({ atOnce }: LearnedLimits) => atOnce],
    ['rate', { perMinute: {}, lanes: { 'text-pro': 60 } }, ({ lanes }: LearnedLimits) => lanes],
  ])('is tried higher than the %s of an earlier run', async (_what, before, of) => {
    const here = await world(calls(400));
    here.store.setFact(learnedFact('limits'), limitsText(before));
    here.run({ settings, latency: () => 1000 });
    const [was = 0] = Object.values(of(before) ?? {});
    const [is = Number.POSITIVE_INFINITY] = Object.values(of(kept(here)) ?? {});
    expect(is).toBeGreaterThan(was);
  });

  it('is nothing where nothing was served', async () => {
    const here = await world(calls(20), chance(1));
    here.run({ settings, latency: () => 1000 });
    expect(kept(here)).toEqual({ perMinute: {} });
  });
});
