import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rate } from '../../../../src/pipeline/pipeline.ts';
import type { JobRecord } from '../../../../src/plan/job.ts';
import type { RunEvent } from '../../../../src/run/events.ts';
import { learnedFact } from '../../../../src/run/limits/learned.ts';
import { limitsText } from '../../../../src/run/limits/learned-limits.ts';
import type { Job } from '../../../../src/run/machine/job.ts';
import { PriorityQueue } from '../../../../src/run/scheduler/queues.ts';
import { RouteLanes } from '../../../../src/run/scheduler/routes/lanes.ts';
import { Routes } from '../../../../src/run/scheduler/routes/routes.ts';
import { failure } from '../../../rig/failure.ts';
import type { GatewayScript } from '../../../rig/gateway/scripted-gateway.ts';
import { epoch, job, textRecord } from '../../../rig/jobs.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';
import { world } from '../../../rig/world.ts';

const { retry } = virtualSettings();
const noKnown = { atOnce: 32, rate: undefined, shared: undefined, before: undefined };
const throttled = failure('service.throttled', 'throttle', { status: 429, retryAfterMs: 20_000 });

/** Rows for each model, the models in turn or one after the other. */
const rows = (count: number, models: readonly string[], isInTurn = true): string => {
  const axes = [`n: { from: 1, to: ${count} }`, `model: [${models.join(', ')}]`];
  return `name: test
matrix: { ${(isInTurn ? axes : axes.toReversed()).join(', ')} }
steps: { say: { generate: { prompt: "Say {{ n }}", model: "{{ model }}" } } }
`;
};

const modelOf = ({ request }: JobRecord): unknown =>
  request.kind === 'generate' ? request.fields['model'] : undefined;

/** When the last row of the healthy model was done, after the begin of the run, ms. */
async function doneAfter(
  text: string,
  script: GatewayScript = {},
  lanes: Readonly<Record<string, number>> = {},
): Promise<{
  readonly ms: number;
  readonly done: Readonly<Record<string, number>>;
  readonly events: readonly RunEvent[];
}> {
  const here = await world(text, script);
  const settings = virtualSettings({ limits: { tasks: 4, requests: 8 } });
  here.store.setFact(learnedFact('limits'), limitsText({ perMinute: {}, lanes }));
  const { events } = here.run({ settings, latency: () => 1000 });
  const done: Record<string, number> = {};
  let ms = 0;
  for (const record of here.store.withStatus('done')) {
    const model = String(modelOf(record));
    done[model] = (done[model] ?? 0) + 1;
    if (model === 'healthy') ms = Math.max(ms, (record.finishedAt ?? 0) - epoch);
  }
  return { ms, done, events };
}

/** Refuses a model for the calls beyond so many in any minute. */
function limitOf(model: string, perMinute: number): GatewayScript {
  const accepted: number[] = [];
  return {
    onAsk: ({ record, at }) => {
      if (modelOf(record) !== model) return undefined;
      while ((accepted[0] ?? at) <= at - 60_000) accepted.shift();
      if (accepted.length >= perMinute) return throttled;
      accepted.push(at);
      return undefined;
    },
  };
}

describe('a model that is refused', () => {
  it.each([
    ['in turn with it', true, 5000],
    // Until its kind is probed, nobody knows of another one.
    ['before it', false, 25_000],
  ])('holds back no row of another one, where its rows stand %s', async (_where, isInTurn, beforeMs) => {
    const alone = await doneAfter(rows(500, ['healthy']));
    const { ms, done } = await doneAfter(rows(500, ['full', 'healthy'], isInTurn), limitOf('full', 0));
    expect(done).toEqual({ healthy: 500 });
    expect(ms).toBeLessThan(1.1 * alone.ms + beforeMs);
  });

  it.each([
    ['that is known', { slow: 10 }],
    ['that is to be found', {}],
  ])('holds back no row of another one by a pace of ten a minute %s', async (_what, lanes) => {
    const alone = await doneAfter(rows(500, ['healthy']));
    const { ms, done } = await doneAfter(rows(500, ['slow', 'healthy']), limitOf('slow', 10), lanes);
    expect(done).toEqual({ healthy: 500, slow: 500 });
    expect(ms).toBeLessThan(1.1 * alone.ms + 5000);
  });

  it('is named by what is said of its pauses and its pace', async () => {
    const { events } = await doneAfter(rows(100, ['slow', 'healthy']), limitOf('slow', 10));
    const said = events.flatMap((event) =>
      event.type === 'route:pause' || event.type === 'route:pace' ? [[event.type, event.kind]] : [],
    );
    expect(new Set(said.map(String))).toEqual(new Set(['route:pause,slow', 'route:pace,slow']));
  });
});

const models = ['a', 'b', 'c'] as const;
const asking = (key: string, model: string, changes: Partial<Job> = {}, cell = 1, tries = 0): Job =>
  job(
    textRecord({
      key,
      tries,
      origin: { cell, step: 's', branch: '', slot: 's' },
      request: { kind: 'generate', fields: { model } },
    }),
    { nextRequest: { kind: 'ask' }, ...changes },
  );

const lanesOf = (active: ReadonlyMap<string, Job>): RouteLanes =>
  new RouteLanes('text', noKnown, retry, active);

describe('lanes of texts', () => {
  it('send jobs in the order of one queue while nothing is refused', () => {
    const joins = fc.record({
      model: fc.constantFrom(...models),
      depth: fc.nat(2),
      cell: fc.nat(9),
      tries: fc.nat(2),
      leaves: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(joins, { maxLength: 60 }), (steps) => {
        const active = new Map<string, Job>();
        const one = new PriorityQueue(active);
        const lanes = lanesOf(active);
        const leave = (): string | undefined => {
          const queue = lanes.next(0)?.queue;
          const front = queue?.front()?.record.key;
          expect(front).toBe(one.front()?.record.key);
          queue?.leave();
          one.leave();
          return front;
        };
        for (const [at, { model, depth, cell, tries, leaves }] of steps.entries()) {
          const next = asking(`k${at}`, model, { depth }, cell, tries);
          active.set(next.record.key, next);
          one.join(next);
          lanes.join(next);
          for (let left = 0; left < leaves; left += 1) leave();
        }
        while (leave() !== undefined);
      }),
      { numRuns: 80 },
    );
  });

  it('wait for the earliest that may send, and one that is probed holds back no other', () => {
    const active = new Map<string, Job>(models.map((model) => [model, asking(model, model)]));
    const routes = new Routes(virtualSettings(), active, () => 1);
    const { text } = routes.queues;
    for (const one of active.values()) text.join(one);
    const rest = (model: string, at: number): void => text.lane(active.get(model)).restUntil(at);
    rest('a', 9000);
    expect(routes.next('text', 0)?.name).toBe('b');
    rest('b', 5000);
    rest('c', 7000);
    expect([routes.next('text', 0), routes.nextAt(0)]).toEqual([undefined, 5000]);
    text.lane(active.get('b')).probeAt(5000);
    routes.onSent('text', 5000, 'b');
    expect([routes.next('text', 5000), routes.nextAt(5000)]).toEqual([undefined, 7000]);
    expect(routes.next('text', 7000)?.name).toBe('c');
    expect(routes.onResult('text', 7000, 'b')).toMatchObject({ lane: { name: 'b', inFlight: 0 } });
  });

  it('send no call that takes more tokens than remain, and believe a refusal that says so', () => {
    const active = new Map<string, Job>(models.map((model) => [model, asking(model, 'a')]));
    const tokens: Readonly<Record<string, number>> = { a: 400, b: 400, c: 100 };
    const routes = new Routes(virtualSettings(), active, ({ record }) => tokens[record.key] ?? 0);
    const { text } = routes.queues;
    const told = (remaining: number) =>
      [
        { of: 'requests', limit: 60, remaining: 50, resetMs: 60_000 },
        { of: 'tokens', limit: 1000, remaining, resetMs: 5000 },
      ] as const;
    for (const one of active.values()) text.join(one);
    routes.onSent('text', 0, 'a');
    text.lane(active.get('a')).queue.leave();
    const { lane } = routes.onResult('text', 100, 'a', told(300), true);
    expect([routes.next('text', 100), routes.nextAt(100)]).toEqual([undefined, 5000]);
    lane.queue.leave();
    expect(routes.next('text', 100)).toBe(lane);
  });

  it('ask a service that refuses everything more often where their rate is known, but in the first minute alone', () => {
    const asked = (rate: Rate | undefined, from: number, until: number): number => {
      const lanes = new RouteLanes('text', { ...noKnown, rate }, retry, new Map());
      const lane = lanes.lane();
      let count = 0;
      for (let now = 0; now < until; now += 100) {
        if (!lane.maySend(now) || lanes.knownAt() > now) continue;
        lanes.onSent(undefined, 'k', now);
        lanes.note(lanes.onResult('k', now + 100).lane, { kind: 'throttled', reason: '429' }, now + 100, 'k');
        if (now >= from) count += 1;
      }
      return count;
    };
    const known = { count: 100, perMs: 60_000 };
    const few = asked(undefined, 0, 60_000);
    expect(few).toBeLessThan(20);
    expect(asked(known, 0, 60_000)).toBeGreaterThan(1.5 * few);
    // A window of a minute that counts refused requests is empty again.
    expect(asked(known, 80_000, 140_000)).toBeLessThan(4);
  });

  it('are a thousand at most, and one more for all others', () => {
    const lanes = lanesOf(new Map());
    for (let n = 0; n < 1100; n += 1) lanes.lane(asking('k', `m${n}`));
    expect([...lanes.all()]).toHaveLength(1001);
    expect(lanes.lane(asking('k', 'm1001'))).toBe(lanes.lane(asking('k', 'm1002')));
    expect(lanes.lane(asking('k', 'm999')).name).toBe('m999');
  });

  it('end no run by the patience while others are served, and all rest where nobody is reached', () => {
    const active = new Map<string, Job>(models.map((model) => [model, asking(model, model)]));
    active.set('b2', asking('b2', 'b'));
    const routes = new Routes(virtualSettings(), active, () => 1);
    const laneOf = (model: string) => routes.queues.text.lane(active.get(model));
    for (const model of models) laneOf(model);
    const events: RunEvent[] = [];
    const note = (key: string, kind: 'served' | 'throttled' | 'unreachable', at: number) => {
      const { lane } = routes.onResult('text', at, key);
      const reading = { signal: { kind, reason: 'r' } } as const;
      return routes.note({ route: 'text', reading, lane, key }, at, (event) => events.push(event));
    };
    const send = (...[key, kind, at]: Parameters<typeof note>) => {
      routes.onSent('text', at, key);
      return note(key, kind, at);
    };
    send('a', 'throttled', 0);
    send('b', 'served', 2000);
    expect(send('a', 'throttled', retry.patienceMs + 1000)).toBeUndefined();
    expect(send('a', 'throttled', retry.patienceMs + 2000)).toMatchObject({ code: 'route.patience' });
    const lane = laneOf('b');
    let now = 2 * retry.patienceMs;
    for (const key of ['b', 'b2']) routes.onSent('text', now, key);
    for (const key of ['b', 'b2']) note(key, 'unreachable', now);
    while (lane.nextAt(now) > now) now = lane.nextAt(now);
    // The probe is not answered either.
    routes.onSent('text', now, 'b');
    note('b', 'unreachable', now);
    expect(lane.nextAt(now)).toBeGreaterThan(now);
    expect(laneOf('c').nextAt(now)).toBe(lane.nextAt(now));
    expect(events.at(-1)).not.toHaveProperty('kind');
  });

  it('are learned each for itself, and what was not asked for stays as it was found', () => {
    const learned = { perMinute: {}, lanes: { a: 30, b: 60 } };
    const active = new Map([['a', asking('a', 'a')]]);
    const routes = new Routes(virtualSettings(), active, () => 1, { learned });
    routes.queues.text.lane(active.get('a'));
    expect(routes.learned).toEqual(learned);
    expect([...routes.queues.text.all()].map(({ pace }) => pace.found.perMinute)).toEqual([30]);
  });
});
