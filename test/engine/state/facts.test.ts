import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineChanges } from '../../../src/engine/state/changes.ts';
import { countedSubmissions, countSubmissions, openFacts } from '../../../src/engine/state/facts.ts';
import { engineReader } from '../../../src/engine/state/reader.ts';
import { takeSlice } from '../../../src/engine/state/slices.ts';
import { forgetOtherTables, keepTable } from '../../../src/engine/state/tables.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { jobRecord } from '../../state/records.ts';
import { type TestEngine, testEngine, turnOf } from './opened.ts';

describe.skipIf(!hasPostgres)('the reader of a run', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  it('has the facts that its coordinator set', async () => {
    const run = await engine.run();
    const facts = await openFacts(engine.pool, run);
    await facts.setFact('run.last', '{}');
    await facts.setFact('run.last', '{"exitCode":0}');
    expect(facts.fact('run.last')).toBe('{"exitCode":0}');
    expect((await openFacts(engine.pool, run)).fact('run.last')).toBe('{"exitCode":0}');
    expect(await engineReader(engine.pool, run).fact('run.last')).toBe('{"exitCode":0}');
    expect(await engineReader(engine.pool, await engine.run()).fact('run.last')).toBe(undefined);
  });

  it('refuses an invalid count of submissions', async () => {
    const run = await engine.run();
    const count = (): Promise<number> => countedSubmissions(engine.pool, run);
    expect(await count()).toBe(0);
    expect([await countSubmissions(engine.pool, run, 3), await count()]).toEqual([3, 3]);
    await (await openFacts(engine.pool, run)).setFact('submissions.counted', 'many');
    await expect(count()).rejects.toMatchObject({ code: 'engine.damaged' });
  });

  it('has its tables, byte for byte, and no partial one', async () => {
    const run = await engine.run();
    const reader = engineReader(engine.pool, run);
    const bytes = randomBytes(2.5 * 1024 * 1024);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const kept = async (): Promise<Buffer> => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of reader.table?.(sha256) ?? []) chunks.push(chunk);
      return Buffer.concat(chunks);
    };
    async function* chunks(upTo: number): AsyncGenerator<Uint8Array> {
      for (let from = 0; from < upTo; from += 65_536) yield bytes.subarray(from, from + 65_536);
      if (upTo < bytes.length) throw new Error('The disk failed.');
    }
    await expect(keepTable(engine.pool, run, sha256, chunks(2_000_000))).rejects.toThrow('The disk failed.');
    await expect(kept()).rejects.toMatchObject({ code: 'engine.io' });
    await keepTable(engine.pool, run, sha256, chunks(bytes.length));
    expect((await kept()).equals(bytes)).toBe(true);
    await forgetOtherTables(engine.pool, run, [sha256]);
    expect((await kept()).length).toBe(bytes.length);
    await forgetOtherTables(engine.pool, run, []);
    await expect(kept()).rejects.toMatchObject({ code: 'engine.io' });
  });

  it('has the replies that were kept while a turn was in flight', async () => {
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    const epoch = (await takeSlice(engine.pool, run, 1, worker.session))?.epoch ?? 0;
    const before = worker.keepReply('one', '{"of":1}');
    const committing = worker.commit(turnOf(1, epoch, [jobRecord('one', 'done')]));
    // The turn has left, and its answer is not there yet.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const meanwhile = worker.keepReply('two', '{"of":2}');
    await committing;
    await worker.commit(turnOf(1, epoch, [jobRecord('two', 'done')]));
    const reader = engineReader(engine.pool, run);
    expect(await reader.replyLine?.(before)).toBe('{"job":"one","reply":{"of":1}}');
    expect(await reader.replyLine?.(meanwhile)).toBe('{"job":"two","reply":{"of":2}}');
  });

  it('tells watchers which jobs have begun since, and which are open', async () => {
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    const epoch = (await takeSlice(engine.pool, run, 1, worker.session))?.epoch ?? 0;
    const changes = engineChanges(engine.pool, run);
    const begun = async (mark: Awaited<ReturnType<typeof changes.changeMark>>): Promise<Set<string>> => {
      const keys = new Set<string>();
      for await (const { key } of changes.begunSince(mark)) keys.add(key);
      return keys;
    };
    const before = await changes.changeMark();
    expect(await changes.changeMark()).toEqual(before);
    const prompt = 'half of a pair \ud800 and \0';
    const one = jobRecord('one', 'running');
    const two = jobRecord('two', 'failed', { error: { code: 'task.failed', message: prompt } });
    await worker.commit(turnOf(1, epoch, [one, two]));
    const after = await changes.changeMark();
    expect(after.version).not.toBe(before.version);
    expect(await begun(before)).toEqual(new Set(['one', 'two']));
    const open: unknown[] = [];
    for await (const job of changes.openJobs()) open.push(job);
    expect(open).toEqual([
      { key: 'one', status: 'running', code: '' },
      { key: 'two', status: 'failed', code: 'task.failed' },
    ]);
    // A turn that began before is committed behind it: what came lately is told again.
    expect(await begun(after)).toEqual(new Set(['one', 'two']));
  });

  it('keeps the search text of each record that has one', async () => {
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    const epoch = (await takeSlice(engine.pool, run, 1, worker.session))?.epoch ?? 0;
    const said = (text: string) => ({
      text: { candidates: [{ text, parts: [{ text }], isJson: false }] },
    });
    const records = [
      jobRecord('z', 'done'),
      jobRecord('c', 'done', said('first\nline')),
      jobRecord('b', 'failed', { error: { code: 'task.failed', message: '\\n and \u2028' } }),
      jobRecord('a', 'done', said('')),
    ];
    await worker.commit(turnOf(1, epoch, records));
    const reader = await engine.worker(run);
    const keys = records.map(({ key }) => key);
    await reader.prefetch(keys, 1);
    expect(keys.map((key) => reader.get(key))).toEqual(records);
  });
});
