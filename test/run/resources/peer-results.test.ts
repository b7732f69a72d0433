import { describe, expect, it } from 'vitest';
import { PeerResults } from '../../../src/run/resources/peer-results.ts';
import { type LateFact, StateError } from '../../../src/state/store.ts';

/** Looks whose answers, and whose moments, the test decides. */
function rig(awaited: string[]) {
  const alarms = new Set<() => void>();
  const asked: string[][] = [];
  const answers: { resolve(lateFacts: readonly LateFact[]): void; reject(error: unknown): void }[] = [];
  const looked: (readonly LateFact[])[] = [];
  const works: Promise<void>[] = [];
  const looks = new PeerResults(
    {
      read: (keys) => {
        asked.push([...keys]);
        return new Promise((resolve, reject) => {
          answers.push({ resolve, reject });
        });
      },
    },
    {
      now: () => 0,
      at: (atMs, call) => {
        expect(atMs).toBe(1000);
        alarms.add(call);
        return () => void alarms.delete(call);
      },
    },
    () => awaited,
    (work) => void works.push(work()),
    (lateFacts) => void looked.push(lateFacts),
  );
  const pass = (): void => {
    for (const call of alarms) {
      alarms.delete(call);
      call();
    }
  };
  return { looks, alarms, asked, answers, looked, works, pass };
}

describe('the reads of other workers’ jobs', () => {
  it('come one at a time, a second apart, while jobs are waited for', async () => {
    const awaited = ['a'];
    const { looks, alarms, asked, answers, looked, works, pass } = rig(awaited);
    for (let count = 0; count < 3; count += 1) looks.arm();
    expect(alarms.size).toBe(1);
    awaited.push('b');
    pass();
    expect(asked).toEqual([['a', 'b']]);
    // Until the answer is there, none is due.
    looks.arm();
    expect(alarms.size).toBe(0);
    const fact: LateFact = { key: 'a', submittedAt: 1, submittedBy: '1/1' };
    answers[0]?.resolve([fact]);
    await works[0];
    expect([looked, alarms.size]).toEqual([[[fact]], 1]);
    awaited.length = 0;
    pass();
    answers[1]?.resolve([]);
    await works[1];
    expect([looked.length, alarms.size]).toEqual([2, 0]);
    looks.arm();
    expect(alarms.size).toBe(0);
  });

  it('end with the run', () => {
    const { looks, alarms } = rig(['a']);
    looks.arm();
    looks.end();
    expect(alarms.size).toBe(0);
  });

  it('continue where the state is unavailable for a moment, and hide no bug', async () => {
    const { looks, answers, looked, works, pass, alarms } = rig(['a']);
    looks.arm();
    pass();
    answers[0]?.reject(new StateError('state.busy', 'away'));
    await works[0];
    expect([looked, alarms.size]).toEqual([[[]], 1]);
    pass();
    const bug = new Error('a bug');
    answers[1]?.reject(bug);
    await expect(works[1]).rejects.toBe(bug);
  });
});
