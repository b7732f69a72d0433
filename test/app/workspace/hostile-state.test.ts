import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EnginePool } from '../../../src/engine/postgres/pool.ts';
import { writeFact } from '../../../src/engine/state/facts.ts';
import { openState } from '../../../src/state/state.ts';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { type CopiedRun, copyRun, openEngineAt } from '../../rig/engine/copied-run.ts';
import { hasPostgres, type TestDatabase, testDatabase } from '../../rig/postgres.ts';
import { copyDirectory, openPlace, type RunPlace } from '../../rig/run-place.ts';

const canary = 'CANARY-OF-WHAT-LIES-OUTSIDE';

const pipeline = (rows: string): string => `name: killed
matrix: { rows: ${rows} }
poll: { min: 1ms, max: 1ms }
steps: { grid: { imagine: "a fox {{ scene }}" } }
`;

/** A file of the machine that no state may have read. */
let outside: string;
let place: RunPlace;
beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), 'promptpress-outside-'));
  await writeFile(join(outside, 'private.csv'), `scene\n${canary}\n`);
  place = await openPlace(pipeline('scenes.csv'));
  await writeFile(join(place.folder, 'scenes.csv'), 'scene\nat dusk\n');
  await mkdir(join(place.folder, '.git'));
  const ran = await place.run();
  if (ran.code !== 0) throw new Error(ran.err);
});
afterAll(async () => {
  await place[Symbol.asyncDispose]();
  await rm(outside, { recursive: true, force: true });
});

/** Facts by which a state asks for a file of this machine as its table. */
const hostileFacts = (
  file: string,
  listed: boolean,
  serviceId: string,
): Readonly<Record<string, string>> => ({
  'pipeline.text': pipeline(file),
  'pipeline.path': '/pipeline.yaml',
  'run.last': JSON.stringify({
    filesRoot: '/',
    tables: listed ? [{ file, sha256: '0'.repeat(64), bytes: 1, copied: false }] : [],
    serviceId,
    selection: {},
    startedAt: 1,
    atStart: { settled: 0, attempts: 0 },
  }),
});

const kinds = [true, false].flatMap((listed) => ['private.csv', '*.csv'].map((name) => ({ listed, name })));

const looking = [
  ['manifest', 'RUN', '--all'],
  ['export', 'RUN', '--format', 'jsonl', '--to', 'TO'],
  ['report', 'RUN', '--to', 'TO', '--all'],
  ['verify', 'RUN', '--json'],
  ['status', 'RUN', '--json'],
  ['show', 'KEY', 'RUN'],
] as const;

const filled = (args: readonly string[], words: Readonly<Record<string, string>>): readonly string[] =>
  args.map((word) => words[word] ?? word);

/** Carries a command out, and looks for what lies outside in all that it says and writes. */
async function looked(
  args: readonly string[],
  to: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const said = await promptpress(args, { cwd: place.folder, env });
  expect(said.out + said.err).not.toContain(canary);
  for (const file of [
    join(place.folder, 'stranger/manifest.csv'),
    join(to, 'data.jsonl'),
    join(to, 'manifest.csv'),
  ])
    expect(await readFile(file, 'utf8').catch(() => '')).not.toContain(canary);
  return said;
}

describe('a run directory whose state names files of this machine', () => {
  it.each(kinds)('does not read any of them (%j)', async ({ listed, name }) => {
    const stranger = join(place.folder, 'stranger');
    await rm(stranger, { recursive: true, force: true });
    await copyDirectory(place.directory, stranger);
    const state = openState(stranger);
    const { serviceId } = JSON.parse((await state.reader.fact('run.last')) ?? '{}');
    for (const [fact, value] of Object.entries(hostileFacts(join(outside, name), listed, serviceId)))
      state.setFact(fact, value);
    const [key = ''] = await state.reader.keysWithPrefix('', 1);
    state.close();
    for (const args of looking) {
      const to = join(place.folder, 'to', `${args[0]}-${String(listed)}-${name.length}`);
      const words = filled(args, { RUN: 'stranger', TO: to, KEY: key });
      const trusting = args[0] === 'show' ? [] : ['--trust-directory'];
      const { code, err } = await looked([...words, ...trusting], to);
      expect([0, 1, 2], err).toContain(code);
    }
  });
});

describe.skipIf(!hasPostgres)('an engine whose rows name files of this machine', () => {
  let database: TestDatabase;
  let pool: EnginePool;
  let copied: CopiedRun;
  let shown: string;
  const say = (...args: readonly string[]): Promise<Said> =>
    promptpress(args, { cwd: place.folder, env: { PGPASSWORD: new URL(database.url).password } });

  beforeAll(async () => {
    database = await testDatabase();
    pool = await openEngineAt(database.url);
    const own = join(place.folder, 'own');
    await copyDirectory(place.directory, own);
    copied = await copyRun(own, { pool }, 'killed');
    await rm(join(own, 'state.db'));
    await copied.end();
    const address = new URL(database.url);
    address.password = '';
    shown = `${address.href}#killed`;
  }, 120_000);
  afterAll(async () => {
    await pool.close();
    await database[Symbol.asyncDispose]();
  });

  const users = 'what,the,user,has\n';

  it('does not write to a folder without its own mark', async () => {
    const foreign = join(outside, 'foreign');
    await mkdir(foreign);
    await writeFile(join(foreign, 'manifest.csv'), users);
    const marks = [undefined, { engine: shown.replace('#killed', '#other'), place: 'killed' }];
    for (const mark of marks) {
      if (mark !== undefined) await writeFile(join(foreign, 'engine.json'), JSON.stringify(mark));
      await writeFact(pool, copied.run, 'run.directory', JSON.stringify({ path: foreign, host: hostname() }));
      for (const command of ['manifest', 'verify', 'export']) {
        const to = command === 'export' ? ['--format', 'jsonl', '--to', 'nowhere'] : [];
        const { code, err } = await say(command, shown, ...to);
        expect([code, err]).toEqual([2, expect.stringContaining('--out DIR')]);
      }
      expect(await readFile(join(foreign, 'manifest.csv'), 'utf8')).toBe(users);
    }
    const own = { path: join(place.folder, 'own'), host: 'moved.example' };
    await writeFact(pool, copied.run, 'run.directory', JSON.stringify(own));
    expect((await say('manifest', shown)).code).toBe(0);
  });

  it('does not replace a manifest of the user in --out', async () => {
    const mine = join(place.folder, 'mine');
    await mkdir(mine);
    await writeFile(join(mine, 'manifest.csv'), users);
    const { code, err } = await say('manifest', shown, '--out', 'mine');
    expect([code, err]).toEqual([2, expect.stringContaining('promptpress did not make manifest.csv in it')]);
    expect(await readFile(join(mine, 'manifest.csv'), 'utf8')).toBe(users);
    for (let times = 0; times < 2; times += 1)
      expect((await say('manifest', shown, '--out', 'fresh')).code).toBe(0);
  });

  it.each(kinds)('does not read any of them (%j)', async ({ listed, name }) => {
    const serviceId = 'https://any.example';
    for (const [fact, value] of Object.entries(hostileFacts(join(outside, name), listed, serviceId)))
      await writeFact(pool, copied.run, fact, value);
    const env = { PGPASSWORD: new URL(database.url).password };
    for (const args of [...looking, ['plan', 'RUN'] as const]) {
      const to = join(place.folder, 'to', `engine-${args[0]}-${String(listed)}-${name.length}`);
      const words = filled(args, { RUN: shown, TO: to, KEY: 'x' });
      const { code, err } = await looked(words, to, env);
      expect([0, 1, 2], err).toContain(code);
      expect(await readFile(join(place.folder, 'own/manifest.csv'), 'utf8')).not.toContain(canary);
    }
  });
});
