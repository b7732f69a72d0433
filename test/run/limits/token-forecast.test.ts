import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { estimateOf, TokenForecast } from '../../../src/run/limits/token-forecast.ts';
import { imagineRecord, textRecord } from '../../rig/jobs.ts';

const of = (model: unknown): JobRecord =>
  textRecord({ request: { kind: 'generate', fields: { model, prompt: 'p' } as never } });
const forecast = (): TokenForecast => new TokenForecast(() => ({ input: 100, output: 50 }));

describe('the token forecast of a text call', () => {
  it('is the estimate of its request, until a reply shows the error', () => {
    const tokens = forecast();
    expect(tokens.usageOf(of('a'))).toEqual({ prompt: 100, candidates: 50, total: 150 });
    tokens.learn(of('a'), { total: 300 });
    expect(tokens.usageOf(of('a'))).toEqual({ prompt: 200, candidates: 100, total: 300 });
    expect(tokens.usageOf(of('b'))).toEqual({ prompt: 100, candidates: 50, total: 150 });
  });

  it('follows later replies by a fifth of their error, and is rounded up', () => {
    const tokens = forecast();
    tokens.learn(of('a'), { total: 300 });
    tokens.learn(of('a'), { total: 150 });
    expect(tokens.usageOf(of('a'))).toEqual({ prompt: 180, candidates: 90, total: 270 });
    const other = forecast();
    other.learn(of('a'), { total: 151 });
    expect(other.usageOf(of('a'))).toEqual({ prompt: 101, candidates: 51, total: 152 });
  });

  it.each([
    [7500, 50],
    [7501, 50],
    [1_000_000, 50],
    [3, 1 / 50],
    [2, 1 / 50],
    [0, 1 / 50],
  ])('is corrected by a factor of 50 at most, up or down: a reply of %i tokens', (total, factor) => {
    const tokens = forecast();
    tokens.learn(of('a'), { total });
    expect(tokens.usageOf(of('a'))).toMatchObject({ prompt: 100 * factor, candidates: 50 * factor });
  });

  it('treats an estimate of 0 as one token', () => {
    const tokens = new TokenForecast(({ key }) => ({ input: key === 'none' ? 0 : 10, output: 0 }));
    tokens.learn({ ...of('a'), key: 'none' }, { total: 3 });
    expect(tokens.usageOf(of('a')).total).toBe(30);
  });

  it('is learned for 256 models, and keeps learning for those', () => {
    const tokens = forecast();
    for (let n = 0; n < 257; n += 1) tokens.learn(of(`m${n}`), { total: 300 });
    expect(tokens.usageOf(of('m255')).total).toBe(300);
    expect(tokens.usageOf(of('m256')).total).toBe(150);
    tokens.learn(of('m0'), { total: 1050 });
    expect(tokens.usageOf(of('m0')).total).toBe(450);
  });

  it('groups calls without the name of a model', () => {
    const tokens = forecast();
    tokens.learn(of(undefined), { total: 300 });
    expect(tokens.usageOf(of(7)).total).toBe(300);
    expect(tokens.usageOf(of('')).total).toBe(300);
  });

  it('is estimated once for a request, however its record changes', () => {
    let estimated = 0;
    const tokens = new TokenForecast(() => {
      estimated += 1;
      return { input: 1, output: 1 };
    });
    const record = of('a');
    tokens.usageOf(record);
    tokens.usageOf(record);
    tokens.learn(record, { total: 2 });
    expect(estimated).toBe(1);
    tokens.usageOf({ ...record, status: 'done' });
    expect(estimated).toBe(1);
    // A round of function calls makes it another call; so does another request.
    tokens.usageOf({ ...record, turns: [] });
    tokens.usageOf({ ...record, request: { ...record.request } });
    expect(estimated).toBe(3);
  });
});

describe('the estimate of a record', () => {
  it('of an image job is nothing', () => {
    expect(estimateOf(imagineRecord())).toEqual({ input: 0, output: 0 });
  });

  it('counts its images and the rounds of function calls before it', () => {
    const record = textRecord();
    const plain = estimateOf(record);
    const turns = [{ a: 'bcd' }, { e: 1 }] as unknown as NonNullable<JobRecord['turns']>;
    // `{"a":"bcd"}` and `{"e":1}` are 18 bytes: five tokens of four.
    expect(estimateOf({ ...record, turns })).toEqual({ input: plain.input + 5, output: plain.output });
    const images = [{}, {}] as never;
    expect(estimateOf({ ...record, request: { ...record.request, images } })).toEqual({
      input: plain.input + 2 * 5 * 258,
      output: plain.output,
    });
  });
});
