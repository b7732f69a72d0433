import { describe, expect, it } from 'vitest';
import type { JobError, JobStatus, TokenUsage } from '../../../src/plan/job.ts';
import { type DirectoryTotals, RunMetrics } from '../../../src/report/metrics/run-metrics.ts';
import { noCounts } from '../../../src/results/run-ledger.ts';
import type { RunEvent } from '../../../src/run/events.ts';
import { parseExposition, valueOf } from '../../rig/exposition.ts';

const steps = [
  { name: 'grid', isText: false, counts: { ...noCounts, done: 2, failed: 1 }, total: 10 },
  { name: 'caption', isText: true, counts: noCounts },
];

function metrics(isOptional = () => false): RunMetrics {
  const made = new RunMetrics({ pipeline: 'foxes', version: '1.2.3', startedAt: 1_000_000 });
  made.begin({ steps, isOptional });
  return made;
}

const job = (
  key: string,
  step: string,
  from: JobStatus | undefined,
  to: JobStatus,
  more: { readonly usage?: TokenUsage; readonly code?: JobError['code'] } = {},
): RunEvent => ({
  type: 'job:status',
  key,
  step,
  branch: '',
  cell: 1,
  from,
  to,
  ...(more.usage === undefined ? {} : { usage: more.usage }),
  ...(more.code === undefined ? {} : { error: { code: more.code, message: 'no' } }),
});

const read = (made: RunMetrics, totals?: DirectoryTotals) => parseExposition(made.text(totals));

describe('RunMetrics', () => {
  it('counts each job once by step and status, and pending jobs if the total is known', () => {
    const made = metrics();
    made.take(job('a', 'grid', undefined, 'submitting'), 1_001_000);
    made.take(job('a', 'grid', 'submitting', 'running'), 1_002_000);
    made.take(job('b', 'grid', undefined, 'submitting'), 1_003_000);
    // Failed in an earlier run, and tried again.
    made.take(job('c', 'grid', 'failed', 'submitting'), 1_004_000);
    // Left running by an earlier run: it was counted nowhere.
    made.take(job('d', 'grid', 'running', 'saving'), 1_005_000);
    made.take(job('d', 'grid', 'saving', 'done'), 1_006_000);
    made.take(job('e', 'caption', undefined, 'submitting'), 1_007_500);
    const seen = read(made);
    const count = (step: string, status: string) => valueOf(seen, 'promptpress_jobs', { step, status });
    expect(
      ['submitting', 'running', 'saving', 'done', 'failed', 'pending'].map((s) => count('grid', s)),
    ).toEqual([2, 1, 0, 3, 0, 4]);
    expect([count('caption', 'submitting'), count('caption', 'pending')]).toEqual([1, undefined]);
    expect(valueOf(seen, 'promptpress_tasks_in_flight')).toBe(3);
    expect(valueOf(seen, 'promptpress_text_calls_in_flight')).toBe(1);
    expect(valueOf(seen, 'promptpress_last_progress_timestamp_seconds')).toBe(1007.5);
    expect(valueOf(seen, 'promptpress_start_time_seconds', { pipeline: 'foxes' })).toBe(1000);
    expect(valueOf(seen, 'promptpress_build_info', { version: '1.2.3' })).toBe(1);
  });

  it('counts a missing optional button as skipped, and slots that get no job', () => {
    const made = metrics(() => true);
    made.take(job('a', 'grid', undefined, 'pending'), 0);
    made.take(job('a', 'grid', 'pending', 'failed', { code: 'button.missing' }), 0);
    for (const status of ['blocked', 'skipped', 'pending'] as const)
      made.take({ type: 'slot:status', step: 'grid', branch: '', cell: 1, status }, 0);
    const seen = read(made);
    const count = (status: string) => valueOf(seen, 'promptpress_jobs', { step: 'grid', status });
    expect([count('skipped'), count('blocked'), count('failed')]).toEqual([2, 1, 1]);
  });

  it('counts failures that the pipeline accepts apart', () => {
    const made = metrics();
    made.take({ ...job('a', 'grid', 'pending', 'failed'), accepted: true } as RunEvent, 0);
    const seen = read(made);
    const count = (status: string) => valueOf(seen, 'promptpress_jobs', { step: 'grid', status });
    expect([count('accepted'), count('failed')]).toEqual([1, 1]);
  });

  it.each([
    [{ outcome: 'saved' }, '2xx'],
    [{ outcome: 'service.throttled', message: 'slow down', status: 429 }, '429'],
    [{ outcome: 'service.rejected', message: 'no', status: 400 }, '4xx'],
    [{ outcome: 'service.unavailable', message: 'later', status: 524 }, '5xx'],
    [{ outcome: 'service.redirect', message: 'there', status: 302 }, '3xx'],
    [{ outcome: 'connection.lost', message: 'gone' }, 'connection'],
    [{ outcome: 'download.connection', message: 'gone' }, 'connection'],
    [{ outcome: 'request.too-large', message: 'no' }, 'none'],
  ])('puts %j into the class %s', (end, answer) => {
    const made = metrics();
    const event: RunEvent = { type: 'request:end', route: 'poll', key: 'a', ms: 250, ...end };
    made.take(event, 0);
    made.take(event, 0);
    const seen = read(made);
    expect(valueOf(seen, 'promptpress_requests_total', { route: 'poll', class: answer })).toBe(2);
    expect(valueOf(seen, 'promptpress_request_duration_seconds_sum', { route: 'poll' })).toBe(0.5);
    expect(valueOf(seen, 'promptpress_request_duration_seconds_count', { route: 'poll' })).toBe(2);
  });

  it('adds up tokens by kind, without those of earlier runs, and never twice', () => {
    const made = metrics();
    const first = { prompt: 10, cached: 4, candidates: 1 };
    made.take(job('a', 'caption', 'submitting', 'submitting', { usage: first }), 0);
    made.take(
      job('a', 'caption', 'submitting', 'done', {
        usage: { prompt: 25, cached: 5, candidates: 3, thoughts: 7 },
      }),
      0,
    );
    const seen = read(made);
    const tokens = (kind: string) => valueOf(seen, 'promptpress_tokens_total', { kind });
    expect(['prompt', 'candidates', 'thoughts', 'tool'].map(tokens)).toEqual([15, 2, 7, 0]);
    expect(valueOf(seen, 'promptpress_cached_tokens_total')).toBe(1);
  });

  it('has the cost of the directory, and the outcome after the end of the run', () => {
    const made = metrics();
    const totals: DirectoryTotals = { doubts: 2, attempts: 7, cost: 1.25, possibleCost: 0.5 };
    made.take(job('a', 'grid', undefined, 'submitting'), 0);
    const during = read(made, totals);
    const names = ['jobs_in_doubt', 'submissions', 'cost', 'possible_cost', 'exit_code', 'end_time_seconds'];
    const values = (seen: typeof during) => names.map((name) => valueOf(seen, `promptpress_${name}`));
    expect(values(during)).toEqual([2, 7, 1.25, 0.5, undefined, undefined]);
    made.end({ at: 2_000_500, exitCode: 4, kind: 'budget' });
    const after = read(made, totals);
    expect(values(after)).toEqual([2, 7, 1.25, 0.5, 4, 2000.5]);
    expect(valueOf(after, 'promptpress_end_info', { end: 'budget' })).toBe(1);
    expect(valueOf(after, 'promptpress_tasks_in_flight')).toBe(0);
  });
});
