import { expect, test } from 'vitest';
import { renderValue } from '../../src/pipeline/value.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { cellsOf, planOf } from '../rig/pipeline-builder.ts';

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

test('editing one prompt changes that step and what follows from it', async () => {
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

test('another service shares nothing', async () => {
  const keys = new Set((await before).values());
  const changed = await keysOf(await planOf(text, 'sandbox'));
  expect([...changed.values()].filter((key) => keys.has(key))).toEqual([]);
});
