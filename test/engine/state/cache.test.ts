import { expect, it } from 'vitest';
import { RecordCache } from '../../../src/engine/state/cache.ts';
import { jobRecord } from '../../state/records.ts';

const version = { slice: 1, rev: '1' };

function filled(keys: readonly string[]): RecordCache {
  const cache = new RecordCache();
  for (const key of keys) cache.read(key, { record: jobRecord(key, 'done'), ...version }, [], 0);
  return cache;
}

const keys = (from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_unused, at) => `k${from + at}`);

it('keeps what slices need until they are released, and of the rest the latest', () => {
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

it('asks for each record of a slice once, whether there is one or not', () => {
  const cache = filled(['k1']);
  expect(cache.missing(['k1', 'none', 'none'], 1)).toEqual(['k1', 'none']);
  cache.need(['k1', 'none'], 1);
  expect(cache.missing(['k1', 'none', 'k2'], 1)).toEqual(['k2']);
  cache.release(1);
  expect(cache.missing(['none'], 1)).toEqual(['none']);
});

it('shows what was decided here, and no read that was asked for before', () => {
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
