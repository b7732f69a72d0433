import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countNames } from '../../../src/artifacts/store/counts.ts';
import { engineSchema } from '../../../src/engine/schema.ts';
import { asked } from '../../rig/postgres/asked.ts';
import type { PostgresServer } from '../../rig/postgres/server.ts';
import { hasOwnPostgres, ownServer } from '../../rig/postgres.ts';
import { type EngineRig, startEngine } from './engine-rig.ts';

let server: PostgresServer;
beforeAll(async () => {
  if (hasOwnPostgres) server = await ownServer();
});
afterAll(async () => {
  if (hasOwnPostgres) await server[Symbol.asyncDispose]();
});

/** Until a submission is answered the others wait for it. */
const afterFirst = { skip: 1 };

/** Pictures of the run, and tasks that may be in flight. */
const pictures = 8;
const tasks = 3;

const pipeline = `name: pictures
limits: { tasks: ${tasks} }
poll: { min: 20ms, max: 100ms }
matrix: { n: { from: 1, to: ${pictures} } }
steps: { grid: { imagine: "picture {{ n }}" } }
`;

/** A run on a database of its own, whose user is no superuser. */
class Outage implements AsyncDisposable {
  readonly rig: EngineRig;
  readonly name: string;

  private constructor(rig: EngineRig, name: string) {
    this.rig = rig;
    this.name = name;
  }

  static async begin(): Promise<Outage> {
    const name = `outage_${randomBytes(4).toString('hex')}`;
    await asked(server.url(), `CREATE ROLE ${name} LOGIN PASSWORD 'the-right-one'`);
    await asked(server.url(), `CREATE DATABASE ${name} OWNER ${name} ENCODING 'UTF8' TEMPLATE template0`);
    const url = new URL(server.url(name));
    url.username = name;
    url.password = 'the-right-one';
    const rig = await startEngine({ url: url.href, [Symbol.asyncDispose]: () => Promise.resolve() });
    await rig.write('pictures.yaml', pipeline);
    return new Outage(rig, name);
  }

  /** A leader that works, too. */
  run(...args: readonly string[]): ReturnType<EngineRig['start']> {
    const { url } = this.rig.database;
    const flags = ['--queue', 'lease', '--lease', '1s', '--slots', String(tasks)];
    return this.rig.start(['run', 'pictures.yaml', '--engine', url, ...flags, ...args]);
  }

  worker(...args: readonly string[]): ReturnType<EngineRig['start']> {
    const { url } = this.rig.database;
    return this.rig.start(['worker', '--name', 'w1', '--engine', url, '--lease', '1s', ...args]);
  }

  /** As the superuser; all other connections to the database end then. */
  async change(statement: string): Promise<void> {
    await asked(server.url(), statement);
    await asked(
      server.url(),
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${this.name}'`,
    );
  }

  get submitted(): number {
    return this.rig.service.count('imagine');
  }

  /** What there is in the end, and how much was paid for it. */
  async end() {
    const rows = await this.rig.rows('runs/pictures');
    return { rows: rows.map(({ status }) => status), submitted: this.submitted };
  }

  /** The same command goes on; what it leaves in doubt was submitted, and is found. @returns how the last one ended */
  async again(): Promise<number> {
    const code = await this.run().done;
    return code === 5 ? await this.run('--in-doubt', 'find').done : code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig[Symbol.asyncDispose]();
  }
}

/** All of it is there, and nothing was paid twice. */
const whole = { rows: Array(pictures).fill('done') as unknown, submitted: pictures };

const patience = { timeout: 50_000, interval: 50 };

/** A run whose engine has a trouble that is waited for. */
async function through(
  outage: Outage,
  { begin, end }: { readonly begin: () => Promise<unknown>; readonly end: () => Promise<unknown> },
  words: string,
) {
  const held = outage.rig.service.fault('imagine', { hang: 'after' }, afterFirst);
  const leading = outage.run();
  await held.hit(tasks);
  await begin();
  held.release();
  await expect.poll(() => leading.err(), patience).toContain(words);
  const meanwhile = outage.submitted;
  await end();
  const code = await leading.done;
  const err = leading.err();
  const isSaid = err.includes('Nothing is lost: this process waits for it, and sends nothing new meanwhile.');
  const isBack = / is back after \d+ s: the work continues\./.test(err);
  return { meanwhile, code, isSaid, isBack, ...(await outage.end()), err };
}

/** No submission leaves whose intent is not durable. */
const wentOn = { meanwhile: 1 + tasks, code: 0, isSaid: true, isBack: true, ...whole };

describe.runIf(hasOwnPostgres)('an engine with a fault during a run', () => {
  it('is waited for while it is unavailable', async () => {
    await using outage = await Outage.begin();
    const worker = outage.worker();
    const begin = async (): Promise<void> => {
      await expect.poll(() => worker.err(), patience).toContain(': started.');
      await server.stop();
      await expect.poll(() => worker.err(), patience).toContain(' does not answer (');
    };
    const away = await through(outage, { begin, end: () => server.start() }, ' does not answer (');
    expect(away, away.err).toMatchObject(wentOn);
    expect(away.err).not.toContain('the-right-one');
    await expect.poll(() => worker.err(), patience).toMatch(/ is back after \d+ s/);
    worker.interrupt('SIGTERM');
    expect(await worker.done, worker.err()).toBe(0);
  }, 120_000);

  it('ends the run if it was restored from an older copy; the next run continues with the tasks of the gateway', async () => {
    await using outage = await Outage.begin();
    const { rig } = outage;
    const counted = (): number =>
      Math.max(
        ...countNames
          .map((name) => rig.at('runs/pictures', name))
          .map((file) => (existsSync(file) ? Number(readFileSync(file, 'latin1')) : 0)),
      );
    const held = rig.service.fault('imagine', { hang: 'after' }, afterFirst);
    const worker = outage.worker();
    const leading = outage.run();
    await held.hit(tasks);
    await expect.poll(() => worker.err(), patience).toContain(': started.');
    await server.crash();
    const putBack = await server.backup();
    await server.start();
    const heldAgain = rig.service.fault('imagine', { hang: 'after' });
    held.remove();
    held.release();
    await heldAgain.hit(tasks);
    const before = outage.submitted;
    await expect.poll(counted, patience).toBe(before);
    await server.crash();
    await putBack();
    await server.start();
    heldAgain.release();
    expect(await leading.done, leading.err()).toBe(74);
    // It compares the counts itself, unless the lead has ended the run before.
    const said = new RegExp(
      ` of the ${before} submissions|pictures: ended: .* has an older state of the run`,
    );
    await expect.poll(() => worker.err(), patience).toMatch(said);
    expect(outage.submitted).toBe(before);
    const refused = outage.run();
    expect(await refused.done).toBe(74);
    expect(refused.err()).toContain(` of the ${before} submissions`);
    expect([0, 5]).toContain(await outage.run('--in-doubt', 'find').done);
    expect(await outage.again()).toBe(0);
    expect(await outage.end()).toEqual(whole);
    worker.interrupt('SIGTERM');
    expect(await worker.done, worker.err()).toBe(0);
  }, 120_000);
});

describe.runIf(hasOwnPostgres).concurrent('a database with a fault', () => {
  it('is waited for while it has no space left', async () => {
    await using outage = await Outage.begin();
    const change = (statement: string) => () => asked(server.url(outage.name), statement);
    const full = await through(
      outage,
      {
        begin: change(`CREATE FUNCTION promptpress.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
          END $$;
          CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON promptpress.jobs EXECUTE FUNCTION promptpress.full_disk()`),
        end: change('DROP FUNCTION promptpress.full_disk CASCADE'),
      },
      ' has no space left on its disk (could not extend file: No space left on device).',
    );
    expect(full, full.err).toMatchObject(wentOn);
  }, 120_000);

  it('is waited for while it is read-only for longer than two leases, and no unsent work counts as paid', async () => {
    await using outage = await Outage.begin();
    const { name } = outage;
    const worker = outage.worker();
    const readOnly = await through(
      outage,
      {
        begin: () => outage.change(`ALTER DATABASE ${name} SET default_transaction_read_only = on`),
        end: () => outage.change(`ALTER DATABASE ${name} RESET default_transaction_read_only`),
      },
      ' is read-only (',
    );
    expect(readOnly, readOnly.err).toMatchObject(wentOn);
    const unanswered = 'SELECT sum(unanswered)::int AS jobs FROM promptpress.jobs';
    expect(await asked(server.url(name), unanswered)).toEqual([{ jobs: 0 }]);
    worker.interrupt('SIGTERM');
    expect(await worker.done, worker.err()).toBe(0);
  }, 120_000);

  it('ends run and worker if it refuses the password; the same command continues', async () => {
    await using outage = await Outage.begin();
    const held = outage.rig.service.fault('imagine', { hang: 'after' }, afterFirst);
    const worker = outage.worker();
    const leading = outage.run();
    await expect.poll(() => worker.err(), patience).toContain(': started.');
    await held.hit(tasks);
    await outage.change(`ALTER ROLE ${outage.name} PASSWORD 'another'`);
    held.release();
    for (const each of [leading, worker]) {
      expect(await each.done, each.err()).toBe(74);
      expect(each.err()).toContain(' refuses this user or password (');
      expect(each.err()).toContain('once that is fixed, give the same command again');
    }
    const refused = await outage.run().done;
    expect(refused).toBe(2);
    expect(outage.submitted).toBe(1 + tasks);

    await outage.change(`ALTER ROLE ${outage.name} PASSWORD 'the-right-one'`);
    expect(await outage.again()).toBe(0);
    expect(await outage.end()).toEqual(whole);
  }, 120_000);

  it('ends run and worker if another release has changed it; the same command continues', async () => {
    await using outage = await Outage.begin();
    const held = outage.rig.service.fault('imagine', { hang: 'after' }, afterFirst);
    const worker = outage.worker();
    const leading = outage.run();
    await expect.poll(() => worker.err(), patience).toContain(': started.');
    await held.hit(tasks);
    await asked(server.url(outage.name), 'UPDATE promptpress.schema_version SET version = 99');
    held.release();
    for (const each of [leading, worker]) {
      expect(await each.done, each.err()).toBe(74);
      expect(each.err()).toMatch(
        /were changed by another release of promptpress \(version 99; this release knows \d+\)/,
      );
    }
    for (const late of [outage.run(), outage.worker()]) {
      expect(await late.done).toBe(2);
      expect(late.err()).toMatch(/was written by a newer release of promptpress \(version 99/);
    }
    await asked(
      server.url(outage.name),
      `UPDATE promptpress.schema_version SET version = ${engineSchema.version}`,
    );
    expect(await outage.again()).toBe(0);
    expect(await outage.end()).toEqual(whole);
  }, 120_000);
});
