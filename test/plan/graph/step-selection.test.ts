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

test('--only chooses the named steps and exactly what they need', async () => {
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

test('--only names no step that picks, because it has no job', async () => {
  const plan = await planOf(`
  matrix: { n: [1, 2] }
  steps:
    say: { chat: { model: m, prompt: "{{ n }}" } }
    best: { best: { from: say, by: "{{ steps.say.text }}", over: all } }
    more: { from: best, chat: { model: m, prompt: more } }`);
  const choice = chosenSteps(plan, ['best']);
  const message = 'Step "best" picks from the jobs of others and has none of its own.';
  expect(choice).toMatchObject({ ok: false, error: { code: 'plan.unknown-step', message } });
});

test('--only without names chooses everything', async () => {
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

test('an unknown name is refused with a suggestion', async () => {
  expect(await chosen(text, ['more', 'gird'])).toEqual(['plan.unknown-step', 'Did you mean "grid"?']);
});

test('several names choose what any of them needs', async () => {
  expect(await chosen(text, ['pick', 'more'])).toEqual([
    'grid',
    'grid/U1',
    'grid/U1/V2',
    'pick',
    'pick/U1',
    'more/U1/V2/Zoom',
    'more/U1/V2/Zoom/A',
    'more/U1/V2/Zoom/B',
  ]);
});

test('a step that is read or continued on several branches is needed on each', async () => {
  const several = `
    steps:
      grid: { imagine: a fox, path: "U1..U3" }
      talk: { from: grid/*, generate: { model: m, prompt: hi } }
      why: { from: grid/*, generate: { model: m, prompt: why, continue: talk } }
      read: { from: grid/*, imagine: "{{ steps.talk.text }}" }`;
  const needed = ['grid', 'grid/U1', 'grid/U2', 'grid/U3', 'talk/U1', 'talk/U2', 'talk/U3'];
  expect(await chosen(several, ['why'])).toEqual([...needed, 'why/U1', 'why/U2', 'why/U3']);
  expect(await chosen(several, ['read'])).toEqual([...needed, 'read/U1', 'read/U2', 'read/U3']);
});

test('all that a step gathers is needed, and what its condition reads', async () => {
  const gathering = `
    steps:
      grid: { imagine: a fox, path: "U1..U3" }
      say: { generate: { model: m, prompt: hi } }
      idle: { imagine: an owl }
      best: { gather: grid/*, imagine: the best, when: steps.say.text == "yes" }`;
  expect(await chosen(gathering, ['best'])).toEqual(['grid', 'grid/U1', 'grid/U2', 'grid/U3', 'say', 'best']);
});

test('a branch below two wildcards needs both', async () => {
  const wild = `
    steps:
      grid: { imagine: a fox, path: "U* → V*" }
      more: { from: grid/U1/V2, click: Zoom }`;
  expect(await chosen(wild, ['more'])).toEqual(['grid', 'grid/U*', 'grid/U*/V*', 'more/U1/V2/Zoom']);
});
