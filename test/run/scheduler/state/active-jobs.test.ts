import { describe, expect, it } from 'vitest';
import type { LearnedLimits } from '../../../../src/run/limits/learned-limits.ts';
import {
  type Deferrals,
  type Job,
  type NextRequest,
  takesTaskSlot,
} from '../../../../src/run/machine/job.ts';
import { freshMs } from '../../../../src/run/machine/retry/button-freshness.ts';
import type { RunSettings, SharedLimits } from '../../../../src/run/ports.ts';
import { ActiveJobs } from '../../../../src/run/scheduler/state/active-jobs.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../../rig/jobs.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';

const activeJobs = (
  limits: RunSettings['limits'] = { tasks: 2, requests: 4 },
  shared?: SharedLimits,
  learned?: LearnedLimits,
): ActiveJobs => new ActiveJobs(virtualSettings({ limits }), () => 1, shared, undefined, learned);

const once: Deferrals = {
  times: 1,
  own: 0,
  since: epoch,
  before: { served: 0, firsts: 0, firstsServed: 0 },
  served: 0,
};
const answer: NextRequest = { kind: 'answer' };
const rest = (next: NextRequest): NextRequest => ({ kind: 'wait', until: epoch + 5000, next });
const button = { customId: 'c', label: 'U1', emoji: '' };

const running = (key: string): Job => job(imagineRecord({ key, status: 'running' }), { nextRequest: answer });
const saving = (key: string): Job => job(imagineRecord({ key, status: 'saving' }), { nextRequest: answer });
const submitting = (key: string): Job =>
  job(imagineRecord({ key, status: 'submitting' }), { nextRequest: answer });
const modal = (key: string, nextRequest: NextRequest = { kind: 'modal' }): Job =>
  job(clickRecord({ key, status: 'modal', modal: { taskId: 'M', sent: 0 } }), { nextRequest });
const queued = (key: string, nextRequest: NextRequest = { kind: 'submit' }): Job =>
  job(imagineRecord({ key }), { nextRequest: { ...nextRequest } });
const click = (key: string, changes: Partial<Job> = {}): Job =>
  job(clickRecord({ key }), {
    nextRequest: { kind: 'submit' },
    fresh: { button, readAt: epoch },
    ...changes,
  });

function putAll(jobs: ActiveJobs, ...all: readonly Job[]): ActiveJobs {
  for (const one of all) jobs.put(one);
  return jobs;
}

function enter(jobs: ActiveJobs, ...all: readonly Job[]): ActiveJobs {
  for (const one of all) {
    jobs.put(one);
    jobs.enqueue(one);
  }
  return jobs;
}

describe('a task slot', () => {
  it('is used from its grant until the task ends, and by no job twice', () => {
    const jobs = activeJobs({ tasks: 9, requests: 4 });
    const life: readonly Job[] = [
      queued('a', { kind: 'task-slot' }),
      queued('a'),
      submitting('a'),
      running('a'),
      modal('a'),
      queued('a', rest({ kind: 'task-slot' })),
      running('a'),
      saving('a'),
    ];
    const seen = life.map((one) => {
      jobs.put(one);
      return [jobs.tasksInFlight, jobs.tasksOnService, jobs.size];
    });
    expect(seen).toEqual([
      [0, 0, 1],
      [1, 0, 1],
      [1, 0, 1],
      [1, 1, 1],
      [1, 1, 1],
      [0, 0, 1],
      [1, 1, 1],
      [0, 0, 1],
    ]);
    expect(seen.map(([rooming]) => rooming)).toEqual(life.map((one) => Number(takesTaskSlot(one))));
  });

  it('is free again once a job leaves', () => {
    const jobs = putAll(activeJobs(), running('a'), running('b'));
    expect([jobs.hasFreeSlot, jobs.tasksOnService]).toEqual([false, 2]);
    jobs.drop('a');
    jobs.drop('unknown');
    expect([jobs.hasFreeSlot, jobs.tasksOnService, jobs.tasksInFlight, jobs.get('a')]).toEqual([
      true,
      1,
      1,
      undefined,
    ]);
  });

  it('is limited by the run, or by the grant where that is lower', () => {
    const taskSlots = { granted: 1 };
    const jobs = putAll(activeJobs({ tasks: 2, requests: 4 }, { taskSlots }), running('a'));
    expect(jobs.hasFreeSlot).toBe(false);
    taskSlots.granted = 9;
    expect(jobs.hasFreeSlot).toBe(true);
    jobs.put(running('b'));
    expect(jobs.hasFreeSlot).toBe(false);
  });

  it('is not granted while images are downloaded more slowly than tasks end', () => {
    const jobs = activeJobs({ tasks: 2, requests: 4 });
    for (let count = 0; count < 47; count++) jobs.put(saving(`s${count}`));
    expect([jobs.hasFreeSlot, jobs.mayOpenCell(epoch)]).toEqual([true, true]);
    jobs.put(saving('s47'));
    expect([jobs.hasFreeSlot, jobs.mayOpenCell(epoch)]).toEqual([false, false]);
  });

  it('is counted, as are submissions and text calls in flight', () => {
    const text = job(textRecord({ key: 't', status: 'submitting' }), { nextRequest: answer });
    const jobs = putAll(
      activeJobs({ tasks: 9, requests: 4 }),
      running('a'),
      modal('b'),
      submitting('c'),
      text,
      saving('d'),
      queued('e'),
    );
    expect(jobs.inFlight).toEqual({ tasks: 2, requests: 2 });
  });
});

describe('an image that waits for its file until one can be downloaded', () => {
  it('counts among the images that keep new tasks from beginning', () => {
    const jobs = activeJobs({ tasks: 2, requests: 4 });
    const parked = (key: string): Job => ({
      ...saving(key),
      nextRequest: { kind: 'wait', until: Number.POSITIVE_INFINITY, next: answer },
    });
    for (let count = 0; count < 48; count += 1) jobs.put(parked(`s${count}`));
    expect([jobs.backlog, jobs.hasFreeSlot]).toEqual([1, false]);
    jobs.drop('s0');
    expect([jobs.backlog, jobs.hasFreeSlot]).toEqual([47 / 48, true]);
  });
});

describe('a submission without an answer', () => {
  it.each([
    [999, true],
    [1000, false],
  ])('may get the id of one that left %i ms before: %s', (ms, may) => {
    const jobs = activeJobs({ tasks: 9, requests: 4 });
    const sent = (key: string, submittedAt: number): Job =>
      job(imagineRecord({ key, status: 'submitting', submittedAt }), { nextRequest: answer });
    const one = sent('a', epoch);
    jobs.put(one);
    expect(jobs.mayGetSameId(one.record)).toBe(false);
    jobs.routes.onSent('submit', epoch, 'a');
    expect(jobs.mayGetSameId(one.record)).toBe(false);
    jobs.put(sent('b', epoch + ms));
    expect([jobs.mayGetSameId(one.record), jobs.mayGetSameId(sent('b', epoch + ms).record)]).toEqual([
      may,
      may,
    ]);
    jobs.put({ ...running('b'), record: { ...running('b').record, submittedAt: epoch + ms } });
    expect(jobs.mayGetSameId(one.record)).toBe(false);
  });
});

describe('capacity for one more cell', () => {
  it('is counted without a deferred job that was tried before: others take the slot before it', () => {
    const jobs = activeJobs({ tasks: 2, requests: 4 });
    const deferred = job(imagineRecord({ key: 'd', tries: 1 }), {
      nextRequest: { kind: 'task-slot' },
      deferrals: { submit: once },
    });
    enter(jobs, queued('a', { kind: 'task-slot' }), queued('b', { kind: 'task-slot' }), deferred);
    expect(jobs.mayOpenCell(epoch)).toBe(false);
  });

  it('is not taken by a job that waits for a task slot for another try', () => {
    const jobs = activeJobs({ tasks: 1, requests: 4 });
    enter(jobs, job(imagineRecord({ key: 'a', tries: 1 }), { nextRequest: { kind: 'task-slot' } }));
    expect(jobs.mayOpenCell(epoch)).toBe(true);
    enter(jobs, queued('b', { kind: 'task-slot' }));
    expect(jobs.mayOpenCell(epoch)).toBe(false);
  });

  it('counts the jobs that wait for a task slot', () => {
    const jobs = enter(activeJobs({ tasks: 2, requests: 4 }), queued('a', { kind: 'task-slot' }));
    expect(jobs.mayOpenCell(epoch)).toBe(true);
    jobs.put(running('b'));
    expect([jobs.mayOpenCell(epoch), jobs.hasFreeSlot]).toEqual([false, true]);
  });

  it('does not count deferred jobs: others may go before them', () => {
    const deferred = (key: string): Job => ({ ...queued(key), deferrals: { submit: once } });
    const jobs = putAll(activeJobs({ tasks: 1, requests: 1 }), deferred('a'));
    expect(jobs.mayOpenCell(epoch)).toBe(true);
    jobs.put(queued('b'));
    expect(jobs.mayOpenCell(epoch)).toBe(false);
  });

  it.each(['submit', 'text', 'poll'] as const)('has a limit of jobs that the route %s deferred', (route) => {
    const jobs = activeJobs({ tasks: 1, requests: 1 });
    const deferred = (key: string): Job => ({
      ...queued(key, { kind: 'task-slot' }),
      deferrals: { [route]: once },
    });
    for (const key of ['a', 'b', 'c']) jobs.put(deferred(key));
    expect(jobs.mayOpenCell(epoch)).toBe(true);
    jobs.put(deferred('d'));
    expect(jobs.mayOpenCell(epoch)).toBe(false);
    jobs.drop('d');
    // A deferred job that was accepted takes a slot like any other, and rests no longer.
    jobs.put({ ...running('e'), deferrals: { poll: once } });
    expect([jobs.mayOpenCell(epoch), jobs.hasFreeSlot]).toEqual([false, false]);
    jobs.drop('e');
    expect(jobs.mayOpenCell(epoch)).toBe(true);
  });

  it('counts a job that waits before it requests a slot again, and no deferral of a download', () => {
    const jobs = activeJobs({ tasks: 1, requests: 1 });
    for (const key of ['a', 'b', 'c', 'd']) jobs.put({ ...saving(key), deferrals: { download: once } });
    expect(jobs.mayOpenCell(epoch)).toBe(true);
    for (const key of ['a', 'b', 'c', 'd']) jobs.drop(key);
    for (const key of ['a', 'b', 'c']) jobs.put(queued(key, rest({ kind: 'task-slot' })));
    expect(jobs.mayOpenCell(epoch)).toBe(true);
    jobs.put(queued('d', rest({ kind: 'task-slot' })));
    expect([jobs.mayOpenCell(epoch), jobs.hasFreeSlot]).toEqual([false, true]);
  });

  it('has a limit of text calls, the requests in flight; finished ones do not count', () => {
    const jobs = activeJobs({ tasks: 9, requests: 4 });
    const text = (key: string): Job => job(textRecord({ key }));
    for (const key of ['a', 'b', 'c']) jobs.put(text(key));
    expect(jobs.mayOpenCell(epoch)).toBe(true);
    jobs.put(text('d'));
    expect([jobs.mayOpenCell(epoch), jobs.tasksInFlight]).toEqual([false, 0]);
    jobs.put({ ...text('d'), deferrals: { text: once } });
    expect(jobs.mayOpenCell(epoch)).toBe(true);
  });
});

describe('capacity for one more cell beside a text call whose kind is refused', () => {
  const ask = (key: string, model: string, changes: Partial<Job> = {}): Job =>
    job(textRecord({ key, request: { kind: 'generate', fields: { model } } }), {
      nextRequest: { kind: 'ask' },
      ...changes,
    });
  const refuse = (jobs: ActiveJobs): void =>
    jobs.routes.queues.text.lane(ask('', 'full')).restUntil(epoch + 5000);

  it('is not taken by waiting ones, deferred or not, which are limited to 1,024', () => {
    for (const changes of [{}, { deferrals: { text: once } }]) {
      const jobs = activeJobs({ tasks: 2, requests: 4 });
      for (let count = 0; count < 1024; count += 1) jobs.put(ask(`f${count}`, 'full', changes));
      jobs.put(ask('other', 'other'));
      expect(jobs.mayOpenCell(epoch)).toBe(false);
      refuse(jobs);
      expect(jobs.mayOpenCell(epoch)).toBe(false);
      jobs.drop('f1');
      expect([epoch, epoch + 5000].map((at) => jobs.mayOpenCell(at))).toEqual([true, false]);
    }
  });

  it('is taken by those that wait for the result of their own request, or for others', () => {
    const jobs = activeJobs({ tasks: 2, requests: 4 });
    refuse(jobs);
    for (const key of ['a', 'b', 'c']) jobs.put(ask(key, 'other'));
    jobs.put(ask('d', 'full', { nextRequest: answer }));
    expect(jobs.mayOpenCell(epoch)).toBe(false);
    jobs.put(ask('d', 'full'));
    expect(jobs.mayOpenCell(epoch)).toBe(true);
  });
});

describe('the next job that gets a task slot', () => {
  it('comes from new jobs and from deferred ones in turn, the new ones first', () => {
    const deferred = (key: string): Job => ({
      ...queued(key, { kind: 'task-slot' }),
      deferrals: { submit: once },
    });
    const jobs = activeJobs();
    for (const key of ['n1', 'n2', 'n3']) enter(jobs, queued(key, { kind: 'task-slot' }));
    for (const key of ['d1', 'd2']) enter(jobs, deferred(key));
    const keys = Array.from({ length: 6 }, () => jobs.takeForSlot()?.record.key);
    expect(keys).toEqual(['n1', 'd1', 'n2', 'd2', 'n3', undefined]);
  });

  it('is a deferred one where there is no other, first come, first served', () => {
    const deferred = (key: string, times: number): Job => ({
      ...queued(key, { kind: 'task-slot' }),
      deferrals: { submit: { ...once, times } },
    });
    const jobs = enter(activeJobs(), deferred('often', 9), deferred('once', 1));
    expect([jobs.takeForSlot()?.record.key, jobs.takeForSlot()?.record.key]).toEqual(['often', 'once']);
  });

  it('is not a deferred one where the job has a modal: its task waits on the service', () => {
    const open: Job = { ...modal('m', { kind: 'task-slot' }), deferrals: { submit: once } };
    const jobs = enter(
      activeJobs(),
      { ...queued('d', { kind: 'task-slot' }), deferrals: { submit: once } },
      open,
    );
    expect(jobs.takeForSlot()?.record.key).toBe('m');
  });
});

describe('a next request', () => {
  const source = { isText: true } as const;
  it.each<[string, NextRequest, 'submit' | 'poll' | 'download' | 'text']>([
    ['a submission', { kind: 'submit' }, 'submit'],
    ['a confirm', { kind: 'modal' }, 'submit'],
    ['a fetch', { kind: 'fetch', taskId: 'T', why: 'poll' }, 'poll'],
    ['a search', { kind: 'search' }, 'poll'],
    ['a file', { kind: 'save', source, output: 1 }, 'download'],
    ['a mask', { kind: 'mask' }, 'download'],
    ['a call', { kind: 'ask' }, 'text'],
  ])('%s waits on its route', (_, nextRequest, route) => {
    const jobs = enter(activeJobs(), queued('a', nextRequest));
    const fronts = Object.entries(jobs.routes.queues).flatMap(([name, lanes]) =>
      lanes.next(epoch) === undefined ? [] : [name],
    );
    expect([fronts, jobs.takeForSlot()]).toEqual([[route], undefined]);
  });

  it('waits until its time', () => {
    const jobs = enter(activeJobs(), queued('a', rest({ kind: 'submit' })));
    expect(jobs.delayed.nextAt()).toBe(epoch + 5000);
  });

  it.each(['answer', 'nothing'] as const)('for %s is in no queue', (kind) => {
    const jobs = enter(activeJobs(), queued('a', { kind }));
    expect([jobs.routes.nextAt(epoch), jobs.delayed.nextAt(), jobs.takeForSlot()]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a submission', () => {
  /** When the job at the front may leave. */
  const leavesAt = (jobs: ActiveJobs, front: Job, now = epoch): number =>
    jobs.routes.allowedAt('submit', front, now);
  const never = Number.POSITIVE_INFINITY;
  /** A service that an earlier run found to take so many tasks at once. */
  const takes = (tasks: number): ActiveJobs =>
    activeJobs({ tasks: 9, requests: 4 }, undefined, { perMinute: {}, tasks });

  it('is held while the service has as many tasks as it takes, and submissions in flight count', () => {
    const any = putAll(activeJobs({ tasks: 9, requests: 4 }), running('a'), running('b'));
    expect(leavesAt(any, queued('c'))).toBeLessThanOrEqual(epoch);
    const jobs = putAll(takes(2), running('a'), running('b'));
    expect(leavesAt(jobs, queued('c'))).toBe(never);
    jobs.drop('a');
    expect(leavesAt(jobs, queued('c'))).toBeLessThanOrEqual(epoch);
    jobs.routes.onSent('submit', epoch);
    expect(leavesAt(jobs, queued('c'))).toBe(never);
  });

  it('is not held while all tasks of the service are open modals, and a confirm never is', () => {
    const jobs = putAll(takes(2), modal('a'), modal('b'));
    expect(leavesAt(jobs, queued('c'))).toBeLessThanOrEqual(epoch);
    jobs.put(running('d'));
    expect(leavesAt(jobs, queued('c'))).toBe(never);
    expect(leavesAt(jobs, modal('a'))).toBeLessThanOrEqual(epoch);
  });

  it('is held beside a modal that takes no slot: it is none of the service’s tasks', () => {
    const jobs = putAll(takes(2), running('a'), modal('b'), modal('c', { kind: 'task-slot' }));
    expect(leavesAt(jobs, queued('d'))).toBe(never);
  });

  it('of a click with an outdated button waits while as many buttons are read again as may be pressed', () => {
    const reading = (key: string): Job => click(key, { nextRequest: answer });
    const jobs = activeJobs({ tasks: 2, requests: 4 });
    const outdated = click('x', { fresh: { button, readAt: epoch - freshMs - 1 } });
    jobs.put(reading('a'));
    expect(leavesAt(jobs, outdated)).toBeLessThanOrEqual(epoch);
    jobs.put(reading('b'));
    expect(leavesAt(jobs, outdated)).toBe(never);
    expect(leavesAt(jobs, click('y'))).toBeLessThanOrEqual(epoch);
    jobs.drop('b');
    jobs.put(running('c'));
    // One of two tasks is on the service: one button may be read at a time.
    expect(leavesAt(jobs, outdated)).toBe(never);
    jobs.drop('a');
    expect(leavesAt(jobs, outdated)).toBeLessThanOrEqual(epoch);
    // The window is full of nothing but modals: one may still be read.
    jobs.drop('c');
    putAll(jobs, modal('m'), modal('n'));
    expect(leavesAt(jobs, outdated)).toBeLessThanOrEqual(epoch);
  });

  it.each<[string, Partial<Job>]>([
    ['is being read', { nextRequest: answer }],
    ['was read, while it rests', { nextRequest: rest({ kind: 'submit' }) }],
    ['was read', {}],
  ])('waits where the last slot is that of a deferred click whose button %s', (_, more) => {
    const jobs = putAll(takes(2), running('a'));
    const kept = click('k', { fresh: { button, readAt: epoch, again: true }, ...more });
    const deferrals = { submit: once };
    jobs.put(kept);
    expect(leavesAt(jobs, queued('c'))).toBeLessThanOrEqual(epoch);
    jobs.put({ ...kept, deferrals });
    expect(leavesAt(jobs, queued('c'))).toBe(never);
    expect(leavesAt(jobs, { ...kept, deferrals, nextRequest: { kind: 'submit' } })).toBeLessThanOrEqual(
      epoch,
    );
    jobs.drop('a');
    expect(leavesAt(jobs, queued('c'))).toBeLessThanOrEqual(epoch);
  });

  it('that has its turn does not wait for the slot of a deferred click, which may be queued behind it', () => {
    const jobs = putAll(takes(2), running('a'));
    const fresh = { button, readAt: epoch, again: true } as const;
    jobs.put({ ...click('k', { fresh }), deferrals: { submit: once } });
    expect(leavesAt(jobs, click('c', { fresh }))).toBeLessThanOrEqual(epoch);
  });

  it('on a paced route waits for the button that is being read for its next turn', () => {
    const jobs = activeJobs({ tasks: 9, requests: 4, submit: { count: 60, perMs: 60_000 } });
    expect(leavesAt(jobs, queued('b'))).toBeLessThanOrEqual(epoch);
    jobs.put(click('a', { nextRequest: answer }));
    const outdated = click('x', { fresh: { button, readAt: epoch - freshMs - 1 } });
    expect([leavesAt(jobs, queued('b')), leavesAt(jobs, outdated)]).toEqual([never, never]);
    // The click itself, once its button is read again, has the turn.
    const own = click('c', { fresh: { button, readAt: epoch, again: true } });
    expect(leavesAt(jobs, own)).toBeLessThanOrEqual(epoch);
  });
});

describe('the figures of the active jobs', () => {
  it('are told to those who grant task slots, with the tasks past their deadlines', () => {
    const told: number[] = [];
    const jobs = activeJobs(
      { tasks: 2, requests: 2 },
      { taskSlots: { granted: 2, note: (tasks) => void told.push(tasks) } },
    );
    putAll(jobs, running('a'), running('b'));
    jobs.drop('a');
    jobs.changeOverdue((tasks) => tasks.keep(running('a'), epoch + 10, epoch + 5));
    expect([told, jobs.tasksInFlight, jobs.hasFreeSlot]).toEqual([[1, 2, 1, 2], 2, false]);
    jobs.changeOverdue((tasks) => tasks.giveBack('a'));
    expect([told.at(-1), jobs.tasksInFlight]).toEqual([1, 1]);
  });

  it('have a limit of waiting images that grows with the limits of the run', () => {
    const backlog = (tasks: number, requests: number): number =>
      1 / putAll(activeJobs({ tasks, requests }), saving('s')).backlog;
    expect([backlog(2, 2), backlog(20, 20), backlog(200, 100)].map(Math.round)).toEqual([32, 256, 600]);
  });

  it('have as many slots as the run and the service allow', () => {
    const slots = (tasks: number, found: number): number =>
      activeJobs({ tasks, requests: 4 }, undefined, { perMinute: {}, tasks: found }).slots;
    expect([slots(9, 2), slots(2, 9)]).toEqual([2, 2]);
  });
});

describe('new tasks, while no file can be downloaded', () => {
  const lost = (jobs: ActiveJobs): void =>
    jobs.files.failed('f', { code: 'service.rejected', class: 'retry', message: 'no' }, epoch);

  it.each([
    [20, true, true, true],
    [19, true, true, false],
    [20, false, true, false],
    [20, true, false, false],
  ])(
    'do not begin beside %i images, each tried alone: %s; since a file failed: %s',
    (images, isProbing, hasFailed, isShut) => {
      const jobs = activeJobs({ tasks: 9, requests: 9 });
      for (let count = 0; count < images; count += 1) jobs.put(saving(`s${count}`));
      if (isProbing) jobs.routes.queues.download.lane().probeAt(epoch);
      if (hasFailed) lost(jobs);
      expect([jobs.isShut, jobs.hasFreeSlot, jobs.mayOpenCell(epoch)]).toEqual([isShut, !isShut, !isShut]);
    },
  );
});

describe('a service that knows no task any more', () => {
  it('is sent a submission as if it had none of the lost ones', () => {
    const jobs = activeJobs({ tasks: 9, requests: 4 }, undefined, { perMinute: {}, tasks: 2 });
    for (const key of ['a', 'b']) jobs.put({ ...running(key), lost: 'held' });
    expect(jobs.isHeldBack(queued('c'), epoch)).toBe(true);
    jobs.isForgetting = true;
    expect(jobs.isHeldBack(queued('c'), epoch)).toBe(false);
    putAll(jobs, running('d'), running('e'));
    expect(jobs.isHeldBack(queued('c'), epoch)).toBe(true);
  });
});

describe('a job that is worked on', () => {
  it('has a task that the service has not lost', () => {
    const jobs = putAll(activeJobs(), running('a'), { ...running('b'), lost: 'held' }, modal('c'));
    expect(['a', 'b', 'c', 'gone'].map((key) => jobs.isWorkedOn(key))).toEqual([true, false, false, false]);
  });
});

describe('grids that are to be cut', () => {
  it('are taken one after the other, each once', () => {
    const jobs = enter(activeJobs(), queued('a', { kind: 'cut' }), queued('b', { kind: 'cut' }));
    const keys = Array.from({ length: 3 }, () => jobs.takeToCut()?.record.key);
    expect(keys).toEqual(['a', 'b', undefined]);
  });
});

describe('a job that waits for its kind', () => {
  it('keeps cells from being opened where there are 1,024 of it', () => {
    const jobs = activeJobs({ tasks: 9, requests: 9 });
    const parked: NextRequest = {
      kind: 'wait',
      until: Number.POSITIVE_INFINITY,
      next: { kind: 'task-slot' },
    };
    for (let count = 1; count < 1024; count += 1) jobs.put(queued(`p${count}`, parked));
    expect(jobs.mayOpenCell(epoch)).toBe(true);
    jobs.put(queued('last', parked));
    expect(jobs.mayOpenCell(epoch)).toBe(false);
    jobs.drop('last');
    expect(jobs.mayOpenCell(epoch)).toBe(true);
  });

  it('is due at no time', () => {
    const jobs = enter(activeJobs(), {
      ...queued('a'),
      nextRequest: { kind: 'wait', until: Number.POSITIVE_INFINITY, next: { kind: 'task-slot' } },
    });
    expect(jobs.delayed.nextAt()).toBeUndefined();
  });
});
