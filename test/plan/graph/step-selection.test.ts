import { expect, test } from 'vitest';
import { chosenSteps } from '../../../src/plan/graph/step-selection.ts';
import { planOf } from '../../rig/pipeline-builder.ts';

const cell = { number: 1, vars: {}, repeat: 1 };

async function chosen(text: string, only: readonly string[] | undefined): Promise<readonly string[]> {
  const plan = await planOf(text);
  const choice = chosenSteps(plan, only);
  if (!choice.ok) return [choice.error.code, choice.error.hint];
  return plan
    .resolve(cell, () => undefined)
    .filter((slot) => choice.value.includes(slot))
    .map(({ step, branch }) => [step, ...branch].join('/'));
}

const text = `
  steps:
    grid: { imagine: a fox, path: "U1..U2 → V1,V2" }
    pick: { imagine: a judge, path: U1 }
    more: { from: grid/U1/V2, click: Zoom, path: "A,B" }
    read: { from: more/A, click: "{{ steps.pick.task_id }}" }`;

test('the named steps and exactly what they need', async () => {
  expect(await chosen(text, ['more'])).toEqual([
    'grid',
    'grid/U1',
    'grid/U1/V2',
    'more/U1/V2/Zoom',
    'more/U1/V2/Zoom/A',
    'more/U1/V2/Zoom/B',
  ]);
  expect(await chosen(text, ['read'])).toEqual([
    'grid',
    'grid/U1',
    'grid/U1/V2',
    'pick',
    'more/U1/V2/Zoom',
    'more/U1/V2/Zoom/A',
    'read/U1/V2/Zoom/A/{{ steps.pick.task_id }}',
  ]);
  expect(await chosen(text, ['pick'])).toEqual(['pick', 'pick/U1']);
});

test('no names choose everything', async () => {
  const all = await chosen(text, undefined);
  expect(all.length).toBe(13);
  expect(await chosen(text, [])).toEqual(all);
  const plan = await planOf(text);
  const choice = chosenSteps(plan, ['more']);
  expect(choice.ok && [...choice.value.steps]).toEqual(['grid', 'more']);
});

test('one branch of a wildcard needs the wildcard', async () => {
  const wild = `
    steps:
      grid: { imagine: a fox, path: "U* → V1,V2" }
      more: { from: grid/U1/V2, click: Zoom }`;
  expect(await chosen(wild, ['more'])).toEqual(['grid', 'grid/U*', 'grid/U*/V2', 'more/U1/V2/Zoom']);
});

test('a name that no step has comes with a suggestion', async () => {
  expect(await chosen(text, ['more', 'gird'])).toEqual(['plan.unknown-step', 'Did you mean "grid"?']);
});
