import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asked } from '../../../rig/postgres/asked.ts';
import { hasPostgres } from '../../../rig/postgres.ts';
import { type EngineRig, startEngine } from '../engine-rig.ts';

let rig: EngineRig;
beforeAll(async () => {
  if (hasPostgres) rig = await startEngine();
});
afterAll(async () => {
  if (hasPostgres) await rig[Symbol.asyncDispose]();
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

it.runIf(hasPostgres)('a run on an engine writes the same manifest as a run on one machine', async () => {
  await rig.write('foxes.yaml', foxes);
  const local = await rig.pp('run', 'foxes.yaml', '--out', 'local');
  expect(local.code, local.err).toBe(0);
  const shared = await rig.pp('run', 'foxes.yaml', '--out', 'shared', '--engine', rig.database.url);
  expect(shared.code, shared.err).toBe(0);
  expect(await rig.rows('shared')).toEqual(await rig.rows('local'));
});

it.runIf(hasPostgres)(
  'a worker that has no table carries out the run of one that only leads it',
  async () => {
    await rig.write('animals.csv', 'animal,"at, place"\nfox,snow\nowl,dusk\n');
    await rig.write(
      'table.yaml',
      `name: table
poll: { min: 20ms, max: 100ms }
matrix: { rows: animals.csv }
steps: { grid: { imagine: "{{ animal }}" } }
`,
    );
    const engine = ['--engine', rig.database.url] as const;
    const leading = rig.start(['run', 'table.yaml', '--no-work', '--queue', 'lease', ...engine]);
    const elsewhere = rig.at('elsewhere');
    await mkdir(elsewhere);
    const working = rig.start(['worker', '--name', 'w1', ...engine], { folder: elsewhere });
    expect(await leading.done, leading.err()).toBe(0);
    working.interrupt('SIGTERM');
    expect(await working.done, working.err()).toBe(0);
    expect(working.err()).toContain('w1: table: started.');
    expect((await rig.rows('runs/table')).map(({ status, file_name }) => [status, file_name !== ''])).toEqual(
      [
        ['done', true],
        ['done', true],
      ],
    );
  },
);

it.runIf(hasPostgres)(
  'a detached run is carried out by its workers, and the same command ends it',
  async () => {
    await rig.write('later.yaml', foxes.replace('name: foxes', 'name: later'));
    const engine = ['--engine', rig.database.url] as const;
    const detached = await rig.pp('run', 'later.yaml', '--detach', ...engine);
    expect(detached.code, detached.err).toBe(0);
    expect(detached.err).toContain('Registered: 6 cells.');
    expect(detached.err).not.toContain('password');
    const worker = await rig.pp('worker', '--once', ...engine);
    expect(worker.code, worker.err).toBe(0);
    const submitted = rig.service.requests.length;
    const ended = await rig.pp('run', 'later.yaml', ...engine);
    expect(ended.code, ended.err).toBe(0);
    expect(rig.service.requests.slice(submitted).filter(({ route }) => route === 'imagine')).toEqual([]);
    expect(await rig.rows('runs/later')).toHaveLength(18);
    const local = await rig.pp('run', 'later.yaml');
    expect(local.code).toBe(2);
    expect(local.err).toContain('holds the files of a run on an engine');
  },
);

it.runIf(hasPostgres)('Ctrl-C at the coordinator ends the run for all workers', async () => {
  await rig.write('stopped.yaml', foxes.replace('name: foxes', 'name: stopped'));
  const engine = ['--engine', rig.database.url] as const;
  // Until a submission is answered the others wait for it.
  const held = rig.service.fault('imagine', { hang: 'after' }, { skip: 1 });
  const leading = rig.start(['run', 'stopped.yaml', '--no-work', ...engine]);
  const working = rig.start(['worker', '--name', 'w2', ...engine]);
  await held.hit(5);
  // Three for each process.
  const { database } = rig;
  const connected = await asked<{ name: string; count: number }>(
    database.url,
    `SELECT application_name AS name, count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'promptpress%' GROUP BY 1`,
  );
  const most: Readonly<Record<string, number>> = {
    'promptpress run': 2,
    'promptpress worker': 2,
    'promptpress queue': 2,
  };
  expect(connected.filter(({ name, count }) => count > (most[name] ?? 0))).toEqual([]);
  leading.interrupt();
  held.release();
  expect(await leading.done, leading.err()).toBe(130);
  // What was in flight is settled; how much more began before the worker heard of the end is its affair.
  const rows = await rig.rows('runs/stopped');
  expect(
    rows.filter(({ step, branch }) => step === 'grid' && branch === '').map(({ status }) => status),
  ).toEqual(Array(6).fill('done'));
  expect(rows.filter(({ status }) => status !== 'done' && status !== 'pending')).toEqual([]);
  working.interrupt();
  expect(await working.done, working.err()).toBe(0);
});

it.runIf(hasPostgres).each([
  [['--sandbox'], 'promptpress: --sandbox cannot be used with --engine.'],
  [['--new-service'], 'promptpress: --new-service cannot be used with --engine.'],
])('refuses %s', async (flags, message) => {
  await rig.write('foxes.yaml', foxes);
  const { code, err } = await rig.pp('run', 'foxes.yaml', '--engine', rig.database.url, ...flags);
  expect([code, err.split('\n')[0]]).toEqual([2, message]);
});
