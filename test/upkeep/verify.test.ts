import { expect, it } from 'vitest';
import type { JobRecord } from '../../src/plan/job.ts';
import { isRepairable } from '../../src/upkeep/verify.ts';
import { imagineRecord } from '../rig/jobs.ts';

it('only files of a finished task that is not being replaced can be downloaded again', () => {
  const result = { buttons: [], imageUrl: 'https://x.test/1.png' };
  const done = imagineRecord({ status: 'done', taskId: 'T1', result });
  expect(isRepairable(done)).toBe(true);
  const { taskId: _task, ...untasked } = done;
  const { result: _result, ...unanswered } = done;
  const others: readonly JobRecord[] = [
    untasked,
    unanswered,
    { ...done, former: { resubmits: 0, taskId: 'T0', result } },
    ...(['pending', 'submitting', 'running', 'modal', 'saving', 'failed', 'in-doubt'] as const).map(
      (status) => ({
        ...done,
        status,
      }),
    ),
  ];
  expect(others.map(isRepairable)).toEqual(others.map(() => false));
});
