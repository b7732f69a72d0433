import { describe, expect, test } from 'vitest';
import type { Cell } from '../../src/plan/cell.ts';
import { layOut } from '../../src/plan/graph/build.ts';
import { chosenSteps } from '../../src/plan/graph/step-selection.ts';
import { inputsOf } from '../../src/plan/job.ts';
import type { JobRequest } from '../../src/plan/job-request.ts';
import { identityOf, jobKey } from '../../src/plan/key.ts';
import { type Plan, preparePlan } from '../../src/plan/plan.ts';
import type { Slot } from '../../src/plan/slot.ts';
import { cellsOf, noFiles, pipelineOf, planOf } from '../rig/pipeline-builder.ts';
import { button, gridButtons, line, SimulatedState } from './simulated-state.ts';

/** One cell of a plan whose step `judge` gathers, and what happens to its jobs. */
class Scene {
  readonly state = new SimulatedState();
  readonly plan: Plan;
  readonly cell: Cell;

  constructor(plan: Plan, cell: Cell) {
    this.plan = plan;
    this.cell = cell;
  }

  static async of(text: string, index = 0): Promise<Scene> {
    const plan = await planOf(text);
    return new Scene(plan, (await cellsOf(plan))[index] as Cell);
  }

  slots(): readonly Slot[] {
    return this.plan.resolve(this.cell, this.state.lookup);
  }

  at(name: string): Slot {
    const slot = this.slots().find((slot) => [slot.step, ...slot.branch].join('/') === name);
    if (slot === undefined) throw new Error(`no slot ${name} in ${this.slots().map(line).join(', ')}`);
    return slot;
  }

  get judge(): Slot {
    return this.at('judge');
  }

  keys(...names: string[]): (string | undefined)[] {
    return names.map((name) => this.at(name).job?.key);
  }

  done(...names: string[]): void {
    for (const name of names) this.state.done(this.at(name));
  }

  fail(name: string, code?: string): void {
    this.state.fail(this.at(name), code);
  }
}

const text = `
  steps:
    judge: { gather: grid/*, imagine: the best }
    grid: { imagine: a fox, path: "U1..U3" }`;

describe('what it gathers', () => {
  test('one slot, whose job has every selected job as its input, and no parent', async () => {
    const scene = await Scene.of(text);
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

  test('a golden key: a change here orphans every finished job in the world', async () => {
    const scene = await Scene.of(
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
    const scene = await Scene.of(`
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

  test('slots that share a job name it once each', async () => {
    const scene = await Scene.of(`
      matrix: { favourite: [U1] }
      steps:
        grid: { imagine: a fox, path: "U1,{{ favourite }}" }
        judge: { gather: grid/*, imagine: the best }`);
    expect(scene.judge.job?.inputs).toEqual(scene.keys('grid/U1', 'grid/U1'));
  });

  test('order and number of the inputs are part of the key, an own repeat is not', async () => {
    const keys = await Promise.all(
      ['U1..U3', 'U3,U2,U1', 'U1,U2'].map(
        async (path) => (await Scene.of(text.replace('U1..U3', path))).judge.job?.key,
      ),
    );
    expect(new Set(keys).size).toBe(3);

    const repeated = `matrix: { repeat: 2 }\n${text.replaceAll('\n  ', '\n')}`;
    const [first, second] = [await Scene.of(repeated, 0), await Scene.of(repeated, 1)];
    expect(first.judge.job?.key).toBe(keys[0]);
    const { key, inputs = [], request } = second.judge.job ?? {};
    expect(key).not.toBe(keys[0]);
    expect(key).toBe(jobKey(identityOf(second.plan.serviceId, request as JobRequest, inputs, 1)));
  });

  test('what follows from it starts at its own operation', async () => {
    const scene = await Scene.of(`
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

describe('going forward', () => {
  test('it may start when every input is done; its key is known before and stays', async () => {
    const scene = await Scene.of(text);
    const { key } = scene.judge.job ?? {};
    scene.done('grid', 'grid/U1', 'grid/U2');
    expect(scene.judge).toMatchObject({ status: 'pending', ready: false });
    for (const status of ['submitting', 'running', 'modal', 'saving'] as const) {
      scene.state.put(scene.at('grid/U3'), status);
      expect(scene.judge).toMatchObject({ status: 'pending', ready: false });
    }
    scene.done('grid/U3');
    expect(scene.judge).toMatchObject({ status: 'pending', ready: true, job: { key } });
    scene.done('judge');
    expect(scene.judge.status).toBe('done');
  });

  test('an input whose file is still to be fetched is done, and waited for where it is shown', async () => {
    const hidden = text.replace('imagine: the best', 'imagine: { prompt: the best, images: [] }');
    for (const [pipeline, ready] of [[hidden, true] as const, [text, false] as const]) {
      const scene = await Scene.of(pipeline);
      scene.done('grid', 'grid/U1', 'grid/U2');
      scene.state.done(scene.at('grid/U3'), gridButtons, { artifacts: [], keep: false });
      expect(scene.at('grid/U3').unsaved).toBe(true);
      expect(scene.judge.ready).toBe(ready);
    }
  });

  test('one that failed, or is blocked, blocks it at once and is named', async () => {
    const scene = await Scene.of(text.replace('U1..U3', 'U1..U3 → V1').replace('grid/*', 'grid/**'));
    scene.done('grid', 'grid/U1');
    scene.fail('grid/U3', 'task.timeout');
    expect(scene.judge).toMatchObject({
      status: 'blocked',
      ready: false,
      error: { code: 'ancestor.failed', message: 'blocked by grid/U3: task.timeout' },
    });
    scene.fail('grid/U1/V1');
    expect(scene.judge.error?.message).toBe('blocked by grid/U1/V1: task.failed');
  });

  test('under one that is in doubt it waits, unless another blocks it', async () => {
    const scene = await Scene.of(text);
    scene.done('grid', 'grid/U1', 'grid/U2');
    scene.state.put(scene.at('grid/U3'), 'in-doubt');
    expect(scene.judge).toMatchObject({ status: 'pending', ready: false });
    scene.fail('grid/U2');
    expect(scene.judge.status).toBe('blocked');
  });

  test('what is done stays done when an input is tried again', async () => {
    const scene = await Scene.of(text);
    scene.done('grid', 'grid/U1', 'grid/U2', 'grid/U3', 'judge');
    scene.state.put(scene.at('grid/U2'), 'running');
    expect(scene.judge.status).toBe('done');
    scene.fail('grid/U2');
    expect(scene.judge.status).toBe('done');
  });
});

describe('what is skipped is left out', () => {
  test('of a condition that waits for nothing: known from the start', async () => {
    const yaml = `
      matrix: { animal: [fox, owl] }
      steps:
        grid: { imagine: "a {{ animal }}" }
        a: { from: grid, click: U1, when: animal == "fox" }
        b: { from: a, click: V1, path: "X,Y" }
        judge: { gather: b/*, imagine: the best }`;
    const fox = await Scene.of(yaml);
    expect(fox.judge.job?.inputs).toEqual(fox.keys('b/U1/V1/X', 'b/U1/V1/Y'));
    const owl = await Scene.of(yaml, 1);
    expect(owl.judge).toMatchObject({
      status: 'skipped',
      error: { code: 'ancestor.skipped', message: 'skipped with a/U1: when.false' },
    });
    expect(owl.judge.job).toBeUndefined();
  });

  const optional = text.replace('U1..U3', 'U3?,U1,U2? → V1').replace('grid/*', 'grid/**');

  test('an optional button: no key until it is known to be there or not', async () => {
    const scene = await Scene.of(optional);
    expect(scene.judge.job).toBeUndefined();
    expect(scene.judge.prompt).toBe('the best');
    scene.done('grid', 'grid/U1', 'grid/U2');
    expect(scene.judge.job).toBeUndefined();
    // Below a button that was there nothing is optional any more.
    scene.fail('grid/U3', 'button.missing');
    expect(scene.judge.job?.inputs).toEqual(scene.keys('grid/U1/V1', 'grid/U2/V1'));
    expect(scene.judge.ready).toBe(false);
    scene.done('grid/U1/V1', 'grid/U2/V1');
    expect(scene.judge.ready).toBe(true);

    const whole = await Scene.of(optional);
    whole.done('grid', 'grid/U1', 'grid/U2', 'grid/U3');
    expect(whole.judge.job?.inputs).toEqual(whole.keys('grid/U3/V1', 'grid/U1/V1', 'grid/U2/V1'));
  });

  test('an optional button that failed otherwise blocks', async () => {
    const scene = await Scene.of(optional);
    scene.done('grid');
    scene.fail('grid/U3', 'task.failed');
    expect(scene.judge).toMatchObject({ status: 'blocked', ready: false });
  });

  const conditional = `
    steps:
      pick: { imagine: a coin }
      grid: { imagine: a fox, path: U1 }
      more: { from: grid, click: U2, when: steps.pick.task_id == "T9", path: "U3,U4" }
      judge: { gather: more/*, imagine: the best, path: V1 }
      on: { gather: judge/V1, imagine: the end }`;

  test('a condition on a result: no key until it is known', async () => {
    const yes = await Scene.of(conditional);
    expect(yes.judge.job).toBeUndefined();
    yes.state.done(yes.at('pick'), [], { taskId: 'T9' });
    expect(yes.judge.job?.inputs).toEqual(yes.keys('more/U2/U3', 'more/U2/U4'));
    expect(yes.at('on').job?.parent).toBe(yes.at('judge/V1').job?.key);
    expect(yes.at('on').ready).toBe(false);
  });

  test('all skipped: it is skipped, and all that follows', async () => {
    const no = await Scene.of(conditional);
    no.done('pick', 'grid');
    for (const name of ['judge', 'judge/V1', 'on'])
      expect(no.at(name)).toMatchObject({
        status: 'skipped',
        error: { code: 'ancestor.skipped', message: 'skipped with more/U2: when.false' },
      });
    expect(no.judge.job).toBeUndefined();
  });

  test('its own condition, and one on what it does not gather', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: "U1..U2" }
        off: { gather: grid/*, imagine: a, when: repeat == 2 }
        judge: { gather: grid/*, imagine: b, when: steps.grid.task_id == "none" }`);
    expect(scene.at('off').status).toBe('skipped');
    expect(scene.judge.status).toBe('pending');
    scene.done('grid');
    expect(scene.judge.status).toBe('pending');
    scene.done('grid/U1', 'grid/U2');
    expect(scene.judge).toMatchObject({ status: 'skipped', error: { code: 'when.false' } });
  });
});

describe('wildcards', () => {
  const wild = text.replace('U1..U3', 'U* → V1').replace('grid/*', 'grid/**');

  test('its job is known when the buttons are', async () => {
    const scene = await Scene.of(wild);
    expect(scene.judge.job).toBeUndefined();
    scene.state.done(scene.at('grid'), [button('U2'), button('V1'), button('U1')]);
    expect(scene.judge.job?.inputs).toEqual(scene.keys('grid/U2/V1', 'grid/U1/V1'));
    expect(scene.plan.slotGraph.places.find(({ step }) => step.name === 'judge')?.open).toBe(false);
  });

  test('no match: blocked, or skipped when that is fine', async () => {
    const scene = await Scene.of(wild);
    scene.state.done(scene.at('grid'), []);
    expect(scene.judge.error?.message).toBe('blocked by grid/"U*": button.missing');
    const optional = await Scene.of(wild.replace('U*', 'U*?'));
    optional.state.done(optional.at('grid'), []);
    expect(optional.judge).toMatchObject({ status: 'skipped' });
  });

  test('one branch of it by name: known before, and checked after', async () => {
    const scene = await Scene.of(wild.replace('grid/**', 'grid/U2/**'));
    const named = await Scene.of(text.replace('U1..U3', 'U2 → V1').replace('grid/*', 'grid/**'));
    expect(scene.judge.job).toEqual(named.judge.job);
    scene.state.done(scene.at('grid'), [button('U1')]);
    expect(scene.judge.error?.message).toBe('blocked by grid/U2: button.missing');
  });
});

describe('templates', () => {
  test('read steps as any other root does', async () => {
    const scene = await Scene.of(`
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

  test('a mistake is told before money is spent, unless the inputs may be skipped', async () => {
    const yaml = `
      matrix: { m: [{ b: 1 }, { a: 1 }] }
      steps:
        judge: { gather: grid/*, imagine: "{{ m.a }}" }
        grid: { imagine: a fox, path: "U1,U2" }`;
    expect((await Scene.of(yaml)).judge).toMatchObject({
      status: 'failed',
      error: { code: 'template.undefined' },
    });
    const later = await Scene.of(yaml.replace('U1,U2', 'U1?,U2?'));
    expect(later.judge.status).toBe('pending');
    later.done('grid');
    later.fail('grid/U1', 'button.missing');
    expect(later.judge.status).toBe('pending');
    later.fail('grid/U2', 'button.missing');
    expect(later.judge.status).toBe('skipped');
  });
});

describe('the whole plan', () => {
  test('--only takes all that is gathered, and no more', async () => {
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

  test('it is resolved after what it gathers, wherever it stands in the file', async () => {
    const { slotGraph: skeleton } = await planOf(`
      steps:
        c: { gather: b, imagine: x }
        b: { gather: a/*, imagine: y }
        a: { imagine: z, path: U1 }`);
    expect(skeleton.order.map(({ step }) => step.name)).toEqual(['a', 'b', 'c']);
    expect(skeleton.places.map(({ step }) => step.name)).toEqual(['c', 'b', 'a', 'a']);
  });

  test('too many gathered jobs in a cell are refused at the step that goes over', async () => {
    const gathers = Array.from({ length: 12 }, (_, index) => `  j${index}: { gather: a/**, imagine: x }`);
    const pipeline = await pipelineOf(
      ['name: big', 'steps:', '  a: { imagine: x, path: "U1..U30 → V1..V30" }', ...gathers].join('\n'),
    );
    const plan = await preparePlan(pipeline, { files: noFiles, serviceId: 'x' });
    expect(plan).toMatchObject({ ok: false, error: [{ code: 'plan.too-large', line: 15 }] });
    expect(layOut(pipeline.steps.slice(0, 12))).not.toHaveProperty('tooMany');
  });

  test('a long chain of wide gathers costs no more than its inputs', async () => {
    const lines = Array.from(
      { length: 60 },
      (_, index) => `  s${index + 1}: { gather: s${index}/*, imagine: x, path: "U1..U40" }`,
    );
    const plan = await planOf(['steps:', '  s0: { imagine: x, path: "U1..U40" }', ...lines].join('\n'));
    const slots = plan.resolve({ number: 1, vars: {}, repeat: 1 }, () => undefined);
    expect(slots.at(-1)?.depth).toBe(121);
    expect(slots.every(({ job }) => job !== undefined)).toBe(true);
  });

  test('a step that gathers changes no key beside it', async () => {
    const plain = await planOf('steps: { grid: { imagine: a fox, path: "U1..U3" } }');
    const keys = (slots: readonly Slot[]): unknown => slots.map(({ job }) => job?.key);
    const [, ...others] = (await Scene.of(text)).slots();
    expect(keys(others)).toEqual(keys(plain.resolve({ number: 1, vars: {}, repeat: 1 }, () => undefined)));
  });
});
