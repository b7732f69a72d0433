import { describe, expect, it } from 'vitest';
import { images } from '../rig/strangers/images.ts';
import { reach } from '../rig/strangers/reach.ts';
import { play, type Stranger } from '../rig/strangers/stranger.ts';
import { tasks } from '../rig/strangers/tasks.ts';
import { textValues } from '../rig/strangers/text-values.ts';
import { textVariants } from '../rig/strangers/text-variants.ts';
import { texts } from '../rig/strangers/texts.ts';
import { variants } from '../rig/strangers/variants.ts';
import { verdicts } from '../rig/strangers/verdicts.ts';

const tables: Readonly<Record<string, readonly Stranger[]>> = {
  verdicts,
  images,
  reach,
  tasks,
  texts,
  'values of texts': textValues,
  variants,
  'variants of texts': textVariants,
};

describe.concurrent.each(Object.entries(tables))('strangers: %s', (_table, strangers) => {
  it.each(strangers.map((stranger) => [stranger.name, stranger] as const))('%s', async (_name, stranger) => {
    for (const { found, verdict, err } of await play(stranger)) expect(found, err).toEqual(verdict);
  });
});

it('has no two strangers of one name, and a source for each', () => {
  const all = Object.values(tables).flat();
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(all.filter(({ source }) => source.trim() === '')).toEqual([]);
});
