import { expect, test } from 'vitest';
import type { BranchAddress, Step } from '../../../src/pipeline/pipeline.ts';
import { buildGraph } from '../../../src/plan/graph/build.ts';
import type { SlotGraph } from '../../../src/plan/graph/slot-template.ts';
import { preparePlan } from '../../../src/plan/plan.ts';
import { noFiles, pipelineOf, planOf } from '../../rig/pipeline-builder.ts';

test('steps are resolved after all they need and listed as in the file', async () => {
  const { slotGraph: graph } = await planOf(`
    steps:
      c: { from: b, click: "{{ steps.a.task_id }}" }
      b: { from: d, click: U1 }
      a: { imagine: x }
      d: { imagine: y }`);
  expect(graph.order.map(({ step }) => step.name)).toEqual(['d', 'b', 'a', 'c']);
  expect([...graph.steps.keys()]).toEqual(['c', 'b', 'a', 'd']);
  expect(graph.templates.map(({ step, index }) => `${index} ${step.name}`)).toEqual([
    '0 c',
    '1 b',
    '2 a',
    '3 d',
  ]);
});

test('** of a step without a path is its own operation', async () => {
  const { steps } = await pipelineOf('steps: { a: { imagine: x }, b: { from: a, click: U1 } }');
  const [a, b] = steps as [Step, Step];
  const graph = buildGraph([
    a,
    { ...b, from: { ...(b.from as BranchAddress), segments: ['**'] } },
  ]) as SlotGraph;
  expect(graph.templates.map(({ branch }) => branch)).toEqual([[], ['U1']]);
});

test('a plan with too many slots in a cell is refused at the step that goes over', async () => {
  const pipeline = await pipelineOf(`
    name: big
    steps:
      a: { imagine: x, path: "U1..U20 → V1..V20" }
      b: { from: a/**, click: W, path: "U1..U30" }`);
  const plan = await preparePlan(pipeline, { files: noFiles, serviceId: 'x' });
  expect(plan).toMatchObject({
    ok: false,
    error: [{ code: 'plan.too-large', severity: 'error', line: 4, column: 3, file: 'test.yaml' }],
  });
  expect(plan.ok ? '' : plan.error[0]?.sourceLine).toContain('b: { from: a/**');
});

test('errors of the matrix are reported together with it', async () => {
  const pipeline = await pipelineOf(`
    name: big
    matrix: { n: [1] }
    steps: { a: { imagine: "{{ n }}", path: "U1..U20 → V1..V20 → W1..W24" } }`);
  const exclude = [{ values: { n: 1 }, position: { line: 2, column: 1, length: 1 } }];
  const plan = await preparePlan(
    { ...pipeline, matrix: { ...pipeline.matrix, exclude } },
    { files: noFiles, serviceId: 'x' },
  );
  expect(plan.ok ? [] : plan.error.map(({ code }) => code)).toEqual(['matrix.empty', 'plan.too-large']);
});

test('steps that wait for each other, which validation refuses, are a bug', async () => {
  const { steps } = await pipelineOf('steps: { a: { imagine: x }, b: { imagine: y } }');
  const [a, b] = steps as [Step, Step];
  expect(() =>
    buildGraph([
      { ...a, after: ['b'] },
      { ...b, after: ['a'] },
    ]),
  ).toThrow(/^Internal error:/);
  expect(() => buildGraph([{ ...a, kind: 'click' }])).toThrow(/^Internal error:/);
});
