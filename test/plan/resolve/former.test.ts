import { describe, expect, test } from 'vitest';
import type { FormerResult, JobRecord } from '../../../src/plan/job.ts';
import { formerOf, standing } from '../../../src/plan/resolve/former.ts';

/** A result with all that there is of one; `n` tells two of them apart. */
const resultOf = (n: number): Required<FormerResult> => ({
  taskId: `T${n}`,
  parentTaskId: `P${n}`,
  from: { a: n },
  kept: { b: n },
  modal: { taskId: `M${n}`, sent: n },
  pressed: { customId: `c${n}`, label: `U${n}`, emoji: '' },
  speed: n === 1 ? 'fast' : 'relax',
  resubmits: n,
  submittedAt: n * 1000,
  finishedAt: n * 2000,
  result: { buttons: [], imageUrl: `https://x.test/${n}.png` },
  text: { candidates: [], model: `m${n}` },
  turns: [`turn ${n}`],
  rounds: [{ segment: 0, offset: n, length: 1, sha256: `${n}` }],
  invalid: n,
  reusedFrom: `../${n}`,
});

const job: JobRecord = {
  key: 'k',
  kind: 'imagine',
  status: 'running',
  request: { kind: 'imagine', fields: { prompt: 'a' } },
  origin: { cell: 1, step: 's', branch: '', slot: 'x' },
  keep: true,
  attempts: 3,
  tries: 1,
  resubmits: 9,
  artifacts: [{ output: 1, file: 'images/x.png', bytes: 1, sha256: 'x', mime: 'image/png' }],
  cost: 0.5,
  error: { code: 'service.rejected', message: 'm' },
  usage: { prompt: 1 },
};

describe('the former result of a job that is redone', () => {
  test('is all that its record says of the result, and nothing of the job', () => {
    expect(formerOf({ ...job, ...resultOf(1) })).toEqual(resultOf(1));
    expect(Object.keys(formerOf(job))).toEqual(['resubmits']);
  });

  test('stands until there is a new one: what the redo has so far is not shown as the result', () => {
    const redone: JobRecord = { ...job, ...resultOf(2), former: resultOf(1) };
    expect(standing(redone)).toEqual({ ...job, ...resultOf(1), former: resultOf(1) });
    // A member that the former result lacks is not taken from the redo.
    const less: FormerResult = { resubmits: 1, taskId: 'T1' };
    expect(standing({ ...job, ...resultOf(2), former: less })).toEqual({ ...job, ...less, former: less });
  });

  test('is its own of a job that is not redone', () => {
    const record = { ...job, ...resultOf(1) };
    expect(standing(record)).toBe(record);
  });
});
