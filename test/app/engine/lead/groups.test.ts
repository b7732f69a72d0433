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

/** The two best of four seeds, and of these the best of both styles. @param points of a seed */
const picks = (points: string): string => `name: picks
matrix:
  rows: animals.csv
  style: [ink, oil]
  seed: [1, 2, 3, 4]
steps:
  talk: { chat: { model: m, prompt: "{{ animal }} in {{ style }}, {{ seed }}" } }
  score: { from: talk, chat: { model: m, prompt: "Rate {{ animal }} {{ style }} {{ seed }}: {{ seed | ${points} }}" } }
  best: { best: { from: talk, by: "{{ steps.score.text }}", top: 2, over: [seed] } }
  tale: { from: best, chat: { model: m, prompt: "Rate the tale of {{ animal }} in {{ style }}: {{ seed }}" } }
  finest: { best: { from: tale, by: "{{ steps.tale.text }}", over: [style] } }
  crown: { from: finest, chat: { model: m, prompt: "Crown {{ animal }} in {{ style }}, {{ seed }}" } }
`;

describe.runIf(hasPostgres)('a run on an engine that gathers and picks over axes', () => {
  const rig = engineOfBlock({
    text: {
      says: ({ text }) => {
        const [, points] = /^Rate .*: (\d+)$/.exec(text) ?? [];
        return points === undefined ? undefined : { text: points };
      },
    },
  });

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

  it('picks what one machine picks, by a worker that has no table, and goes on from another pick alone', async () => {
    await rig.write('animals.csv', animals);
    await mkdir(rig.at('apart'));
    /** @returns how many calls the engine's run made, and the picked seeds of the fox in ink */
    const picked = async (points: string): Promise<readonly [number, readonly string[]]> => {
      await rig.write('picks.yaml', picks(points));
      const local = await rig.pp('run', 'picks.yaml', '--out', 'picked');
      expect(local.code, local.err).toBe(0);
      const before = rig.service.count('chat');
      const working = rig.start(['worker', ...rig.engine], { folder: rig.at('apart') });
      const { code, err } = await rig.pp('run', 'picks.yaml', '--no-work', ...rig.lease);
      expect(code, err).toBe(0);
      working.interrupt();
      expect(await working.done, working.err()).toBe(0);
      const rows = await rig.rows('runs/picks');
      expect(rows).toEqual(await rig.rows('picked'));
      const ofFox = rows.filter((row) => row['var.animal'] === 'fox' && row['var.style'] === 'ink');
      return [
        rig.service.count('chat') - before,
        ['best/1', 'best/2', 'finest/1'].flatMap((name) =>
          ofFox.flatMap((row) => (row['picked'] === name ? [row['var.seed'] ?? ''] : [])),
        ),
      ];
    };
    const [cells, tales, crowns] = [3 * 2 * 4, 3 * 2 * 2, 3];
    expect(await picked('times: 3 | modulo: 5')).toEqual([2 * cells + tales + crowns, ['3', '1', '3']]);
    // Other scores, and the same order.
    expect(await picked('times: 3 | modulo: 5 | plus: 10')).toEqual([cells, ['3', '1', '3']]);
    expect(await picked('times: 2 | modulo: 5')).toEqual([cells + tales + crowns, ['2', '4', '4']]);
  });
});
