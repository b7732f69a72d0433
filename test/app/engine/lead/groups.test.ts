import { mkdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { hasPostgres } from '../../../rig/postgres.ts';
import { engineOfBlock } from '../engine-rig.ts';

/** Groups of neighbours, groups of cells far apart, and groups of groups; the columns of a table are an axis of their own. */
const groups = (seeds: number, sum = 'Sum up'): string => `name: groups
matrix:
  rows: animals.csv
  style: [ink, oil]
  seed: { from: 1, to: ${seeds} }
steps:
  talk: { chat: { model: m, prompt: "{{ animal }} in {{ style }}, {{ seed }}" } }
  sum:
    gather: { step: talk, over: [seed] }
    chat: { model: m, prompt: "${sum} {{ animal }} in {{ style }}: {{ gathered | map: 'text' | join }}" }
  tale: { from: sum, chat: { model: m, prompt: "Tell of {{ steps.sum.text }}" } }
  styles:
    gather: { step: sum, over: [style] }
    chat: { model: m, prompt: "{{ animal }}: {{ gathered | map: 'text' | join }}" }
  zoo:
    gather: { step: talk, over: [animal, place] }
    chat: { model: m, prompt: "{{ style }} {{ seed }}: {{ gathered | map: 'animal' | join }}" }
`;
const animals = 'animal,place\nfox,snow\nowl,dusk\nhare,field\n';

/** Talks, sums with their tales, sums of styles, zoos. */
const jobsOf = (seeds: number): number => 3 * 2 * seeds + 2 * 3 * 2 + 3 + 2 * seeds;

describe.runIf(hasPostgres)('a run on an engine that gathers over axes', () => {
  const rig = engineOfBlock();

  it('makes the jobs and the manifest of a run on one machine, by a worker that has no table', async () => {
    await rig.write('animals.csv', animals);
    await rig.write('groups.yaml', groups(4));
    const local = await rig.pp('run', 'groups.yaml', '--out', 'local');
    expect(local.code, local.err).toBe(0);
    expect(rig.service.count('chat')).toBe(jobsOf(4));
    await mkdir(rig.at('elsewhere'));
    const working = rig.start(['worker', ...rig.engine], { folder: rig.at('elsewhere') });
    const { code, err } = await rig.pp('run', 'groups.yaml', '--no-work', ...rig.lease);
    expect(code, err).toBe(0);
    working.interrupt();
    expect(await working.done, working.err()).toBe(0);
    expect(rig.service.count('chat')).toBe(2 * jobsOf(4));
    expect(await rig.rows('runs/groups')).toEqual(await rig.rows('local'));
  });

  it('does after an edit only what that changes, and leaves groups pending of which a selection leaves cells out', async () => {
    await rig.write('animals.csv', animals);
    await rig.write('edited.yaml', groups(3).replace('name: groups', 'name: edited'));
    /** The same on one machine, and on the engine. @returns how many calls each made */
    const calls = async (...flags: readonly string[]): Promise<number> => {
      const made: number[] = [];
      const codes: number[] = [];
      for (const there of [['--out', 'alone'], rig.lease]) {
        const before = rig.service.count('chat');
        codes.push((await rig.pp('run', 'edited.yaml', ...there, ...flags)).code);
        made.push(rig.service.count('chat') - before);
      }
      expect([made[1], codes[1]]).toEqual([made[0], codes[0]]);
      expect(await rig.rows('runs/edited')).toEqual(await rig.rows('alone'));
      return made[1] ?? 0;
    };
    const pending = async (): Promise<readonly string[]> =>
      (await rig.rows('runs/edited')).flatMap(({ step = '', status, ...of }) =>
        status === 'pending' ? [[step, of['var.animal'], of['var.style'], of['var.seed']].join(' ')] : [],
      );
    // The fox in ink and in oil, and the owl in ink but for its last seed.
    expect(await calls('--limit', '8')).toBe(8 + 2 * 2 + 1);
    // With their last seeds, the owl in ink has all of them, and so have two zoos.
    expect(await calls('--filter', 'seed=3')).toBe(4 + 2 + 2);
    expect(await pending()).toEqual([
      'sum owl oil ',
      'tale owl oil ',
      'styles owl  ',
      'sum hare ink ',
      'tale hare ink ',
      'sum hare oil ',
      'tale hare oil ',
      'styles hare  ',
    ]);
    expect(await calls()).toBe(jobsOf(3) - 13 - 8);
    expect([await pending(), await calls()]).toEqual([[], 0]);
    await rig.write('edited.yaml', groups(3, 'Add up').replace('name: groups', 'name: edited'));
    expect(await calls()).toBe(2 * 6 + 3);
    // A fourth seed: the groups that gain it, and its own.
    await rig.write('edited.yaml', groups(4, 'Add up').replace('name: groups', 'name: edited'));
    expect(await calls()).toBe(6 + 2 * 6 + 3 + 2);
  });
});
