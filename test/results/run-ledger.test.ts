import { describe, expect, it } from 'vitest';
import type { JobStatus } from '../../src/plan/job.ts';
import { inFlight, noCounts, type RunBefore, RunLedger } from '../../src/results/run-ledger.ts';

const step = { name: 'grid', isText: false, counts: { ...noCounts, done: 1, 'in-doubt': 1 } };

/** A ledger that was told of these changes of one job, one after another, and the counts that are not 0. */
function countsAfter(
  changes: readonly (readonly [from: JobStatus | undefined, to: JobStatus])[],
  more: Partial<RunBefore> = {},
): object {
  const ledger = new RunLedger({ steps: [step], ...more });
  for (const [from, to] of changes)
    ledger.move({ type: 'job:status', key: 'a', step: 'grid', branch: '', cell: 1, from, to });
  return Object.fromEntries(Object.entries(ledger.steps[0]?.counts ?? {}).filter(([, count]) => count > 0));
}

describe('RunLedger', () => {
  it('counts a job once that a killed run left during its submission', () => {
    const left = [['submitting', 'in-doubt']] as const;
    expect(countsAfter(left)).toEqual({ done: 1, 'in-doubt': 1 });
    // Its task was found.
    expect(countsAfter([...left, ['in-doubt', 'running']])).toEqual({ done: 1, running: 1 });
    expect(countsAfter([...left, ['in-doubt', 'running'], ['running', 'done']])).toEqual({ done: 2 });
    // Flags have it made again, and the step was counted so.
    const again = [...left, ['pending', 'submitting'], ['submitting', 'done']] as const;
    const counted = { steps: [{ ...step, counts: { ...noCounts, done: 1 } }] };
    expect(countsAfter(again, counted)).toEqual({ done: 2 });
  });

  it('counts a job of this run in doubt whose submission was not answered', () => {
    const lost = [
      ['pending', 'submitting'],
      ['submitting', 'in-doubt'],
    ] as const;
    expect(countsAfter(lost)).toEqual({ done: 1, 'in-doubt': 2 });
  });

  it('counts only what was spent since this run took a job up', () => {
    const ledger = new RunLedger({ steps: [step] });
    const move = (to: JobStatus, cost: number, total: number): void => {
      const job = { key: 'a', step: 'grid', branch: '', cell: 1 };
      ledger.move({ type: 'job:status', ...job, from: 'pending', to, cost, usage: { total } });
    };
    move('submitting', 2, 30);
    expect([ledger.cost, ledger.tokens]).toEqual([undefined, undefined]);
    move('done', 2.5, 37);
    expect([ledger.cost, ledger.tokens]).toEqual([0.5, { total: 7 }]);
  });

  it('counts a task of an edited plan while it is followed, but not as planned', () => {
    const followed = new Set(['b']);
    const begun = [
      [undefined, 'running'],
      ['running', 'saving'],
    ] as const;
    expect(countsAfter(begun, { followed })).toEqual({ done: 1, 'in-doubt': 1, saving: 1 });
    const ended = [...begun, ['saving', 'done']] as const;
    expect(countsAfter(ended, { followed })).toEqual({ done: 1, 'in-doubt': 1 });
    expect(countsAfter(ended, { followed: new Set(['a']) })).toEqual({ done: 2, 'in-doubt': 1 });
    expect(countsAfter(ended)).toEqual({ done: 2, 'in-doubt': 1 });
  });

  it('is never below 0, whatever was not counted before', () => {
    const ledger = new RunLedger({ steps: [{ ...step, counts: noCounts }] });
    const job = { type: 'job:status', key: 'a', step: 'grid', branch: '', cell: 1 } as const;
    // The price of a submission that is rejected is given back.
    ledger.move({ ...job, from: 'failed', to: 'submitting', cost: 2 });
    ledger.move({ ...job, from: 'submitting', to: 'failed' });
    expect([ledger.cost, ledger.steps[0]?.counts]).toEqual([0, { ...noCounts, failed: 1 }]);
  });
});

it('a task is in flight from its submission on until its result is there, with its dialogs', () => {
  const counts = { ...noCounts, submitting: 1, running: 2, modal: 4, saving: 8, done: 16 };
  const steps = [
    { name: 'grid', isText: false, counts },
    { name: 'say', isText: true, counts: { ...noCounts, submitting: 32 } },
  ];
  expect([inFlight(steps, false), inFlight(steps, true)]).toEqual([7, 32]);
});
