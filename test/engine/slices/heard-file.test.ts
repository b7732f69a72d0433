import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { engineError } from '../../../src/engine/postgres/engine-error.ts';
import { HeardFile } from '../../../src/engine/slices/heard-file.ts';
import { engineReader } from '../../../src/engine/state/reader.ts';
import { takeSlice } from '../../../src/engine/state/slices.ts';
import type { LateFact } from '../../../src/state/store.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { jobRecord } from '../../state/records.ts';
import { type TestEngine, testEngine, turnOf } from '../state/opened.ts';

describe.skipIf(!hasPostgres)('what a worker hears while its engine is away', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  let now = Date.now();

  /** Each process has connections of its own, and these listeners. */
  async function processes(): Promise<{
    readonly open: (say?: (text: string) => void) => Promise<{ heard: HeardFile; pool: TestEngine['pool'] }>;
    folder: string;
  }> {
    const folder = mkdtempSync(join(tmpdir(), 'heard-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return {
      folder,
      open: async (say = () => undefined) => {
        const pool = await engine.connect({ clock: { ...wallClock, now: () => now } });
        return { pool, heard: new HeardFile(folder, pool, say, { now: () => now }) };
      },
    };
  }

  const fact = (key: string, answer: string): LateFact => ({
    key,
    submittedAt: 17,
    submittedBy: '1/1',
    answer,
  });

  const tokenOf = async (session: number): Promise<string> => {
    const text = 'SELECT token FROM promptpress.sessions WHERE session = $1';
    return (await engine.database.query<{ token: string }>(text, [session]))[0]?.token ?? '';
  };

  /** As after three seconds without an answer. */
  async function goesAway({ troubles }: TestEngine['pool']): Promise<void> {
    const fail = (): Promise<void> =>
      troubles
        .watch('a question', () => Promise.reject(engineError('away', 'engine')))
        .catch(() => undefined);
    await fail();
    now += 3100;
    await fail();
  }

  it('is told by the next process of this user where the worker dies before, and its session is over then', async () => {
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    const other = await engine.worker(run);
    const epoch = (await takeSlice(engine.pool, run, 1, worker.session))?.epoch ?? 0;
    const sent = jobRecord('a', 'submitting', { submittedAt: 17, submittedBy: '1/1', attempts: 1 });
    await worker.commit(turnOf(1, epoch, [sent]));
    const { open, folder } = await processes();
    const dead = await open();
    const token = await tokenOf(worker.session);
    dead.heard.begin({ token });
    const reply = worker.keepReply('a', '{"of":1}');
    const port = dead.heard.ofRun(run, worker.unwritten);
    // Noted before it is known that the engine is away, and after.
    port.note(fact('a', '{"kind":"answered"}'));
    await goesAway(dead.pool);
    port.note(fact('b', '{"kind":"answered"}'));
    const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.db'));
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);

    const next = await open();
    await next.heard.sweep(engine.pool);
    expect(await other.others.look(['a'])).toEqual([]);

    // As its process leaves it: without a lock.
    const left = join(folder, file.replace(/[0-9a-f]{16}\.db$/, '0.db'));
    copyFileSync(join(folder, file), left);
    await next.heard.sweep(engine.pool);
    expect(existsSync(left)).toBe(false);
    expect(await other.others.look(['a'])).toEqual([fact('a', '{"kind":"answered"}')]);
    expect(await engineReader(engine.pool, run).replyLine?.(reply)).toBe('{"job":"a","reply":{"of":1}}');
    const { rows } = await engine.pool.query<{ over: boolean; ended: boolean }>(
      'SELECT over, ended FROM promptpress.sessions WHERE session = $1',
      [worker.session],
    );
    expect(rows).toEqual([{ over: true, ended: true }]);
    next.heard.close();
    dead.heard.end({ token });
    port.durable(2);
    dead.heard.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('ends the very sessions of a dead worker, and none that got the number of one from an older database', async () => {
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    const { open, folder } = await processes();
    const dead = await open();
    dead.heard.begin({ token: await tokenOf(worker.session) });
    dead.heard.ofRun(run, () => [{ segment: 7, start: 0, line: 'of another life' }]).note(fact('a', '{}'));
    await goesAway(dead.pool);
    const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.db'));
    const left = join(folder, file.replace(/[0-9a-f]{16}\.db$/, '0.db'));
    copyFileSync(join(folder, file), left);
    await engine.database.query(
      'UPDATE promptpress.sessions SET token = gen_random_uuid() WHERE session = $1',
      [worker.session],
    );
    const next = await open();
    await next.heard.sweep(engine.pool);
    expect(existsSync(left)).toBe(false);
    const { rows } = await engine.pool.query<{ over: boolean; ended: boolean }>(
      'SELECT over, ended FROM promptpress.sessions WHERE session = $1',
      [worker.session],
    );
    expect(rows).toEqual([{ over: false, ended: false }]);
    const { rows: lines } = await engine.pool.query('SELECT FROM promptpress.replies WHERE run = $1', [run]);
    expect(lines).toEqual([]);
    next.heard.close();
    dead.heard.close();
  });

  it('keeps what was heard for one run when a later answer of another run is durable', async () => {
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    const epoch = (await takeSlice(engine.pool, run, 1, worker.session))?.epoch ?? 0;
    const sent = jobRecord('a', 'submitting', { submittedAt: 17, submittedBy: '1/1', attempts: 1 });
    await worker.commit(turnOf(1, epoch, [sent]));
    const { open, folder } = await processes();
    const dead = await open();
    dead.heard.begin({ token: await tokenOf(worker.session) });
    dead.heard.ofRun(run, () => []).note(fact('a', '{"kind":"answered"}'));
    const another = dead.heard.ofRun(run + 1000, () => []);
    another.durable(another.note(fact('b', '{"kind":"answered"}')));
    await goesAway(dead.pool);
    const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.db'));
    copyFileSync(join(folder, file), join(folder, file.replace(/[0-9a-f]{16}\.db$/, '0.db')));
    const next = await open();
    await next.heard.sweep(engine.pool);
    const other = await engine.worker(run);
    expect(await other.others.look(['a'])).toEqual([fact('a', '{"kind":"answered"}')]);
    next.heard.close();
    dead.heard.close();
  });

  it('is bounded: what is not kept is said, once', async () => {
    const { open } = await processes();
    const said: string[] = [];
    const { heard, pool } = await open((text) => said.push(text));
    const port = heard.ofRun(1, () => []);
    await goesAway(pool);
    for (let n = 0; n < 5; n += 1) port.note(fact(`k${n}`, 'x'.repeat(20 * 1024 * 1024)));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('64 MB');
    port.durable(5);
    heard.close();
  });
});
