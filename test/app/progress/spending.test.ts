import { describe, expect, it } from 'vitest';
import { ProgressModel, timeLeft } from '../../../src/app/progress/model.ts';
import { progressSentence } from '../../../src/cli/terminal/progress/sentence.ts';
import type { JobStatus, TokenUsage } from '../../../src/plan/job.ts';
import { tokenWords } from '../../../src/report/text/amounts.ts';
import { runStart, stepStart } from '../../cli/terminal/progress/start-rig.ts';

/** Feeds a model with what becomes of jobs. */
function watch() {
  const model = new ProgressModel(runStart([stepStart('say', { total: 3 })]), 0);
  const update = (key: string, to: JobStatus, usage?: TokenUsage, cost?: number): void =>
    model.take(
      {
        type: 'job:status',
        key,
        step: 'say',
        branch: '',
        cell: 1,
        from: undefined,
        to,
        ...(usage === undefined ? {} : { usage }),
        ...(cost === undefined ? {} : { cost }),
      },
      1000,
    );
  return { update, progress: () => model.progress(1000) };
}

describe('the spending of an invocation', () => {
  it('grows with each reply of a job, usable or not', () => {
    const { update, progress } = watch();
    update('a', 'submitting');
    // It could not be used, and is asked again.
    update('a', 'pending', { prompt: 10, candidates: 5, total: 15 }, 0.1);
    update('a', 'submitting', { prompt: 10, candidates: 5, total: 15 }, 0.1);
    update('a', 'done', { prompt: 20, candidates: 7, thoughts: 3, total: 30 }, 0.25);
    update('b', 'submitting');
    update('b', 'failed', { prompt: 1, total: 1 });
    expect(progress().tokens).toEqual({ prompt: 21, candidates: 7, thoughts: 3, total: 31 });
    expect(progress().cost).toBeCloseTo(0.25, 9);
  });

  it('does not include earlier payments for the same text', () => {
    const { update, progress } = watch();
    update('a', 'submitting', { prompt: 100, total: 100 }, 1);
    expect(progress()).not.toHaveProperty('tokens');
    update('a', 'done', { prompt: 110, total: 110 }, 1.1);
    expect(progress().tokens).toEqual({ prompt: 10, total: 10 });
    expect(progress().cost).toBeCloseTo(0.1, 9);
  });

  it('includes the cost of each accepted task, whatever its result, and of no rejected one', () => {
    const { update, progress } = watch();
    update('a', 'pending');
    update('a', 'running', undefined, 0.04);
    update('a', 'done', undefined, 0.04);
    update('b', 'pending');
    update('b', 'submitting', undefined, 0.04);
    update('b', 'failed', undefined, 0.04);
    update('c', 'pending');
    update('c', 'submitting', undefined, 0.04);
    expect(progress().cost).toBeCloseTo(0.12, 9);
    update('c', 'pending');
    expect(progress().cost).toBeCloseTo(0.08, 9);
    expect(progress()).not.toHaveProperty('tokens');
  });

  it('does not include earlier payments for a task that this invocation follows or retries', () => {
    const { update, progress } = watch();
    update('a', 'running', undefined, 0.04);
    update('a', 'done', undefined, 0.04);
    update('b', 'pending', { prompt: 100, total: 100 }, 1);
    update('b', 'submitting', { prompt: 100, total: 100 }, 1);
    update('b', 'done', { prompt: 110, total: 110 }, 1.1);
    expect(progress().cost).toBeCloseTo(0.1, 9);
    expect(progress().tokens).toEqual({ prompt: 10, total: 10 });
  });

  it('is shown in the progress line', () => {
    const { update, progress } = watch();
    update('a', 'submitting');
    update('a', 'done', { prompt: 1200, tool: 34, candidates: 5, thoughts: 6000, total: 7239 }, 0.5);
    expect(progressSentence(progress(), 1000)).toContain('cost 0.50, tokens 1,234 in, 5 out, 6,000 thoughts');
  });
});

it.each<readonly [TokenUsage | undefined, string | undefined]>([
  [undefined, undefined],
  [{}, undefined],
  [{ total: 5 }, 'tokens 5'],
  [{ prompt: 0, candidates: 0 }, 'tokens 0 in, 0 out'],
  [{ tool: 7, thoughts: 1 }, 'tokens 7 in, 1 thoughts'],
])('shows tokens of %j as %s', (usage, words) => {
  expect(tokenWords(usage)).toBe(words);
});

describe('the progress of a run', () => {
  const job = { type: 'job:status', step: 'say', branch: '', cell: 1, from: 'pending' } as const;
  const modelOf = (total: number): ProgressModel =>
    new ProgressModel(runStart([stepStart('say', { total })], { cells: total }), 0);

  it('knows the time left for as long as the estimate lasts, however long nothing moves', () => {
    const model = modelOf(11);
    model.take({ ...job, key: 'a', to: 'done' }, 30_000);
    // Ten are left, of which each takes half a minute.
    expect(model.progress(30_000).leftMs).toBe(300_000);
    expect(model.progress(30_000 + 300_000)).toHaveProperty('leftMs');
    expect(model.progress(30_000 + 300_001)).not.toHaveProperty('leftMs');
    const short = modelOf(2);
    short.take({ ...job, key: 'a', to: 'done' }, 1000);
    short.progress(1000);
    expect(short.progress(61_000)).toHaveProperty('leftMs');
    expect(short.progress(61_001)).not.toHaveProperty('leftMs');
  });

  it('counts no time in which the machine slept', () => {
    const model = modelOf(3);
    model.take({ ...job, key: 'a', to: 'done' }, 10_000);
    model.take({ type: 'run:notice', code: 'run.slept', message: '' }, 3_600_000);
    expect(model.progress(3_600_000).leftMs).toBe(20_000);
    model.take({ type: 'run:notice', code: 'download.own-link', message: '' }, 3_601_000);
    expect(model.progress(3_601_000).leftMs).toBe(22_000);
  });

  it('is that of the last minute, and at first no faster than of one second', () => {
    const model = modelOf(9);
    model.take({ ...job, key: 'a', to: 'done' }, 100);
    expect(model.progress(100).perMinute).toBe(60);
    expect([model.progress(60_999).perMinute, model.progress(61_000).perMinute]).toEqual([1, 0]);
  });

  it('shows the last job that failed or is in doubt', () => {
    const model = modelOf(3);
    const error = { code: 'connection.lost', message: 'no answer' } as const;
    for (const to of ['submitting', 'in-doubt'] as const) model.take({ ...job, key: 'b', to, error }, 0);
    expect(model.progress(0).lastFailure).toEqual({ step: 'say', cell: 1, error });
  });

  it('says until when refused requests wait, and nothing from then on', () => {
    const model = modelOf(3);
    model.take({ type: 'route:pause', route: 'submit', untilMs: 5000, reason: 'busy' }, 0);
    expect(model.progress(4999).notice).toBe('submissions are refused, asked again in 1 s: busy');
    expect(model.progress(5000)).not.toHaveProperty('notice');
  });
});

it('no time left is known before anything is settled, nor after the clock was set back', () => {
  const work = { open: 4, active: 2, made: 1, elapsedMs: 1000 };
  expect([
    timeLeft(work),
    timeLeft({ ...work, made: 0 }),
    timeLeft({ ...work, elapsedMs: -1 }),
    timeLeft({ ...work, open: 0, made: 0 }),
  ]).toEqual([2000, undefined, undefined, 0]);
});
