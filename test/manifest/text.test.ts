import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeManifest } from '../../src/manifest/write.ts';
import { tokenCounts } from '../../src/pipeline/kinds.ts';
import type { Artifact, JobRecord, TokenUsage } from '../../src/plan/job.ts';
import type { TextCandidate } from '../../src/plan/job-request.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { Slot } from '../../src/plan/slot.ts';
import type { ManifestTotals } from '../../src/results/row-ledger.ts';
import type { StateReader } from '../../src/state/reader.ts';
import { readManifest } from '../rig/manifest.ts';
import { type MemoryStore, memoryStore } from '../rig/memory-store.ts';
import { planOf } from '../rig/pipeline-builder.ts';
import { doneRecord, finish } from './finish.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Row = Readonly<Record<string, string>>;

async function written(
  plan: Plan,
  { reader }: { readonly reader: StateReader },
  escapeFormulas = false,
): Promise<{ readonly rows: readonly Row[]; readonly totals: ManifestTotals; readonly bytes: Buffer }> {
  const file = join(folder, 'manifest.csv');
  const totals = await writeManifest({ plan, selection: {}, reader, file, escapeFormulas });
  return { totals, rows: await readManifest(file), bytes: await readFile(file) };
}

const one = (step: string): Promise<Plan> => planOf(`{ steps: { say: ${step} } }`);

const candidate = (text: string, finishReason = 'STOP'): TextCandidate => ({
  text,
  isJson: false,
  finishReason,
  parts: [{ text }],
});

const file = (output: number, of: number, kind: 'text' | 'image'): Artifact => ({
  output,
  file: kind === 'text' ? `text/ab/ab-${output}.txt` : `images/ab/ab-${output}.png`,
  bytes: 10,
  sha256: 'c0ffee',
  mime: kind === 'text' ? 'text/plain' : 'image/png',
  ...(kind === 'text' ? {} : { width: 8, height: 4 }),
  candidate: of,
});

/** A finished text job; it has no task. */
function textRecord(slot: Slot, changes: Partial<JobRecord>): JobRecord {
  const { taskId: _task, result: _result, cost: _cost, speed: _speed, ...record } = doneRecord(slot);
  return { ...record, artifacts: [], ...changes };
}

const stored = async (plan: Plan, changes: (slot: Slot) => Partial<JobRecord>): Promise<MemoryStore> => {
  const store = memoryStore();
  await finish(plan, store, { record: (slot) => textRecord(slot, changes(slot)) });
  return store;
};

const generate = '{ generate: { model: text-pro, prompt: Say something. } }';

describe('the rows of a text job', () => {
  it('show each candidate’s text on the row of its file, and the counts on the first one', async () => {
    const plan = await one(generate);
    const store = await stored(plan, () => ({
      text: {
        candidates: [candidate('a fox'), candidate('an owl,\n"grey"', 'MAX_TOKENS')],
        model: 'text-pro-002',
        requestId: 'req-1',
      },
      artifacts: [file(1, 1, 'text'), file(2, 1, 'image'), file(3, 2, 'text')],
      usage: { prompt: 7, candidates: 20, thoughts: 100, total: 127 },
      cost: 0.1 + 0.2,
    }));
    const { rows, totals } = await written(plan, store);
    const columns = ['file_name', 'text', 'finish_reason', 'model', 'width', 'total_tokens', 'cost'] as const;
    expect(rows.map((row) => columns.map((name) => row[name]))).toEqual([
      ['text/ab/ab-1.txt', 'a fox', 'STOP', 'text-pro-002', '', '127', '0.3'],
      ['images/ab/ab-2.png', '', 'STOP', 'text-pro-002', '8', '', ''],
      ['text/ab/ab-3.txt', 'an owl,\n"grey"', 'MAX_TOKENS', 'text-pro-002', '', '', ''],
    ]);
    expect(rows[0]).toMatchObject({
      kind: 'generate',
      prompt: 'Say something.',
      prompt_tokens: '7',
      // Not said by the service, which is not 0.
      cached_tokens: '',
      candidates_tokens: '20',
      thoughts_tokens: '100',
      tool_tokens: '',
      request_id: 'req-1',
      task_id: '',
      block_reason: '',
    });
    expect(totals).toMatchObject({
      rows: 3,
      files: 3,
      cost: 0.3,
      tokens: { prompt: 7, candidates: 20, thoughts: 100, total: 127 },
    });
  });

  it('show the text in the only row if no file was kept', async () => {
    const plan = await one('{ generate: { model: text-pro, prompt: Say something. }, keep: false }');
    const store = await stored(plan, () => ({ text: { candidates: [candidate('a fox')] } }));
    const { rows } = await written(plan, store);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ text: 'a fox', file_name: '', status: 'done', model: 'text-pro' });
  });

  it('show the content of a failed reply, and why it was rejected', async () => {
    const plan = await one(generate);
    const error = {
      code: 'text.max-tokens' as const,
      message: 'The answer was cut off.',
      requestId: 'req-2',
    };
    const store = await stored(plan, () => ({
      status: 'failed',
      error,
      text: { candidates: [candidate('a fo', 'MAX_TOKENS')], requestId: 'req-1' },
      usage: { prompt: 3, candidates: 1 },
    }));
    const { rows, totals } = await written(plan, store);
    expect(rows[0]).toMatchObject({
      status: 'failed',
      text: 'a fo',
      finish_reason: 'MAX_TOKENS',
      prompt_tokens: '3',
      total_tokens: '',
      error_code: 'text.max-tokens',
      request_id: 'req-2',
    });
    expect(totals.tokens).toEqual({ prompt: 3, candidates: 1 });
    expect(totals.cost).toBeUndefined();
  });

  it('show why a prompt was blocked', async () => {
    const plan = await one(generate);
    const store = await stored(plan, () => ({
      status: 'failed',
      error: { code: 'text.blocked', message: 'The prompt was blocked (SAFETY).' },
      text: { candidates: [], blockReason: 'SAFETY' },
      usage: { prompt: 3, total: 3 },
    }));
    const { rows } = await written(plan, store);
    expect(rows[0]).toMatchObject({ block_reason: 'SAFETY', finish_reason: '', text: '', total_tokens: '3' });
  });

  it('count the estimated tokens of replies without a token count, if the job has no other figure', async () => {
    const plan = await one(generate);
    const store = await stored(plan, () => ({
      status: 'failed',
      error: { code: 'connection.lost', message: 'The connection was lost.' },
      assumed: { answers: 2, tokens: 300, cost: 0.5 },
    }));
    const { rows, totals } = await written(plan, store);
    expect(rows).toMatchObject([{ total_tokens: '', cost: '' }]);
    expect(totals).toMatchObject({ assumedTokens: 300, possibleCost: 0.5 });
    expect(store.totals()).toMatchObject({ assumedTokens: 300, possibleCost: 0.5 });
  });

  it('know the requested model before any reply came', async () => {
    const { rows } = await written(await one(generate), memoryStore());
    expect(rows[0]).toMatchObject({ model: 'text-pro', status: 'pending', total_tokens: '', text: '' });
  });

  it.each<readonly [string, string]>([
    [
      '{ chat: { model: m, messages: [{ role: system, content: Be brief. }, { role: user, content: Hello }] } }',
      'Hello',
    ],
    [
      '{ chat: { model: m, messages: [{ role: user, content: first }, { role: assistant, content: yes }, { role: user, content: [{ type: text, text: second }, { type: text, text: third }] }] } }',
      'second\nthird',
    ],
    [
      '{ generate: { model: m, contents: [{ role: user, parts: [{ text: first }] }, { role: model, parts: [{ text: yes }] }, { parts: [{ text: second }] }] } }',
      'second',
    ],
    [
      '{ generate: { model: m, contents: [{ role: model, parts: [{ text: only the model }] }] } }',
      'only the model',
    ],
  ])('have the user’s last words as prompt: %s', async (step, prompt) => {
    expect((await written(await one(step), memoryStore())).rows[0]).toMatchObject({ prompt });
  });

  it('are escaped for spreadsheets like all others', async () => {
    const plan = await one(generate);
    const store = await stored(plan, () => ({ text: { candidates: [candidate('=HYPERLINK("x")')] } }));
    expect((await written(plan, store)).rows[0]?.['text']).toBe('=HYPERLINK("x")');
    expect((await written(plan, store, true)).rows[0]?.['text']).toBe(`'=HYPERLINK("x")`);
  });
});

describe('the token columns', () => {
  it('add up to the counts of the jobs, however many slots share a job and however many rows it has', async () => {
    // Both words ask for the same where the prompt does not name them.
    const plan = await planOf(`
      matrix:
        word: [fox, owl, hare]
      steps:
        say:
          generate: { model: m, prompt: "{{ word }}" }
        same:
          generate: { model: m, prompt: "the same for all" }
    `);
    const amount = fc.option(fc.nat({ max: 2 ** 31 }), { nil: undefined });
    const usage = fc.record({
      prompt: amount,
      cached: amount,
      candidates: amount,
      thoughts: amount,
      tool: amount,
      total: amount,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ usage, cost: fc.option(fc.nat({ max: 1000 }), { nil: undefined }), files: fc.nat(3) }),
          { minLength: 4, maxLength: 4 },
        ),
        async (jobs) => {
          const counted: TokenUsage[] = [];
          let costs = 0;
          let next = 0;
          const store = await stored(plan, () => {
            const { usage: sparse, cost, files } = jobs[next] as (typeof jobs)[number];
            next += 1;
            const known: TokenUsage = Object.fromEntries(
              Object.entries(sparse).filter(([, value]) => value !== undefined),
            );
            counted.push(known);
            costs += cost ?? 0;
            return {
              usage: known,
              text: { candidates: [candidate('words')] },
              artifacts: Array.from({ length: files }, (_, index) => file(index + 1, 1, 'text')),
              ...(cost === undefined ? {} : { cost }),
            };
          });
          const { rows, totals, bytes } = await written(plan, store);
          expect(next).toBe(4);
          for (const name of tokenCounts) {
            const sum = rows.reduce((total, row) => total + Number(row[`${name}_tokens`]), 0);
            const wanted = counted.reduce((total, used) => total + (used[name] ?? 0), 0);
            expect(sum).toBe(wanted);
            expect(totals.tokens?.[name] ?? 0).toBe(wanted);
          }
          expect(rows.reduce((total, row) => total + Number(row['cost']), 0)).toBe(costs);
          expect((await written(plan, store)).bytes.equals(bytes)).toBe(true);
        },
      ),
      { seed: 5, numRuns: 30 },
    );
  });
});

describe('the rows of other image steps', () => {
  const planned = (step: string): Promise<Plan> => planOf(`{ steps: { it: ${step} } }`);
  const link = 'https://images.test/fox.png';
  const taskStore = async (plan: Plan, changes: Partial<JobRecord>): Promise<MemoryStore> => {
    const store = memoryStore();
    await finish(plan, store, { record: (slot) => doneRecord(slot, changes) });
    return store;
  };

  it('show a description on one row, with its file or without', async () => {
    const prompts = ['a fox --ar 3:2', 'an owl, "grey"'];
    for (const artifacts of [[], [file(1, 1, 'text')]]) {
      const keep = artifacts.length > 0;
      const plan = await planned(`{ describe: { image: "${link}" }, keep: ${keep} }`);
      const store = await taskStore(plan, { artifacts, result: { buttons: [], prompts } });
      const { rows } = await written(plan, store);
      expect(rows).toMatchObject([
        {
          file_name: artifacts[0]?.file ?? '',
          kind: 'describe',
          status: 'done',
          text: 'a fox --ar 3:2\n\nan owl, "grey"',
          model: '',
          image_url: '',
          cost: '0.04',
        },
      ]);
    }
  });

  it('show each video on its own row, with its own link, and the cost once', async () => {
    const plan = await planned(`{ video: { image: "${link}", prompt: it runs } }`);
    const videoUrls = ['https://images.test/1.mp4', 'https://images.test/2.mp4'];
    const artifacts = [1, 2].map((output) => ({
      output,
      file: `video/ab/ab-${output}.mp4`,
      bytes: 10 * output,
      sha256: 'c0ffee',
      mime: 'video/mp4',
    }));
    const store = await taskStore(plan, { artifacts, result: { buttons: [], videoUrls } });
    const { rows, totals } = await written(plan, store);
    expect(rows).toMatchObject(
      artifacts.map(({ file: name, output }) => ({
        file_name: name,
        output: String(output),
        image_url: videoUrls[output - 1],
        mime: 'video/mp4',
        width: '',
        text: '',
        prompt: 'it runs',
        cost: output === 1 ? '0.04' : '',
      })),
    );
    expect(totals).toMatchObject({ rows: 2, files: 2, cost: 0.04, slots: { done: 1 } });
  });

  it('show a job whose modal waits', async () => {
    const plan = await one('{ imagine: a fox }');
    const store = await taskStore(plan, { status: 'modal', artifacts: [], modal: { taskId: 'T9', sent: 0 } });
    const { rows, totals } = await written(plan, store);
    expect(rows).toMatchObject([{ status: 'modal', file_name: '' }]);
    expect(totals.slots).toMatchObject({ modal: 1, done: 0 });
  });
});
