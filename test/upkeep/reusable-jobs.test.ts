import { expect, it } from 'vitest';
import type { StateReader } from '../../src/state/reader.ts';
import { ReusableJobs } from '../../src/upkeep/reusable-jobs.ts';
import { imagineRecord } from '../rig/jobs.ts';

it('reads a bounded number of records for one question, whatever another state says a job was made from', async () => {
  let asked = 0;
  const inputs = Array.from({ length: 150_000 }, (_, at) => at.toString(16).padStart(12, '0'));
  const reader = {
    many: (keys: readonly string[]) => {
      asked += keys.length;
      return Promise.resolve(
        new Map(
          keys.map((key) => [
            key,
            imagineRecord({ key, status: 'done', ...(key === 'start' && { inputs }) }),
          ]),
        ),
      );
    },
  } as unknown as StateReader;
  const source = {
    directory: '/there',
    name: 'there',
    shown: '../there',
    reader,
    artifacts: { open: () => Promise.reject(new Error()) },
  };
  await new ReusableJobs(undefined, [source]).many(['start']);
  expect(asked).toBe(100_000);
});
