import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { Estimators } from '../../../src/run/limits/estimators.ts';
import { learnedDurations } from '../../../src/run/limits/polls.ts';
import { kindOf } from '../../../src/run/limits/task-kind.ts';
import { clickRecord, imagineRecord, textRecord } from '../../rig/jobs.ts';

const poll = { minMs: 1000, maxMs: 600_000 };
const estimators = (prices = {}): Estimators => new Estimators({ poll, prices }, () => 7);
const running = (submittedAt?: number): JobRecord =>
  imagineRecord({ status: 'running', speed: 'fast', ...(submittedAt !== undefined && { submittedAt }) });
const ended = (status: JobRecord['status'], submittedAt?: number): JobRecord => ({
  ...running(submittedAt),
  status,
});
/** What was learned, as it is kept. */
const kinds = (learnt: Estimators): readonly string[] =>
  learnedDurations(learnt.learned).map(({ kind }) => kind);

describe('the duration of a task', () => {
  it.each([
    ['is saving', ended('saving', 1000)],
    ['is done', ended('done', 1000)],
    ['shows its modal', ended('modal', 1000)],
    [
      'has failed by its task',
      { ...ended('failed', 1000), error: { code: 'task.failed' as const, message: '' } },
    ],
    [
      'opened no modal',
      { ...ended('failed', 1000), error: { code: 'modal.not-opened' as const, message: '' } },
    ],
    ['is submitted again', { ...ended('pending'), resubmits: 1 }],
  ])('is learned from a job that %s', (_what, after) => {
    const learnt = estimators();
    learnt.noteTask({ record: running(1000), polledMs: 55_000 }, after, 61_000, 1000);
    const [found] = learnedDurations(learnt.learned);
    expect(found).toMatchObject({ kind: 'imagine fast', tasks: 1 });
    expect(found?.from).toBeGreaterThan(54);
    expect(found?.to).toBeLessThan(61);
  });

  const timeout = { ...ended('failed', 1000), error: { code: 'task.timeout' as const, message: '' } };
  it.each([
    ['of one that outlived its deadline', running(1000), timeout, 61_000, 0],
    ['of one that is given up', running(1000), ended('in-doubt', 1000), 61_000, 0],
    ['of one that waits for its turn again', running(1000), ended('pending', 1000), 61_000, 0],
    ['of one that goes on', running(1000), running(1000), 61_000, 0],
    ['of one that was not running', ended('submitting', 1000), ended('saving', 1000), 61_000, 0],
    ['of one that was over before', ended('saving', 1000), ended('done', 1000), 61_000, 0],
    ['of one that began before it was watched', running(999), ended('done', 999), 61_000, 1000],
    ['of one that nobody knows the beginning of', running(), ended('done'), 61_000, 0],
    ['of one that began later than now', running(61_001), ended('done', 61_001), 61_000, 0],
  ])('is not learned %s', (_what, before, after, now, watchedSince) => {
    const learnt = estimators();
    learnt.noteTask({ record: before }, after, now, watchedSince);
    expect(learnt.learned).toBeUndefined();
  });

  it('is learned even where it is 0 ms', () => {
    const learnt = estimators();
    learnt.noteTask({ record: running(61_000) }, ended('done', 61_000), 61_000, 61_000);
    expect(kinds(learnt)).toHaveLength(1);
    expect(learnt.pollInMs(imagineRecord(), 0)).toBe(poll.minMs);
  });

  it('is that of the task that ended, whatever the job does next', () => {
    const learnt = estimators();
    const click = clickRecord({ status: 'running', submittedAt: 1000 });
    const opened: JobRecord = { ...click, status: 'modal', speed: 'turbo', modal: { taskId: '8', sent: 0 } };
    learnt.noteTask({ record: click }, opened, 61_000, 0);
    expect(kinds(learnt)).toEqual([kindOf(click).name]);
    expect(kindOf(opened)).not.toEqual(kindOf(click));
  });

  it('is learned for each kind of task separately', () => {
    const learnt = estimators();
    learnt.noteTask({ record: running(1000) }, ended('done', 1000), 61_000, 1000);
    expect(learnt.pollInMs(imagineRecord({ speed: 'fast' }), 0)).toBeGreaterThan(poll.minMs);
    expect(learnt.pollInMs(clickRecord(), 0)).toBe(poll.minMs);
  });
});

describe('the cost of requests', () => {
  const priced = { 'text-pro': { input: 1_000_000, output: 2_000_000 } };

  it('is the price of one submission for an image job', () => {
    expect(estimators().costModel.price(imagineRecord())).toBe(7);
  });

  it('follows the tokens of earlier replies for a text call', () => {
    const { costModel, ...learnt } = Object.assign(estimators(priced));
    expect(learnt).toBeDefined();
    const record = textRecord();
    const usage = costModel.usage(record);
    expect(costModel.tokens(record)).toBe(usage.prompt + usage.candidates);
    expect(costModel.price(record)).toBeCloseTo(usage.prompt + 2 * usage.candidates);
  });

  it('follows the tokens of a reply', () => {
    const learnt = estimators(priced);
    const record = textRecord();
    const before = learnt.costModel.tokens(record);
    learnt.noteReply(record, { total: before * 2 });
    expect(learnt.costModel.tokens(textRecord())).toBe(before * 2);
  });

  it('is exact for a reply with a token count', () => {
    const { costModel } = estimators(priced);
    const { request } = textRecord();
    if (request.kind !== 'generate') throw new Error('It is a text call.');
    expect(costModel.answerPrice(request, { prompt: 3, candidates: 4 })).toBe(11);
    expect(costModel.answerPrice(request, undefined)).toBeUndefined();
  });
});
