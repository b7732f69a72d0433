import { describe, expect, test } from 'vitest';
import { buildGraph } from '../../src/plan/graph/build.ts';
import { chosenSteps } from '../../src/plan/graph/step-selection.ts';
import { inputsOf } from '../../src/plan/job.ts';
import type { JobRequest } from '../../src/plan/job-request.ts';
import { identityOf, jobKey } from '../../src/plan/key.ts';
import { preparePlan } from '../../src/plan/plan.ts';
import type { Slot } from '../../src/plan/slot.ts';
import { noFiles, pipelineOf, planOf } from '../rig/pipeline-builder.ts';
import { GatherScene, text } from './gather-rig.ts';
import { gridButtons, line } from './simulated-state.ts';

describe('a step that gathers', () => {
  test('has one slot, whose job has every selected job as input, and no parent', async () => {
    const scene = await GatherScene.of(text);
    expect(scene.slots().map(line)).toEqual([
      'judge pending',
      'grid pending!',
      'grid/U1 pending',
      'grid/U2 pending',
      'grid/U3 pending',
    ]);
    const { branch, kind, prompt, job, depth } = scene.judge;
    expect({ branch, kind, prompt, depth }).toEqual({
      branch: [],
      kind: 'imagine',
      prompt: 'the best',
      depth: 2,
    });
    expect(job).toMatchObject({ inputs: scene.keys('grid/U1', 'grid/U2', 'grid/U3') });
    expect(job).not.toHaveProperty('parent');
    expect(scene.plan.slotsPerCell).toBe(5);
  });

  test('has a golden key: a change here orphans every finished job', async () => {
    const scene = await GatherScene.of(
      text.replace('imagine: the best', 'imagine: { prompt: the best, images: [] }'),
    );
    expect(scene.judge.job).toEqual({
      key: 'efc31828e83bc3cfdd55dcc35e283635',
      kind: 'imagine',
      request: { kind: 'imagine', fields: { prompt: 'the best' } },
      inputs: [
        '933923c53a70c07ff4b75798547a9470',
        '166ee85d9c5fae90d46cadae16d6ca19',
        'f8d0b7453919e7bd7fd1e44b9f530933',
      ],
    });
  });

  test.each([
    ['grid', ['grid'], 1],
    ['grid/U2', ['grid/U2'], 2],
    ['grid/*', ['grid/U1', 'grid/U2'], 2],
    ['grid/U2/*', ['grid/U2/X', 'grid/U2/Y'], 3],
    ['grid/**', ['grid/U1/X', 'grid/U1/Y', 'grid/U2/X', 'grid/U2/Y'], 3],
    ['more', ['more/U1/V1', 'more/U2/V1'], 3],
    ['more/**', ['more/U1/V1/Z', 'more/U2/V1/Z'], 4],
  ])('gather: %s', async (address, names, depth) => {
    const scene = await GatherScene.of(`
      steps:
        grid: { imagine: a fox, path: "U1..U2 → X,Y" }
        judge: { gather: "${address}", imagine: the best }
        more: { from: grid/*, click: V1, path: Z }`);
    const keys = scene.keys(...names);
    expect(inputsOf(scene.judge.job ?? {})).toEqual(keys);
    expect(scene.judge.job?.request).toMatchObject({ images: keys.map((job) => ({ job })) });
    expect(scene.judge.job?.parent).toBe(keys.length === 1 ? keys[0] : undefined);
    expect(scene.judge.depth).toBe(depth);
  });

  test('has one input for each slot, even if slots share a job', async () => {
    const scene = await GatherScene.of(`
      matrix: { favourite: [U1] }
      steps:
        grid: { imagine: a fox, path: "U1,{{ favourite }}" }
        judge: { gather: grid/*, imagine: the best }`);
    expect(scene.judge.job?.inputs).toEqual(scene.keys('grid/U1', 'grid/U1'));
  });

  test('has order and number of its inputs in its key, but not its repeat', async () => {
    const keys = await Promise.all(
      ['U1..U3', 'U3,U2,U1', 'U1,U2'].map(
        async (path) => (await GatherScene.of(text.replace('U1..U3', path))).judge.job?.key,
      ),
    );
    expect(new Set(keys).size).toBe(3);

    const repeated = `matrix: { repeat: 2 }\n${text.replaceAll('\n  ', '\n')}`;
    const [first, second] = [
      await GatherScene.of(repeated, undefined, 0),
      await GatherScene.of(repeated, undefined, 1),
    ];
    expect(first.judge.job?.key).toBe(keys[0]);
    const { key, inputs = [], request } = second.judge.job ?? {};
    expect(key).not.toBe(keys[0]);
    expect(key).toBe(jobKey(identityOf(second.plan.serviceId, request as JobRequest, inputs, 1)));
  });

  test('lets other steps start at its own operation', async () => {
    const scene = await GatherScene.of(`
      steps:
        grid: { imagine: a fox, path: "U1..U2" }
        judge: { gather: grid/*, imagine: the best, path: "V1,V2" }
        next: { from: judge/V2, click: Zoom }
        last: { gather: next, imagine: a frame }`);
    expect(scene.slots().map(({ step, branch, depth }) => `${[step, ...branch].join('/')} ${depth}`)).toEqual(
      ['grid 0', 'grid/U1 1', 'grid/U2 1', 'judge 2', 'judge/V1 3', 'judge/V2 3', 'next/V2/Zoom 4', 'last 5'],
    );
    expect(scene.at('next/V2/Zoom').job?.parent).toBe(scene.at('judge/V2').job?.key);
    expect(scene.at('judge/V1').prompt).toBe('the best');
    expect(scene.at('last').job?.parent).toBe(scene.at('next/V2/Zoom').job?.key);
    scene.done('grid', 'grid/U1', 'grid/U2', 'judge', 'judge/V2', 'next/V2/Zoom');
    expect(scene.slots().map(line)).toEqual([
      'grid done',
      'grid/U1 done',
      'grid/U2 done',
      'judge done',
      'judge/V1 pending!',
      'judge/V2 done',
      'next/V2/Zoom done',
      'last pending!',
    ]);
  });
});

describe('templates', () => {
  test('read steps as any other root does', async () => {
    const scene = await GatherScene.of(`
      steps:
        grid: { imagine: a fox, path: "U1..U2" }
        judge: { gather: grid/*, imagine: "unlike {{ steps.grid.task_id }}" }
        late: { imagine: "like {{ steps.judge.task_id }}" }`);
    expect(scene.judge.job).toBeUndefined();
    scene.state.done(scene.at('grid'), gridButtons, { taskId: 'T9' });
    expect(scene.judge.prompt).toBe('unlike T9');
    expect(scene.judge).toMatchObject({ ready: false, job: { inputs: scene.keys('grid/U1', 'grid/U2') } });
    scene.done('grid/U1', 'grid/U2', 'judge');
    expect(scene.at('late').ready).toBe(true);
  });

  test('report an error before money is spent, unless the inputs may be skipped', async () => {
    const yaml = `
      matrix: { m: [{ b: 1 }, { a: 1 }] }
      steps:
        judge: { gather: grid/*, imagine: "{{ m.a }}" }
        grid: { imagine: a fox, path: "U1,U2" }`;
    expect((await GatherScene.of(yaml)).judge).toMatchObject({
      status: 'failed',
      error: { code: 'template.undefined' },
    });
    const later = await GatherScene.of(yaml.replace('U1,U2', 'U1?,U2?'));
    expect(later.judge.status).toBe('pending');
    later.done('grid');
    later.fail('grid/U1', 'button.missing');
    expect(later.judge.status).toBe('pending');
    later.fail('grid/U2', 'button.missing');
    expect(later.judge.status).toBe('skipped');
  });
});

describe('the whole plan', () => {
  test('includes with --only everything that is gathered, and nothing else', async () => {
    const plan = await planOf(`
      steps:
        grid: { imagine: a fox, path: "U1..U2 → X,Y" }
        wild: { from: grid/U2, click: Zoom, path: "U* → V1,V2" }
        judge: { gather: grid/U1/*, imagine: the best, path: V3 }
        named: { gather: wild/U1/V2, imagine: another }
        other: { imagine: a cat }`);
    const chosen = (...only: string[]): unknown => {
      const choice = chosenSteps(plan, only);
      if (!choice.ok) throw new Error(choice.error.message);
      const slots = plan.resolve({ number: 1, vars: {}, repeat: 1 }, () => undefined);
      return slots
        .filter((slot) => choice.value.includes(slot))
        .map(({ step, branch }) => [step, ...branch].join('/'));
    };
    expect(chosen('judge')).toEqual(['grid', 'grid/U1', 'grid/U1/X', 'grid/U1/Y', 'judge', 'judge/V3']);
    expect(chosen('named')).toEqual([
      'grid',
      'grid/U2',
      'wild/U2/Zoom',
      'wild/U2/Zoom/U*',
      'wild/U2/Zoom/U*/V2',
      'named',
    ]);
  });

  test('resolves the step after its inputs, wherever it stands in the file', async () => {
    const { slotGraph: graph } = await planOf(`
      steps:
        c: { gather: b, imagine: x }
        b: { gather: a/*, imagine: y }
        a: { imagine: z, path: U1 }`);
    expect(graph.order.map(({ step }) => step.name)).toEqual(['a', 'b', 'c']);
    expect(graph.templates.map(({ step }) => step.name)).toEqual(['c', 'b', 'a', 'a']);
  });

  test('refuses too many gathered jobs in a cell, at the first step above the limit', async () => {
    const gathers = Array.from({ length: 12 }, (_, index) => `  j${index}: { gather: a/**, imagine: x }`);
    const pipeline = await pipelineOf(
      ['name: big', 'steps:', '  a: { imagine: x, path: "U1..U30 → V1..V30" }', ...gathers].join('\n'),
    );
    const plan = await preparePlan(pipeline, { files: noFiles, serviceId: 'x' });
    expect(plan).toMatchObject({ ok: false, error: [{ code: 'plan.too-large', line: 15 }] });
    expect(buildGraph(pipeline.steps.slice(0, 12))).not.toHaveProperty('tooMany');
  });

  test('resolves a long chain of wide gathers in time proportional to its inputs', async () => {
    const lines = Array.from(
      { length: 60 },
      (_, index) => `  s${index + 1}: { gather: s${index}/*, imagine: x, path: "U1..U40" }`,
    );
    const plan = await planOf(['steps:', '  s0: { imagine: x, path: "U1..U40" }', ...lines].join('\n'));
    const slots = plan.resolve({ number: 1, vars: {}, repeat: 1 }, () => undefined);
    expect(slots.at(-1)?.depth).toBe(121);
    expect(slots.every(({ job }) => job !== undefined)).toBe(true);
  });

  test('keeps the keys of other steps', async () => {
    const plain = await planOf('steps: { grid: { imagine: a fox, path: "U1..U3" } }');
    const keys = (slots: readonly Slot[]): unknown => slots.map(({ job }) => job?.key);
    const [, ...others] = (await GatherScene.of(text)).slots();
    expect(keys(others)).toEqual(keys(plain.resolve({ number: 1, vars: {}, repeat: 1 }, () => undefined)));
  });
});
