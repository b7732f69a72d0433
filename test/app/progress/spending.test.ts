import { describe, expect, it } from 'vitest';
import { ProgressModel } from '../../../src/app/progress/model.ts';
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
