import { describe, expect, test } from 'vitest';
import type { SlotTemplate } from '../../../src/plan/graph/slot-template.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import { isBeingRedone, judge, type Reading } from '../../../src/plan/resolve/slot-status.ts';
import { imagineRecord } from '../../rig/jobs.ts';
import { Scene } from '../scene.ts';

type Dependency = Reading['dependency'];
type TemplateFacts = Partial<Pick<SlotTemplate, 'sure' | 'whenWaits' | 'keep'>> & {
  readonly optional?: boolean;
};

const done: Dependency = { kind: 'done' };
const open: Dependency = { kind: 'open' };
const blocked: Dependency = { kind: 'blocked', cause: 'grid: task.failed' };
const skipped: Dependency = { kind: 'skipped', cause: 'grid: when.false' };
const wrong = { code: 'template.range' as const, message: 'm' };
const short = { code: 'blend.count' as const, message: 'm' };

/** The status, and the code of the error where there is one; with `!` where the slot is ready. */
const judged = async (
  facts: TemplateFacts,
  gate: Dependency,
  reading: Partial<Reading> = {},
  record?: JobRecord,
): Promise<string> => {
  const { optional = false, ...rest } = { sure: false, whenWaits: false, keep: true, ...facts };
  const scene = await Scene.of('{ steps: { g: { imagine: a, path: "U1?" } } }');
  const [, pressed] = scene.plan.slotGraph.templates;
  if (pressed?.selector === undefined) throw new Error('There is no selector.');
  const template: SlotTemplate = { ...pressed, ...rest, selector: { ...pressed.selector, optional } };
  const { status, error, ready, unsaved } = judge(template, gate, { dependency: done, ...reading }, record);
  return `${status}${error === undefined ? '' : ` ${error.code}`}${ready ? '!' : ''}${unsaved ? ' unsaved' : ''}`;
};

const recordOf = (status: JobRecord['status'], changes: Partial<JobRecord> = {}): JobRecord =>
  imagineRecord({ key: 'k', status, ...changes });
const saved = { output: 1, file: 'images/x.png', bytes: 1, sha256: 'x', mime: 'image/png' };
const image = { buttons: [], imageUrl: 'https://x.test/a.png' };

const conditionFails = { code: 'when.false', message: 'its `when` does not hold' } as const;

test.each<readonly [JobRecord['status'], boolean]>([
  ['pending', true],
  ['submitting', true],
  ['running', true],
  ['modal', true],
  ['saving', true],
  ['in-doubt', true],
  ['done', false],
  // Its task is past its deadline, and only polled: nothing waits for a new result.
  ['failed', false],
])('a job with a former result that is %s is being redone: %s', (status, expected) => {
  expect(isBeingRedone(recordOf(status, { former: { resubmits: 0 } }))).toBe(expected);
  expect(isBeingRedone(recordOf(status))).toBe(false);
});

describe('a slot', () => {
  test.each<readonly [string, TemplateFacts, Dependency, Partial<Reading>, JobRecord | undefined, string]>([
    ['is ready where all that it waits for is done', {}, done, {}, undefined, 'pending!'],
    ['waits for what it starts from', {}, open, {}, undefined, 'pending'],
    ['waits for what it reads', {}, done, { dependency: open }, undefined, 'pending'],
    [
      'is blocked with what it starts from',
      {},
      blocked,
      { dependency: open },
      undefined,
      'blocked ancestor.failed',
    ],
    [
      'waits for what it starts from before what it reads',
      {},
      open,
      { dependency: blocked },
      undefined,
      'pending',
    ],
    [
      'is blocked with what it reads',
      {},
      done,
      { dependency: blocked },
      undefined,
      'blocked ancestor.failed',
    ],
    [
      'is skipped with what it starts from',
      {},
      skipped,
      { failure: wrong },
      recordOf('done'),
      'skipped ancestor.skipped',
    ],
    [
      'is skipped with what it reads',
      {},
      done,
      { dependency: skipped },
      undefined,
      'skipped ancestor.skipped',
    ],
    [
      'is off by its own condition, at once',
      {},
      open,
      { off: conditionFails },
      recordOf('done'),
      'skipped when.false',
    ],
    [
      'is not off by a condition that waits, while it waits',
      { whenWaits: true },
      open,
      { off: conditionFails },
      undefined,
      'pending',
    ],
    [
      'is off by a condition that waited',
      { whenWaits: true },
      done,
      { off: conditionFails },
      undefined,
      'skipped when.false',
    ],
    [
      'stays done though its condition changed since',
      { whenWaits: true },
      done,
      { off: conditionFails },
      recordOf('done', { artifacts: [saved] }),
      'done',
    ],
    [
      'is wrong before anything above it is paid',
      { sure: true },
      open,
      { failure: wrong },
      undefined,
      'failed template.range',
    ],
    [
      'is skipped with what it reads before it is wrong',
      { sure: true },
      done,
      { failure: wrong, dependency: skipped },
      undefined,
      'skipped ancestor.skipped',
    ],
    ['is wrong only once nothing can skip it', {}, open, { failure: wrong }, undefined, 'pending'],
    ['is wrong then', {}, done, { failure: wrong }, undefined, 'failed template.range'],
    ['lacks something to show', {}, done, { shortage: short }, undefined, 'failed blend.count'],
    [
      'is wrong before it lacks something',
      {},
      done,
      { failure: wrong, shortage: short },
      undefined,
      'failed template.range',
    ],
    ['runs though what is above it is tried again', {}, open, {}, recordOf('running'), 'running'],
    ['runs though what is above it failed since', {}, blocked, {}, recordOf('running'), 'running'],
    ['is pending with a record as without one', {}, done, {}, recordOf('pending'), 'pending!'],
  ])('%s', async (_, facts, gate, reading, record, wanted) => {
    expect(await judged(facts, gate, reading, record)).toBe(wanted);
  });

  test.each<readonly [string, TemplateFacts, JobRecord, string]>([
    ['failed', {}, recordOf('failed', { error: { code: 'task.failed', message: '' } }), 'failed task.failed'],
    [
      'in doubt, with what is known',
      {},
      recordOf('in-doubt', { error: { code: 'service.rejected', message: '' } }),
      'in-doubt service.rejected',
    ],
    ['in doubt', {}, recordOf('in-doubt'), 'in-doubt'],
    [
      'without an optional button',
      { optional: true },
      recordOf('failed', { error: { code: 'button.missing', message: '' } }),
      'skipped button.missing',
    ],
    [
      'without a button that is needed',
      {},
      recordOf('failed', { error: { code: 'button.missing', message: '' } }),
      'failed button.missing',
    ],
    [
      'failed behind an optional button',
      { optional: true },
      recordOf('failed', { error: { code: 'task.failed', message: '' } }),
      'failed task.failed',
    ],
    ['done, its files to be fetched', {}, recordOf('done', { result: image }), 'saving unsaved'],
    ['done with its files', {}, recordOf('done', { result: image, artifacts: [saved] }), 'done'],
    ['done, and its files not wanted', { keep: false }, recordOf('done', { result: image }), 'done'],
    ['done, with nothing to fetch', {}, recordOf('done', { result: { buttons: [] } }), 'done'],
    [
      'done with videos to fetch',
      {},
      recordOf('done', { result: { buttons: [], videoUrls: ['v'] } }),
      'saving unsaved',
    ],
    ['done with no video', {}, recordOf('done', { result: { buttons: [], videoUrls: [] } }), 'done'],
    [
      'done with prompts, of which no file is made',
      {},
      recordOf('done', { result: { ...image, prompts: ['p'] } }),
      'done',
    ],
    [
      'done with no prompt, whose image is another one',
      {},
      recordOf('done', { result: { ...image, prompts: [] } }),
      'done',
    ],
    [
      'failed for its files alone, which are not wanted',
      { keep: false },
      recordOf('failed', { result: image, error: { code: 'download.status', message: '' } }),
      'done',
    ],
    [
      'failed for its files alone',
      {},
      recordOf('failed', { result: image, error: { code: 'download.status', message: '' } }),
      'failed download.status',
    ],
  ])('is what its record says: %s', async (_, facts, record, wanted) => {
    expect(await judged(facts, done, {}, record)).toBe(wanted);
  });
});

test('what a describe suggests is read as one text, a blank line between two', async () => {
  const scene = await Scene.of(`
    steps:
      words: { describe: { image: "https://x.test/a.png" } }
      all: { imagine: "{{ steps.words.text }}" }
      second: { imagine: "{{ steps.words.prompts[1] }}" }`);
  scene.state.described(scene.at('words'), ['a fox', 'an owl']);
  expect(scene.request('all')?.fields).toEqual({ prompt: 'a fox\n\nan owl' });
  expect(scene.request('second')?.fields).toEqual({ prompt: 'an owl' });
});
