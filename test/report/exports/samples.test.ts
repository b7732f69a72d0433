import { expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import {
  type Choice,
  LeftOut,
  type Sample,
  samples,
  withoutParameters,
} from '../../../src/report/exports/samples.ts';
import { doneRecord, finish } from '../../manifest/finish.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/pipeline-builder.ts';

it.each([
  ['a fox --ar 3:2 --v 6.1', 'a fox'],
  ['a fox —ar 3:2', 'a fox'],
  ['a fox –ar 3:2', 'a fox'],
  ['a fox - -ar 3:2', 'a fox'],
  ['/imagine prompt: a fox, ink', 'a fox, ink'],
  ['/imagine a fox', 'a fox'],
  ['https://img.example/a.png https://img.example/b.png a fox', 'a fox'],
  ['<https://img.example/a.png> a fox —v 7', 'a fox'],
  ['/imagine prompt:https://img.example/a.png a fox --iw 2', 'a fox'],
  ['a fox, <lora:ink:0.8>', 'a fox'],
  ['a fox, <lora:ink:0.8>, in snow', 'a fox, in snow'],
  ['a fox — asleep', 'a fox — asleep'],
  ['a well-known fox, 3 - 4 cubs', 'a well-known fox, 3 - 4 cubs'],
  ['a fox\nin snow', 'a fox\nin snow'],
  ['--ar 3:2', ''],
])('a caption of %j is %j', (prompt, caption) => {
  expect(withoutParameters(prompt)).toBe(caption);
});

/** The rows of a data set, and what is left out of it. @param record finishes each job; absent: none is begun */
async function taken(
  text: string,
  choice: Partial<Choice>,
  record?: (slot: Slot) => JobRecord,
): Promise<{ readonly rows: readonly Sample[]; readonly leftOut: LeftOut }> {
  const plan = await planOf(text);
  const store = memoryStore();
  if (record !== undefined) await finish(plan, store, { record });
  const leftOut = new LeftOut();
  const rows: Sample[] = [];
  const all: Choice = { selection: {}, onlySelected: false, statuses: new Set(['done']), parts: [] };
  const redact = (field: string): string => field.replaceAll('secret', '[secret]');
  for await (const row of samples(plan, { ...all, ...choice }, store.reader, leftOut, redact)) rows.push(row);
  return { rows, leftOut };
}

it('each part has about its share of the cells, repeats of a cell are in one, and all are in some', async () => {
  const parts = [
    { name: 'train', share: 0.7 },
    { name: 'test', share: 0.2 },
    { name: 'check', share: 0.1 },
  ];
  const { rows } = await taken(
    '{ matrix: { n: { from: 1, to: 300 }, repeat: 2 }, steps: { grid: { imagine: "{{ n }}" } } }',
    { parts, statuses: new Set(['pending']) },
  );
  expect(rows).toHaveLength(600);
  for (const { name, share } of parts)
    expect(Math.abs(rows.filter(({ part }) => part === name).length / 600 - share)).toBeLessThan(0.06);
  const partOf = new Map(rows.map(({ cell, part }) => [cell.vars['n'], part]));
  for (const { cell, part } of rows) expect(part).toBe(partOf.get(cell.vars['n']));
});

const captioned = `
  matrix: { animal: [fox, owl] }
  steps:
    grid: { imagine: "a {{ animal }} --ar 3:2" }
    say: { from: grid, generate: { model: m, prompt: say, images: [parent] } }
    more: { from: grid, generate: { model: m, prompt: more, images: [parent] } }
`;

/** The texts of each text step, with bars between them, and an image of each other one. */
const saying =
  (words: (slot: Slot) => string, changes: (slot: Slot) => Partial<JobRecord> = () => ({})) =>
  (slot: Slot): JobRecord => {
    if (slot.kind !== 'generate') return { ...doneRecord(slot), ...changes(slot) };
    const { result: _result, ...record } = doneRecord(slot);
    const said = words(slot);
    const candidates = said
      .split('|')
      .map((part) => ({ text: part, isJson: false, parts: [{ text: part }] }));
    const text = { candidates };
    return { ...record, artifacts: [], text, ...changes(slot) };
  };

it('a caption is the first text of its step about that image, without secrets, and else the prompt', async () => {
  const more = (slot: Slot): string => (slot.step === 'say' ? '|another' : '');
  const record = saying((slot) => `${slot.step} of cell ${slot.cell}, secret${more(slot)}`);
  const { rows, leftOut } = await taken(captioned, { captionStep: 'say' }, record);
  expect(rows.map(({ fields, caption }) => [fields[2], caption])).toEqual([
    ['grid', 'say of cell 1, [secret]'],
    ['more', 'more of cell 1, [secret]'],
    ['grid', 'say of cell 2, [secret]'],
    ['more', 'more of cell 2, [secret]'],
  ]);
  expect(leftOut.uncaptioned).toBe(0);
  const plain = await taken(captioned, { steps: new Set(['grid']) }, record);
  expect(plain.rows.map(({ caption }) => caption)).toEqual(['a fox', 'a owl']);
});

it('a text that failed is no caption: the image has none, and that is counted', async () => {
  const error = { code: 'connection.lost', message: 'no' } as const;
  const record = saying(
    () => 'said',
    (slot) => (slot.step === 'say' && slot.cell === 2 ? { status: 'failed', error } : {}),
  );
  const { rows, leftOut } = await taken(captioned, { captionStep: 'say', steps: new Set(['grid']) }, record);
  expect(rows.map(({ caption }) => caption)).toEqual(['said', 'a owl']);
  expect(leftOut.uncaptioned).toBe(1);
});

it('the single text of a cell that used no image is about all its images, several are about none', async () => {
  const steps = 'a: { imagine: one }, b: { imagine: two }';
  const words = (slot: Slot): string => `words ${slot.branch.join('')}`;
  const captions = async (text: string): Promise<readonly string[]> =>
    (await taken(text, { captionStep: 'say' }, saying(words))).rows.map(({ caption }) => caption);
  expect(await captions(`{ steps: { ${steps}, say: { generate: { model: m, prompt: p } } } }`)).toEqual([
    'words ',
    'words ',
  ]);
  // One that is about an image is about no other one.
  const about = `{ steps: { ${steps}, say: { from: a, generate: { model: m, prompt: p, images: [parent] } } } }`;
  expect(await captions(about)).toEqual(['words ', 'two']);
});

it('results outside of the selection are left out where only it is wanted', async () => {
  const text = '{ matrix: { n: [1, 2] }, steps: { grid: { imagine: "{{ n }}" } } }';
  const selection = { limit: 1 };
  const cells = async (onlySelected: boolean): Promise<readonly number[]> =>
    (await taken(text, { selection, onlySelected }, doneRecord)).rows.map(({ cell }) => cell.number);
  expect([await cells(false), await cells(true)]).toEqual([[1, 2], [1]]);
});
