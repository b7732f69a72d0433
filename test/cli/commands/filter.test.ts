import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptpress } from '../test-io.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await writeFile(
    join(cwd, 'media.yaml'),
    `name: media
matrix:
  animal: [fox, owl]
  medium: [{ name: ink drawing, words: fine lines }, { name: oil, words: thick paint }]
  seed: { from: 1, to: 3 }
  exclude:
    - { animal: owl, medium: { name: oil } }
steps:
  grid:
    imagine: "{{ animal }}, {{ medium.words }} --seed {{ seed }}"
`,
  );
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const cellsWith = async (...flags: readonly string[]) => {
  const { code, out, err } = await promptpress(['plan', 'media.yaml', '--cells', ...flags], { cwd });
  return code === 0 ? out.trim().split('\n').length : err;
};

describe('--filter', () => {
  it('accepts a member of an object value, and values with spaces', async () => {
    expect(await cellsWith('--filter', 'medium.name=oil')).toBe(3);
    expect(await cellsWith('--filter', 'medium.name=ink drawing')).toBe(6);
    expect(await cellsWith('--filter', 'medium.words=fine lines', '--filter', 'seed=2')).toBe(2);
  });

  it.each([
    ['animal=lynx', '--filter: no cell has animal "lynx".', 'Its values: "fox", "owl".'],
    ['animal=owll', '--filter: no cell has animal "owll".', 'Did you mean owl?'],
    ['animal=fox,owl', 'Its values: "fox", "owl".', '--filter animal=fox --filter animal=owl\n'],
    ['animal=[owl, fox]', 'for several give it several times', '--filter animal=owl --filter animal=fox\n'],
    ['animal=owll', '--filter: no cell has animal "owll".', ' --filter animal=owl\n'],
    ['seed=4', '--filter: no cell has seed "4".', 'Its values: 1 to 3.'],
    [
      'medium=oil',
      '--filter: no cell has medium "oil".',
      "medium has name, words: --filter 'medium.name=…'.",
    ],
    [
      'medium.nam=oil',
      '--filter: no cell has medium.nam "oil".',
      'medium has name, words: --filter medium.name=oil.',
    ],
    ['animl=fox', '--filter: the matrix has no "animl".', 'Did you mean animal?'],
    ['lens=wide', '--filter: the matrix has no "lens".', 'It has animal, medium, seed.'],
  ])('%s is refused with the possible choices', async (filter, message, hint) => {
    for (const flags of [['--cells'], ['--filter', 'animal=fox'], ['--json']]) {
      const { code, err } = await promptpress(['plan', 'media.yaml', ...flags, '--filter', filter], { cwd });
      expect([code, err]).toEqual([2, expect.stringContaining(message)]);
      expect(err).toContain(hint);
    }
  });

  it('with existing values that match no cell says so', async () => {
    expect(await cellsWith('--filter', 'animal=owl', '--filter', 'medium.name=oil')).toContain(
      'The flags choose no cell.',
    );
  });

  it('of a run is checked before the run begins', async () => {
    const args = ['run', 'media.yaml', '--sandbox', '--filter', 'animal=fox', '--filter', 'animal=lynx'];
    const { code, err } = await promptpress(args, { cwd });
    expect([code, err]).toEqual([2, expect.stringContaining('no cell has animal "lynx"')]);
  });
});
