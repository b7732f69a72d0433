import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hasPostgres } from '../../../../rig/postgres.ts';
import { type Crew, startCrew } from '../crew-rig.ts';

let crew: Crew;
beforeAll(async () => {
  if (hasPostgres) crew = await startCrew();
});
afterAll(async () => {
  if (hasPostgres) await crew[Symbol.asyncDispose]();
});

const foxes = `name: foxes
poll: { min: 20ms, max: 100ms }
matrix:
  animal: [fox, owl, hare]
  seed: { from: 1, to: 2 }
steps:
  grid:
    imagine: "{{ animal }} --seed {{ seed }}"
    path: U1
  caption:
    from: grid/U1
    generate: { model: text-pro, prompt: "Caption of {{ animal }}", images: [parent] }
`;

it.runIf(hasPostgres)('a run on an engine leaves the manifest of a run on one machine', async () => {
  await crew.write('foxes.yaml', foxes);
  const local = await crew.pp('run', 'foxes.yaml', '--out', 'local');
  expect(local.code, local.err).toBe(0);
  const shared = await crew.pp('run', 'foxes.yaml', '--out', 'shared', '--engine', crew.database.url);
  expect(shared.code, shared.err).toBe(0);
  expect(await crew.rows('shared')).toEqual(await crew.rows('local'));
});

it.runIf(hasPostgres)(
  'a worker that has no table carries out the run of one that only leads it',
  async () => {
    await crew.write('animals.csv', 'animal,"at, place"\nfox,snow\nowl,dusk\n');
    await crew.write(
      'table.yaml',
      `name: table
poll: { min: 20ms, max: 100ms }
matrix: { rows: animals.csv }
steps: { grid: { imagine: "{{ animal }}" } }
`,
    );
    const engine = ['--engine', crew.database.url] as const;
    const leading = crew.start(['run', 'table.yaml', '--no-work', '--queue', 'lease', ...engine]);
    const elsewhere = crew.at('elsewhere');
    await mkdir(elsewhere);
    const working = crew.start(['worker', '--name', 'w1', ...engine], { folder: elsewhere });
    expect(await leading.done, leading.err()).toBe(0);
    working.interrupt('SIGTERM');
    expect(await working.done, working.err()).toBe(0);
    expect(working.err()).toContain('w1: table: taken on.');
    expect(
      (await crew.rows('runs/table')).map(({ status, file_name }) => [status, file_name !== '']),
    ).toEqual([
      ['done', true],
      ['done', true],
    ]);
  },
);
