import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../../src/plan/job.ts';
import { ChartCounter, Sample } from '../../../../src/report/results/counts/charts.ts';
import { VariableCounter } from '../../../../src/report/results/summary.ts';
import { countedValues, listedValues } from '../../../../src/report/results/wire.ts';

describe('a sample', () => {
  it('is exact for some thousand numbers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 500 }),
        (numbers) => {
          const sample = new Sample();
          for (const number of numbers) sample.add(number);
          const sorted = numbers.toSorted((a, b) => a - b);
          expect(sample.quantiles([0, 0.5, 1])).toEqual([
            sorted[0],
            sorted[Math.ceil(numbers.length / 2) - 1],
            sorted.at(-1),
          ]);
          expect([sample.count, sample.most]).toEqual([numbers.length, sorted.at(-1)]);
        },
      ),
    );
  });

  it('is approximate but deterministic for more numbers', () => {
    const made = () => {
      const sample = new Sample();
      for (let index = 0; index < 300_000; index += 1) sample.add((index * 7919) % 100_003);
      return sample;
    };
    const [p10 = 0, median = 0, p90 = 0] = made().quantiles([0.1, 0.5, 0.9]);
    for (const [found, right] of [
      [p10, 10_000],
      [median, 50_000],
      [p90, 90_000],
    ] as const)
      expect(Math.abs(found - right)).toBeLessThan(2_500);
    expect(made().quantiles([0.1, 0.5, 0.9])).toEqual([p10, median, p90]);
    expect(made().most).toBe(100_002);
  });
});

it('charts of failures leave out those that the pipeline accepts', () => {
  const charts = new ChartCounter();
  const record = { submittedAt: 1000, finishedAt: 2000, attempts: 1, artifacts: [] } as Partial<JobRecord>;
  for (const rest of [{}, { accepted: true }] as const)
    charts.add({ step: 'grid', status: 'failed', record: record as JobRecord, ...rest }, undefined);
  expect(charts.charts()).toMatchObject({
    failed: [0, 1],
    finished: [0, 2],
    attempts: [{ step: 'grid', jobs: 2, failed: 1 }],
  });
});

describe('the values of a variable', () => {
  it('are listed in order of occurrence up to a bound, and counted up to another', () => {
    const counter = new VariableCounter('n');
    for (let round = 0; round < 2; round += 1)
      for (let index = 0; index < countedValues + 5_000; index += 1) counter.add(`value ${index}`);
    const { name, distinct, values } = counter.variable();
    expect([name, distinct, values.length]).toEqual(['n', countedValues, listedValues]);
    expect([values[0], values.at(-1)]).toEqual([
      ['value 0', 2],
      [`value ${listedValues - 1}`, 2],
    ]);
  });

  it('are counted exactly below the bound', () => {
    const counter = new VariableCounter('n');
    for (let index = 0; index < 5_000; index += 1) counter.add(String(index % 1_234));
    expect(counter.variable().distinct).toBe(1_234);
  });
});
