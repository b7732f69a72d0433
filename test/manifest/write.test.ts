import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { manifestColumns } from '../../src/manifest/columns.ts';
import { writeWhole } from '../../src/manifest/whole-file.ts';
import { writeManifest } from '../../src/manifest/write.ts';
import type { Selection } from '../../src/plan/cell.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { ManifestTotals } from '../../src/results/row-ledger.ts';
import type { StateReader } from '../../src/state/reader.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { cellsOf, planOf } from '../rig/pipeline-builder.ts';
import { slowWork } from '../rig/slow-work.ts';
import { doneRecord, failedRecord, finish } from './finish.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Rows = readonly Readonly<Record<string, string>>[];

async function written(
  plan: Plan,
  { reader }: { readonly reader: StateReader },
  selection: Selection = {},
): Promise<{ readonly text: string; readonly rows: Rows; readonly totals: ManifestTotals }> {
  const file = join(folder, 'manifest.csv');
  const totals = await writeManifest({ plan, selection, reader, file });
  const text = await readFile(file, 'utf8');
  return { text, totals, rows: parse(text, { columns: true }) as Rows };
}

const twoSteps = `
  matrix:
    animal: [fox, owl]
    medium: [{ name: ink, stylize: 50 }]
  steps:
    grid:
      imagine: "{{ animal }}, {{ medium.name }}"
      path: U1,U2 → Vary (Strong)
    other:
      imagine: the same for all
`;

describe('manifest.csv', () => {
  it('has its columns in the documented order, then the variables', async () => {
    const { text } = await written(await planOf(twoSteps), memoryStore());
    const promised =
      'file_name, cell, step, branch, output, status, kind, prompt, text, model, image_url, task_id, parent_task_id, button, ' +
      'custom_id, speed, width, height, bytes, mime, sha256, finish_reason, block_reason, prompt_tokens, cached_tokens, ' +
      'candidates_tokens, thoughts_tokens, tool_tokens, other_tokens, total_tokens, cost, attempts, submitted_at, finished_at, error_code, ' +
      'error_message, request_id, job, accepted, reused_from, seed, picked, var.animal, var.medium';
    expect(text.split('\r\n')[0]).toBe(promised.replaceAll(', ', ','));
    expect(manifestColumns).toHaveLength(42);
  });

  it('has a row for every planned slot before any run, with empty results', async () => {
    const { rows, totals } = await written(await planOf(twoSteps), memoryStore());
    expect(rows.map(({ cell, step, branch, status }) => `${cell} ${step} ${branch} ${status}`)).toEqual(
      [1, 2].flatMap((cell) => [
        `${cell} grid  pending`,
        `${cell} grid U1 pending`,
        `${cell} grid U1/Vary (Strong) pending`,
        `${cell} grid U2 pending`,
        `${cell} grid U2/Vary (Strong) pending`,
        `${cell} other  pending`,
      ]),
    );
    const { cell, step, branch, status, kind, prompt, job, ...unknown } = rows[0] ?? {};
    expect({ cell, step, branch, status, kind, prompt }).toMatchObject({
      kind: 'imagine',
      prompt: 'fox, ink',
    });
    expect(job).toMatch(/^[0-9a-f]{32,}$/);
    expect(unknown['var.medium']).toBe('{"name":"ink","stylize":50}');
    const empty = Object.entries(unknown).filter(([name]) => !name.startsWith('var.'));
    expect(empty.filter(([, value]) => value !== '')).toEqual([]);
    expect(totals).toMatchObject({ rows: 12, files: 0, slots: { pending: 12, done: 0 }, reasons: [] });
  });

  it('shows the facts of a finished job, its ancestor’s prompt and task, and the pressed button', async () => {
    const plan = await planOf(twoSteps);
    const store = memoryStore();
    await finish(plan, store);
    const { rows } = await written(plan, store);
    const [grid, first] = rows;
    expect(grid).toMatchObject({
      status: 'done',
      output: '1',
      width: '1024',
      height: '512',
      bytes: '1234',
      mime: 'image/png',
      cost: '0.04',
      attempts: '1',
      speed: 'fast',
      submitted_at: '2026-11-01T12:00:00.000Z',
      finished_at: '2026-11-01T12:01:00.000Z',
      parent_task_id: '',
      button: '',
    });
    expect(grid?.['file_name']).toBe(`images/${grid?.['job']?.slice(0, 2)}/${grid?.['job']}-1.png`);
    expect(first).toMatchObject({
      kind: 'click',
      prompt: 'fox, ink',
      button: 'U1',
      custom_id: 'IMG::U1',
      parent_task_id: grid?.['task_id'],
    });
  });

  it('shows a button without a label by its emoji', async () => {
    const plan = await planOf('{ steps: { grid: { imagine: a fox, path: reroll } } }');
    const store = memoryStore();
    const reroll = { customId: 'IMG::JOB::reroll::0::x::SOLO', label: '', emoji: '🔄' };
    await finish(plan, store, {
      record: (slot) => doneRecord(slot, slot.kind === 'click' ? { pressed: reroll } : {}),
    });
    const { rows } = await written(plan, store);
    expect(rows[1]).toMatchObject({ button: '🔄', custom_id: reroll.customId });
  });

  it('has a row for each of a slot’s files, and counts the slot once', async () => {
    const plan = await planOf('{ steps: { grid: { imagine: a fox } } }');
    const store = memoryStore();
    await finish(plan, store, {
      record: (slot) => {
        const record = doneRecord(slot);
        const [artifact] = record.artifacts;
        if (artifact === undefined) throw new Error('no artifact');
        return { ...record, artifacts: [artifact, { ...artifact, output: 2, file: 'images/x-2.png' }] };
      },
    });
    const { rows, totals } = await written(plan, store);
    expect(rows.map(({ output, cost }) => [output, cost])).toEqual([
      ['1', '0.04'],
      ['2', ''],
    ]);
    expect(totals).toMatchObject({ rows: 2, files: 2, cost: 0.04 });
    expect(totals.slots.done).toBe(1);
  });

  it('shows the cost of a shared job once, so that the column can be summed', async () => {
    const plan = await planOf(twoSteps);
    const store = memoryStore();
    await finish(plan, store);
    const { rows, totals } = await written(plan, store);
    const shared = rows.filter(({ step }) => step === 'other');
    expect(new Set(shared.map(({ job }) => job)).size).toBe(1);
    expect(shared.map(({ cost }) => cost)).toEqual(['0.04', '']);
    const sum = rows.reduce((total, { cost = '' }) => total + Number(cost), 0);
    expect(sum).toBeCloseTo(store.totals().cost, 9);
    expect(totals.cost).toBe(store.totals().cost);
  });

  it('sums possible cost like the state: of lost responses, and of replies without a token count', async () => {
    const plan = await planOf(twoSteps);
    const store = memoryStore();
    await finish(plan, store);
    const [first, second] = [...store.withStatus('done')] as [JobRecord, JobRecord];
    const doubtful = { count: 1, cost: 0.25, since: 1 };
    const assumed = { answers: 2, tokens: 300, cost: 0.5 };
    const records = [
      { ...first, doubtful, assumed },
      { ...second, assumed },
    ];
    store.commit({ records, attempts: [] });
    const { totals } = await written(plan, store);
    expect(totals).toMatchObject({ possibleCost: 1.25, assumedTokens: 600 });
    expect(store.totals()).toMatchObject({ possibleCost: 1.25, assumedTokens: 600 });
  });

  it('keeps every text unchanged: commas, quotes, line breaks of all kinds, other scripts', async () => {
    const message = 'said "no", twice,\r\nthen\nagain\r and 不行 🦊';
    const plan = await planOf('{ steps: { grid: { imagine: "a \\"fox\\", red", path: U1 } } }');
    const store = memoryStore();
    await finish(plan, store, {
      record: (slot) => failedRecord(slot, { code: 'task.failed', message, requestId: '20261101abc' }),
    });
    const { text, rows, totals } = await written(plan, store);
    expect(rows[0]).toMatchObject({
      prompt: 'a "fox", red',
      error_code: 'task.failed',
      error_message: message,
      request_id: '20261101abc',
      cost: '',
    });
    expect(rows[1]).toMatchObject({ status: 'blocked', request_id: '' });
    expect(text.endsWith('\r\n')).toBe(true);
    expect(text.startsWith('file_name,')).toBe(true);
    expect(totals.reasons).toEqual([{ status: 'failed', code: 'task.failed', count: 1, message }]);
    expect(totals.slots).toMatchObject({ failed: 1, blocked: 1 });
  });

  it.each(['two\nlines', 'two\rlines', 'two\r\nlines'])(
    'quotes %j, so that no reader ends the row there',
    async (scene) => {
      const plan = await planOf(
        `{ matrix: { scene: [${JSON.stringify(scene)}] }, steps: { grid: { imagine: "{{ scene }}" } } }`,
      );
      const { text, rows } = await written(plan, memoryStore());
      expect(rows.map((row) => row['var.scene'])).toEqual([scene]);
      expect(text.endsWith(`,"${scene}"\r\n`)).toBe(true);
      expect(text).toContain(`,imagine,"${scene}",`);
    },
  );

  it('is the same bytes whatever the order of completion, and when written twice', async () => {
    const plan = await planOf(`
      matrix: { animal: [fox, owl, hare] }
      steps:
        grid:
          imagine: "{{ animal }}"
          path: U1..U3 → Vary (Strong)
        other:
          imagine: the same for all
    `);
    const inOrder = memoryStore();
    await finish(plan, inOrder);
    const { text } = await written(plan, inOrder);
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat({ max: 1000 })), async (choices) => {
        const store = memoryStore();
        await finish(plan, store, { pick: (ready) => (choices.next().value as number) % Math.max(1, ready) });
        expect((await written(plan, store)).text).toBe(text);
        expect((await written(plan, store)).text).toBe(text);
      }),
      { seed: 7, numRuns: 15 },
    );
  });

  it('masks secrets that a service has repeated', async () => {
    const plan = await planOf('{ steps: { grid: { imagine: a fox } } }');
    const store = memoryStore();
    await finish(plan, store, {
      record: (slot) =>
        failedRecord(slot, { code: 'service.rejected', message: 'bad key sk-123456, sk-123456' }),
    });
    const file = join(folder, 'manifest.csv');
    const redact = (text: string): string => text.replaceAll('sk-123456', '[secret]');
    await writeManifest({ plan, selection: {}, reader: store.reader, file, redact });
    const written = await readFile(file, 'utf8');
    expect(written).toContain('bad key [secret], [secret]');
    expect(written).not.toContain('sk-123456');
  });

  it('masks them in every row, even if the rows are written in several chunks', async () => {
    const rows = 300;
    const plan = await planOf(
      `{ matrix: { n: { from: 1, to: ${rows} } }, steps: { grid: { imagine: "a fox {{ n }}" } } }`,
    );
    const store = memoryStore();
    const slots = (await cellsOf(plan)).flatMap((cell) => plan.resolve(cell, () => undefined));
    const error = { code: 'service.rejected' as const, message: 'bad key sk-123456' };
    store.commit({ records: slots.map((slot) => failedRecord(slot, error)), attempts: [] });
    const file = join(folder, 'manifest.csv');
    const redact = (text: string): string => text.replaceAll('sk-123456', '[secret]');
    await writeManifest({ plan, selection: {}, reader: store.reader, file, redact });
    const written = await readFile(file, 'utf8');
    expect(written.split('bad key [secret]')).toHaveLength(rows + 1);
    expect(written).not.toContain('sk-123456');
  });
});

describe('a manifest that is stopped while it is written', () => {
  it('ends with the reason of the signal, and leaves the earlier manifest as it was', async () => {
    const plan = await planOf(
      '{ matrix: { n: { from: 1, to: 300 } }, steps: { grid: { imagine: "a fox {{ n }}" } } }',
    );
    const file = join(folder, 'manifest.csv');
    await writeFile(file, 'before');
    const stop = new AbortController();
    const reader: StateReader = {
      ...memoryStore().reader,
      many: async () => {
        stop.abort(new Error('enough'));
        return new Map();
      },
    };
    await expect(writeManifest({ plan, selection: {}, reader, file, signal: stop.signal })).rejects.toThrow(
      'enough',
    );
    expect(await readFile(file, 'utf8')).toBe('before');
    expect(await readdir(folder)).toEqual(['manifest.csv']);
  });
});

describe('a file written whole', () => {
  it('is unchanged, without temporary files, when writing fails', async () => {
    const file = join(folder, 'manifest.csv');
    await writeFile(file, 'before');
    async function* failing(): AsyncGenerator<string> {
      yield 'half';
      await Promise.reject(new Error('the disk is full'));
    }
    await expect(writeWhole(file, failing())).rejects.toThrow('the disk is full');
    expect(await readFile(file, 'utf8')).toBe('before');
    expect(await readdir(folder)).toEqual(['manifest.csv']);
  });
});

describe('a manifest with slow cells', () => {
  afterEach(() => vi.restoreAllMocks());

  it('stops within a cell when it is aborted, and leaves no file', async () => {
    const slow = slowWork();
    const plan = await planOf(twoSteps.replace('[fox, owl]', '{ from: 1, to: 1000 }'));
    const resolve: Plan['resolve'] = (cell, lookup) => {
      slow.work();
      return plan.resolve(cell, lookup);
    };
    const signal = slow.abortAfter(3);
    const file = join(folder, 'manifest.csv');
    const { reader } = memoryStore();
    const writing = writeManifest({ plan: { ...plan, resolve }, selection: {}, reader, file, signal });
    await expect(writing).rejects.toThrow('heard');
    expect([slow.done(), await readdir(folder)]).toEqual([3, []]);
  });
});
