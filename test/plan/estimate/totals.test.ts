import { describe, expect, it } from 'vitest';
import type { Step } from '../../../src/pipeline/pipeline.ts';
import { StepTotals, sumOf } from '../../../src/plan/estimate/totals.ts';
import { noPlanCounts } from '../../rig/no-counts.ts';

const step = { name: 'grid', kind: 'imagine', path: [] } as unknown as Step;

const after = (count: (totals: StepTotals) => void) => {
  const totals = new StepTotals(step);
  count(totals);
  const { step: name, kind, path, open, ...counts } = totals.report();
  expect([name, kind, path, open]).toEqual(['grid', 'imagine', false, false]);
  return counts;
};

describe('the counts of a step', () => {
  it('are zero at first', () => {
    expect(after(() => {})).toEqual(noPlanCounts);
  });

  it.each(['shared', 'skipped', 'blocked', 'invalid'] as const)(
    'include slots without a job that are %s',
    (kind) => {
      expect(after((totals) => totals.slot(kind, 3))).toEqual({ ...noPlanCounts, slots: 3, [kind]: 3 });
      expect(after((totals) => totals.slot(kind))).toEqual({ ...noPlanCounts, slots: 1, [kind]: 1 });
    },
  );

  it.each(['held', 'running', 'unsaved', 'done', 'inDoubt', 'failed'] as const)(
    'include jobs that are %s',
    (kind) => {
      expect(after((totals) => totals.job(kind))).toEqual({ ...noPlanCounts, slots: 1, jobs: 1, [kind]: 1 });
    },
  );

  it.each(['new', 'changed', 'retry', 'anew'] as const)('include submissions that are %s', (reason) => {
    const tokens = { input: 10.4, output: 0.3 };
    expect(after((totals) => totals.submit(reason, { price: 0.1, tokens }, 3))).toEqual({
      ...noPlanCounts,
      slots: 3,
      jobs: 3,
      submits: 3,
      why: { ...noPlanCounts.why, [reason]: 3 },
      tokens: { input: 31, output: 1 },
      cost: 0.3,
    });
  });

  it('include submissions without a price', () => {
    expect(after((totals) => totals.submit('new', {}, 2))).toMatchObject({
      submits: 2,
      cost: 0,
      unpriced: 2,
    });
    expect(after((totals) => totals.submit('new', { price: 0 }))).toMatchObject({ submits: 1, unpriced: 0 });
  });

  it('include waiting slots, whose cost comes later', () => {
    const tokens = { input: 5, output: 6 };
    expect(after((totals) => totals.wait({ price: 0.2, tokens }, 3))).toEqual({
      ...noPlanCounts,
      slots: 3,
      waiting: 3,
      later: { tokens: { input: 15, output: 18 }, cost: 0.6, unpriced: 0 },
    });
  });
});

it('the sum over all steps has every count', () => {
  const filled = (times: number) => {
    const totals = new StepTotals({ ...step, path: [{}] } as unknown as Step);
    let n = times;
    for (const kind of ['shared', 'skipped', 'blocked', 'invalid'] as const) totals.slot(kind, n++);
    for (const kind of ['held', 'running', 'unsaved', 'done', 'inDoubt', 'failed'] as const)
      for (let left = n++; left > 0; left -= 1) totals.job(kind);
    for (const reason of ['new', 'changed', 'retry', 'anew'] as const)
      totals.submit(reason, { price: 0.1, tokens: { input: n, output: 2 * n } }, n++);
    totals.submit('new', {}, n++);
    totals.wait({ price: 0.1, tokens: { input: n, output: 3 * n } }, n++);
    totals.wait({}, n);
    return totals.report();
  };
  const [one, other] = [filled(1), filled(4)];
  expect(one.path).toBe(true);
  const sum = sumOf([one, other]) as unknown as Record<string, unknown>;
  const added = (a: unknown, b: unknown): unknown =>
    typeof a === 'number'
      ? Number((a + (b as number)).toFixed(9))
      : Object.fromEntries(
          Object.entries(a as object).map(([name, value]) => [
            name,
            added(value, (b as Record<string, unknown>)[name]),
          ]),
        );
  expect(Object.keys(sum).sort()).toEqual(Object.keys(noPlanCounts).sort());
  for (const name of Object.keys(noPlanCounts))
    expect([name, sum[name]]).toEqual([
      name,
      added(one[name as keyof typeof one], other[name as keyof typeof other]),
    ]);
  expect(sumOf([])).toEqual(noPlanCounts);
});
