import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Driver } from '../../../src/state/sqlite/driver.ts';
import { applicationId, earliestReadable, migrations } from '../../../src/state/sqlite/schema.ts';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import type { Turn } from '../../../src/state/store.ts';
import { all } from '../../rig/all.ts';
import { recount } from '../../rig/memory-store.ts';
import { drivers, freshFolder } from '../places.ts';
import { anyTurn, jobRecord } from '../records.ts';

/** What each version of the state keeps of a job beside its document, and the first version that did. */
const columns: readonly (readonly [string, number, (record: JobRecord) => string | number])[] = [
  ['key', 1, ({ key }) => key],
  ['status', 1, ({ status }) => status],
  ['code', 1, ({ error }) => error?.code ?? ''],
  ['root', 1, ({ parent }) => (parent === undefined ? 1 : 0)],
  ['slot', 1, ({ origin }) => origin.slot],
  ['attempts', 1, ({ attempts }) => attempts],
  ['cost', 1, ({ cost }) => cost ?? 0],
  ['tokens', 2, ({ usage }) => usage?.total ?? 0],
  ['possible', 3, ({ doubtful, assumed }) => (doubtful?.cost ?? 0) + (assumed?.cost ?? 0)],
  ['assumed', 4, ({ assumed }) => assumed?.tokens ?? 0],
  ['doc', 1, (record) => JSON.stringify(record)],
];

/** A run directory as a release of this state version left it, with its own statements. */
function stateOfVersion(version: number, driver: Driver, turns: readonly Turn[]): string {
  const directory = freshFolder();
  const database = openDatabase(join(directory, 'state.db'), { driver });
  database.exec('PRAGMA journal_mode = WAL');
  for (const step of migrations.slice(0, version)) step(database);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};`);
  const kept = columns.filter(([, since]) => since <= version);
  const put = database.prepare(
    `INSERT INTO jobs (${kept.map(([name]) => name).join(', ')}) VALUES (${kept.map(() => '?').join(', ')})
     ON CONFLICT (key) DO UPDATE SET ${kept.map(([name]) => `${name} = excluded.${name}`).join(', ')}`,
  );
  const append = database.prepare('INSERT INTO attempts (key, doc) VALUES (?, ?)');
  for (const { records, attempts } of turns) {
    for (const record of records) put.run(...kept.map(([, , valueOf]) => valueOf(record)));
    for (const attempt of attempts) append.run(attempt.key, JSON.stringify(attempt));
  }
  database.exec("INSERT INTO facts VALUES ('pipeline.text', 'name: foxes')");
  database.close();
  return directory;
}

const versionOne = (driver: Driver, turns: readonly Turn[]): string => stateOfVersion(1, driver, turns);

const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** What a release of this version could not know is left out. */
const knownTo =
  (version: number) =>
  (turn: Turn): Turn => ({
    ...turn,
    records: turn.records.map(({ usage, doubtful, assumed, ...record }) => ({
      ...record,
      ...(version < 2 || usage === undefined ? {} : { usage }),
      ...(version < 3 || doubtful === undefined ? {} : { doubtful }),
      ...(version < 4 || assumed === undefined ? {} : { assumed }),
    })),
  });

const withoutNews = knownTo(1);

/** All versions before this release's that kept the totals by triggers. */
const withTriggers = [1, 2, 3, 4];

describe.each(
  drivers.flatMap((driver) => withTriggers.map((version) => [version, driver.name, driver] as const)),
)('the totals of a state of version %i with %s', (version, _, driver) => {
  it('are right when it is brought up to date, and after all that is committed to it then', async () => {
    const some = fc.array(anyTurn, { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(some, some, async (turns, later) => {
        const known = turns.map(knownTo(version));
        const jobs = new Map<string, JobRecord>();
        const keep = ({ records }: Turn): void => records.forEach((record) => jobs.set(record.key, record));
        known.forEach(keep);
        const state = openState(stateOfVersion(version, driver, known), { driver });
        expect(state.totals()).toEqual(recount([...jobs.values()]));
        for (const turn of later) {
          state.commit(turn);
          keep(turn);
        }
        expect(state.totals()).toEqual(recount([...jobs.values()]));
        state.close();
      }),
      { seed: 20_261_122, numRuns: 10 },
    );
  });
});

describe.each(drivers.map((driver) => [driver.name, driver] as const))(
  'a state of version 1 with %s',
  (_, driver) => {
    it('is brought up to date with all that is in it, and counts tokens and possible costs from then on', () => {
      fc.assert(
        fc.property(fc.array(anyTurn.map(withoutNews), { maxLength: 4 }), (turns) => {
          const directory = versionOne(driver, turns);
          const jobs = new Map<string, JobRecord>();
          for (const { records } of turns) for (const record of records) jobs.set(record.key, json(record));
          const attempts = turns.flatMap((turn) => turn.attempts.map(json));

          const state = openState(directory, { driver });
          for (const [key, record] of jobs) expect(state.get(key)).toEqual(record);
          expect(state.totals()).toEqual(recount([...jobs.values()]));
          for (const key of new Set(attempts.map((attempt) => attempt.key)))
            expect(state.attempts(key)).toEqual(attempts.filter((attempt) => attempt.key === key));
          expect(state.fact('pipeline.text')).toBe('name: foxes');

          const again = [...jobs.values()].map((record) => ({
            ...record,
            usage: { total: 7 },
            doubtful: { count: 2, cost: 3 },
          }));
          state.commit({
            records: [...again, jobRecord('new', 'done', { usage: { total: 5 } })],
            attempts: [],
          });
          expect(state.totals().tokens).toBe(7 * jobs.size + 5);
          expect(state.totals().possibleCost).toBe(3 * jobs.size);
          expect(state.totals().cost).toBe(recount([...jobs.values()]).cost);
          state.close();
        }),
        { seed: 20_261_121, numRuns: 25 },
      );
    });

    it('is not read before a run has brought it up to date', async () => {
      const directory = versionOne(driver, []);
      expect(() => openStateForReading(directory, { driver })).toThrow(/older release/);
      openState(directory, { driver }).close();
      const reader = openStateForReading(directory, { driver });
      expect((await reader?.totals())?.tokens).toBe(0);
      expect(await reader?.inputFiles(['a.png'])).toEqual(new Map());
      await reader?.close();
    });

    it('of version 2 is read as it lies', async () => {
      const directory = versionOne(driver, [
        { records: [jobRecord('a', 'done', { cost: 2 })], attempts: [] },
      ]);
      const database = openDatabase(join(directory, 'state.db'), { driver });
      migrations[1]?.(database);
      database.exec('PRAGMA user_version = 2;');
      database.close();
      const reader = openStateForReading(directory, { driver });
      expect(await reader?.totals()).toMatchObject({ cost: 2, possibleCost: 0 });
      expect(await reader?.get('a')).toMatchObject({ status: 'done' });
      await reader?.close();
    });
  },
);

/** All versions before this release's that are read as they lie. */
const withFullIndexes = migrations.flatMap((_, at) =>
  at + 1 >= earliestReadable && at + 1 < 7 ? [at + 1] : [],
);

describe.each(
  drivers.flatMap((driver) => withFullIndexes.map((version) => [version, driver.name, driver] as const)),
)('roots and slots of a state of version %i with %s', (version, _, driver) => {
  it('are found as it lies, and the same once it is brought up to date', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyTurn, { maxLength: 4 }), async (turns) => {
        const known = turns.map(knownTo(version));
        const directory = stateOfVersion(version, driver, known);
        const jobs = new Map<string, JobRecord>();
        for (const { records } of known) for (const record of records) jobs.set(record.key, record);
        const slots = [...new Set([...jobs.values()].map(({ origin }) => origin.slot))];
        const found = async () => {
          const reader = openStateForReading(directory, { driver });
          if (reader === undefined) throw new Error('There is no state.');
          const roots = await all(reader.rootKeys());
          const ofSlots = await reader.keysOfSlots(slots);
          await reader.close();
          return { roots, ofSlots };
        };
        const asItLies = await found();
        expect(asItLies.roots).toEqual(
          [...jobs.values()].flatMap(({ key, parent }) => (parent === undefined ? [key] : [])).toSorted(),
        );
        for (const slot of slots)
          expect(asItLies.ofSlots.get(slot)).toEqual(
            [...jobs.values()].flatMap(({ key, origin }) => (origin.slot === slot ? [key] : [])),
          );
        openState(directory, { driver }).close();
        expect(await found()).toEqual(asItLies);
      }),
      { seed: 20_261_123, numRuns: 5 },
    );
  });
});
