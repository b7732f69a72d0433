import { expect, it } from 'vitest';
import type { JobRecord } from '../../src/plan/job.ts';
import type { ReplyPlace } from '../../src/plan/job-request.ts';
import { placesOf } from '../../src/upkeep/check-replies.ts';

const at = (offset: number): ReplyPlace => ({ segment: 0, offset, length: 1, sha256: 'ab' });

it('finds the replies of a job, of its rounds, and of the result that a redo is to replace', () => {
  const record = {
    rounds: [at(0), at(10)],
    text: { candidates: [], reply: at(20) },
    former: { text: { candidates: [], reply: at(30) }, rounds: [at(25)] },
  } as unknown as JobRecord;
  expect([...placesOf(record)].map(({ offset }) => offset)).toEqual([0, 10, 20, 25, 30]);
  expect([...placesOf({} as unknown as JobRecord)]).toEqual([]);
});
