import { expect, test } from 'vitest';
import { diagnose } from '../../diagnose.ts';

const files = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [`${name}.png`, '']));

test.each([
  [1, ['blend.count 3:27']],
  [2, []],
  [5, []],
  [6, ['schema.range 3:27']],
])('gateway 2.6: a blend of %i images is checked before anything is sent', async (count, diagnostics) => {
  const images = Object.keys(files).slice(0, count).join(', ');
  expect(await diagnose(`name: t\nsteps:\n  mix: { blend: { images: [${images}] } }\n`, files)).toEqual(
    diagnostics,
  );
});
