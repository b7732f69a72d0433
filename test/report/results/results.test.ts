import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeManifest } from '../../../src/manifest/write.ts';
import type { JobError, JobRecord } from '../../../src/plan/job.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { groupAdvice } from '../../../src/report/results/advice.ts';
import type { CellResult } from '../../../src/report/results/cell-results.ts';
import { packResults } from '../../../src/report/results/pack.ts';
import { SummaryCounter } from '../../../src/report/results/summary.ts';
import type { Commands } from '../../../src/report/text/next-commands.ts';
import { doneRecord, failedRecord, finish } from '../../manifest/finish.ts';
import { type ManifestRow, readManifest } from '../../rig/manifest.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/pipeline-builder.ts';
import { unpacked } from '../../rig/report.ts';
import { contextOf, resultsOf, textRecord } from './rig.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const pipeline = `
  matrix:
    animal: [fox, "=1+1", "</script>"]
    medium: [{ name: ink, stylize: 6.0 }, { name: oil, stylize: 50 }]
  steps:
    grid:
      imagine: "{{ animal }}, {{ medium.name }}"
      path: U1,U2 → Vary (Strong)
    judge:
      gather: grid/*
      generate: { model: text-pro, prompt: Which is best? }
    same: { imagine: for all cells }
`;

const endings = ['done', 'failed', 'in-doubt', 'running', 'several'] as const;
type Ending = (typeof endings)[number];

function recordOf(slot: Slot, ending: Ending): JobRecord {
  const done = slot.kind === 'generate' ? textRecord(slot, 'The second one.') : doneRecord(slot);
  switch (ending) {
    case 'done':
      return done;
    case 'failed':
      return failedRecord(slot, { code: 'task.failed', message: 'No luck.', requestId: 'r-1' });
    case 'in-doubt':
      return {
        ...failedRecord(slot, { code: 'submit.interrupted', message: 'No answer.' }),
        status: 'in-doubt',
        doubtful: { count: 1, cost: 0.5 },
      };
    case 'running': {
      const { finishedAt: _, cost: __, result: ___, ...rest } = done;
      return { ...rest, status: 'running', artifacts: [] };
    }
    case 'several':
      return slot.kind === 'generate'
        ? done
        : {
            ...done,
            artifacts: [1, 2].flatMap((output) => done.artifacts.map((one) => ({ ...one, output }))),
          };
  }
}

const time = (unixMs: number | undefined): string =>
  unixMs === undefined ? '' : new Date(unixMs).toISOString();
const text = (value: string | number | undefined): string => (value === undefined ? '' : String(value));

/** What a row of the manifest says, said by a result and its detail. */
const asRow = ({ result, detail }: CellResult, names: readonly string[]): Partial<ManifestRow> => ({
  file_name: text(result.file),
  cell: text(result.cell),
  step: result.step,
  branch: result.branch,
  output: text(result.output),
  status: result.status,
  kind: result.kind,
  prompt: text(detail.prompt ?? result.prompt),
  text: text(detail.text),
  model: text(detail.model),
  image_url: text(detail.imageUrl),
  task_id: text(detail.taskId),
  parent_task_id: text(detail.parentTaskId),
  button: text(detail.button),
  speed: text(detail.speed),
  width: text(result.width),
  height: text(result.height),
  bytes: text(detail.bytes),
  mime: text(detail.mime),
  sha256: text(detail.sha256),
  finish_reason: text(detail.finishReason),
  block_reason: text(detail.blockReason),
  cost: text(result.cost),
  attempts: text(detail.attempts),
  submitted_at: time(detail.submittedAt),
  finished_at: time(result.finishedAt),
  error_code: text(result.errorCode),
  picked: text(result.picked),
  error_message: text(result.errorMessage),
  request_id: text(detail.requestId),
  job: text(result.job),
  accepted: result.status === 'accepted' ? 'true' : '',
  ...Object.fromEntries(names.map((name, index) => [`var.${name}`, result.vars[index] ?? ''])),
});

/** Columns that a result does not have, or has on every row of a job. */
const notCompared = /^(custom_id|seed|reused_from)$|_tokens$/;

describe('results', () => {
  it('are the rows of the manifest with the same values, for jobs of any status', async () => {
    const plan = await planOf(pipeline);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...endings), { minLength: 1, maxLength: 12 }),
        fc.nat({ max: 40 }),
        async (wanted, most) => {
          const store = memoryStore();
          let count = 0;
          await finish(plan, store, {
            most,
            record: (slot) => {
              count += 1;
              return recordOf(slot, wanted[count % wanted.length] as Ending);
            },
          });
          const file = join(folder, 'manifest.csv');
          const mask = (given: string): string => given.replaceAll('No luck', '[secret]');
          await writeManifest({ plan, selection: {}, reader: store.reader, file, redact: mask });
          const rows = await readManifest(file);
          const results = await resultsOf(plan, store, mask);
          expect(results.map((each) => asRow(each, plan.matrix.variables))).toEqual(
            rows.map((row) =>
              Object.fromEntries(Object.entries(row).filter(([name]) => !notCompared.test(name))),
            ),
          );
          expect(results.map(({ result }) => result.at)).toEqual(rows.map((_, index) => index));
          expect(results.map(({ detail }) => detail.at)).toEqual(rows.map((_, index) => index));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('are the same after packing them into columns', async () => {
    const plan = await planOf(pipeline);
    const store = memoryStore();
    await finish(plan, store, {
      most: 9,
      record: (slot) => recordOf(slot, slot.cell === 2 ? 'failed' : 'done'),
    });
    const results = (await resultsOf(plan, store)).map(({ result }) => result);
    const steps = [...plan.slotGraph.steps.keys()];
    const named = { steps: steps.map((name) => ({ name, kind: '', branches: [], results: 0 })) };
    for (const size of [1, 7, results.length]) {
      const read = [];
      for (let from = 0; from < results.length; from += size)
        read.push(...unpacked(packResults(results.slice(from, from + size), steps), named));
      expect(read).toEqual(results);
    }
    expect(packResults([], steps)).toMatchObject({ from: 0, count: 0, vars: [] });
  });

  it('show the tokens and the cost of a job in the detail of each of its rows', async () => {
    const plan = await planOf('{ matrix: { n: [1, 2] }, steps: { all: { imagine: a fox } } }');
    const store = memoryStore();
    await finish(plan, store, {
      record: (slot) => doneRecord(slot, { cost: 0.25, usage: { prompt: 2, total: 5 } }),
    });
    const results = await resultsOf(plan, store);
    expect(results.map(({ result }) => result.cost)).toEqual([0.25, undefined]);
    expect(results.map(({ detail }) => [detail.cost, detail.tokens])).toEqual([
      [0.25, { prompt: 2, total: 5 }],
      [0.25, { prompt: 2, total: 5 }],
    ]);
  });

  it('link only to artifacts, whatever files the state names', async () => {
    const plan = await planOf('{ steps: { all: { imagine: a fox } } }');
    for (const file of ['../../.ssh/id', '/etc/passwd', 'javascript:alert(1)', 'images/../../x.png']) {
      const store = memoryStore();
      await finish(plan, store, {
        record: (slot) => {
          const { artifacts, ...done } = doneRecord(slot);
          return { ...done, artifacts: artifacts.map((one) => ({ ...one, file })) };
        },
      });
      expect((await resultsOf(plan, store))[0]?.result).not.toHaveProperty('file');
    }
  });

  it('contain the beginning of long texts, cut between characters, and the detail contains the full text', async () => {
    const long = `${'a'.repeat(239)}😀${'b'.repeat(20_000)}`;
    const plan = await planOf(`
      matrix: { word: ["${'x'.repeat(12_000)}"] }
      steps: { caption: { generate: { model: text-pro, prompt: "{{ word }} and more" } } }
    `);
    const store = memoryStore();
    await finish(plan, store, { record: (slot) => textRecord(slot, long) });
    const [each] = await resultsOf(plan, store);
    expect(each?.result.text).toBe('a'.repeat(239));
    expect(each?.detail.text).toBe(long);
    expect(each?.result.prompt).toBe('x'.repeat(10_000));
    expect(each?.detail.prompt).toBe(`${'x'.repeat(12_000)} and more`);
    expect(each?.result.vars).toEqual(['x'.repeat(10_000)]);
  });

  it('mask a secret before cutting its text', async () => {
    const secret = 'sk-0123456789abcdef';
    const plan = await planOf('{ steps: { say: { generate: { model: text-pro, prompt: Hello } } } }');
    const store = memoryStore();
    await finish(plan, store, { record: (slot) => textRecord(slot, `${'a'.repeat(230)}${secret}`) });
    const [each] = await resultsOf(plan, store, (given) => given.replaceAll(secret, '[secret]'));
    expect(JSON.stringify([each?.result, each?.detail])).not.toContain(secret.slice(0, 8));
  });

  it('have advice only for failures', async () => {
    const plan = await planOf(pipeline);
    const store = memoryStore();
    await finish(plan, store, { most: 1, record: (slot) => recordOf(slot, 'failed') });
    const failed = (await resultsOf(plan, store)).find(({ result }) => result.status === 'failed');
    expect(failed?.detail.advice).toMatch(/^The run submits it again only where the reason is known to pass/);
    expect(failed?.detail.commands).toEqual([
      'promptpress run test.yaml --retry-failed --code task.failed',
      `promptpress run test.yaml --redo ${failed?.result.job}`,
    ]);
    for (const { detail } of await resultsOf(plan, memoryStore()))
      expect(detail).not.toHaveProperty('advice');
  });

  it('have advice of their own where another run has the job', () => {
    const error = { code: 'reuse.open', message: 'another run has it' } as const;
    const slot = { status: 'in-doubt', kind: 'imagine', error } as unknown as Slot & { error: JobError };
    const commands = { run: 'promptpress run set.yaml', find: 'promptpress resolve --find' } as Commands;
    const group = groupAdvice(slot, true, { commands, running: false, mask: String });
    expect(group.advice).toMatch(/^Continue that run, and give --reuse again/);
    expect(group.commands).toEqual([
      'promptpress run set.yaml --reuse DIR',
      'promptpress run set.yaml --in-doubt retry',
    ]);
  });
});

describe('the summary', () => {
  it('counts results by status, step and variable, and failures by reason', async () => {
    const plan = await planOf(pipeline);
    const store = memoryStore();
    await finish(plan, store, {
      record: (slot) => recordOf(slot, slot.step === 'same' || slot.cell % 2 === 0 ? 'failed' : 'done'),
    });
    const results = await resultsOf(plan, store);
    const counter = new SummaryCounter(plan, contextOf(plan));
    for (const each of results) counter.add(each);
    const summary = await counter.summary(store.reader, { madeBy: 'promptpress 1', at: 7, live: false });
    const failed = results.filter(({ result }) => result.status === 'failed');
    expect(summary).toMatchObject({
      version: 1,
      name: 'test',
      sandbox: false,
      at: 7,
      results: results.length,
      indexed: results.length,
      statuses: { failed: failed.length },
      variables: [
        {
          name: 'animal',
          distinct: 3,
          values: [
            ['fox', 14],
            ['=1+1', 14],
            ['</script>', 14],
          ],
        },
        { name: 'medium', distinct: 2 },
      ],
      failures: [
        {
          code: 'task.failed',
          message: 'No luck.',
          results: failed.length,
          examples: failed.map(({ result }) => result.at).slice(0, 20),
          commands: ['promptpress run test.yaml --retry-failed --code task.failed'],
        },
      ],
    });
    expect(summary.steps.map(({ name, branches, results: number }) => [name, branches, number])).toEqual([
      ['grid', ['', 'U1', 'U1/Vary (Strong)', 'U2', 'U2/Vary (Strong)'], 30],
      ['judge', [''], 6],
      ['same', [''], 6],
    ]);
    // One job that six cells share is counted once.
    expect(summary.charts.attempts.find(({ step }) => step === 'same')).toMatchObject({ jobs: 1, failed: 1 });
  });
});
