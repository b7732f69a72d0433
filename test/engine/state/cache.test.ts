import { expect, it } from 'vitest';
import { RecordCache } from '../../../src/engine/state/cache.ts';
import { seededRandom } from '../../rig/virtual-run.ts';
import { jobRecord } from '../../state/records.ts';

const version = { slice: 1, rev: '1' };

function filled(keys: readonly string[]): RecordCache {
  const cache = new RecordCache();
  for (const key of keys) cache.read(key, { record: jobRecord(key, 'done'), ...version }, [], 0);
  return cache;
}

const keys = (from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_unused, at) => `k${from + at}`);

it('keeps records that slices need until they are released, and the latest of the rest', () => {
  const cache = new RecordCache();
  cache.need(keys(0, 5000), 1);
  cache.need(keys(0, 10), 2);
  for (const key of keys(0, 20_000)) cache.read(key, { record: jobRecord(key, 'done'), ...version }, [], 0);
  expect(cache.size).toBe(5000 + 1024);
  expect([cache.get('k0')?.key, cache.get('k5000'), cache.get('k19999')?.key]).toEqual([
    'k0',
    undefined,
    'k19999',
  ]);
  cache.release(1);
  expect(cache.size).toBe(10 + 1024);
  expect([cache.get('k9')?.key, cache.get('k10')]).toEqual(['k9', undefined]);
});

it('keeps each record while any slice needs it, however slices and idle records come and go', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const random = seededRandom(seed);
    const draw = (below: number): number => Math.floor(random() * below);
    const cache = new RecordCache();
    const needs = new Map<number, Set<string>>();
    /** Records that were here while they were needed, and are needed still. */
    let mustStay = new Set<string>();
    const isNeeded = (key: string): boolean => [...needs.values()].some((of) => of.has(key));
    for (let step = 0; step < 60; step += 1) {
      const some = keys(draw(3000), draw(900));
      const slice = draw(4);
      const what = draw(5);
      if (what === 0) {
        cache.need(some, slice);
        needs.set(slice, new Set([...(needs.get(slice) ?? []), ...some]));
        for (const key of some) if (cache.peek(key) !== undefined) mustStay.add(key);
      } else if (what === 1) {
        cache.release(slice);
        needs.delete(slice);
        mustStay = new Set([...mustStay].filter(isNeeded));
      } else if (what === 2) {
        for (const key of some.slice(0, 20)) {
          cache.forget(key);
          mustStay.delete(key);
        }
      } else
        for (const key of some) {
          const stored = { record: jobRecord(key, 'done'), slice, rev: String(step) };
          if (step % 2 === 0) cache.put(key, stored, step);
          else cache.read(key, stored, [], step);
          if (isNeeded(key)) mustStay.add(key);
        }
      expect([...mustStay].filter((key) => cache.peek(key) === undefined)).toEqual([]);
      expect(cache.size).toBeLessThanOrEqual(mustStay.size + 1024);
    }
  }
});

it('reads each record of a slice once, whether it exists or not', () => {
  const cache = filled(['k1']);
  expect(cache.missing(['k1', 'none', 'none'], 1)).toEqual(['k1', 'none']);
  cache.need(['k1', 'none'], 1);
  expect(cache.missing(['k1', 'none', 'k2'], 1)).toEqual(['k2']);
  cache.release(1);
  expect(cache.missing(['none'], 1)).toEqual(['none']);
});

it('shows a decision made here, not an earlier read', () => {
  const cache = filled(['a']);
  cache.put('a', { record: jobRecord('a', 'running'), slice: 1, rev: '2' }, 7);
  cache.read('a', { record: jobRecord('a', 'done'), ...version }, [], 6);
  expect(cache.get('a')?.status).toBe('running');
  cache.read('a', { record: jobRecord('a', 'failed'), slice: 2, rev: '9' }, [], 7);
  expect(cache.get('a')?.status).toBe('failed');
  expect(cache.peek('a')).toMatchObject({ slice: 2, rev: '9' });
  cache.forget('a');
  expect(cache.get('a')).toBeUndefined();
});
