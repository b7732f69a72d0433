import { expect, test } from 'vitest';
import { isOfConnection, shownErrorOf } from '../../../src/app/errors/render.ts';

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
