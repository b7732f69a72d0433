import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { estimatePlan } from '../../../src/plan/estimate/estimate.ts';
import { hasOnlyParameters } from '../../../src/plan/request/render.ts';
import { planOf } from '../../rig/pipeline-builder.ts';
import { filesOf, Scene } from '../scene.ts';

describe('a prompt', () => {
  it.each([
    ['--v 6.1', true],
    ['  --v 6.1', true],
    [', --v 6.1 --stylize 50', true],
    ['--ar 3:2 --raw --tile', true],
    ['—v 7', true],
    ['--no red, blue things --v 6.1', true],
    ['--v=6.1 --seed 3', true],
    ['--v 6.1\n--ar 1:1', true],
    ['a fox --v 6.1', false],
    ['🦊 --v 6.1', false],
    ['狐 --v 6.1', false],
    ['https://a.example/a.png --v 6.1', false],
    ['--v 6.1 a fox', false],
    ['--v=6.1 fox', false],
    ['', false],
    ['...', false],
    ['-- a fox', false],
    ['5 --v 6.1', false],
  ])('%j has only parameters: %s', (prompt, expected) => {
    expect(hasOnlyParameters(prompt)).toBe(expected);
  });

  it('has more than parameters only if a word precedes them', () => {
    const flag = fc.constantFrom('--v 6.1', '--ar 3:2', '--raw', '—seed 4', '--no a b c');
    fc.assert(
      fc.property(
        fc.array(flag, { minLength: 1, maxLength: 5 }),
        fc.stringMatching(/^[a-z0-9]{1,8}$/),
        (all, word) => {
          expect(hasOnlyParameters(all.join(' '))).toBe(true);
          expect(hasOnlyParameters(`${word} ${all.join(' ')}`)).toBe(false);
        },
      ),
    );
  });
});

const files = filesOf({ 'a.png': 'a' });
const blank = (steps: string): Promise<Scene> =>
  Scene.of(`\n      matrix:\n        text: ["", a fox]\n      steps:\n        ${steps}`, files);

test.each([
  ['it: { imagine: "{{ text }} --v 6.1" }'],
  ['it: { imagine: ", {{ text }} --v 6.1", extra: { mode: x } }'],
  [
    'it: { edit: { image: a.png, prompt: "{{ text }} --v 6.1", mask: { shapes: [{ rectangle: [0, 0, 1, 1] }] } } }',
  ],
])('a prompt with only parameters fails its cell before it is paid: %s', async (steps) => {
  const scene = await blank(steps);
  expect(scene.at('it')).toMatchObject({ status: 'failed', error: { code: 'prompt.empty' } });
  expect(scene.at('it').job).toBeUndefined();
});

test('a modal answer with only parameters fails too, except for the factor of a Custom Zoom', async () => {
  const scene = await blank(
    `g: { imagine: "a fox", path: U1 }
        it: { from: g/U1, click: Vary (Strong), remix: true, prompt: "{{ text }} --v 6.1" }
        zoom: { from: g/U1, click: Custom Zoom, prompt: "{{ text }} --zoom 2" }`,
  );
  scene.done('g', 'g/U1');
  expect(scene.at('it/U1/Vary (Strong)')).toMatchObject({
    status: 'failed',
    error: { code: 'prompt.empty' },
  });
  expect(scene.at('zoom/U1/Custom Zoom')).toMatchObject({ status: 'pending' });
});

test.each([
  ['it: { imagine: { prompt: "{{ text }} --v 6.1", images: [a.png] } }'],
  ['it: { imagine: "{{ text }} --v 6.1", extra: { base64Array: [x] } }'],
  ['it: { generate: { model: m, prompt: "{{ text }} --v 6.1" } }'],
])('a prompt with only parameters is sent with an image or to a text model: %s', async (steps) => {
  expect((await blank(steps)).at('it')).toMatchObject({ status: 'pending' });
});

test('a plan counts cells whose prompt has only parameters, and names the first', async () => {
  const plan = await planOf(`
      matrix:
        text: [a fox, "", " "]
      steps:
        it: { imagine: "{{ text }} --v 6.1" }`);
  const { total, warnings } = await estimatePlan(plan, {}, undefined);
  expect(total).toMatchObject({ slots: 3, submits: 1, invalid: 2 });
  expect(warnings).toEqual([
    { code: 'plan.invalid', message: expect.stringMatching(/^2 slots fail .*cell 2, it: .*parameters/) },
  ]);
});
