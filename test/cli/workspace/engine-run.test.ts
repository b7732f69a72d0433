import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EnginePool } from '../../../src/engine/postgres/pool.ts';
import { openState } from '../../../src/state/state.ts';
import { type CopiedRun, copyRun, openEngineAt } from '../../rig/engine/copied-run.ts';
import { hasPostgres, type TestDatabase, testDatabase } from '../../rig/postgres.ts';
import { openPlace, type RunPlace } from '../../rig/run-place.ts';
import { promptpress, type Said } from '../test-io.ts';

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
    const error = { code: 'submit.no-response', message: 'No answer came.' };
    state.commit({ records: [{ ...rest, artifacts: [], status: 'in-doubt', error }], attempts: [] });
    state.close();
    const elsewhere = join(place.folder, 'elsewhere');
    await cp(place.directory, elsewhere, { recursive: true });
    copied = await copyRun(elsewhere, { pool, url: database.url }, 'killed');
    await rm(join(elsewhere, 'state.db'));
    await copied.end();
    const address = new URL(database.url);
    address.password = '';
    shown = `${address.href}#killed`;
    // What the run was made of is not asked again.
    await rm(join(place.folder, 'scenes.csv'));
  });
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

  it('is shown as the same run on one machine is', async () => {
    for (const args of [
      ['status', 'RUN'],
      ['status', 'RUN', '--json'],
      ['show', keys[0] ?? '', 'RUN'],
      ...keys.map((key) => ['show', key, 'RUN', '--json']),
    ]) {
      const [directory, engine] = await both(...args);
      expect(engine?.code, engine?.err).toBe(0);
      expect(engine).toEqual(directory);
    }
  });

  it('has the same manifest, data set and faults', async () => {
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
});
