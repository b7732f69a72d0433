import { expect, it } from 'vitest';
import { makesTasks } from '../../../../src/cli/run/engine/spec.ts';
import { stepsForRun } from '../../../../src/run/run-plan.ts';
import { planOf } from '../../../rig/pipeline-builder.ts';

const text = `
name: both
matrix: { animal: [fox, owl] }
steps:
  grid: { imagine: "{{ animal }}" }
  name: { generate: { model: text-pro, prompt: "Name the {{ animal }}." } }
  caption: { from: grid, generate: { model: text-pro, prompt: Caption this., images: [parent] } }
`;

it.each([
  [undefined, true],
  [['name'], false],
  [['name', 'grid'], true],
  // Its grid runs too, where there is none.
  [['caption'], true],
])('makes tasks where a step that may run is none of texts: --only %s', async (only, expected) => {
  const plan = await planOf(text);
  const { steps } = stepsForRun(plan, only === undefined ? {} : { only });
  expect(makesTasks(plan, steps)).toBe(expected);
});

it('takes all steps for such that may run where none are named', async () => {
  expect(makesTasks(await planOf(text))).toBe(true);
  expect(makesTasks(await planOf(text.replace(/ {2}(?:grid|caption):.*\n/g, '')))).toBe(false);
});
