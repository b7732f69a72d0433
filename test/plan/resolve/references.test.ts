import { describe, expect, test } from 'vitest';
import type { BranchAddress, Step } from '../../../src/pipeline/pipeline.ts';
import { buildGraph } from '../../../src/plan/graph/build.ts';
import type { SlotGraph } from '../../../src/plan/graph/slot-template.ts';
import { resolveCell } from '../../../src/plan/resolve/resolve.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { pipelineOf } from '../../rig/pipeline-builder.ts';
import { Scene } from '../scene.ts';
import { button, gridButtons, SimulatedState } from '../simulated-state.ts';

describe('templates that name a step', () => {
  const text = `
    steps:
      pick: { from: grid, click: reroll }
      grid: { imagine: a fox, path: "U1..U2" }
      best: { from: grid, click: "{{ steps.pick.button }}", path: V1 }`;

  test('the slot has no job until that step is done on its branch', async () => {
    const scene = await Scene.of(text);
    scene.done('grid');
    const name = 'best/{{ steps.pick.button }}';
    expect(scene.lines().filter((text) => text.startsWith('best'))).toEqual([
      `${name} pending`,
      `${name}/V1 pending`,
    ]);
    expect(scene.at(name).job).toBeUndefined();
    expect(scene.at(`${name}/V1`).job).toBeUndefined();
    scene.state.done(scene.at('pick/reroll'), gridButtons, { pressed: button('', 'U2') });
    expect(scene.at(name)).toMatchObject({ status: 'pending', ready: true });
    expect(scene.at(name).job?.key).toBe(scene.at('grid/U2').job?.key);
    expect(scene.at(`${name}/V1`).job).toBeDefined();
  });

  test('image jobs offer prompt, button, task_id and image_url', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: U1 }
        up: { from: grid/U1, click: Vary }
        b:
          imagine: "{{ steps.up.prompt }}|{{ steps.up.button }}|{{ steps.up.task_id }}|{{ steps.up.image_url }}"`);
    scene.done('grid', 'grid/U1');
    const up = scene.at('up/U1/Vary');
    scene.state.done(up, [], { pressed: button('Vary (Strong)'), taskId: 'T9' });
    expect(scene.at('b').prompt).toBe(`a fox|Vary (Strong)|T9|https://images.test/${up.job?.key}.png`);
  });

  test('it is the job on this branch', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: "U1..U2" }
        a: { from: grid/*, click: V1 }
        b: { from: grid/*, click: "{{ steps.a.task_id }}" }
        c: { from: a, click: "{{ steps.a.task_id }} {{ steps.grid.task_id }}" }`);
    scene.done('grid', 'grid/U1', 'grid/U2', 'a/U1/V1', 'a/U2/V1');
    const pressed = (step: string): unknown[] =>
      scene
        .slots()
        .filter((slot) => slot.step === step)
        .map(
          ({ job }) =>
            job?.request.kind === 'click' &&
            job.request.press.map((press) => 'text' in press && press.text)[0],
        );
    const [one, two] = ['a/U1/V1', 'a/U2/V1'].map((name) => scene.at(name).record?.taskId);
    expect(one).not.toBe(two);
    expect(pressed('b')).toEqual([one, two]);
    const grid = scene.at('grid').record?.taskId;
    expect(pressed('c')).toEqual([`${one} ${grid}`, `${two} ${grid}`]);
  });

  test('several jobs there, which validation refuses, fail the slot', async () => {
    const { steps } = await pipelineOf(`
      steps:
        grid: { imagine: a fox, path: "U1..U2" }
        a: { from: grid/*, click: V1 }
        b: { from: grid/*, click: "{{ steps.a.task_id }}" }`);
    const [grid, a, b] = steps as [Step, Step, Step];
    const from = { ...(b.from as BranchAddress), segments: [] };
    const graph = buildGraph([grid, a, { ...b, from }]) as SlotGraph;
    const state = new SimulatedState();
    const slots = (): readonly Slot[] =>
      resolveCell({ serviceId: 'x', slotGraph: graph }, { number: 1, vars: {}, repeat: 1 }, state.lookup);
    state.done(slots()[0] as Slot);
    expect(slots().at(-1)).toMatchObject({ status: 'failed', error: { code: 'template.several' } });
    expect(slots().at(-1)?.job).toBeUndefined();
  });

  test('when that job fails, is blocked or skipped, so is the slot', async () => {
    const name = 'best/{{ steps.pick.button }}';
    const failing = await Scene.of(text);
    failing.done('grid');
    failing.state.fail(failing.at('pick/reroll'), 'task.failed');
    expect(failing.at(name)).toMatchObject({
      status: 'blocked',
      error: { code: 'ancestor.failed', message: 'blocked by pick/reroll: task.failed' },
    });
    expect(failing.at(`${name}/V1`).error?.message).toBe('blocked by pick/reroll: task.failed');

    const skipping = await Scene.of(text.replace('click: reroll', 'click: reroll, when: repeat == 2'));
    skipping.done('grid');
    expect(skipping.at(name)).toMatchObject({
      status: 'skipped',
      error: { code: 'ancestor.skipped', message: 'skipped with pick/reroll: when.false' },
    });
  });

  test('under one that is in doubt it waits', async () => {
    const scene = await Scene.of(text);
    scene.done('grid');
    scene.state.put(scene.at('pick/reroll'), 'in-doubt');
    expect(scene.at('best/{{ steps.pick.button }}')).toMatchObject({ status: 'pending', ready: false });
  });
});

describe('templates that fail for one cell', () => {
  test('the slot fails with the code, without a job; what follows is blocked; the rest continues', async () => {
    const text = `
      matrix: { m: [{ name: ink }, { title: oil }] }
      steps: { grid: { imagine: "{{ m.name }}", path: U1 }, other: { imagine: x } }`;
    expect((await Scene.of(text, undefined, 0)).lines()).toEqual([
      'grid pending!',
      'grid/U1 pending',
      'other pending!',
    ]);
    const bad = await Scene.of(text, undefined, 1);
    expect(bad.lines()).toEqual(['grid failed', 'grid/U1 blocked', 'other pending!']);
    expect(bad.at('grid').error?.code).toBe('template.undefined');
    expect(bad.at('grid').job).toBeUndefined();
  });

  test.each([
    [
      'an empty prompt',
      `{ matrix: { a: [" "] }, steps: { grid: { imagine: "{{ a }}" } } }`,
      'template.empty',
    ],
    [
      'an empty label',
      `{ matrix: { a: [""] }, steps: { g: { imagine: x, path: "{{ a }}" } } }`,
      'template.empty',
    ],
    [
      'a prompt beyond all bounds',
      `{ matrix: { a: ["${'x'.repeat(33_000)}"] }, steps: { grid: { imagine: "{{ a }}" } } }`,
      'template.limit',
    ],
    [
      'a condition',
      `{ matrix: { m: [{ a: 1 }, { b: 1 }] }, steps: { g: { imagine: x, when: m.b == 1 } } }`,
      'template.undefined',
    ],
  ])('%s', async (_, text, code) => {
    const slot = (await Scene.of(text)).slots().at(-1);
    expect(slot).toMatchObject({ status: 'failed', error: { code } });
    expect(slot?.job).toBeUndefined();
  });

  test('reported before money is spent above, unless a step above may yet be skipped', async () => {
    const text =
      '{ matrix: { m: [{ a: 1 }, { b: V1 }] }, steps: { g: { imagine: x, path: "U1 → {{ m.b }}" } } }';
    expect((await Scene.of(text)).lines().at(-1)).toBe('g/U1/{{ m.b }} failed');
    const later = await Scene.of(text.replace('U1', 'U1?'));
    expect(later.lines().at(-1)).toBe('g/U1/{{ m.b }} pending');
    later.done('g', 'g/U1');
    expect(later.lines().at(-1)).toBe('g/U1/{{ m.b }} failed');
  });
});
