import { expect, it } from 'vitest';
import { memoryOf } from '../../../src/app/service/outside.ts';
import { BodyPool } from '../../../src/service/http/body/budget.ts';
import { testIo } from '../../cli/test-io.ts';

it('memoryOf reads the memory of the process, and the part that responses take', () => {
  const { machine } = testIo({ cwd: '/' }).io;
  const bodies = new BodyPool(0);
  const { signal } = new AbortController();
  const [first, second] = [bodies.open(signal), bodies.open(signal)];
  void first.take(100_000);
  void second.take(70_000);
  const { rssBytes, heapBytes, externalBytes, arrayBufferBytes, ...answers } = memoryOf(machine, bodies);
  expect(Math.min(rssBytes, heapBytes, externalBytes, arrayBufferBytes)).toBeGreaterThan(0);
  expect(answers).toEqual({ answerBytes: 34_464, maxAnswerBytes: 34_464, answersWaiting: 1 });
  first.release();
  expect(memoryOf(machine, bodies)).toMatchObject({
    answerBytes: 4464,
    maxAnswerBytes: 34_464,
    answersWaiting: 0,
  });
  second.release();
});
