import { expect, it } from 'vitest';
import { bufferErrors } from '../../../src/cli/terminal/buffered-io.ts';
import { testIo } from '../test-io.ts';

it('buffers output until it is flushed, and then prints all of it in order', () => {
  const { io, err } = testIo({ cwd: '/' });
  const words = bufferErrors(io);
  words.io.err('one\n');
  words.io.err('two\n');
  expect(err()).toBe('');
  words.flush();
  words.io.err('three\n');
  words.flush();
  expect(err()).toBe('one\ntwo\nthree\n');
});

it('prints the buffered output before a question', async () => {
  const said: string[] = [];
  const { io, err } = testIo({
    cwd: '/',
    answer: (question) => {
      said.push(`${err()}${question}`);
      return 'yes';
    },
  });
  const words = bufferErrors(io);
  words.io.err('It costs 5.\n');
  expect(await words.io.ask?.('Continue? ')).toBe('yes');
  expect(said).toEqual(['It costs 5.\nContinue? ']);
});

it('asks nothing if nobody can answer', () => {
  expect(bufferErrors(testIo({ cwd: '/' }).io).io).not.toHaveProperty('ask');
});
