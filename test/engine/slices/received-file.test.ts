import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { engineError } from '../../../src/engine/postgres/engine-error.ts';
import { ReceivedFile } from '../../../src/engine/slices/received-file.ts';
import { engineReader } from '../../../src/engine/state/reader.ts';
import type { ReplyLine } from '../../../src/engine/state/reply-lines.ts';
import { takeSlice } from '../../../src/engine/state/slices.ts';
import type { LateFact } from '../../../src/state/store.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { jobRecord } from '../../state/records.ts';
import { type TestEngine, testEngine, turnOf } from '../state/opened.ts';

describe.skipIf(!hasPostgres)('a result that a worker receives while its engine is unavailable', () => {
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
    readonly open: (
      say?: (text: string) => void,
    ) => Promise<{ received: ReceivedFile; pool: TestEngine['pool'] }>;
    folder: string;
  }> {
    const folder = mkdtempSync(join(tmpdir(), 'heard-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return {
      folder,
      open: async (say = () => undefined) => {
        const pool = await engine.connect({ clock: { ...wallClock, now: () => now } });
        return { pool, received: new ReceivedFile(folder, pool, say, { now: () => now }) };
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

  /** The file as its process leaves it when that dies: without a lock. */
  function leave(
    folder: string,
    file = readdirSync(folder).find((name) => name.endsWith('.db')) ?? '',
  ): string {
    const left = join(folder, file.replace(/[0-9a-f]{16}\.db$/, '0.db'));
    copyFileSync(join(folder, file), left);
    return left;
  }

  /** The jobs of a run of which facts are told, and their replies. */
  async function told(run: number): Promise<{ facts: readonly string[]; replies: readonly string[] }> {
    const of = async (column: string, table: string): Promise<readonly string[]> => {
      const text = `SELECT ${column} AS told FROM promptpress.${table} WHERE run = $1 ORDER BY 1`;
      return (await engine.database.query<{ told: string }>(text, [run])).map((row) => row.told);
    };
    return { facts: await of('key', 'facts_late'), replies: await of('line', 'replies') };
  }

  it('is written by the next process of this user where the worker dies, and its session is then over', async () => {
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    const other = await engine.worker(run);
    const epoch = (await takeSlice(engine.pool, run, 1, worker.session))?.epoch ?? 0;
    const sent = jobRecord('a', 'submitting', { submittedAt: 17, submittedBy: '1/1', attempts: 1 });
    await worker.commit(turnOf(1, epoch, [sent]));
    const { open, folder } = await processes();
    const dead = await open();
    const token = await tokenOf(worker.session);
    dead.received.begin({ token });
    const reply = worker.keepReply('a', '{"of":1}');
    const port = dead.received.ofRun(run, worker.unwritten);
    // Noted before it is known that the engine is away, and after.
    port.note(fact('a', '{"kind":"answered"}'));
    await goesAway(dead.pool);
    port.note(fact('b', '{"kind":"answered"}'));
    const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.db'));
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);

    const next = await open();
    await next.received.sweep(engine.pool);
    expect(await other.others.read(['a'])).toEqual([]);

    const left = leave(folder, file);
    await next.received.sweep(engine.pool);
    expect(existsSync(left)).toBe(false);
    expect(await other.others.read(['a'])).toEqual([fact('a', '{"kind":"answered"}')]);
    expect(await engineReader(engine.pool, run).replyLine?.(reply)).toBe('{"job":"a","reply":{"of":1}}');
    const { rows } = await engine.pool.query<{ over: boolean; ended: boolean }>(
      'SELECT over, ended FROM promptpress.sessions WHERE session = $1',
      [worker.session],
    );
    expect(rows).toEqual([{ over: true, ended: true }]);
    next.received.close();
    dead.received.end({ token });
    port.durable(2);
    dead.received.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('ends exactly the sessions of a dead worker, and no session with the same number from an older database', async () => {
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    const { open, folder } = await processes();
    const dead = await open();
    dead.received.begin({ token: await tokenOf(worker.session) });
    dead.received.ofRun(run, () => [{ segment: 7, start: 0, line: 'of another life' }]).note(fact('a', '{}'));
    await goesAway(dead.pool);
    const left = leave(folder);
    await engine.database.query(
      'UPDATE promptpress.sessions SET token = gen_random_uuid() WHERE session = $1',
      [worker.session],
    );
    const next = await open();
    await next.received.sweep(engine.pool);
    expect(existsSync(left)).toBe(false);
    const { rows } = await engine.pool.query<{ over: boolean; ended: boolean }>(
      'SELECT over, ended FROM promptpress.sessions WHERE session = $1',
      [worker.session],
    );
    expect(rows).toEqual([{ over: false, ended: false }]);
    const { rows: lines } = await engine.pool.query('SELECT FROM promptpress.replies WHERE run = $1', [run]);
    expect(lines).toEqual([]);
    next.received.close();
    dead.received.close();
  });

  it('is dropped only once it is durable: later facts and other runs stay', async () => {
    const [run, another] = [await engine.run(), await engine.run()];
    const { session } = await engine.worker(run);
    const { open, folder } = await processes();
    const dead = await open();
    dead.received.begin({ token: await tokenOf(session) });
    // Each run counts the places of its own replies.
    const process = (of: number) => {
      const lines: ReplyLine[] = [];
      const port = dead.received.ofRun(of, () => lines);
      return (key: string): (() => void) => {
        lines.push({ segment: 0, start: lines.length, line: `of ${key}` });
        const id = port.note(fact(key, '{"kind":"answered"}'));
        return () => port.durable(id);
      };
    };
    const [hear, hearAnother] = [process(run), process(another)];
    const durable = [hearAnother('x'), hear('a')];
    await goesAway(dead.pool);
    durable.push(hearAnother('y'), hearAnother('z'), hear('b'));
    hear('c');
    for (const isDurable of durable) isDurable();
    leave(folder);
    const next = await open();
    await next.received.sweep(engine.pool);
    expect(await told(run)).toMatchObject({
      facts: ['c'],
      replies: expect.arrayContaining(['of c']) as unknown,
    });
    expect((await told(another)).facts).toEqual([]);
    next.received.close();
    dead.received.close();
  });

  it('is kept though later facts of another run became durable first, and no more once the engine is back', async () => {
    const [run, another] = [await engine.run(), await engine.run()];
    const { session } = await engine.worker(run);
    const { open, folder } = await processes();
    const dead = await open();
    dead.received.begin({ token: await tokenOf(session) });
    const [port, other] = [dead.received.ofRun(run, () => []), dead.received.ofRun(another, () => [])];
    other.note(fact('earlier', '{"kind":"answered"}'));
    port.durable(port.note(fact('a', '{"kind":"answered"}')));
    await goesAway(dead.pool);
    await dead.pool.troubles.watch('a question', () => Promise.resolve());
    other.note(fact('later', '{"kind":"answered"}'));
    dead.received.close();
    // The session was not ended, so its file is left to the next process.
    leave(folder);
    const next = await open();
    await next.received.sweep(engine.pool);
    expect([(await told(run)).facts, (await told(another)).facts]).toEqual([[], ['earlier']]);
    next.received.close();
  });

  it('is no reason for its file to stay, but a session that was not ended is', async () => {
    const { open, folder } = await processes();
    const { received } = await open();
    received.begin({ token: 'a' });
    received.begin({ token: 'b' });
    received.end({ token: 'a' });
    received.close();
    expect(readdirSync(folder).filter((name) => name.endsWith('.db'))).toHaveLength(1);
  });

  it('reaches the engine, in pieces of any size, before the session of the dead process ends', async () => {
    const [run, another] = [await engine.run(), await engine.run()];
    const { session } = await engine.worker(run);
    const { open, folder } = await processes();
    const dead = await open();
    dead.received.begin({ token: await tokenOf(session) });
    const line = { segment: 0, start: 0, line: 'a reply' };
    const ports = [run, another].map((of) => dead.received.ofRun(of, () => [line]));
    for (const port of ports) for (let n = 0; n < 100; n += 1) port.note(fact(`k${n}`, '{}'));
    await goesAway(dead.pool);
    leave(folder);
    const next = await open();
    /** What is told, each time, once the session is over. */
    const seen: unknown[] = [];
    const read = async (): Promise<void> => {
      const text = 'SELECT FROM promptpress.sessions WHERE session = $1 AND (over OR ended)';
      if ((await engine.database.query(text, [session])).length === 0) return;
      for (const { facts, replies } of [await told(run), await told(another)])
        seen.push([facts.length, replies]);
    };
    const query: typeof engine.pool.query = async (text, values) => {
      const answer = await engine.pool.query<never>(text, values);
      await read();
      return answer;
    };
    await next.received.sweep({ ...engine.pool, query });
    await read();
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((each) => !isDeepStrictEqual(each, [100, ['a reply']]))).toEqual([]);
    next.received.close();
    dead.received.close();
  });

  it('stores each reply once, however many facts arrive before it is written elsewhere', async () => {
    const { open } = await processes();
    const said: string[] = [];
    const { received, pool } = await open((text) => said.push(text));
    const replies: ReplyLine[] = [];
    const port = received.ofRun(1, () => replies);
    await goesAway(pool);
    for (let n = 0; n < 40; n += 1) {
      replies.push({ segment: 0, start: n * 100_000, line: 'x'.repeat(100_000) });
      port.note(fact(`k${n}`, '{"kind":"answered"}'));
    }
    expect(said).toEqual([]);
    received.close();
  });

  it('frees the space of durable results, whatever characters they contain', async () => {
    const { open } = await processes();
    const said: string[] = [];
    const { received, pool } = await open((text) => said.push(text));
    const replies: ReplyLine[] = [];
    const port = received.ofRun(1, () => replies);
    await goesAway(pool);
    const text = '🦊é'.repeat(2 * 1024 * 1024);
    for (let n = 0; n < 12; n += 1) {
      replies.splice(0, 1, { segment: 0, start: n, line: text });
      const id = port.note(fact(`k${n}`, text));
      if (n % 2 === 1) port.durable(id);
    }
    expect(said).toEqual([]);
    // 48 MB are kept, and no more than one further fact fits.
    for (let n = 0; n < 6; n += 1) received.ofRun(2, () => []).note(fact(`l${n}`, text));
    expect(said).toHaveLength(1);
    received.close();
  });

  it('is bounded: a result that is not kept is reported, once', async () => {
    const { open } = await processes();
    const said: string[] = [];
    const { received, pool } = await open((text) => said.push(text));
    const port = received.ofRun(1, () => []);
    await goesAway(pool);
    for (let n = 0; n < 5; n += 1) port.note(fact(`k${n}`, 'x'.repeat(20 * 1024 * 1024)));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('64 MB');
    port.durable(5);
    received.close();
  });
});
