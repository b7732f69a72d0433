import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countNames } from '../../../../src/artifacts/store/counts.ts';
import { promptpress, type Said } from '../../../cli/test-io.ts';
import { hasPostgres, type TestDatabase, testDatabase } from '../../../rig/postgres.ts';
import { startFakeS3 } from '../../../rig/s3/fake-s3.ts';
import { type EngineRig, startEngine } from '../engine-rig.ts';

const pipeline = (name: string): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
matrix: { animal: [fox, owl, hare, lynx, hen, eel] }
steps:
  grid: { imagine: "{{ animal }}, ${name}" }
`;

describe.skipIf(!hasPostgres)('a database that is older than its run', () => {
  let rig: EngineRig;
  const copies: TestDatabase[] = [];
  beforeAll(async () => {
    rig = await startEngine();
  });
  afterAll(async () => {
    for (const copy of copies) await copy[Symbol.asyncDispose]();
    await rig[Symbol.asyncDispose]();
  });

  const run = (name: string, url: string, ...flags: readonly string[]): Promise<Said> =>
    rig.pp('run', `${name}.yaml`, '--engine', url, '--queue', 'lease', ...flags);
  const submits = (): number =>
    rig.service.requests.filter(({ path }) => path.endsWith('/submit/imagine')).length;
  /** Makes a run, and a copy of its database when half of it was done. */
  async function halfOf(name: string): Promise<TestDatabase> {
    await rig.write(`${name}.yaml`, pipeline(name));
    const half = await run(name, rig.database.url, '--max-submits', '3');
    expect(half.code, half.err).toBe(4);
    const copy = await testDatabase(new URL(rig.database.url).pathname.slice(1));
    copies.push(copy);
    const whole = await run(name, rig.database.url);
    expect(whole.code, whole.err).toBe(0);
    return copy;
  }

  it('is refused with the numbers by the lead, and nothing is submitted', async () => {
    const before = submits();
    const copy = await halfOf('refused');
    expect(submits() - before).toBe(6);
    const files = (await readdir(rig.at('runs/refused'))).filter((file) => countNames.includes(file));
    const said = await Promise.all(files.map((file) => readFile(rig.at('runs/refused', file), 'latin1')));
    expect(Math.max(...said.map(Number))).toBe(6);
    const led = await run('refused', copy.url);
    expect([led.code, submits() - before]).toEqual([74, 6]);
    expect(led.err).toContain('knows nothing of 3 of the 6 submissions');
    expect(led.err).toContain('--in-doubt find');
    expect(led.err).toContain('--accept-older-state. Up to 3 submissions may then be paid for twice.');
    // It stays refused, and the one that knows all goes on.
    expect((await run('refused', copy.url)).code).toBe(74);
    expect((await run('refused', rig.database.url)).code).toBe(0);
  });

  it('is refused by a worker without a lead', async () => {
    const before = submits();
    const copy = await halfOf('alone');
    await copy.query(`UPDATE promptpress.runs SET state = 'open', ended = NULL WHERE name = 'alone'`);
    const worker = rig.start(['worker', '--engine', copy.url]);
    await expect
      .poll(() => worker.err(), { timeout: 20_000 })
      .toContain('knows nothing of 3 of the 6 submissions');
    worker.interrupt();
    await worker.done;
    expect(submits() - before).toBe(6);
  });

  it('continues with the tasks that the gateway lists', async () => {
    const before = submits();
    const copy = await halfOf('found');
    const found = await run('found', copy.url, '--in-doubt', 'find');
    expect([found.code, submits() - before], found.err).toEqual([0, 6]);
    expect(found.err).toContain('of 3 submissions that are missing in the state');
    // Whoever lives on from the time that the state has forgotten shares no session with anybody.
    const sessions = await copy.query<{ most: number }>(
      'SELECT max(session)::int AS most FROM promptpress.sessions',
    );
    expect(sessions[0]?.most).toBeGreaterThan(1_000_000);
    expect((await run('found', copy.url)).code).toBe(0);
  });

  it('continues without them once if the user says so', async () => {
    const before = submits();
    const copy = await halfOf('accepted');
    const accepted = await run('accepted', copy.url, '--accept-older-state');
    expect([accepted.code, submits() - before], accepted.err).toEqual([0, 9]);
    expect((await run('accepted', copy.url)).code).toBe(0);
    // The other one is the older one now.
    expect((await run('accepted', rig.database.url)).code).toBe(74);
  });

  it('is not reported for a removed run that begins again in its folder', async () => {
    await halfOf('anew');
    expect((await rig.pp('rm', `${rig.database.url}#anew`, '--yes')).code).toBe(0);
    const anew = await run('anew', rig.database.url, '--max-submits', '2');
    expect(anew.code, anew.err).toBe(4);
    const whole = await run('anew', rig.database.url);
    expect(whole.code, whole.err).toBe(0);
  });

  it('is refused if the results are in a bucket', async () => {
    await using fake = await startFakeS3();
    const env = { ...rig.env, ...fake.env };
    await rig.write('remote.yaml', pipeline('remote'));
    const led = (url: string, ...flags: readonly string[]): Promise<Said> =>
      promptpress(
        ['run', 'remote.yaml', '--engine', url, '--queue', 'lease', '--out', 's3://pictures/older', ...flags],
        { cwd: rig.at(), env },
      );
    expect((await led(rig.database.url, '--max-submits', '3')).code).toBe(4);
    const copy = await testDatabase(new URL(rig.database.url).pathname.slice(1));
    copies.push(copy);
    expect((await led(rig.database.url)).code).toBe(0);
    const before = submits();
    const older = await led(copy.url);
    expect([older.code, submits() - before]).toEqual([74, 0]);
    expect(older.err).toContain('knows nothing of 3 of the 6 submissions');
    const verified = await promptpress(['verify', `${rig.database.url}#remote`], { cwd: rig.at(), env });
    expect(verified.code, verified.err).toBe(0);
    expect(verified.out).not.toContain('submissions-');
  });
});
