import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { openDatabase } from '../../src/state/sqlite/sqlite.ts';
import { fingerprintFact } from '../../src/state/store.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { type FakeService, startFakeService } from '../rig/fake-service.ts';
import { promptpress, type Said } from './test-io.ts';

const pipeline = `name: foxes
poll: { min: 5ms, max: 10ms }
steps:
  grid: { imagine: a fox }
`;

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let service: FakeService;
beforeEach(async () => {
  place = await temporaryFolder();
  service = await startFakeService();
  writeFileSync(join(place.path, 'foxes.yaml'), pipeline);
});
afterEach(async () => {
  await service.close();
  await place[Symbol.asyncDispose]();
});

const pp = (...args: readonly string[]): Promise<Said> =>
  promptpress(args, {
    cwd: place.path,
    env: { HOME: place.path, PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
  });
const state = (): string => join(place.path, 'runs/foxes/state.db');

/**
 * Changes the state of a run that is over, as a person or a failing disk would. Without its fingerprint, which goes with every commit:
 * by a fingerprint that is still there, a command knows what the last run left, and reads no record.
 */
function change(sql: string, ...values: readonly string[]): void {
  const database = openDatabase(state());
  database.prepare(sql).run(...values);
  database.prepare('DELETE FROM facts WHERE name = ?').run(fingerprintFact);
  database.close();
}

const setFact = (name: string, value: string): void =>
  change('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)', name, value);

const refused = [74, expect.stringMatching(/state\.db is damaged.*\n {2}Restore it/)];
const outcome = ({ code, err }: Said): readonly [number, string] => [code, err];

describe('a state with a damaged part', () => {
  beforeEach(async () => {
    const { code, err } = await pp('run', 'foxes.yaml');
    if (code !== 0) throw new Error(`The run ended with ${code}:\n${err}`);
  });

  it.each([
    ['run.last', '{"filesRoot":'],
    ['run.last', 'null'],
    ['run.last', '{"filesRoot":"/","tables":[{"file":"x","sha256":"../../x"}]}'],
    ['services', '{'],
    ['services', '[{"id":7}]'],
  ])('%s = %s: status and run name the file and what to do', async (name, value) => {
    setFact(name, value);
    const before = service.count('imagine');
    expect(outcome(await pp('status', 'foxes.yaml'))).toEqual(refused);
    expect(outcome(await pp('run', 'foxes.yaml'))).toEqual(refused);
    expect(service.count('imagine')).toBe(before);
  });

  it.each([
    ['state.missing', '[]'],
    ['state.missing', '{"submits":1,"of":1,"runAt":1e300}'],
    ['state.found', '['],
    ['state.found', '{"key":7}'],
    ['state.found', '{"a":[{"id":7}]}'],
  ])('%s = %s: run names the file and what to do', async (name, value) => {
    setFact(name, value);
    expect(outcome(await pp('run', 'foxes.yaml'))).toEqual(refused);
  });

  it.each(['{"key":', 'null', '7', '{"status":"done"}'])(
    'a job whose record is %s: run and manifest name the file and what to do',
    async (doc) => {
      change("UPDATE jobs SET doc = ?, status = 'in-doubt'", doc);
      expect(outcome(await pp('run', 'foxes.yaml'))).toEqual(refused);
      expect(outcome(await pp('manifest', 'foxes.yaml'))).toEqual(refused);
    },
  );

  it.each(['state.db', 'state.db-wal'])('%s is a folder: it is refused by name', async (name) => {
    const file = join(place.path, 'runs/foxes', name);
    rmSync(file, { force: true });
    mkdirSync(file);
    for (const command of ['run', 'status']) {
      const { code, err } = await pp(command, 'foxes.yaml');
      expect([code, err]).toEqual([2, expect.stringContaining(`${file} is a folder`)]);
    }
  });
});

describe('promptpress sandbox --state', () => {
  const folder = (name = ''): string => join(place.path, 'tasks', name);

  it('is refused while another sandbox holds the folder', async () => {
    const other = await startSandbox({ apiKey: 'sandbox', state: folder() });
    try {
      const { code, err } = await pp('sandbox', '--state', folder());
      expect([code, err]).toEqual([75, expect.stringMatching(/tasks: another sandbox holds it\.\n {2}End/)]);
    } finally {
      await other.close();
    }
  });

  it('names a file of tasks that is not a database', async () => {
    mkdirSync(folder());
    writeFileSync(folder('sandbox.sqlite'), 'no database '.repeat(1000));
    const { code, err } = await pp('sandbox', '--state', folder());
    expect([code, err]).toEqual([74, expect.stringMatching(/sandbox\.sqlite is damaged\.\n {2}Restore/)]);
  });
});
