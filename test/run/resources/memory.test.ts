import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/run/clock.ts';
import type { MemoryReading, RunEvent } from '../../../src/run/events.ts';
import { everyMinute } from '../../../src/run/resources/memory.ts';
import { runPlan } from '../../../src/run/run.ts';
import { createImageService } from '../../../src/service/client.ts';
import { BodyPool } from '../../../src/service/http/body/budget.ts';
import { namePresets } from '../../../src/service/names.ts';
import { cutNowhere } from '../../rig/frames.ts';
import { epoch } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/plan.ts';
import { noText } from '../../rig/text-ports.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { grid, world } from '../../rig/world.ts';

/** A clock whose alarms ring when the test says so, in order. */
function manualClock(): Clock & { pass(ms: number): void; readonly alarms: number } {
  const alarms = new Set<{ readonly at: number; readonly call: () => void }>();
  let now = epoch;
  return {
    now: () => now,
    at: (at, call) => {
      const alarm = { at, call };
      alarms.add(alarm);
      return () => alarms.delete(alarm);
    },
    get alarms() {
      return alarms.size;
    },
    pass: (ms) => {
      const until = now + ms;
      for (;;) {
        const [next] = [...alarms].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        alarms.delete(next);
        now = Math.max(now, next.at);
        next.call();
      }
      now = until;
    },
  };
}

const MiB = 1024 * 1024;
const cap = MiB;
const bound = 4 * MiB;

/** Answers everything, refusals too, with bodies just under the cap that come in 64 KiB at a time, each a while after the last. */
function paddingService(): { readonly fetch: typeof globalThis.fetch; readonly maxOpen: () => number } {
  const seen = new Map<string, number>();
  let requests = 0;
  let open = 0;
  let most = 0;
  const answerTo = (path: string): { readonly status: number; readonly body: object } => {
    requests += 1;
    if (requests % 7 === 0) return { status: 503, body: { error: { message: 'try later' } } };
    if (path.includes('/submit/')) return { status: 200, body: { code: 1, result: `task-${requests}` } };
    const id = path.split('/').at(-2) ?? '';
    const looks = (seen.get(id) ?? 0) + 1;
    seen.set(id, looks);
    const finished = looks > 2;
    const status = finished ? 'SUCCESS' : 'IN_PROGRESS';
    return { status: 200, body: { id, status, imageUrl: 'https://x.test/a.png', buttons: [] } };
  };
  return {
    maxOpen: () => most,
    fetch: (url) => {
      const { status, body } = answerTo(new URL(url instanceof Request ? url.url : url).pathname);
      const text = JSON.stringify(body);
      const bytes = Buffer.alloc(cap - 1, ' ').fill(text, 0, text.length);
      let at = 0;
      open += 1;
      most = Math.max(most, open);
      const stream = new ReadableStream<Uint8Array>(
        {
          pull: async (controller) => {
            await new Promise(setImmediate);
            if (at < bytes.length) return controller.enqueue(bytes.subarray(at, (at += 65_536)));
            open -= 1;
            controller.close();
          },
        },
        { highWaterMark: 0 },
      );
      return Promise.resolve(new Response(stream, { status }));
    },
  };
}

describe('the watch', () => {
  it('calls every minute until it is ended', () => {
    const clock = manualClock();
    const at: number[] = [];
    const end = everyMinute(clock, () => at.push((clock.now() - epoch) / 1000));
    clock.pass(59_999);
    expect(at).toEqual([]);
    clock.pass(120_001);
    expect(at).toEqual([60, 120, 180]);
    end();
    expect(clock.alarms).toBe(0);
  });

  it('may be ended by its own call', () => {
    const clock = manualClock();
    let calls = 0;
    const end = everyMinute(clock, () => {
      calls += 1;
      end();
    });
    clock.pass(600_000);
    expect([calls, clock.alarms]).toEqual([1, 0]);
  });

  it('32 requests at a service that pads every answer to the cap: memory stays below the bound and one answer, and all is done', async () => {
    const { plan } = await planOf(grid(48));
    const bodies = new BodyPool(bound);
    const { fetch, maxOpen } = paddingService();
    const service = createImageService({
      baseUrl: 'https://api.test',
      apiKey: 'sk-0123456789abcdef',
      names: namePresets.neutral,
      requestMs: 60_000,
      maxBodyBytes: cap,
      bodies,
      fetch,
    });
    const clock = manualClock();
    const events: RunEvent[] = [];
    const memory = (): MemoryReading => ({
      rssBytes: 1,
      heapBytes: 2,
      externalBytes: 3,
      arrayBufferBytes: 4,
      answerBytes: bodies.held,
      maxAnswerBytes: bodies.most,
      answersWaiting: bodies.waiting,
    });
    const never = new AbortController().signal;
    const store = memoryStore();
    const running = runPlan(
      {
        cells: (selection) => plan.matrix.cells(selection),
        resolve: (cell, lookup) => plan.resolve(cell, lookup),
        price: () => undefined,
      },
      {},
      virtualSettings({ limits: { tasks: 48, requests: 32 }, timeouts: { taskMs: 1e12 } }),
      {
        store,
        service,
        ...noText,
        artifacts: {
          save: ({ key, output }) =>
            Promise.resolve({
              ok: true,
              value: { output, file: `${key}.png`, bytes: 1, sha256: '0'.repeat(64), mime: 'image/png' },
            }),
          cut: cutNowhere,
          keep: () => Promise.reject(new Error('nothing is kept')),
          close: () => Promise.resolve(),
        },
        clock,
        random: () => 0.5,
        memory,
      },
      { drain: never, leave: never },
      (event) => events.push(event),
    );
    const outcome = { ended: false };
    const end = running.finally(() => {
      outcome.ended = true;
    });
    while (!outcome.ended) {
      // A second of the run for each turn of the event loop.
      clock.pass(1000);
      await new Promise(setImmediate);
    }
    expect((await end).end).toEqual({ kind: 'complete' });
    expect([...store.withStatus('done')]).toHaveLength(48);
    expect(maxOpen()).toBe(32);
    expect(bodies.most).toBeGreaterThan(bound);
    expect(bodies.most).toBeLessThanOrEqual(bound + cap);
    const readings = events.filter((event) => event.type === 'run:memory');
    expect(readings.length).toBeGreaterThan(1);
    for (const { requests, jobs, cells, answerBytes, answersWaiting } of readings) {
      expect(answerBytes).toBeLessThanOrEqual(bound + cap);
      expect(requests).toBeLessThanOrEqual(32);
      expect(answersWaiting).toBeLessThan(32);
      expect([jobs, cells].every((count) => count <= 48)).toBe(true);
    }
    expect(readings.some(({ answersWaiting }) => answersWaiting > 0)).toBe(true);
    expect(readings[0]).toMatchObject({ rssBytes: 1, heapBytes: 2, externalBytes: 3, arrayBufferBytes: 4 });
    expect([bodies.held, clock.alarms]).toEqual([0, 0]);
  });
});

describe('a matrix whose cells all need the same job', () => {
  it('is not read into memory while the one job is made', async () => {
    const { run, service, statuses } = await world(`name: test
matrix: { n: { from: 1, to: 9000 } }
steps:
  grid:
    imagine: a fox
`);
    const { end, most } = run();
    expect([end, service.submits.length, statuses()]).toEqual([{ kind: 'complete' }, 1, { done: 9000 }]);
    expect(most).toMatchObject({ jobs: 1, cells: 4096 });
  });

  it('makes several such jobs at a time', async () => {
    const { run, service } = await world(`name: test
matrix: { a: { from: 1, to: 16 }, n: { from: 1, to: 500 } }
steps:
  grid:
    imagine: a fox {{ a }}
`);
    const { end, most } = run();
    expect([end, service.submits.length]).toEqual([{ kind: 'complete' }, 16]);
    expect(most.jobs).toBeGreaterThanOrEqual(8);
  });
});
