import { expect, test } from 'vitest';
import { CliError } from '../../../src/app/errors/cli-error.ts';
import { exchangingWord } from '../../../src/app/errors/correction.ts';
import { isOfConnection, shownErrorOf } from '../../../src/app/errors/render.ts';

test('a bug is shown with its causes, five errors at most', () => {
  let error = new Error('cause 0');
  for (let n = 1; n <= 6; n += 1) error = new Error(`cause ${n}`, { cause: error });
  const { exitCode, message } = shownErrorOf(error);
  expect(exitCode).toBe(70);
  expect([...message.matchAll(/cause \d/g)].map(String)).toEqual([6, 5, 4, 3, 2].map((n) => `cause ${n}`));
  expect(message.match(/caused by /g)).toHaveLength(4);
});

test.each([
  [{ code: 'EACCES', syscall: 'open', path: '/x' }, 74],
  [{ code: 'ENOSPC', syscall: 'write' }, 74],
  [{ code: 'EDQUOT', syscall: 'write' }, 74],
  [{ code: 'ECONNRESET', syscall: 'read' }, 70],
  [{ code: 'ENOSPC' }, 70],
])(
  'an error of the system is one of the disk where it names a file, or the disk alone has it: %j',
  (facts, exit) => {
    expect(shownErrorOf(Object.assign(new Error('x'), facts)).exitCode).toBe(exit);
  },
);

test('a correction changes no name of a command, and is not shown where it changes nothing', () => {
  const hintOf = (word: string, by: string, words: readonly string[]): string | undefined =>
    shownErrorOf(new CliError(2, 'x', { correction: exchangingWord(word, by) }), words).hint;
  expect(hintOf('show', 'abcd', ['show', 'show'])).toBe('Write: promptpress show abcd');
  expect(hintOf('gone', 'abcd', ['show', 'show'])).toBeUndefined();
});

test('a failed memory allocation is reported with its limit, not as a bug', () => {
  const error = new RangeError(
    'WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory for new instance',
  );
  const { exitCode, text = '' } = shownErrorOf(error);
  expect(exitCode).toBe(70);
  expect(text).toContain('ulimit -v');
  expect(text).not.toContain('Internal error');
  expect(shownErrorOf(new RangeError('Array buffer allocation failed')).text).not.toContain('Internal error');
  expect(shownErrorOf(new RangeError('Invalid array length')).text).toContain('Internal error');
});

test('a few uncaught errors of undici about a single connection are ignored', () => {
  const thrown = (frame: string): Error =>
    Object.assign(new TypeError('x'), {
      stack: `TypeError: x\n    at Socket.emit (node:events:1:1)\n    at ${frame}`,
    });
  const undici = thrown('onParserTimeout (/app/node_modules/undici/lib/dispatcher/client-h1.js:807:7)');
  expect(isOfConnection(undici, 0)).toBe(true);
  expect(isOfConnection(undici, 10)).toBe(false);
  expect(
    isOfConnection(
      thrown('commit (/app/dist/run.js:1:1)\n    at x (/app/node_modules/undici/lib/a.js:1:1)'),
      0,
    ),
  ).toBe(false);
  expect(isOfConnection(new Error('x'), 0)).toBe(false);
  expect(isOfConnection('x', 0)).toBe(false);
});
