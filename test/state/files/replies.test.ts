import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReplyPlace } from '../../../src/plan/job-request.ts';
import { isRepliesEnd, Replies, type RepliesEnd } from '../../../src/state/files/replies.ts';
import { memorySegments } from '../../rig/memory-segments.ts';
import { seededRandom } from '../../rig/virtual-run.ts';

/** A state that has nothing but an end of replies, over a disk. */
function rig(maxBytes = 100, disk = memorySegments()) {
  let end: RepliesEnd | undefined;
  const open = (): Replies =>
    new Replies(
      disk,
      end,
      (noted) => {
        end = noted;
      },
      maxBytes,
    );
  const commit = (replies: Replies): void => {
    end = replies.end ?? end;
    replies.onCommitted();
  };
  const lines = (segment: number): string[] => disk.read(segment).toString().split('\n').filter(Boolean);
  return {
    disk,
    open,
    commit,
    lines,
    get end() {
      return end;
    },
  };
}

const at = ({ segment, offset }: ReplyPlace): readonly number[] => [segment, offset];

describe('the replies of a run', () => {
  it('are stored one per line in order of arrival, each at its place', () => {
    const { disk, open, commit, lines } = rig();
    const replies = open();
    const places = [replies.keep('a', '{"n":1}'), replies.keep('b', '"ü"')];
    replies.write();
    commit(replies);
    expect(lines(0)).toEqual(['{"job":"a","reply":{"n":1}}', '{"job":"b","reply":"ü"}']);
    for (const [index, { offset, length, sha256 }] of places.entries()) {
      const bytes = disk.read(0).subarray(offset, offset + length);
      expect(bytes.toString()).toBe(lines(0)[index]);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
    }
  });

  it('are written at the end of a turn, with one write and one sync for all of them', () => {
    const calls: string[] = [];
    const { open } = rig(
      1000,
      memorySegments((call) => calls.push(call)),
    );
    const replies = open();
    expect(replies.hasLines).toBe(false);
    for (const job of ['a', 'b', 'c']) replies.keep(job, '1');
    expect([calls, replies.hasLines]).toEqual([[], true]);
    replies.write();
    expect([calls, replies.hasLines]).toEqual([['make', 'write', 'sync'], false]);
    replies.write();
    expect(calls).toHaveLength(3);
  });

  it('are synced while others come, which belong to the next turn', async () => {
    const { open, commit, lines } = rig();
    const replies = open();
    replies.keep('a', '1');
    const synced = replies.writeSoon();
    replies.keep('b', '2');
    await synced;
    expect([replies.end?.offset, lines(0)]).toEqual([22, ['{"job":"a","reply":1}']]);
    commit(replies);
    replies.write();
    expect(lines(0)).toHaveLength(2);
  });

  it('begin a new segment when the last one would grow too large; a larger line has its own segment', () => {
    const { open, commit, disk } = rig(50);
    const replies = open();
    const large = `"${'x'.repeat(60)}"`;
    // A line of these has 22 bytes.
    const kept = ['1', '2', '3', large, '4'].map((reply) => at(replies.keep('a', reply)));
    expect(kept).toEqual([
      [0, 0],
      [0, 22],
      [1, 0],
      [2, 0],
      [3, 0],
    ]);
    replies.write();
    commit(replies);
    expect([0, 1, 2, 3].map((segment) => disk.read(segment).length)).toEqual([44, 22, 83, 22]);
    expect(replies.keep('a', '5').segment).toBe(3);
  });

  it('with several lines are a bug', () => {
    for (const reply of ['{\n}', '{\r}'])
      expect(() => rig().open().keep('a', reply)).toThrow(/^Internal error: /);
  });

  it('are written again after a failure, at the same place', () => {
    let fails = 'write';
    const disk = memorySegments((call) => {
      if (call === fails) throw new Error('full');
    });
    const { open, commit, lines } = rig(100, disk);
    const replies = open();
    const place = replies.keep('a', '1');
    for (fails of ['make', 'write', 'sync']) expect(() => replies.write()).toThrow('full');
    expect(replies.end).toBeUndefined();
    fails = '';
    replies.keep('b', '2');
    replies.write();
    commit(replies);
    expect([at(place), lines(0)]).toEqual([
      [0, 0],
      ['{"job":"a","reply":1}', '{"job":"b","reply":2}'],
    ]);
  });
});

describe('the next run', () => {
  it('cuts off lines without a commit, and continues after the last line with one', () => {
    const { open, commit, lines, disk } = rig(50);
    const killed = open();
    killed.keep('a', '1');
    killed.write();
    commit(killed);
    for (const reply of ['2', '3', '4']) killed.keep('lost', reply);
    killed.write();
    expect(disk.list()).toEqual([0, 1]);
    const next = open();
    next.cut();
    expect([disk.list(), lines(0)]).toEqual([[0], ['{"job":"a","reply":1}']]);
    expect(at(next.keep('b', '5'))).toEqual([0, 22]);
    next.write();
    commit(next);
    expect(lines(0)).toEqual(['{"job":"a","reply":1}', '{"job":"b","reply":5}']);
  });

  it('removes the whole first segment if nothing was committed', () => {
    const { open, lines } = rig();
    const killed = open();
    killed.keep('lost', '1');
    killed.write();
    expect(lines(0)).toHaveLength(1);
    const next = open();
    next.cut();
    expect([lines(0), at(next.keep('a', '2'))]).toEqual([[], [0, 0]]);
  });

  it('makes the segment that was noted before the process was killed', () => {
    let left = 0;
    const { open, commit, lines } = rig(
      100,
      memorySegments(() => {
        if (left-- === 0) throw new Error('killed');
      }),
    );
    const killed = open();
    killed.keep('lost', '1');
    expect(() => killed.write()).toThrow('killed');
    const next = open();
    next.cut();
    expect(at(next.keep('a', '2'))).toEqual([0, 0]);
    next.write();
    commit(next);
    expect(lines(0)).toEqual(['{"job":"a","reply":2}']);
  });

  it('leaves the replies of another state alone, removed or newer', () => {
    const { open, commit, disk, lines } = rig(30);
    const removed = open();
    for (const reply of ['1', '2']) removed.keep('a', reply);
    removed.write();
    commit(removed);
    const fresh = rig(30, disk);
    const replies = fresh.open();
    replies.cut();
    expect(at(replies.keep('b', '3'))).toEqual([2, 0]);
    replies.write();
    fresh.commit(replies);
    expect([lines(0), lines(1), lines(2)].flat()).toHaveLength(3);
    // The older state, whose end lies in the midst of what there is.
    const older = open();
    older.cut();
    expect(disk.list()).toEqual([0, 1, 2]);
  });

  it('begins a segment if the last one has changed', () => {
    const { open, commit, disk } = rig();
    const first = open();
    first.keep('a', '1');
    first.write();
    commit(first);
    // Longer: a state that is older than its directory is not cut. Shorter: somebody has changed the file.
    for (const size of [30, 5]) {
      disk.make(0).write([Buffer.alloc(30)], 0);
      disk.make(0).truncate(size);
      expect(at(open().keep('b', '2'))).toEqual([1, 0]);
    }
    disk.remove(0);
    const next = open();
    next.cut();
    expect(at(next.keep('b', '2'))).toEqual([1, 0]);
  });

  it('finds every committed line unchanged, wherever the process or the power ends', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (seed) => {
        const random = seededRandom(seed);
        let left = Number.POSITIVE_INFINITY;
        const disk = memorySegments(() => {
          left -= 1;
          if (left < 0) throw new Error('killed');
        });
        const { open, commit } = rig(60 + Math.floor(random() * 100), disk);
        const committed = new Map<string, { place: ReplyPlace; line: string }>();
        let job = 0;
        for (let run = 0; run < 6; run += 1) {
          left = Math.floor(random() * 30);
          try {
            const replies = open();
            replies.cut();
            for (let turn = 0; turn < 10; turn += 1) {
              const kept = Array.from({ length: Math.floor(random() * 4) }, () => {
                const [key, reply] = [`k${(job += 1)}`, JSON.stringify('x'.repeat(random() * 40))];
                return { key, place: replies.keep(key, reply), line: `{"job":"${key}","reply":${reply}}` };
              });
              replies.write();
              // The commit itself may be the last thing that happens, or not.
              if (random() < 0.1) throw new Error('killed');
              commit(replies);
              for (const { key, place, line } of kept) committed.set(key, { place, line });
            }
          } catch (error) {
            if (!(error instanceof Error) || error.message !== 'killed') throw error;
          }
          if (random() < 0.5) disk.cutPower(random);
        }
        left = Number.POSITIVE_INFINITY;
        const last = open();
        last.cut();
        const all = disk
          .list()
          .flatMap((segment) => disk.read(segment).toString().split('\n').filter(Boolean));
        expect(all.sort()).toEqual([...committed.values()].map(({ line }) => line).sort());
        for (const { place, line } of committed.values()) {
          const { segment, offset, length } = place;
          expect(
            disk
              .read(segment)
              .subarray(offset, offset + length)
              .toString(),
          ).toBe(line);
        }
      }),
      { numRuns: 300 },
    );
  });
});

it.each([undefined, null, 3, {}, { segment: 0, offset: 1 }, { segment: 0, offset: 0.5, made: 0 }])(
  'the end of replies cannot be %j',
  (value) => {
    expect(isRepliesEnd(value)).toBe(false);
    expect(isRepliesEnd({ segment: 1, offset: 5, made: 1 })).toBe(true);
  },
);
