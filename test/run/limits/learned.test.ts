import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/run/clock.ts';
import {
  forgetLearned,
  LearnedKeeper,
  learnedContent,
  learnedText,
  readLearned,
} from '../../../src/run/limits/learned.ts';
import { StateError } from '../../../src/state/store.ts';
import { faultyStore } from '../../rig/faulty-store.ts';
import { epoch } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { run } from '../engine-rig.ts';

const readNumber = (content: unknown): number | undefined =>
  typeof content === 'number' ? content : undefined;

describe('a learned document', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (content) => {
        const text = learnedText(3, content);
        const read = learnedContent(text, 3, (found) => [found]);
        expect(JSON.stringify(read)).toBe(JSON.stringify([content]));
      }),
    );
  });

  it.each([
    ['there is none', undefined],
    ['it was forgotten', ''],
    ['it is no JSON', '{"version":3,'],
    ['it is no object', '7'],
    ['it is null', 'null'],
    ['it has another version', '{"version":2,"content":7}'],
    ['it has no version', '{"content":7}'],
    ['it has no content', '{"version":3}'],
    ['its content is not what is expected', '{"version":3,"content":"7"}'],
    ['it is too long', `{"version":3,"content":7${' '.repeat(70_000)}}`],
  ])('is ignored where %s', (_, text) => {
    expect(learnedContent(text, 3, readNumber)).toBeUndefined();
    expect(learnedContent('{"version":3,"content":7}', 3, readNumber)).toBe(7);
  });

  it('never makes a reader throw, whatever text is stored', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(learnedContent(text, 3, readNumber)).toBeUndefined();
      }),
    );
  });
});

describe('LearnedKeeper', () => {
  const keeperOf = (store: ReturnType<typeof memoryStore>, text: () => string) => {
    let now = epoch;
    const keeper = new LearnedKeeper(store, () => ({ poll: text() }), { now: () => now });
    return {
      keeper,
      pass: (ms: number) => {
        now += ms;
        return keeper.due();
      },
    };
  };

  it('saves with a commit once a minute, and at the end', async () => {
    const store = faultyStore(memoryStore());
    let text = 'a';
    const { keeper, pass } = keeperOf(store, () => text);
    expect(pass(59_999)).toBeUndefined();
    expect(pass(1)).toEqual({ 'learned.poll': 'a' });
    text = 'b';
    expect(pass(59_999)).toBeUndefined();
    expect(store.writes).toBe(0);
    await keeper.onEnd();
    expect(store.fact('learned.poll')).toBe('b');
    expect(store.writes).toBe(1);
  });

  it('writes nothing where nothing new was learned', async () => {
    const store = faultyStore(memoryStore());
    store.setFact('learned.poll', 'a');
    await keeperOf(store, () => 'a').keeper.onEnd();
    expect(store.writes).toBe(1);
    for (let times = 0; times < 2; times += 1) await forgetLearned(store);
    expect([store.writes, readLearned(store)]).toEqual([2, {}]);
  });

  it('writes no document that is too long to be read again', async () => {
    const store = memoryStore();
    await keeperOf(store, () => 'a'.repeat(65_537)).keeper.onEnd();
    expect(readLearned(store)).toEqual({});
    await keeperOf(store, () => 'a'.repeat(65_536)).keeper.onEnd();
    expect(readLearned(store)['poll']?.length).toBe(65_536);
  });

  it('ignores a full disk, and no other error', async () => {
    const full = faultyStore(memoryStore(), [{ at: 1, fault: 'state.full', lasting: true }]);
    await keeperOf(full, () => 'a').keeper.onEnd();
    expect(full.writes).toBe(1);
    await forgetLearned(full);
    const dead = faultyStore(memoryStore(), [{ at: 1, fault: 'crash-before' }]);
    await expect(keeperOf(dead, () => 'a').keeper.onEnd()).rejects.not.toBeInstanceOf(StateError);
  });
});

/** A clock that jumps to the next moment only when nothing else has happened for some turns of the event loop. */
function patientClock(): Clock {
  let now = epoch;
  return {
    now: () => now,
    at: (atMs, call) => {
      let isOver = false;
      const wait = (turns: number): void => {
        if (isOver) return;
        if (turns > 0) return void setImmediate(() => wait(turns - 1));
        now = Math.max(now, atMs);
        call();
      };
      wait(8);
      return () => {
        isOver = true;
      };
    },
  };
}

describe('a run', () => {
  it('saves how long its tasks took for the next run, which polls less', async () => {
    const store = memoryStore();
    const first = await run({ store, clock: patientClock() });
    const learned = store.fact('learned.poll') ?? '';
    expect(learned).toContain('imagine');
    const again = async (relearn: boolean) => {
      const next = memoryStore();
      next.setFact('learned.poll', learned);
      return await run({ store: next, clock: patientClock(), settings: { relearn } });
    };
    const second = await again(false);
    expect(second.service.submits).toHaveLength(first.service.submits.length);
    expect(second.service.fetchTimes.length).toBeLessThan(first.service.fetchTimes.length);
    const relearned = await again(true);
    expect(relearned.service.fetchTimes).toEqual(first.service.fetchTimes);
  });

  it('forgets what was learned at once with --relearn', async () => {
    const store = memoryStore();
    store.setFact('learned.poll', 'before');
    const drain = AbortSignal.abort();
    await run({ store, settings: { relearn: true }, control: { drain } });
    expect(store.fact('learned.poll')).not.toBe('before');
  });

  it('ignores a damaged document', async () => {
    const store = memoryStore();
    store.setFact('learned.poll', '{"version":1,"content":[["imagine",-1,"x"],7,[],null]}');
    const report = await run({ store });
    expect(report.end).toEqual({ kind: 'complete' });
  });
});
