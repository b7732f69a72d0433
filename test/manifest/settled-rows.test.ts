import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RowText } from '../../src/manifest/row-text.ts';
import { SettledRows } from '../../src/manifest/settled-rows.ts';
import { writeManifest, writeRunManifest } from '../../src/manifest/write.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { Slot } from '../../src/plan/slot.ts';
import { type MemoryStore, memoryStore } from '../rig/memory-store.ts';
import { cellsOf, planOf } from '../rig/pipeline-builder.ts';
import { doneRecord, failedRecord, finish } from './finish.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'promptpress-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Cells of one word share a title, all share a cover, and one note is skipped. */
const notes = `
  matrix: { word: [fox, owl, hare], tone: [dry, warm, odd] }
  steps:
    cover: { imagine: the same for all }
    title: { imagine: "A title for {{ word }}" }
    note: { when: 'tone != "dry" or word != "owl"', imagine: "{{ word }}, {{ tone }}", path: U1 }
`;

const invocation = 7;
const file = (): string => join(folder, 'manifest.csv');

/** A plan that counts how often each cell is resolved. */
async function countingPlan(text = notes): Promise<{ plan: Plan; looks: Map<number, number> }> {
  const plan = await planOf(text);
  const looks = new Map<number, number>();
  const resolve: Plan['resolve'] = (cell, lookup) => {
    looks.set(cell.number, (looks.get(cell.number) ?? 0) + 1);
    return plan.resolve(cell, lookup);
  };
  return { plan: { ...plan, resolve }, looks };
}

const settledRows = (plan: Plan, ordered: ReadonlySet<string> = new Set()): SettledRows =>
  new SettledRows(plan, new RowText(plan.matrix.variables, {}), file(), invocation, (key) =>
    ordered.has(key),
  );

/** A finished job whose files are those of no other one. */
const done = (slot: Slot): JobRecord => {
  const record = doneRecord(slot);
  return { ...record, artifacts: record.artifacts.map((one) => ({ ...one, sha256: record.key })) };
};

/** What a run makes of a slot. */
const made = (slot: Slot, fails: boolean) => ({
  ...(fails ? failedRecord(slot, { code: 'task.failed', message: 'no' }) : done(slot)),
  invocation,
});

/** The record of a job that was made anew. */
const anew = (record: JobRecord): JobRecord => ({
  ...record,
  taskId: `${record.taskId}0`,
  redone: { count: 1, first: {} },
  invocation,
});

async function admit(plan: Plan, rows: SettledRows, store: MemoryStore): Promise<void> {
  for (const cell of await cellsOf(plan)) rows.resolve(cell, (key) => store.get(key));
}

/** The manifest at the end of a run, and the one that is made without its rows. */
async function both(plan: Plan, rows: SettledRows, { reader }: MemoryStore) {
  const options = { plan, selection: {}, reader, file: file() };
  const { totals } = await writeRunManifest({ ...options, settled: rows });
  const text = readFileSync(file(), 'utf8');
  rows.close();
  const whole = await writeManifest(options);
  return { mine: [text, totals], whole: [readFileSync(file(), 'utf8'), whole] };
}

describe('rows of settled cells', () => {
  it('are made when the cells are admitted; rows of the other cells are made at the end', async () => {
    const { plan, looks } = await countingPlan();
    const store = memoryStore();
    await finish(plan, store, {
      record: (slot) => (slot.cell === 5 && slot.step === 'note' ? made(slot, true) : done(slot)),
    });
    const rows = settledRows(plan);
    looks.clear();
    await admit(plan, rows, store);
    expect(readdirSync(folder)).toEqual([]);
    const options = { plan, selection: {}, reader: store.reader, file: file() };
    const written = await writeRunManifest({ ...options, settled: rows });
    expect([...looks].filter(([, count]) => count > 1).map(([cell]) => cell)).toEqual([5]);
    expect(written.totals.slots).toMatchObject({ failed: 1, blocked: 1 });
    const text = readFileSync(file(), 'utf8');
    expect(await writeManifest(options)).toEqual(written.totals);
    expect(readFileSync(file(), 'utf8')).toBe(text);
  });

  it('are made beside cells with a job to remake', async () => {
    const { plan, looks } = await countingPlan();
    const store = memoryStore();
    await finish(plan, store, { record: done });
    const note = [...store.withStatus('done')].find(
      ({ origin }) => origin.cell === 5 && origin.step === 'note' && origin.branch === '',
    );
    if (note === undefined) throw new Error('Nothing is done.');
    const rows = settledRows(plan, new Set([note.key]));
    looks.clear();
    await admit(plan, rows, store);
    rows.note([anew(note)]);
    store.commit({ records: [anew(note)], attempts: [] });
    const options = { plan, selection: {}, reader: store.reader, file: file() };
    const written = await writeRunManifest({ ...options, settled: rows });
    expect([...looks].filter(([, count]) => count > 1).map(([cell]) => cell)).toEqual([5]);
    const text = readFileSync(file(), 'utf8');
    expect(await writeManifest(options)).toEqual(written.totals);
    expect(readFileSync(file(), 'utf8')).toBe(text);
  });

  it('match the state at the end, whatever a run does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          seed: fc.infiniteStream(fc.nat(1000)),
          before: fc.nat(30),
          during: fc.nat(30),
          /** All files are one. */
          isSame: fc.boolean(),
          /** The run puts this cell off, and comes to it last. */
          last: fc.option(fc.nat(8), { nil: undefined }),
          changes: fc.option(fc.nat(20), { nil: undefined }),
          /** How many of the jobs that were done before are to be made anew, and are. */
          redone: fc.nat(3),
        }),
        async ({ seed, before, during, isSame, last, changes, redone }) => {
          const { plan } = await countingPlan();
          const store = memoryStore();
          const next = (): number => seed.next().value as number;
          const pick = (ready: number): number => next() % Math.max(1, ready);
          await finish(plan, store, {
            pick,
            most: before,
            record: (slot) => ({
              ...(isSame ? doneRecord(slot) : made(slot, next() % 5 === 0)),
              invocation: 1,
            }),
          });
          const finished = [...store.withStatus('done')];
          const orders = finished.slice(pick(finished.length)).slice(0, redone);
          const rows = settledRows(plan, new Set(orders.map(({ key }) => key)));
          const cells = await cellsOf(plan);
          const put = last === undefined ? undefined : cells[last];
          const order = [...cells.filter((cell) => cell !== put), ...(put === undefined ? [] : [put])];
          for (const cell of order) rows.resolve(cell, (key) => store.get(key));
          const commit: MemoryStore['commit'] = (turn) => {
            rows.note(turn.records);
            store.commit(turn);
          };
          await finish(
            plan,
            { ...store, commit },
            {
              pick,
              most: during,
              record: (slot) => made(slot, next() % 5 === 0),
            },
          );
          commit({ records: orders.map(anew), attempts: [] });
          const records = [...store.withStatus('done')];
          const record = changes === undefined ? undefined : records[changes % Math.max(1, records.length)];
          if (record !== undefined) commit({ records: [{ ...record, cost: 0.5 }], attempts: [] });
          const { mine, whole } = await both(plan, rows, store);
          expect(mine).toEqual(whole);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('are made again if a job of their cell changes, or an earlier cell gets the same job', async () => {
    for (const turn of ['change', 'earlier'] as const) {
      const { plan, looks } = await countingPlan();
      const store = memoryStore();
      await finish(plan, store, { record: done });
      const rows = settledRows(plan);
      const cells = await cellsOf(plan);
      // The first cell is admitted when what it shares with the others is listed there.
      for (const cell of turn === 'earlier' ? cells.slice(1) : cells)
        rows.resolve(cell, (key) => store.get(key));
      const [record] = store.withStatus('done');
      if (record === undefined) throw new Error('Nothing is done.');
      const changed = { ...record, cost: 0.5 };
      if (turn === 'change') {
        rows.note([changed]);
        store.commit({ records: [changed], attempts: [] });
      }
      looks.clear();
      const { mine, whole } = await both(plan, rows, store);
      expect(mine).toEqual(whole);
    }
  });

  it('are made again if they are discarded before any was written', async () => {
    const { plan } = await countingPlan(`
      matrix: { word: [fox, owl], tone: [warm, dry] }
      steps:
        cover: { imagine: the same for all }
        note: { when: 'tone != "dry"', imagine: "{{ word }}, {{ tone }}" }
    `);
    const store = memoryStore();
    await finish(plan, store, { most: 1, record: done });
    const rows = settledRows(plan);
    // The first cell waits for its note; the second shows only what the first has shown, and is settled.
    for (const cell of (await cellsOf(plan)).slice(0, 2)) rows.resolve(cell, (key) => store.get(key));
    rows.close();
    const { mine, whole } = await both(plan, rows, store);
    expect(mine).toEqual(whole);
  });

  it('keep each job of a finished plan once, in 16 to 32 bytes', async () => {
    const { plan } = await countingPlan(`
      matrix: { n: { from: 1, to: 1000 } }
      steps:
        note: { imagine: "Number {{ n }}", path: U1 }
    `);
    const store = memoryStore();
    for (let round = 0; round < 2; round += 1)
      for (const cell of await cellsOf(plan))
        for (const slot of plan.resolve(cell, (key) => store.get(key)))
          if (slot.ready) store.commit({ records: [done(slot)], attempts: [] });
    let bytes = 0;
    class Counted extends Uint32Array {
      constructor(length: number) {
        super(length);
        bytes += 4 * length;
      }
    }
    vi.stubGlobal('Uint32Array', Counted);
    try {
      const rows = settledRows(plan);
      await admit(plan, rows, store);
      rows.close();
    } finally {
      vi.unstubAllGlobals();
    }
    // Each table was made in half the size before, and so on.
    expect(bytes).toBeGreaterThan(16 * 2000);
    expect(bytes).toBeLessThan(2 * 32 * 2000);
  });

  it('leave no file behind, and are discarded if they cannot be written', async () => {
    const { plan } = await countingPlan();
    const store = memoryStore();
    await finish(plan, store);
    const text = new RowText(plan.matrix.variables, {});
    const rows = new SettledRows(plan, text, join(folder, 'gone', 'manifest.csv'), invocation, () => false);
    await admit(plan, rows, store);
    const { mine, whole } = await both(plan, rows, store);
    expect(mine).toEqual(whole);
    expect(readdirSync(folder)).toEqual(['manifest.csv']);
  });

  it('that do not fit on the disk give their file up, and the manifest is written without them', async () => {
    const { plan } = await countingPlan();
    const store = memoryStore();
    await finish(plan, store);
    const options = { plan, selection: {}, reader: store.reader, file: file() };
    const written = async (code: string): Promise<readonly unknown[]> => {
      const acts: string[] = [];
      const rows = Object.assign(settledRows(plan), {
        close: () => void acts.push('closed'),
        parts: () => {
          throw Object.assign(new Error(code), { code, syscall: 'write' });
        },
      });
      const result = await writeRunManifest({ ...options, settled: rows }).catch(String);
      return [typeof result === 'string' ? result : result.totals.rows > 0, acts];
    };
    expect(await written('ENOSPC')).toEqual([true, ['closed']]);
    expect(await written('EACCES')).toEqual(['Error: EACCES', ['closed']]);
  });
});
