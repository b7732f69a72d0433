import { describe, expect, test } from 'vitest';
import { renderValue } from '../../src/pipeline/values/value.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { cellsOf, planOf } from '../rig/pipeline-builder.ts';
import { filesOf } from './scene.ts';

/** Keys by what the cell's variables are, then by slot. */
async function keysOf(plan: Plan): Promise<Map<string, string>> {
  const keys = new Map<string, string>();
  for (const cell of await cellsOf(plan)) {
    const vars = ['animal', 'medium'].map((name) => renderValue(cell.vars[name] ?? null)).join(' ');
    for (const { step, branch, job } of plan.resolve(cell, () => undefined))
      keys.set(`${vars} ${cell.repeat} ${[step, ...branch].join('/')}`, job?.key ?? '');
  }
  return keys;
}

const text = `
  matrix:
    animal: [fox, owl]
    medium: [ink, oil]
  steps:
    grid: { imagine: "{{ animal }} in {{ medium }}", path: "U1..U2 → Vary (Strong)" }
    cat: { imagine: "a cat in {{ medium }}" }`;

const before = keysOf(await planOf(text));

test('the order of axes, of steps and of fields, and variables without use, change no key', async () => {
  const keys = await before;
  const changed = await planOf(`
    matrix:
      medium: [oil, ink]
      unused: [1]
      animal: [owl, fox]
    limits: { tasks: 7 }
    service: { speed: turbo }
    steps:
      cat: { keep: false, imagine: "a cat in {{ medium }}" }
      grid: { path: "U1?,U2 → Vary (Strong)?", when: animal != "cat", imagine: "{{ animal }} in {{ medium }}" }`);
  expect(await keysOf(changed)).toEqual(keys);
  expect(new Set(keys.values()).size).toBe(4 * 5 + 2);
});

test('editing one value changes its cells and no other', async () => {
  const changed = await keysOf(await planOf(text.replace('[fox, owl]', '[fox, lynx]')));
  const foxes = [...(await before)].filter(([name]) => name.startsWith('fox'));
  expect(foxes.length).toBe(12);
  for (const [name, key] of foxes) expect(changed.get(name)).toBe(key);
  const keys = new Set((await before).values());
  const fresh = [...changed].filter(([name]) => name.startsWith('lynx') && !name.includes('cat'));
  expect(fresh.length).toBe(10);
  for (const [, key] of fresh) expect(keys).not.toContain(key);
});

test('editing one prompt changes that step and the steps that depend on it', async () => {
  const changed = await keysOf(await planOf(text.replace('{{ animal }} in', 'a {{ animal }} in')));
  const kept = [...(await before)].filter(([name, key]) => changed.get(name) === key);
  expect(kept.map(([name]) => name)).toEqual([...changed.keys()].filter((name) => name.includes('cat')));
});

test("changing a path's tail keeps its head", async () => {
  const changed = await keysOf(await planOf(text.replace('Vary (Strong)', 'Vary (Subtle) → U3')));
  const heads = [...(await before)].filter(([name]) => !name.includes('Vary'));
  expect(heads.length).toBe(16);
  for (const [name, key] of heads) expect(changed.get(name)).toBe(key);
  expect([...changed.keys()].filter((name) => name.includes('Vary')).length).toBe(16);
});

test('repeat added later keeps the first results', async () => {
  const changed = await keysOf(
    await planOf(text.replace('medium: [ink, oil]', 'medium: [ink, oil]\n    repeat: 2')),
  );
  expect(changed.size).toBe(2 * (await before).size);
  for (const [name, key] of await before) expect(changed.get(name)).toBe(key);
  expect(new Set(changed.values()).size).toBe(2 * (4 * 5 + 2));
});

test('another service shares no key', async () => {
  const keys = new Set((await before).values());
  const changed = await keysOf(await planOf(text, 'sandbox'));
  expect([...changed.values()].filter((key) => keys.has(key))).toEqual([]);
});

describe('text steps', () => {
  const texts = `
    matrix:
      animal: [fox, owl]
      medium: [ink, oil]
    steps:
      grid: { imagine: "{{ animal }} in {{ medium }}", path: "U1..U2" }
      pick: { from: grid, generate: { model: m, prompt: "which {{ animal }}?", images: [parent] } }
      rank: { gather: grid/*, chat: { model: m, prompt: rank them } }
      why: { from: pick, generate: { model: m, prompt: why?, continue: pick, images: [steps.grid] } }
      poem: { generate: { model: m, prompt: "a poem of {{ medium }}" } }`;

  test('keep their keys for other call settings, limits and prices', async () => {
    const changed = await planOf(`
      matrix:
        medium: [oil, ink]
        animal: [owl, fox]
      limits: { text: 1/s, tokens: 1000/min }
      budget: { tokens: 9 }
      prices: { m: { input: 1, output: 2 } }
      models: { m: { thinking: none } }
      steps:
        poem: { keep: false, generate: { stream: true, prompt: "a poem of {{ medium }}", model: m } }
        why: { from: pick, generate: { accept: [MAX_TOKENS], images: [steps.grid], continue: pick, prompt: why?, model: m } }
        rank: { gather: grid/*, when: animal != "cat", chat: { stream: true, prompt: rank them, model: m } }
        pick: { from: grid, extra: {}, generate: { images: [parent], prompt: "which {{ animal }}?", model: m } }
        grid: { keep: false, imagine: "{{ animal }} in {{ medium }}", path: "U1..U2" }`);
    const keys = await keysOf(await planOf(texts));
    expect(await keysOf(changed)).toEqual(keys);
    expect(new Set(keys.values()).size).toBe(4 * 6 + 2);
  });

  test('change only the steps that show, continue or gather an edited one', async () => {
    const before = await keysOf(await planOf(texts));
    const changedBy = async (from: string, to: string): Promise<Set<string>> => {
      const after = await keysOf(await planOf(texts.replace(from, to)));
      const changed = [...after].filter(([name, key]) => before.get(name) !== key);
      return new Set(changed.map(([name]) => name.replace(/^.* 1 /, '')));
    };
    expect(await changedBy('rank them', 'order them')).toEqual(new Set(['rank']));
    expect(await changedBy('which', 'what')).toEqual(new Set(['pick', 'why']));
    expect(await changedBy('a poem', 'a song')).toEqual(new Set(['poem']));
    expect(await changedBy('}} in', '}} with')).toEqual(
      new Set(['grid', 'grid/U1', 'grid/U2', 'pick', 'rank', 'why']),
    );
    expect(await changedBy('U1..U2', 'U2,U1')).toEqual(new Set(['rank']));
  });
});

describe('entry points and masks', () => {
  const files = filesOf({
    'fox.png': 'f',
    'owl.png': 'o',
    'renamed/fox.png': 'f',
    'renamed/owl.png': 'o',
    'ink.png': 'i',
    'oil.png': 'l',
  });
  const text = `
    matrix:
      animal: [fox, owl]
      medium: [ink, oil]
    steps:
      words: { describe: { image: "{{ animal }}.png" } }
      grid: { imagine: { prompt: "in {{ medium }}", images: ["{{ animal }}.png"] }, path: "U1..U2" }
      scarf: { from: grid/U1, click: Vary (Region), prompt: a scarf, mask: "{{ medium }}.png" }
      again: { from: grid/U2, click: Vary (Subtle), remix: true }
      mix: { gather: grid/*, blend: { dimensions: square } }
      move: { from: mix, video: { image: parent, endImage: steps.hat, motion: low } }
      hat: { edit: { image: "{{ animal }}.png", prompt: a hat, mask: { shapes: [{ ellipse: [0, 0, 1, 0.5] }] } } }`;
  const keys = async (pipeline: string): Promise<Map<string, string>> =>
    keysOf(await planOf(pipeline, undefined, files));

  test('keep their keys for other file names, orders, prices and `invert: false`', async () => {
    const changed = text
      .replaceAll('"{{ animal }}.png"', '"renamed/{{ animal }}.png"')
      .replace('mask: "{{ medium }}.png"', 'mask: { invert: false, file: "{{ medium }}.png" }')
      .replace('0.5] }]', '0.50] }], invert: false')
      .replace('dimensions: square', 'dimensions: SQUARE')
      .replace('{ describe:', '{ keep: false, extra: {}, describe:')
      .replace('[ink, oil]', '[oil, ink]')
      .replace('steps:', 'prices: { blend: 3 }\n    steps:');
    const before = await keys(text);
    expect(await keys(changed)).toEqual(before);
    // A describe and an edit ask nothing of the medium.
    expect(new Set(before.values()).size).toBe(2 * 2 + 4 * 7);
  });

  test('change only the steps that show or depend on an edited one', async () => {
    const before = await keys(text);
    const changedBy = async (from: string, to: string): Promise<readonly string[]> => {
      const after = await keys(text.replace(from, to));
      const changed = [...after].filter(([name, key]) => before.get(name) !== key);
      return [...new Set(changed.map(([name]) => name.replace(/^.* 1 /, '')))].toSorted();
    };
    const [scarf, again] = ['scarf/U1/Vary (Region)', 'again/U2/Vary (Subtle)'];
    expect(await changedBy('in {{', 'with {{')).toEqual(
      ['grid', 'grid/U1', 'grid/U2', scarf, again, 'mix', 'move'].toSorted(),
    );
    expect(await changedBy('mask: "{{ medium }}.png"', 'mask: fox.png')).toEqual([scarf]);
    expect(await changedBy('a scarf', 'a tie')).toEqual([scarf]);
    expect(await changedBy('remix: true', 'remix: true, prompt: in fog')).toEqual([again]);
    expect(await changedBy('a hat', 'a cap')).toEqual(['hat', 'move']);
    expect(await changedBy('0.5] }]', '0.5] }], invert: true')).toEqual(['hat', 'move']);
    expect(await changedBy('motion: low', 'motion: high')).toEqual(['move']);
    expect(await changedBy('U1..U2', 'U2,U1')).toEqual(['mix', 'move']);
  });
});
