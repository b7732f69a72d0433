import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EnginePool } from '../../../src/engine/postgres/pool.ts';
import { writeFact } from '../../../src/engine/state/facts.ts';
import { openState } from '../../../src/state/state.ts';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { type CopiedRun, copyRun, openEngineAt } from '../../rig/engine/copied-run.ts';
import { hasPostgres, type TestDatabase, testDatabase } from '../../rig/postgres.ts';
import { copyDirectory, openPlace, type RunPlace } from '../../rig/run-place.ts';
import { Served } from '../../rig/served.ts';

const pipeline = `name: killed
matrix: { rows: scenes.csv }
poll: { min: 1ms, max: 1ms }
prices: { imagine: 0.5, "U*": 0.25, text-pro: { input: 1, output: 1 } }
steps:
  grid: { imagine: "a fox {{ scene }}", path: U1 }
  caption: { generate: { model: text-pro, prompt: "Caption {{ scene }}." } }
`;

let place: RunPlace;
let database: TestDatabase;
let pool: EnginePool;
let copied: CopiedRun;
let keys: readonly string[];
/** As messages show it: without the password. */
let shown: string;

const say = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Said> =>
  promptpress(args, { cwd: place.folder, env: { PGPASSWORD: new URL(database.url).password, ...env } });

describe.skipIf(!hasPostgres)('a run on an engine', () => {
  beforeAll(async () => {
    place = await openPlace(pipeline);
    database = await testDatabase();
    pool = await openEngineAt(database.url);
    await writeFile(join(place.folder, 'scenes.csv'), 'scene\nat dusk\nat dawn\n');
    const ran = await place.run();
    if (ran.code !== 0) throw new Error(ran.err);
    const state = openState(place.directory);
    keys = await state.reader.keysWithPrefix('', 100);
    const records = await state.reader.many(keys);
    const record = [...records.values()].find(({ kind }) => kind === 'click');
    if (record === undefined) throw new Error('No button was pressed.');
    const { result: _none, taskId: _of, ...rest } = record;
    const error = { code: 'submit.interrupted' as const, message: 'No answer came.' };
    state.commit({ records: [{ ...rest, artifacts: [], status: 'in-doubt', error }], attempts: [] });
    state.close();
    const elsewhere = join(place.folder, 'elsewhere');
    await copyDirectory(place.directory, elsewhere);
    copied = await copyRun(elsewhere, { pool }, 'killed');
    await rm(join(elsewhere, 'state.db'));
    await copied.end();
    const address = new URL(database.url);
    address.password = '';
    shown = `${address.href}#killed`;
    // What the run was made of is not asked again.
    await rm(join(place.folder, 'scenes.csv'));
  }, 120_000);
  afterAll(async () => {
    await pool.close();
    await database[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });

  /** What a command says of the directory, and of the engine's run, without what names them. */
  const both = async (...args: readonly string[]): Promise<readonly Said[]> =>
    await Promise.all(
      ['runs/killed', shown].map(async (target) => {
        const said = await say(args.map((word) => (word === 'RUN' ? target : word)));
        const plain = (text: string): string =>
          text
            .replaceAll(`'${target}'`, 'RUN')
            .replaceAll(target, 'RUN')
            .replaceAll(' --engine RUN --out elsewhere', '');
        return { ...said, out: plain(said.out), err: plain(said.err) };
      }),
    );

  it('is shown like the same run on one machine', async () => {
    for (const args of [
      ['show', keys[0] ?? '', 'RUN'],
      ...keys.map((key) => ['show', key, 'RUN', '--json']),
    ]) {
      const [directory, engine] = await both(...args);
      expect(engine?.code, engine?.err).toBe(0);
      expect(engine).toEqual(directory);
    }
  });

  it('has the same status, with that of its workers', async () => {
    await pool.query(`UPDATE promptpress.runs SET state = 'ended' WHERE run = $1`, [copied.run]);
    const [people, alsoPeople] = await both('status', 'RUN');
    expect(alsoPeople).toEqual(people);
    const [directory, engine] = (await both('status', 'RUN', '--json')).map(({ out }) => JSON.parse(out));
    const { engine: workers, ...rest } = engine;
    expect(rest).toEqual(directory);
    expect(workers).toMatchObject({ state: 'ended', led: false, workers: [], takeovers: 0 });
    expect(workers.slices).toEqual({ waiting: 1, held: 0, done: 0, fed: false });
  });

  it('has the same manifest, data set and faults as on one machine', async () => {
    const [written, alsoWritten] = await both('manifest', 'RUN');
    expect(alsoWritten?.out).toBe(written?.out.replace('RUN', 'elsewhere'));
    const [verified, alsoVerified] = await both('verify', 'RUN', '--json');
    expect(alsoVerified).toEqual(verified);
    const bytes = (name: string): Promise<string> => readFile(join(place.folder, name), 'utf8');
    expect(await bytes('elsewhere/manifest.csv')).toBe(await bytes('runs/killed/manifest.csv'));
    for (const [target, to] of [
      ['runs/killed', 'one'],
      [shown, 'other'],
    ] as const) {
      const said = await say(['export', target, '--format', 'jsonl', '--to', to]);
      expect(said.code, said.err).toBe(0);
    }
    expect(await bytes('other/data.jsonl')).toBe(await bytes('one/data.jsonl'));
  });

  it('is found by its pipeline if the environment names the engine, but not for a rehearsal', async () => {
    const env = { PROMPTPRESS_ENGINE: database.url };
    await writeFile(join(place.folder, 'scenes.csv'), 'scene\nat noon\n');
    const byName = await say(['status', shown, '--json']);
    expect(await say(['status', 'killed.yaml', '--json'], env)).toEqual(byName);
    const rehearsal = await say(['status', 'killed.yaml', '--sandbox'], env);
    expect(rehearsal.err).toContain('There is no run in runs/killed.sandbox');
    const folder = await say(['status', 'elsewhere']);
    expect([folder.code, folder.err]).toEqual([2, expect.stringContaining(`Name it there: ${shown}`)]);
  });

  it('is refused if it does not exist, with a list of runs, and no message contains the password', async () => {
    const secret = new URL(database.url).password;
    const other = shown.replace('#killed', '#kiled');
    const wrong = new URL(other);
    wrong.password = 'quite-another-password';
    for (const [target, code, words] of [
      [other, 2, 'Did you mean killed?'],
      [shown.replace('#killed', ''), 2, 'names no run'],
      [wrong.href, 2, 'refuses this user or password'],
      ['postgres://anna@127.0.0.1:1/none#killed', 74, 'does not answer'],
    ] as const) {
      const said = await say(['status', target]);
      expect([said.code, said.err]).toEqual([code, expect.stringContaining(words)]);
      expect(said.err).not.toContain(secret);
      expect(said.err).not.toContain('quite-another-password');
    }
    const merged = await say(['merge', shown, 'runs/killed', '--out', 'merged']);
    expect([merged.code, merged.err]).toEqual([2, expect.stringContaining('takes no run on an engine')]);
    expect((await say(['clean', shown])).err).toContain('takes no run on an engine');
    // Also where the mistake is found before the address is read.
    const mistaken = await say(['plan', database.url, '--st', 'animal=fox']);
    expect([mistaken.code, mistaken.err]).toEqual([2, expect.not.stringContaining(secret)]);
  });

  it('has its files on the other machine where it was begun', async () => {
    const at = (host: string, path: string): Promise<boolean> =>
      writeFact(pool, copied.run, 'run.directory', JSON.stringify({ host, path }));
    const here = join(place.folder, 'elsewhere');
    await at('other.example', '/srv/runs/killed');
    try {
      const refused = await say(['manifest', shown]);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--out DIR')]);
      expect(refused.err).toContain('/srv/runs/killed of other.example');
      expect((await say(['export', shown, '--format', 'jsonl', '--to', 'third'])).err).toContain(
        'that folder is not on this machine',
      );
      expect((await say(['manifest', shown, '--out', 'fresh'])).code).toBe(0);
      expect(await readFile(join(place.folder, 'fresh/manifest.csv'), 'utf8')).toBe(
        await readFile(join(place.folder, 'runs/killed/manifest.csv'), 'utf8'),
      );
      expect((await say(['manifest', shown, '--out', 'runs/killed'])).err).toContain('holds another run');
      const shared = await say(['export', shown, '--format', 'jsonl', '--to', 'third', '--out', 'elsewhere']);
      expect(shared.code, shared.err).toBe(0);
    } finally {
      await at(hostname(), here);
    }
  });

  it('is listed, stopped and removed', async () => {
    const engine = shown.replace('#killed', '');
    const { run } = await copyRun(join(place.folder, 'runs/killed'), { pool }, 'other');
    const named = `${engine}#other`;
    const listed = await say(['ls', engine, '--json']);
    expect(JSON.parse(listed.out)).toMatchObject({
      truncated: false,
      runs: [
        { directory: shown, state: 'complete', jobs: { done: 5, inDoubt: 1 } },
        { directory: named, state: 'running', name: 'killed' },
      ],
    });
    expect((await say(['ls', engine])).out).toContain('2 runs');

    const status = await say(['status', named]);
    expect(status.out).toContain('0 waiting, 1 held, 0 done');
    expect(status.out).toMatch(/worker +first: alive, 1 slice/);
    const served = await Served.open(place.folder, `${database.url}#other`);
    try {
      const { live, workersStatus } = await served.until((summary) => summary.workersStatus !== undefined);
      expect([live, workersStatus]).toMatchObject([true, { workers: 1, waiting: 0 }]);
    } finally {
      await served.end();
    }
    const stopped = await say(['stop', named]);
    expect([stopped.code, stopped.out]).toEqual([0, expect.stringContaining('1 worker settles')]);
    expect((await say(['stop', named])).out).toContain('being stopped already');
    const refused = await say(['rm', named, '--yes']);
    expect([refused.code, refused.err]).toEqual([75, expect.stringContaining('is active')]);
    await pool.query('UPDATE promptpress.sessions SET over = true WHERE run = $1', [run]);
    const shownOnly = await say(['rm', named]);
    expect(shownOnly.out).toContain('6 jobs (5 done)');
    expect((await say(['rm', named, '--yes'])).code).toBe(0);
    const left = await pool.query<{ table_name: string }>(
      `SELECT c.relname AS table_name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'run'
       WHERE c.relnamespace = 'promptpress'::regnamespace AND c.relkind = 'r'`,
    );
    expect(left.rows.length).toBeGreaterThan(12);
    for (const { table_name: table } of left.rows)
      expect(
        (await pool.query(`SELECT FROM promptpress.${table} WHERE run = $1`, [run])).rows,
        table,
      ).toEqual([]);
    expect((await say(['status', named])).code).toBe(2);
    expect((await say(['status', shown])).code).toBe(0);
    expect((await say(['stop', 'runs/killed'])).err).toContain('takes a run on an engine');
  });
});
