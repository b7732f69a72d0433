import { describe, expect, it } from 'vitest';
import type { ServiceFailure } from '../../src/service/result.ts';
import { failure } from '../rig/failure.ts';
import { epoch } from '../rig/jobs.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';
import { Chance } from '../sim/chance.ts';

const outages: readonly (readonly [name: string, seconds: number, ServiceFailure])[] = [
  ['500', 30, failure('service.error', 'retry', { status: 500 })],
  ['502', 600, failure('service.bad-gateway', 'retry', { status: 502 })],
  ['code 5', 1500, failure('service.ambiguous', 'retry', { status: 400 })],
];
const shed = {
  429: { error: failure('service.throttled', 'throttle', { status: 429 }) },
  503: { error: failure('service.unavailable', 'retry', { status: 503, unmade: true }) },
  'code 9': { kind: 'queue-full', code: 9, message: '提交失败，系统异常' },
  'code 23': { kind: 'queue-full', code: 23, message: '队列已满，请稍后尝试' },
  'code 30': { kind: 'queue-full', code: 30, message: '排队' },
} as const;

const settingsOf = (attempts: number) => {
  const settings = virtualSettings({ limits: { tasks: 12, requests: 16 } });
  return { ...settings, retry: { ...settings.retry, attempts } };
};

describe('an outage in which submissions fail that may be paid', () => {
  it.each(outages)(
    'of %s for %i s costs an image one try at most, and sends one request at a time',
    async (_name, seconds, error) => {
      const [from, to] = [epoch + 20_000, epoch + 20_000 + 1000 * seconds];
      const asked: { readonly prompt: string; readonly at: number }[] = [];
      const { run, statuses, store } = await world(grid(200), {
        onSubmit: ({ prompt, at }) => {
          if (at < from || at >= to) return undefined;
          asked.push({ prompt, at });
          return { error };
        },
      });
      const answerMs = 2000;
      expect(run({ settings: settingsOf(2), latency: () => answerMs }).end).toEqual({ kind: 'complete' });
      expect(statuses()).toEqual({ done: 200 });
      expect(new Set(asked.map(({ prompt }) => prompt)).size).toBe(asked.length);
      expect(store.totals().attempts).toBe(200 + asked.length);
      const flightEnds = (asked[0]?.at ?? 0) + answerMs;
      const probes = asked.filter(({ at }) => at > flightEnds);
      expect(probes.length).toBeGreaterThan(0);
      for (const [n, { at }] of probes.entries())
        expect(at - (probes[n - 1]?.at ?? 0)).toBeGreaterThanOrEqual(answerMs);
    },
  );
});

describe('a refusal that made nothing', () => {
  it.each(Object.entries(shed))('of %s is no try while its kind is served', async (_name, refusal) => {
    const chance = new Chance(7);
    let asked = 0;
    let refused = 0;
    const { run, statuses, store } = await world(grid(30, 'U1'), {
      onSubmit: () => {
        asked += 1;
        if (asked <= 4 || !chance.happens(0.5, 'refused', asked)) return undefined;
        refused += 1;
        return refusal;
      },
    });
    expect(run({ settings: settingsOf(1) }).end).toEqual({ kind: 'complete' });
    expect(statuses()).toEqual({ done: 60 });
    expect(store.totals().attempts).toBe(60);
    expect(refused).toBeGreaterThan(30);
  });

  it.each(Object.entries(shed))(
    'of %s ends the job that alone is refused for the time of a task',
    async (_name, refusal) => {
      const { run, store, statuses } = await world(grid(70), {
        onSubmit: ({ prompt }) => (prompt === 'picture 20' ? refusal : undefined),
        duration: () => 360_000,
      });
      expect(run().end).toEqual({ kind: 'complete' });
      expect(statuses()).toEqual({ done: 69, failed: 1 });
      const [job] = store.withStatus('failed');
      expect(job?.error?.message).toContain('in which others were served');
      expect((job?.finishedAt ?? 0) - epoch).toBeGreaterThan(virtualSettings().timeouts.taskMs);
    },
  );
});
