import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../../../src/cli/adapters/clock.ts';
import type { EnginePool } from '../../../../src/engine/postgres/pool.ts';
import { beginSession } from '../../../../src/engine/slices/session.ts';
import type { Said } from '../../../cli/test-io.ts';
import { openEngineAt } from '../../../rig/engine/copied-run.ts';
import { hasPostgres } from '../../../rig/postgres.ts';
import { type EngineRig, startEngine } from '../../engine/engine-rig.ts';

const pipeline = (name: string, ...animals: readonly string[]): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
retry: { attempts: 1 }
matrix: { animal: [${animals.join(', ')}] }
steps:
  grid: { imagine: "{{ animal }}" }
`;

describe.skipIf(!hasPostgres)('a job in doubt on an engine', () => {
  let rig: EngineRig;
  let pool: EnginePool;
  let engine: readonly string[];
  let shown: string;
  beforeAll(async () => {
    rig = await startEngine();
    pool = await openEngineAt(rig.database.url);
    engine = ['--engine', rig.database.url, '--queue', 'lease'];
    const address = new URL(rig.database.url);
    address.password = '';
    shown = address.href;
  });
  afterAll(async () => {
    await pool.close();
    await rig[Symbol.asyncDispose]();
  });

  /** Keys of the jobs of a run by their prompts. */
  async function keysOf(name: string): Promise<Readonly<Record<string, string>>> {
    const { rows } = await pool.query<{ key: string; doc: string }>(
      'SELECT key, doc FROM promptpress.jobs JOIN promptpress.runs USING (run) WHERE name = $1',
      [name],
    );
    return Object.fromEntries(
      rows.map(({ key, doc }) => [
        (JSON.parse(doc) as { request: { fields: { prompt: string } } }).request.fields.prompt,
        key,
      ]),
    );
  }
  const statusOf = async (key = ''): Promise<string> =>
    (await pool.query<{ status: string }>('SELECT status FROM promptpress.jobs WHERE key = $1', [key]))
      .rows[0]?.status ?? 'none';
  const taskOf = (prompt: string): string =>
    [...rig.service.tasks].find(([, task]) => task.prompt === prompt)?.[0] ?? '';
  const submitsOf = (prompt: string): number =>
    rig.service.requests.filter(({ body }) => body?.['prompt'] === prompt).length;
  /** Leaves a job as whoever takes its slice over does: the former holder may be sending it still. */
  async function sentBy(key: string, sender: string): Promise<void> {
    const { rows } = await pool.query<{ doc: string }>('SELECT doc FROM promptpress.jobs WHERE key = $1', [
      key,
    ]);
    const doc = JSON.stringify({ ...(JSON.parse(rows[0]?.doc ?? '{}') as object), sender });
    await pool.query('UPDATE promptpress.jobs SET sender = $2, doc = $3 WHERE key = $1', [key, sender, doc]);
  }
  const resolve = (name: string, key: string | undefined, ...flags: readonly string[]): Promise<Said> =>
    rig.pp('resolve', key ?? '', `${rig.database.url}#${name}`, ...flags);

  /** Of the run "settled": its jobs by their prompts, and the prompts of those in doubt. */
  let settled: Readonly<Record<string, string>> = {};
  let doubtful: readonly string[] = [];

  it('is settled by each decision of the user', async () => {
    await rig.write('settled.yaml', pipeline('settled', 'fox', 'owl', 'hare', 'lynx'));
    rig.service.fault('imagine', { reset: 'after' }, { times: 3 });
    const first = await rig.pp('run', 'settled.yaml', ...engine);
    expect(first.code, first.err).toBe(5);
    settled = await keysOf('settled');
    doubtful = (await rig.rows('runs/settled'))
      .filter(({ status }) => status === 'in-doubt')
      .map(({ prompt }) => prompt ?? '');
    expect(doubtful).toHaveLength(3);
    const [a = '', b = '', c = ''] = doubtful;
    const adopted = await resolve('settled', settled[a], '--task', taskOf(a));
    expect([adopted.code, adopted.err]).toEqual([0, '']);
    expect(adopted.out).toContain(`has task ${taskOf(a)} now. The next run polls it`);
    expect(adopted.out).toContain(`promptpress run settled.yaml --engine '${shown}#settled'`);
    expect((await resolve('settled', settled[b], '--drop')).out).toContain('given up: failed (job.dropped)');
    expect((await resolve('settled', settled[c], '--retry')).out).toContain('waits for its turn again');
    expect(JSON.parse((await rig.pp('status', `${rig.database.url}#settled`, '--json')).out)).toMatchObject({
      jobs: { 'in-doubt': 0, running: 1, failed: 1, pending: 1, done: 1 },
    });
    const again = await resolve('settled', settled[a], '--retry');
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('is not in doubt, but running')]);
    const other = await rig.pp('resolve', settled[b] ?? '', `${rig.database.url}#settled`, '--retry');
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('is not in doubt, but failed')]);
  });

  it('is continued by the next run after the decision', async () => {
    const [a = '', b = '', c = ''] = doubtful;
    const second = await rig.pp('run', 'settled.yaml', ...engine);
    expect(second.code, second.err).toBe(1);
    expect([a, b, c].map(submitsOf)).toEqual([1, 1, 2]);
    expect(await Promise.all([a, b, c].map((prompt) => statusOf(settled[prompt])))).toEqual([
      'done',
      'failed',
      'done',
    ]);
    const told = await rig.pp('show', settled[a] ?? '', `${rig.database.url}#settled`, '--json');
    expect(JSON.parse(told.out)).toMatchObject({
      history: expect.arrayContaining([
        expect.objectContaining({ outcome: 'user.adopted', taskId: taskOf(a) }),
      ]) as unknown,
    });
  });

  it('is polled within the same run by a running worker', async () => {
    await rig.write('beside.yaml', pipeline('beside', 'newt', 'toad'));
    const isNewt = ({ body }: { readonly body: Readonly<Record<string, unknown>> | undefined }): boolean =>
      body?.['prompt'] === 'newt';
    rig.service.fault('imagine', { reset: 'after' }, { times: 1, match: isNewt });
    const hanging = rig.service.fault(
      'imagine',
      { hang: 'after' },
      { times: 1, match: (request) => !isNewt(request) },
    );
    const run = rig.start(['run', 'beside.yaml', ...engine]);
    await hanging.hit(1);
    await expect
      .poll(async () => await statusOf((await keysOf('beside'))['newt']), { timeout: 20_000 })
      .toBe('in-doubt');
    const keys = await keysOf('beside');
    // What is being submitted now is in no doubt.
    const busy = await resolve('beside', keys['toad'], '--retry');
    expect([busy.code, busy.err]).toEqual([75, expect.stringContaining('it is not in doubt')]);
    expect(busy.err).toMatch(/60 s after it was killed: promptpress status/);
    const adopted = await resolve('beside', keys['newt'], '--task', taskOf('newt'));
    expect(adopted.out).toContain('An active worker or the next run polls it');
    await expect.poll(() => statusOf(keys['newt']), { timeout: 20_000 }).toBe('done');
    hanging.release();
    expect(await run.done, run.err()).toBe(0);
    expect([submitsOf('newt'), submitsOf('toad')]).toEqual([1, 1]);
  });

  it('is waited for by a run that begins soon after its worker was killed, and submitted again if the user wants that', async () => {
    await rig.write('soon.yaml', pipeline('soon', 'perch'));
    rig.service.fault('imagine', { reset: 'after' }, { times: 1 });
    expect((await rig.pp('run', 'soon.yaml', ...engine)).code).toBe(5);
    const key = (await keysOf('soon'))['perch'] ?? '';
    const { rows } = await pool.query<{ session: number }>(
      `INSERT INTO promptpress.sessions (name, run, lease_ms, seen)
       SELECT 'w7', run, 400, clock_timestamp() - interval '9 s' FROM promptpress.runs WHERE name = 'soon' RETURNING session::float8 AS session`,
    );
    await sentBy(key, `${rows[0]?.session}/1/99`);
    const run = await rig.pp('run', 'soon.yaml', ...engine, '--lease', '400ms', '--in-doubt', 'retry');
    expect(run.code, run.err).toBe(0);
    expect(run.err).toContain('1 job may have been on its way when w7 ended unexpectedly.');
    expect(run.err).toContain('nothing has been heard from that worker for 1 s');
    expect(submitsOf('perch')).toBe(2);
  });

  it('is left unchanged while a worker may be sending it; the command waits for a killed worker', async () => {
    await rig.write('killed.yaml', pipeline('killed', 'eel', 'pike'));
    rig.service.fault('imagine', { reset: 'after' }, { times: 2 });
    expect((await rig.pp('run', 'killed.yaml', ...engine)).code).toBe(5);
    const keys = await keysOf('killed');
    const { rows } = await pool.query<{ run: number }>(
      `SELECT run FROM promptpress.runs WHERE name = 'killed'`,
    );
    const run = rows[0]?.run ?? 0;
    const former = await beginSession({ pool, clock: wallClock }, run, {
      name: 'w1',
      leaseMs: 400,
    });
    for (const key of Object.values(keys)) await sentBy(key, `${former.session}/1/99`);
    for (const flag of ['--retry', '--drop']) {
      await former.beat();
      const refused = await resolve('killed', keys['eel'], flag);
      expect([refused.code, refused.out]).toEqual([75, '']);
      expect(refused.err).toContain('Worker w1 may still be sending job');
      expect(refused.err).toContain('Try again once the worker has ended, or 1 s after it was killed');
    }
    // A task that the service has was sent.
    expect((await resolve('killed', keys['pike'], '--task', taskOf('pike'))).code).toBe(0);

    // Nothing was heard of it for some time.
    await pool.query("UPDATE promptpress.sessions SET seen = seen - interval '10 s' WHERE session = $1", [
      former.session,
    ]);
    const stopped = rig.start(['resolve', keys['eel'] ?? '', `${rig.database.url}#killed`, '--retry']);
    await expect
      .poll(() => stopped.err(), { timeout: 10_000 })
      .toContain('Once nothing is heard from it for 1 s');
    stopped.interrupt();
    expect(await stopped.done).toBe(130);
    expect(await statusOf(keys['eel'])).toBe('in-doubt');
    const waited = await resolve('killed', keys['eel'], '--retry');
    expect([waited.code, waited.out]).toEqual([0, expect.stringContaining('waits for its turn again')]);
    expect((await rig.pp('run', 'killed.yaml', ...engine)).code).toBe(0);
    expect([submitsOf('eel'), submitsOf('pike')]).toEqual([2, 1]);
  });
});
