import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Explanation, explain as explainAll, type Trace } from '../../../src/run/limits/refusals.ts';
import { seededRandom } from '../../rig/virtual-run.ts';
import { atOnce, byChance, cutting, type Sent, type Server, within } from './pace-rig.ts';

const presumedMs = 200;
const spansMs = [1000, 10_000, 60_000];
const patient = Number.POSITIVE_INFINITY;

interface Client {
  readonly count: number;
  /** How many it has under way; what is refused is sent again after a while. */
  readonly width: number;
  readonly againMs?: number;
  readonly seed: number;
}

/** What a client met that knows no pace. */
function met(server: Server, { count, width, againMs = 500, seed }: Client): readonly Trace[] {
  const random = seededRandom(seed);
  const traces: Trace[] = [];
  const sent: Sent[] = [];
  /** Who sent each. */
  const slots: number[] = [];
  const dues = Array.from({ length: width }, () => 5 * random());
  for (let n = 0; n < count; n += 1) {
    const slot = dues.indexOf(Math.min(...dues));
    const at = dues[slot] ?? 0;
    const working = sent.filter((one) => !one.isRefused && one.endsAt > at);
    const { afterMs, isRefused = false, cuts = [] } = server(at, working, random);
    for (const one of cuts) {
      Object.assign(one, { isRefused: true, endsAt: at, refused: { isCut: true } });
      dues[slots[Number(one.key)] ?? 0] = at + againMs * (0.5 + random());
    }
    slots.push(slot);
    sent.push({ key: `${n}`, kind: '', at, isRefused, endsAt: at + afterMs, refused: {} });
    traces.push({ at, endedAt: patient });
    dues[slot] = at + afterMs + (isRefused ? againMs * (0.5 + random()) : 5 * random());
  }
  return traces.map((trace, at) => {
    const { isRefused = false, endsAt = patient, refused } = sent[at] ?? {};
    return { ...trace, isRefused, isCut: refused?.isCut === true, endedAt: endsAt };
  });
}

const explain = (traces: readonly Trace[], ...more: [number, number, { beside: number; rate: number }?]) => {
  const times = traces.filter(({ isRefused }) => isRefused !== true).map(({ at }) => at);
  return explainAll(traces, times, ...more);
};
const explained = (traces: readonly Trace[]): Explanation | undefined =>
  explain(traces, (traces.at(-1)?.at ?? 0) + 60_000, presumedMs);

const seeds = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n + 1);

/** Prints the seed where it does not hold. */
const holdsFor = <T>(arbitrary: fc.Arbitrary<T>, holds: (value: T) => void): void =>
  fc.assert(fc.property(arbitrary, holds), { numRuns: 60 });

describe('what tells refused requests from served ones', () => {
  it('is nothing where none is refused, and where none is served', () => {
    expect(explained([])).toBeUndefined();
    expect(explained(met(byChance(0), { count: 50, width: 8, seed: 1 }))).toBeUndefined();
    expect(explained(met(byChance(1), { count: 50, width: 8, seed: 1 }))).toBeUndefined();
  });

  it('is how many are worked on at once, for any number of them and any latencies', () => {
    holdsFor(
      fc.record({
        most: fc.integer({ min: 1, max: 12 }),
        ms: fc.integer({ min: 300, max: 8000 }),
        seed: fc.nat(9999),
      }),
      ({ most, ms, seed }) => {
        const traces = met(atOnce(most, ms), { count: 40 + 12 * most, width: 3 * most + 2, seed });
        expect(explained(traces)).toMatchObject({ by: 'beside', most, share: 0 });
      },
    );
  });

  it('is how many are worked on at once where one more cuts another', () => {
    const found = seeds(20).flatMap((seed) =>
      [1, 2, 5].map((most) => {
        const client = { count: 60, width: most + 1, againMs: 4000, seed };
        const by = explained(met(cutting(most, 2000), client));
        return by?.by === 'beside' && by.most === most;
      }),
    );
    expect(found.filter(Boolean).length).toBeGreaterThanOrEqual(0.9 * found.length);
  });

  it('is how many are sent within a span of time, after a burst', () => {
    holdsFor(
      fc.record({
        count: fc.integer({ min: 10, max: 60 }),
        perMs: fc.constantFrom(...spansMs),
        seed: fc.nat(9999),
      }),
      ({ count, perMs, seed }) => {
        const client = { count: count + 40, width: 8, seed };
        expect(
          explained(
            met(
              within(() => count, perMs, 20),
              client,
            ),
          ),
        ).toMatchObject({ by: 'rate', count });
      },
    );
  });

  it.each(spansMs)('is the span in which they are counted, once several of %d ms have passed', (perMs) => {
    for (const seed of seeds(10)) {
      const client = { count: 200, width: 16, againMs: perMs / 8, seed };
      const found = explained(
        met(
          within(() => 20, perMs, 20),
          client,
        ),
      );
      expect(found).toEqual({ by: 'rate', count: 20, perMs, share: 0 });
    }
  });

  it('is nothing where they are refused by chance, whatever the part', () => {
    const parts = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
    const many = 30;
    const found = parts.map(
      (part) =>
        seeds(many).filter(
          (seed) => explained(met(byChance(part), { count: 120, width: 16, seed })) !== undefined,
        ).length,
    );
    expect(found.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(0.1 * many * parts.length);
    expect(Math.max(...found)).toBeLessThanOrEqual(0.2 * many);
  });

  it('leaves out what has no answer yet, until it should have been refused', () => {
    const traces = met(atOnce(2, 2000), { count: 60, width: 6, seed: 1 });
    const last = traces.at(-1)?.at ?? 0;
    const waiting = (at: number): Trace => ({ at, endedAt: patient });
    const withWaiting = [...traces, ...Array.from({ length: 50 }, () => waiting(last + 10_000))];
    const within = (ms: number): Explanation | undefined =>
      explain(withWaiting, last + 10_000 + ms, presumedMs, { beside: 15, rate: 99 });
    expect(within(presumedMs - 1)).toMatchObject({ by: 'beside', most: 2 });
    // Fifty served at once make it less likely that two are counted.
    expect(within(presumedMs)).toBeUndefined();
  });

  it('is believed from so many odds on as are asked for', () => {
    const traces = met(atOnce(2, 2000), { count: 16, width: 6, seed: 1 });
    const now = (traces.at(-1)?.at ?? 0) + 60_000;
    expect(explain(traces, now, presumedMs, { beside: 1, rate: 1 })).toBeDefined();
    expect(explain(traces, now, presumedMs, { beside: 99, rate: 99 })).toBeUndefined();
  });
});
