import { expect, it } from 'vitest';
import { withCallFact } from '../../../src/run/machine/late-answer.ts';
import { withLateFact } from '../../../src/run/machine/search/late-fact.ts';
import { textRecord } from '../../rig/jobs.ts';
import { jobRecord } from '../../state/records.ts';

const last = { key: 'a', submittedAt: 20, submittedBy: '1/1' };

it('ends a doubt once, and leaves an earlier one', () => {
  const doubtful = { count: 2, cost: 6, since: 10 };
  const record = jobRecord('a', 'in-doubt', { ...last, attempts: 2, doubtful, sender: '1/1' });
  const known = withLateFact(record, last, 3);
  // The first submission may have made a task: the job stays in doubt for it, and is not submitted again.
  expect(known).toMatchObject({
    status: 'in-doubt',
    attempts: 1,
    submittedAt: 10,
    doubtful: { count: 1, cost: 3, since: 10 },
  });
  expect(known && withLateFact(known, last, 3)).toBeUndefined();
  const found = { ...last, submittedAt: 10, taskId: '7' };
  expect(known && withLateFact(known, found, 3)).toMatchObject({ status: 'running', taskId: '7', cost: 3 });
});

it('assigns the task that a confirm has made', () => {
  const modal = { taskId: '5', sent: 1 };
  const record = jobRecord('a', 'in-doubt', { ...last, attempts: 1, cost: 3, taskId: '5', modal });
  expect(withLateFact(record, { ...last, taskId: '7' }, 3)).toMatchObject({
    status: 'running',
    taskId: '7',
    cost: 3,
  });
});

it.each([
  ['made', { answer: '{}' }],
  ['not made', {}],
])('removes one lost call from the possible cost where it is counted there, and was %s', (_, said) => {
  const { key } = last;
  const doubtful = { count: 2, cost: 6, tokens: 80 };
  const unheard = ['10/1/1', '20/1/1'];
  const lost = textRecord({ key, status: 'pending', attempts: 2, doubtful, unheard });
  expect(withCallFact(lost, { ...last, ...said })?.doubtful).toEqual({ count: 1, cost: 3, tokens: 40 });
  // The last call is under way, and is not counted: what earlier ones may have cost stays.
  const sent = textRecord({ ...last, status: 'submitting', attempts: 3, doubtful });
  expect(withCallFact(sent, { ...last, ...said })?.doubtful).toEqual(doubtful);
});
