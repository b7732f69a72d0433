import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Job, NextRequest } from '../../../src/run/machine/job.ts';
import { compareRanks, DelayedQueue, Heap, PriorityQueue } from '../../../src/run/scheduler/queues.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';

const tally = { served: 0, firsts: 0, firstsServed: 0 };
const deferred = (times: number) => ({ times, own: 0, since: epoch, before: tally, served: 0 });
const button = { customId: 'c', label: 'U1', emoji: '' };

/** A queue, and the jobs that are active. */
function queueOf(...jobs: readonly Job[]) {
  const active = new Map(jobs.map((one) => [one.record.key, one]));
  const queue = new PriorityQueue(active);
  for (const one of jobs) queue.join(one);
  return { active, queue };
}

/** Keys of the jobs in the order in which they have their turn. */
function turns(queue: PriorityQueue): readonly string[] {
  const keys: string[] = [];
  for (let front = queue.front(); front !== undefined; front = queue.front()) {
    keys.push(front.record.key);
    queue.leave();
  }
  return keys;
}

const requesting = (key: string, changes: Partial<Job> = {}, cell = 1): Job =>
  job(imagineRecord({ key, origin: { cell, step: 's', branch: '', slot: 's' } }), {
    nextRequest: { kind: 'submit' },
    ...changes,
  });

describe('a heap', () => {
  it('gives its items in order, the least first, however they were pushed and popped in between', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: -9, max: 9 }), { freq: 3 })), (steps) => {
        const heap = new Heap<number>((a, b) => a < b);
        const kept: number[] = [];
        for (const pushed of steps) {
          if (pushed !== null) {
            heap.push(pushed);
            kept.push(pushed);
            kept.sort((a, b) => a - b);
          }
          const popped = pushed === null ? [heap.pop()] : [];
          expect(popped).toEqual(pushed === null ? [kept.shift()] : []);
          expect([heap.size, heap.peek()]).toEqual([kept.length, kept[0]]);
        }
        expect(Array.from({ length: heap.size }, () => heap.pop())).toEqual(kept);
      }),
      { numRuns: 300 },
    );
  });

  it('needs at most twice its depth in comparisons for an item', () => {
    let comparisons = 0;
    const heap = new Heap<number>((a, b) => {
      comparisons += 1;
      return a < b;
    });
    for (let item = 1024; item > 0; item--) heap.push(item);
    expect(comparisons).toBeLessThanOrEqual(1024 * 10);
    comparisons = 0;
    for (let item = 1; item <= 1024; item++) expect(heap.pop()).toBe(item);
    expect(comparisons).toBeLessThanOrEqual(1024 * 20);
  });
});

describe('the order of jobs', () => {
  const rank = fc.record({
    tries: fc.nat(3),
    deferrals: fc.nat(3),
    depth: fc.nat(3),
    cell: fc.integer({ min: 1, max: 12 }),
  });

  it('is by tries and deferrals, then depth, then cell, then arrival, and every eighth turn by arrival', () => {
    fc.assert(
      fc.property(fc.array(rank, { maxLength: 12 }), (ranks) => {
        const jobs = ranks.map(({ tries, deferrals, depth, cell }, index) => {
          const one = requesting(`k${index}`, { depth, deferrals: { submit: deferred(deferrals) } }, cell);
          return { ...one, record: { ...one.record, tries } };
        });
        const { queue } = queueOf(...jobs);
        const expected = ranks
          .map((one, index) => ({ ...one, index, before: one.tries + one.deferrals }))
          .sort((a, b) => a.before - b.before || b.depth - a.depth || a.cell - b.cell || a.index - b.index);
        const order: number[] = [];
        while (expected.length > 0) {
          // Every eighth turn is that of the job that has waited longest.
          const longest = Math.min(...expected.map(({ index }) => index));
          const next = order.length % 8 === 7 ? expected.findIndex(({ index }) => index === longest) : 0;
          order.push(...expected.splice(next, 1).map(({ index }) => index));
        }
        expect(turns(queue)).toEqual(order.map((index) => `k${index}`));
      }),
    );
  });

  it('counts the deferrals of the route that the job is sent on', () => {
    const images = { deferrals: { text: deferred(9), poll: deferred(9), submit: deferred(1) } };
    const texts = {
      nextRequest: { kind: 'ask' },
      deferrals: { submit: deferred(9), text: deferred(2) },
    } as const;
    const { queue } = queueOf(
      job(textRecord({ key: 'text' }), texts),
      requesting('image', images),
      requesting('fresh'),
    );
    expect(turns(queue)).toEqual(['fresh', 'image', 'text']);
  });

  it('puts new download links before waiting ones', () => {
    const jobs = new Map<string, Job>();
    const queue = new PriorityQueue(jobs, true);
    const source = { url: 'https://images.example/1.png', media: 'image' } as const;
    const saving = (key: string, misses: number): Job =>
      requesting(key, { nextRequest: { kind: 'save', source, output: 1 }, misses });
    for (const one of [saving('first', 0), saving('second', 0), saving('fresh', 1)]) {
      jobs.set(one.record.key, one);
      queue.join(one);
    }
    expect(turns(queue)).toEqual(['fresh', 'first', 'second']);
  });

  it('puts a confirm of a modal first, unless a confirm was deferred; then it is like any other job', () => {
    const modal = (key: string, times: number, changes: Partial<Job> = {}): Job =>
      requesting(
        key,
        { nextRequest: { kind: 'modal' }, deferrals: { submit: deferred(times) }, ...changes },
        9,
      );
    const again = job(clickRecord({ key: 'read again' }), {
      nextRequest: { kind: 'submit' },
      depth: 0,
      fresh: { button, readAt: epoch, again: true },
    });
    const { queue } = queueOf(
      modal('deferred often', 5, { depth: 7 }),
      requesting('fresh', {}, 3),
      modal('deferred once', 1),
      again,
      modal('open', 0),
    );
    expect(turns(queue)).toEqual(['open', 'read again', 'deferred often', 'fresh', 'deferred once']);
  });

  it('keeps the turn of a click whose button was read again on it, whatever its tries', () => {
    const click = (key: string, again: boolean, tries: number): Job =>
      job(clickRecord({ key, tries }), {
        nextRequest: { kind: 'submit' },
        depth: 0,
        fresh: { button, readAt: epoch, ...(again && { again: true as const }) },
      });
    const { queue } = queueOf(requesting('new'), click('read once', false, 1), click('read again', true, 4));
    expect(turns(queue)).toEqual(['read again', 'new', 'read once']);
  });

  it('is only by arrival where nothing is paid', () => {
    const jobs = [requesting('b', { depth: 0 }, 9), requesting('a', { depth: 5 }, 1)];
    const queue = new PriorityQueue(new Map(jobs.map((one) => [one.record.key, one])), true);
    for (const one of jobs) queue.join(one);
    expect(turns(queue)).toEqual(['b', 'a']);
  });
});

describe('the eighth turn', () => {
  const shallowFirst = (modal: readonly Job[], isProbed = false): readonly string[] => {
    const jobs = [...Array.from({ length: 9 }, (_, depth) => requesting(`d${depth}`, { depth })), ...modal];
    const queue = new PriorityQueue(
      new Map(jobs.map((one) => [one.record.key, one])),
      false,
      undefined,
      () => isProbed,
    );
    for (const one of jobs) queue.join(one);
    return turns(queue);
  };
  const deepFirst = ['d8', 'd7', 'd6', 'd5', 'd4', 'd3', 'd2', 'd1', 'd0'];

  it('is that of the job that has waited longest, though no job was tried before', () => {
    expect(shallowFirst([]).slice(6)).toEqual(['d2', 'd0', 'd1']);
  });

  it('is like any other while each try may be paid for nothing', () => {
    expect(shallowFirst([], true)).toEqual(deepFirst);
  });

  it('is that of an open modal where there is one', () => {
    const queue = new Map<string, Job>();
    const ordered = new PriorityQueue(queue);
    const join = (one: Job): void => {
      queue.set(one.record.key, one);
      ordered.join(one);
    };
    for (let depth = 0; depth < 9; depth += 1) join(requesting(`d${depth}`, { depth }));
    for (let turn = 0; turn < 7; turn += 1) ordered.leave();
    join(requesting('modal', { nextRequest: { kind: 'modal' } }));
    expect(turns(ordered)).toEqual(['modal', 'd1', 'd0']);
  });
});

describe('a job', () => {
  it('that an earlier run put back goes behind those that were tried less often', () => {
    const tried = (key: string, attempts: number, putBack: boolean): Job => {
      const one = requesting(key);
      return { ...one, record: { ...one.record, attempts, ...(putBack && { putBack: true }) } };
    };
    const { queue } = queueOf(tried('often', 3, true), tried('once', 1, true), tried('new', 5, false));
    expect(turns(queue)).toEqual(['new', 'once', 'often']);
  });

  it('that an earlier run left goes before others of as many tries, deeper or shallower', () => {
    const left = [0, Number.MAX_SAFE_INTEGER, 9, 9] as const;
    for (const by of [1, -1] as const)
      for (const depth of [0, 7]) expect(compareRanks(left, [0, depth, 1, 1], by)).toBeLessThan(0);
    expect(compareRanks(left, [0, Number.MAX_SAFE_INTEGER, 8, 8])).toBeGreaterThan(0);
  });

  it('whose task could not be read goes before no other poll', () => {
    const jobs = ['a', 'b'].map((key, misses) =>
      requesting(key, { nextRequest: { kind: 'fetch', taskId: key, why: 'poll' }, misses }),
    );
    const queue = new PriorityQueue(new Map(jobs.map((one) => [one.record.key, one])), true);
    for (const one of jobs) queue.join(one);
    expect(turns(queue)).toEqual(['a', 'b']);
  });
});

describe('a place in the queue', () => {
  it('is kept until the job leaves', () => {
    const { queue } = queueOf(requesting('a'), requesting('b'));
    expect([queue.front()?.record.key, queue.front()?.record.key, queue.size]).toEqual(['a', 'a', 2]);
    queue.leave();
    expect([queue.front()?.record.key, queue.size]).toEqual(['b', 1]);
  });

  it('is void once the job has another request, or is no longer active', () => {
    const { active, queue } = queueOf(requesting('a'), requesting('b'), requesting('c'));
    active.set('a', requesting('a'));
    active.delete('b');
    expect(turns(queue)).toEqual(['c']);
    expect([queue.size, queue.front()]).toEqual([0, undefined]);
  });

  it('stays valid while the record changes and the request stays', () => {
    const first = requesting('a');
    const { active, queue } = queueOf(first);
    const changed: Job = { ...first, record: { ...first.record, keep: false } };
    active.set('a', changed);
    expect(queue.front()).toBe(changed);
  });
});

describe('jobs that wait for a time', () => {
  const nextRequest: NextRequest = { kind: 'wait', until: epoch, next: { kind: 'submit' } };
  const delayed = (...moments: readonly number[]) => {
    const jobs = moments.map((at, index) => ({
      at,
      job: requesting(`k${index}`, { nextRequest: { ...nextRequest } }),
    }));
    const active = new Map(jobs.map(({ job: one }) => [one.record.key, one]));
    const queue = new DelayedQueue(active);
    for (const { job: one, at } of jobs) queue.set(one, at);
    return { active, queue };
  };

  it('are due in the order of their times, each at its time and not before', () => {
    const { queue } = delayed(30, 10, 20);
    expect([queue.nextAt(), queue.takeDue(9)]).toEqual([10, undefined]);
    expect(queue.takeDue(10)?.record.key).toBe('k1');
    expect([queue.nextAt(), queue.takeDue(19)]).toEqual([20, undefined]);
    expect([queue.takeDue(99)?.record.key, queue.takeDue(99)?.record.key]).toEqual(['k2', 'k0']);
    expect([queue.nextAt(), queue.takeDue(99)]).toEqual([undefined, undefined]);
  });

  it('wait no longer once they have another request, or are no longer active', () => {
    const { active, queue } = delayed(10, 20, 30);
    active.set('k0', requesting('k0'));
    active.delete('k1');
    expect(queue.nextAt()).toBe(30);
    expect(queue.takeDue(40)?.record.key).toBe('k2');
    expect(queue.takeDue(40)).toBeUndefined();
  });
});
