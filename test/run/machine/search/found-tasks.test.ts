import { describe, expect, it } from 'vitest';
import { pollResults } from '../../../../src/run/machine/search/listing.ts';
import { furthestFirst, ownTasks } from '../../../../src/run/machine/search/own-tasks.ts';
import { beforeSubmitting, mustSearch } from '../../../../src/run/machine/search/search.ts';
import type { Task } from '../../../../src/service/image-service.ts';
import { failure } from '../../../rig/failure.ts';
import { clickRecord, context, epoch, imagineRecord, job } from '../../../rig/jobs.ts';
import { transition } from '../../../rig/transition.ts';

const task = (id: string, changes: Partial<Task> = {}): Task => ({
  id,
  state: 'success',
  status: 'SUCCESS',
  buttons: [],
  tag: 'aa11',
  submittedAt: epoch,
  ...changes,
});
const ids = (tasks: readonly Task[]): readonly string[] => tasks.map(({ id }) => id);

describe('the results of a poll of several tasks', () => {
  const targets = [
    { key: 'a', taskId: 'T1' },
    { key: 'b', taskId: 'T2' },
  ];

  it('are given to each job by the id of its task, in any order', () => {
    const value = [task('T2'), task('other'), task('T1')];
    expect(pollResults(targets, { ok: true, value })).toEqual([
      ['a', { type: 'fetched', why: 'poll', result: { ok: true, value: value[2] } }],
      ['b', { type: 'fetched', why: 'poll', result: { ok: true, value: value[0] } }],
    ]);
  });

  it('say of a missing task that the service does not know it', () => {
    const [first, second] = pollResults(targets, { ok: true, value: [task('T2')] });
    expect(first).toMatchObject([
      'a',
      { result: { ok: false, error: { code: 'service.task-unknown', class: 'retry' } } },
    ]);
    expect(second).toMatchObject(['b', { result: { ok: true } }]);
  });

  it('are the failure of the request for all of them', () => {
    const result = { ok: false, error: failure('service.unavailable', 'retry') } as const;
    expect(pollResults(targets, result)).toEqual(
      ['a', 'b'].map((key) => [key, { type: 'fetched', why: 'poll', result }]),
    );
  });
});

describe('the task to adopt', () => {
  it('is the most advanced, then the oldest, then the one whose id comes first', () => {
    const tasks = [
      task('failed', { state: 'failure' }),
      task('modal', { state: 'modal' }),
      task('running', { state: 'unfinished' }),
      task('b'),
      task('a'),
      task('later', { submittedAt: epoch + 1 }),
    ];
    const sorted = ['a', 'b', 'later', 'running', 'modal', 'failed'];
    expect(ids(tasks.toSorted(furthestFirst))).toEqual(sorted);
    expect(ids(tasks.toReversed().toSorted(furthestFirst))).toEqual(sorted);
    const { submittedAt: _, ...undated } = task('undated');
    expect(ids([task('a'), undated].toSorted(furthestFirst))).toEqual(['undated', 'a']);
  });

  it('carries the tag of the job, and is in none of its attempts', () => {
    const record = imagineRecord({ submittedAt: epoch });
    const { tag: _, ...untagged } = task('untagged');
    const { submittedAt: __, ...undated } = task('undated');
    const tasks = [task('own'), task('other', { tag: 'bb22' }), untagged, task('known'), undated];
    const history = [{ key: 'aa11', at: epoch, outcome: 'accepted', taskId: 'known' }];
    expect(new Set(ids(ownTasks(record, history, tasks)))).toEqual(new Set(['own', 'undated']));
  });

  it('of a confirm is neither the task that waited for it, nor one that waits itself', () => {
    const modal = { taskId: 'M1', sent: 1 };
    const record = clickRecord({ key: 'aa11', submittedAt: epoch, modal });
    const tasks = [task('M1'), task('waits', { state: 'modal' }), task('went on')];
    expect(ids(ownTasks(record, [], tasks))).toEqual(['went on']);
    expect(ids(ownTasks(imagineRecord({ submittedAt: epoch }), [], tasks)).length).toBe(3);
  });
});

describe('a search', () => {
  const doubtful = { count: 2, since: epoch - 60_000 };
  const from = job(imagineRecord({ attempts: 2, tries: 1, doubtful, submittedAt: epoch - 30_000 }), {
    nextRequest: { kind: 'answer' },
    misses: 3,
  });
  const searching = { searches: true };

  it('is due once after each submission that may have made a task, where the gateway lists tasks', () => {
    expect(mustSearch(from, searching)).toBe(true);
    expect(beforeSubmitting(from, context(searching))).toEqual({ kind: 'search' });
    const modal = { ...from, record: { ...from.record, modal: { taskId: 'M', sent: 1 } } };
    const closed = { ...from, record: { ...from.record, doubtful: { count: 2 } } };
    for (const other of [{ ...from, searched: 2 }, modal, closed]) {
      expect(mustSearch(other, searching)).toBe(false);
      expect(beforeSubmitting(other, context(searching))).toEqual({ kind: 'task-slot' });
    }
    expect([mustSearch({ ...from, searched: 1 }, searching), mustSearch(from, { searches: false })]).toEqual([
      true,
      false,
    ]);
  });

  it('adopts the first task, polls it by its age, and notes the others', () => {
    const ages: number[] = [];
    const pollInMs = (_: unknown, elapsedMs: number): number => {
      ages.push(elapsedMs);
      return 700;
    };
    const step = transition(from, { pollInMs, price: () => 3 }).searched([
      task('T1'),
      task('T2'),
      task('T3'),
    ]);
    expect(step.job).toMatchObject({
      record: { status: 'running', taskId: 'T1', cost: 3, doubtful: { count: 1 } },
      nextRequest: { kind: 'wait', until: epoch + 700, next: { kind: 'fetch', taskId: 'T1', why: 'poll' } },
      misses: 0,
    });
    expect(ages).toEqual([30_000]);
    expect(step.attempt).toEqual({ key: 'aa11', at: epoch, outcome: 'found', taskId: 'T1' });
    expect(step.unused).toEqual(
      ['T2', 'T3'].map((taskId) => ({ key: 'aa11', at: epoch, outcome: 'found.unused', taskId })),
    );
  });

  it('takes the age of a task from its doubt, where a later submission was refused', () => {
    const { submittedAt: _, ...refused } = from.record;
    const { job: adopted } = transition({ ...from, record: refused }).searched([task('T1')]);
    expect(adopted.record.submittedAt).toBe(epoch - 60_000);
  });

  it('that finds nothing is followed by a slot for the next submission, or by doubt after the last try', () => {
    const none = transition(from).searched([]).job;
    expect(none).toMatchObject({ nextRequest: { kind: 'task-slot' }, searched: 2, misses: 0 });
    const error = { code: 'service.unavailable' as const, message: 'm' };
    const last = { ...from, record: { ...from.record, tries: 6, error } };
    expect(transition(last).searched([]).job.record).toMatchObject({ status: 'in-doubt', error, tries: 0 });
    const spare = { ...from, record: { ...from.record, tries: 5, error } };
    expect(transition(spare).searched([]).job.nextRequest.kind).toBe('task-slot');
  });

  it('is repeated where the list cannot be read, and ends in doubt where only it is refused', () => {
    const down = failure('service.unavailable', 'retry', { status: 503 });
    const rested = transition(from).searched(down).job;
    expect(rested).toMatchObject({ nextRequest: { kind: 'wait', next: { kind: 'search' } }, misses: 4 });
    const denied = failure('service.rejected', 'permanent', { status: 400 });
    const { record } = transition({ ...from, misses: 5 }).searched(denied).job;
    expect([record.status, record.error?.code]).toEqual(['in-doubt', 'service.rejected']);
    const error = { code: 'connection.lost' as const, message: 'm' };
    const known = transition({ ...from, misses: 5, record: { ...from.record, error } }).searched(denied).job;
    expect(known.record.error).toEqual(error);
    const none = failure('service.no-listing', 'permanent', { status: 404 });
    expect(transition(from).searched(none).job.nextRequest.kind).toBe('task-slot');
  });
});
