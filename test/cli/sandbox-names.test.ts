import { expect, test } from 'vitest';

import { sandboxNames } from '../../src/cli/sandbox-names.ts';
import { namePresets as sandboxPresets } from '../../src/sandbox/names.ts';
import { namePresets, resolveNames } from '../../src/service/names.ts';

test.each(['neutral', 'midjourney-proxy'] as const)(
  'the sandbox of a pipeline with the names %s is the one of that preset',
  (preset) => {
    expect(sandboxNames(namePresets[preset])).toEqual(sandboxPresets[preset]);
  },
);

test('a single name of a pipeline is the one that its sandbox speaks', () => {
  const names = resolveNames('neutral', { errorType: 'my_error', botType: 'MY_JOURNEY' });
  if (!names.ok) throw new Error('The names are right.');
  expect(sandboxNames(names.value)).toMatchObject({
    errorType: 'my_error',
    botTypes: ['MY_JOURNEY', 'NIJI_JOURNEY'],
  });
});
