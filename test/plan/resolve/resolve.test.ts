import { describe, expect, test } from 'vitest';
import type { BranchAddress, Step } from '../../../src/pipeline/pipeline.ts';
import type { Cell } from '../../../src/plan/cell.ts';
import { layOut } from '../../../src/plan/graph/build.ts';
import type { SlotGraph } from '../../../src/plan/graph/slot-template.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { resolveCell } from '../../../src/plan/resolve/resolve.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { cellsOf, pipelineOf, planOf } from '../../rig/pipeline-builder.ts';
import { button, gridButtons, line, SimulatedState } from '../simulated-state.ts';

/** One cell of a plan and what happens to its jobs. */
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

  lines(): string[] {
    return this.slots().map(line);
  }

  at(name: string): Slot {
    const slot = this.slots().find((slot) => [slot.step, ...slot.branch].join('/') === name);
    if (slot === undefined) throw new Error(`no slot ${name} in ${this.lines().join(', ')}`);
    return slot;
  }

  done(...names: string[]): void {
    for (const name of names) this.state.done(this.at(name));
  }
}

describe('slots and branches', () => {
  test('steps in file order, each one depth first in path order', async () => {
    const scene = await Scene.of(`
      steps:
        fix: { from: grid/U1, click: Vary (Subtle), path: U3 }
        grid: { imagine: a fox, path: "U1..U2 → Vary (Strong),reroll" }`);
    expect(scene.lines()).toEqual([
      'fix/U1/Vary (Subtle) pending',
      'fix/U1/Vary (Subtle)/U3 pending',
      'grid pending!',
      'grid/U1 pending',
      'grid/U1/Vary (Strong) pending',
      'grid/U1/reroll pending',
      'grid/U2 pending',
      'grid/U2/Vary (Strong) pending',
      'grid/U2/reroll pending',
    ]);
    expect(scene.slots().map(({ depth }) => depth)).toEqual([2, 3, 0, 1, 2, 2, 1, 2, 2]);
    expect(scene.slots().map(({ kind }) => kind)).toEqual([
      'click',
      'click',
      'imagine',
      ...Array<string>(6).fill('click'),
    ]);
    expect(scene.plan.slotsPerCell).toBe(9);
    expect(new Set(scene.slots().map(({ id }) => id)).size).toBe(9);
  });

  test.each([
    ['grid', ['a/V1']],
    ['grid/U1', ['a/U1/V1']],
    ['grid/*', ['a/U1/V1', 'a/U2/V1']],
    ['grid/U2/*', ['a/U2/X/V1', 'a/U2/Y/V1']],
    ['grid/U2/Y', ['a/U2/Y/V1']],
    ['grid/**', ['a/U1/X/V1', 'a/U1/Y/V1', 'a/U2/X/V1', 'a/U2/Y/V1']],
    ['grid/U1/**', ['a/U1/X/V1', 'a/U1/Y/V1']],
  ])('from: %s', async (from, wanted) => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: "U1..U2 → X,Y" }
        a: { from: "${from}", click: V1 }`);
    expect(
      scene
        .slots()
        .filter(({ step }) => step === 'a')
        .map((slot) => [slot.step, ...slot.branch].join('/')),
    ).toEqual(wanted);
  });

  test('an address follows the own path of a step, for every branch that the step inherits', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: "U1..U2" }
        a: { from: grid/*, click: V1 }
        b: { from: a, click: V2, path: U3 }
        c: { from: b/U3, click: V4 }`);
    expect(scene.lines().filter((text) => text.startsWith('c'))).toEqual([
      'c/U1/V1/V2/U3/V4 pending',
      'c/U2/V1/V2/U3/V4 pending',
    ]);
  });

  test('a path is short for click steps: the same jobs', async () => {
    const path = await Scene.of('steps: { grid: { imagine: a fox, path: U1 → Vary (Strong) } }');
    const clicks = await Scene.of(`
      steps:
        grid: { imagine: a fox }
        up: { from: grid, click: U1 }
        vary: { from: up, click: Vary (Strong) }`);
    expect(clicks.slots().map(({ job }) => job?.key)).toEqual(path.slots().map(({ job }) => job?.key));
  });

  test('alternatives are one branch and one request', async () => {
    const scene = await Scene.of(
      'steps: { grid: { imagine: a fox, path: "U1 → Upscale (Subtle) | Upscale (2x)" } }',
    );
    const slot = scene.at('grid/U1/Upscale (Subtle) | Upscale (2x)');
    expect(slot.job?.request).toEqual({
      kind: 'click',
      fields: {},
      press: [
        { kind: 'text', text: 'Upscale (Subtle)' },
        { kind: 'text', text: 'Upscale (2x)' },
      ],
    });
  });

  test('equal requests share a job; another cell value does not', async () => {
    const plan = await planOf(`
      matrix: { animal: [fox, owl], unused: [1, 2] }
      steps: { grid: { imagine: "a {{ animal }}" }, again: { imagine: "a {{ animal }}" } }`);
    const keys = (await cellsOf(plan)).map((cell) =>
      plan.resolve(cell, () => undefined).map(({ job }) => job?.key),
    );
    const [fox, fox2, owl] = keys;
    expect(fox?.[0]).toBe(fox?.[1]);
    expect(fox2).toEqual(fox);
    expect(owl?.[0]).not.toBe(fox?.[0]);
  });

  test('repeat counts in the root, and so in everything below it', async () => {
    const plan = await planOf('{ matrix: { repeat: 2 }, steps: { grid: { imagine: a fox, path: U1 } } }');
    const once = await Scene.of('steps: { grid: { imagine: a fox, path: U1 } }');
    const [first, second] = (await cellsOf(plan)).map((cell) =>
      plan.resolve(cell, () => undefined).map(({ job }) => job?.key),
    );
    expect(first).toEqual(once.slots().map(({ job }) => job?.key));
    expect(second?.filter((key) => first?.includes(key))).toEqual([]);
  });

  test('a label is the same composed and decomposed', async () => {
    const composed = await Scene.of(`steps: { grid: { imagine: x, path: "${'Café'.normalize('NFC')}" } }`);
    const decomposed = await Scene.of(`steps: { grid: { imagine: x, path: "${'Café'.normalize('NFD')}" } }`);
    expect(decomposed.slots()[1]?.job?.key).toBe(composed.slots()[1]?.job?.key);
  });

  test("prompt is the slot's own, else its nearest ancestor's", async () => {
    const scene = await Scene.of('steps: { grid: { imagine: a fox, path: U1 → V1 } }');
    expect(scene.slots().map(({ prompt }) => prompt)).toEqual(['a fox', 'a fox', 'a fox']);
  });

  test('numbers in a request are numbers however they are written; a prompt is text', async () => {
    const scene = await Scene.of(
      `{ matrix: { n: [6.0] }, steps: { grid: { imagine: "{{ n }}", extra: { n: "{{ n }}", six: 6.0 } } } }`,
    );
    expect(scene.slots()[0]?.job?.request).toEqual({
      kind: 'imagine',
      fields: { prompt: '6.0' },
      extra: { n: 6, six: 6 },
    });
    const empty = await Scene.of('steps: { grid: { imagine: "6.0", extra: {} } }');
    expect(empty.slots()[0]?.job?.request).toEqual({ kind: 'imagine', fields: { prompt: '6.0' } });
  });
});

describe('going forward', () => {
  test('a job may start when what it continues is done, and its key is known before', async () => {
    const scene = await Scene.of('steps: { grid: { imagine: a fox, path: "U1..U2 → V1" } }');
    const before = scene.slots().map(({ job }) => job?.key);
    expect(before.every((key) => key !== undefined)).toBe(true);
    scene.state.put(scene.at('grid'), 'running');
    expect(scene.lines()).toEqual([
      'grid running',
      'grid/U1 pending',
      'grid/U1/V1 pending',
      'grid/U2 pending',
      'grid/U2/V1 pending',
    ]);
    scene.done('grid');
    scene.state.put(scene.at('grid/U2'), 'pending');
    expect(scene.lines()).toEqual([
      'grid done',
      'grid/U1 pending!',
      'grid/U1/V1 pending',
      'grid/U2 pending!',
      'grid/U2/V1 pending',
    ]);
    expect(scene.slots().map(({ job }) => job?.key)).toEqual(before);
  });

  test.each(['submitting', 'running', 'modal', 'saving', 'in-doubt'] as const)(
    'below a job that is %s everything waits',
    async (status) => {
      const scene = await Scene.of('steps: { grid: { imagine: a fox, path: U1 } }');
      scene.state.put(scene.at('grid'), status, { error: { code: 'x', message: 'y' } });
      expect(scene.lines()).toEqual([`grid ${status}`, 'grid/U1 pending']);
      expect(scene.slots()[0]?.error?.code).toBe(status === 'in-doubt' ? 'x' : undefined);
    },
  );

  test('a failure blocks all that follows, and all of it names where it broke', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: "U1..U2 → V1 → U3" }
        more: { from: grid/U1/V1, click: reroll }`);
    scene.done('grid');
    scene.state.fail(scene.at('grid/U1'), 'task.timeout');
    expect(scene.lines()).toEqual([
      'grid done',
      'grid/U1 failed',
      'grid/U1/V1 blocked',
      'grid/U1/V1/U3 blocked',
      'grid/U2 pending!',
      'grid/U2/V1 pending',
      'grid/U2/V1/U3 pending',
      'more/U1/V1/reroll blocked',
    ]);
    for (const name of ['grid/U1/V1', 'grid/U1/V1/U3', 'more/U1/V1/reroll'])
      expect(scene.at(name).error).toEqual({
        code: 'ancestor.failed',
        message: 'blocked by grid/U1: task.timeout',
      });
  });

  test('what is done stays done when the job above it is tried again', async () => {
    const scene = await Scene.of('steps: { grid: { imagine: a fox, path: U1 → V1 } }');
    scene.done('grid', 'grid/U1');
    scene.state.fail(scene.at('grid'));
    expect(scene.lines()).toEqual(['grid failed', 'grid/U1 done', 'grid/U1/V1 pending!']);
  });
});

describe('when', () => {
  test('false skips the step and all that follows from it', async () => {
    const text = `
      matrix: { animal: [fox, owl] }
      steps:
        grid: { imagine: "a {{ animal }}", when: animal == "fox", path: U1 }
        more: { from: grid/U1, click: V1 }
        other: { imagine: a cat }`;
    const fox = await Scene.of(text, 0);
    expect(fox.lines()).toEqual(['grid pending!', 'grid/U1 pending', 'more/U1/V1 pending', 'other pending!']);
    const owl = await Scene.of(text, 1);
    expect(owl.lines()).toEqual(['grid skipped', 'grid/U1 skipped', 'more/U1/V1 skipped', 'other pending!']);
    expect(owl.slots().map(({ error }) => error?.message)).toEqual([
      'its `when` does not hold',
      'skipped with grid: when.false',
      'skipped with grid: when.false',
      undefined,
    ]);
    expect(owl.slots().map(({ job }) => job === undefined)).toEqual([true, true, true, false]);
  });

  test('a condition on a result waits for it', async () => {
    const text = `
      steps:
        pick: { imagine: a judge }
        grid: { imagine: a fox }
        more: { from: grid, click: U1, when: steps.pick.task_id == "T2", path: V1 }`;
    const yes = await Scene.of(text);
    yes.done('pick');
    expect(yes.lines()).toEqual(['pick done', 'grid pending!', 'more/U1 pending', 'more/U1/V1 pending']);
    expect(yes.at('more/U1').job).toBeDefined();
    yes.done('grid');
    expect(yes.lines()).toEqual(['pick done', 'grid done', 'more/U1 pending!', 'more/U1/V1 pending']);

    const no = await Scene.of(text);
    no.done('grid', 'pick');
    expect(no.lines()).toEqual(['pick done', 'grid done', 'more/U1 skipped', 'more/U1/V1 skipped']);
  });

  test('of a wildcard: nothing is pressed, or missed, before the condition is known', async () => {
    const scene = await Scene.of(`
      steps:
        pick: { imagine: a judge }
        grid: { imagine: a fox }
        no: { from: grid, click: "X*", when: steps.pick.task_id == "none" }
        yes: { from: grid, click: "U*", when: steps.pick.task_id != "none" }`);
    scene.done('grid');
    expect(scene.lines().slice(2)).toEqual(['no/X* pending', 'yes/U* pending']);
    scene.done('pick');
    expect(scene.lines().slice(2)).toEqual([
      'no/X* skipped',
      'yes/U1 pending!',
      'yes/U2 pending!',
      'yes/U3 pending!',
      'yes/U4 pending!',
    ]);
  });

  test('skipped wins over a failure above, as it was decided before', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox }
        more: { from: grid, click: U1, when: repeat == 2 }`);
    scene.state.fail(scene.at('grid'));
    expect(scene.lines()).toEqual(['grid failed', 'more/U1 skipped']);
  });
});

describe('optional buttons', () => {
  const text = `
    steps:
      grid: { imagine: a fox, path: "U5? → V1" }
      must: { from: grid, click: U5 }`;

  test('a missing one is skipped where it is optional and failed where it is not; one job', async () => {
    const scene = await Scene.of(text);
    scene.done('grid');
    expect(scene.at('grid/U5').job?.key).toBe(scene.at('must/U5').job?.key);
    scene.state.fail(scene.at('grid/U5'), 'button.missing');
    expect(scene.lines()).toEqual(['grid done', 'grid/U5 skipped', 'grid/U5/V1 skipped', 'must/U5 failed']);
    expect(scene.at('grid/U5').error?.code).toBe('button.missing');
    expect(scene.at('grid/U5/V1').error?.message).toBe('skipped with grid/U5: button.missing');
  });

  test('any other failure is a failure', async () => {
    const scene = await Scene.of(text);
    scene.done('grid');
    scene.state.fail(scene.at('grid/U5'), 'button.ambiguous');
    expect(scene.lines().slice(1, 3)).toEqual(['grid/U5 failed', 'grid/U5/V1 blocked']);
  });
});

describe('wildcards', () => {
  const text = `
    steps:
      grid: { imagine: a fox, path: "U* → V1" }
      literal: { from: grid, click: U2 }
      all: { from: grid/**, click: reroll }`;

  test('one slot before, one per button after, each the job that its label names', async () => {
    const scene = await Scene.of(text);
    expect(scene.lines()).toEqual([
      'grid pending!',
      'grid/U* pending',
      'grid/U*/V1 pending',
      'literal/U2 pending',
      'all/U*/V1/reroll pending',
    ]);
    expect(scene.slots().map(({ job }) => job === undefined)).toEqual([false, true, true, false, true]);
    expect(scene.plan.hasWildcards).toBe(true);

    scene.state.done(scene.at('grid'), [button('U1'), button('U2'), button('V1'), button('', '🔄')]);
    expect(scene.lines()).toEqual([
      'grid done',
      'grid/U1 pending!',
      'grid/U1/V1 pending',
      'grid/U2 pending!',
      'grid/U2/V1 pending',
      'literal/U2 pending!',
      'all/U1/V1/reroll pending',
      'all/U2/V1/reroll pending',
    ]);
    expect(scene.at('grid/U2').job).toEqual(scene.at('literal/U2').job);
    const named = await Scene.of('steps: { grid: { imagine: a fox, path: U2 } }');
    expect(scene.at('grid/U2').job).toEqual(named.at('grid/U2').job);
    expect(scene.at('grid/U2').id).toBe(named.at('grid/U2').id);
  });

  test('buttons without a label are not among them; their names are normalised', async () => {
    const scene = await Scene.of('steps: { grid: { imagine: a fox, path: "V*" } }');
    scene.state.done(scene.at('grid'), [button('', '🔄'), button('Vary  (Strong) ')]);
    expect(scene.lines()).toEqual(['grid done', 'grid/Vary (Strong) pending!']);
    expect(scene.at('grid/Vary (Strong)').job?.request).toMatchObject({
      press: [{ text: 'Vary  (Strong)' }],
    });
  });

  test('no match fails without a job and says what there is, or is skipped when optional', async () => {
    const failing = await Scene.of('steps: { grid: { imagine: a fox, path: "X* → V1" } }');
    failing.done('grid');
    expect(failing.lines()).toEqual(['grid done', 'grid/X* failed', 'grid/X*/V1 blocked']);
    expect(failing.at('grid/X*').error?.code).toBe('button.missing');
    expect(failing.at('grid/X*').error?.message).toMatch(/"X\*".*U1.*V4/s);
    expect(failing.at('grid/X*').job).toBeUndefined();

    const optional = await Scene.of('steps: { grid: { imagine: a fox, path: "X*? → V1" } }');
    optional.done('grid');
    expect(optional.lines()).toEqual(['grid done', 'grid/X* skipped', 'grid/X*/V1 skipped']);
  });

  test('below a failure it is blocked, when its step is off it is skipped', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox }
        a: { from: grid, click: U* }
        b: { from: grid, click: U*, when: repeat == 2 }`);
    scene.state.fail(scene.at('grid'));
    expect(scene.lines()).toEqual(['grid failed', 'a/U* blocked', 'b/U* skipped']);
  });

  test('an address may name a branch that a wildcard makes: the literal job, if it turns out to be there', async () => {
    const text = `
      steps:
        grid: { imagine: a fox, path: "U* → V1,V2" }
        a: { from: grid/U1, click: X }
        b: { from: grid/U1/V2, click: Y }
        c: { from: grid/U9/**, click: Z }`;
    const scene = await Scene.of(text);
    const before = [
      'grid pending!',
      'grid/U* pending',
      'grid/U*/V1 pending',
      'grid/U*/V2 pending',
      'a/U1/X pending',
      'b/U1/V2/Y pending',
      'c/U9/V1/Z pending',
      'c/U9/V2/Z pending',
    ];
    expect(scene.lines()).toEqual(before);
    expect(scene.plan.slotsPerCell).toBe(before.length);
    const key = scene.at('b/U1/V2/Y').job?.key;
    expect(key).toBeDefined();

    scene.state.done(scene.at('grid'), [button('U1'), button('U2')]);
    scene.done('grid/U1', 'grid/U1/V2');
    expect(scene.lines()).toEqual([
      'grid done',
      'grid/U1 done',
      'grid/U1/V1 pending!',
      'grid/U1/V2 done',
      'grid/U2 pending!',
      'grid/U2/V1 pending',
      'grid/U2/V2 pending',
      'a/U1/X pending!',
      'b/U1/V2/Y pending!',
      'c/U9/V1/Z blocked',
      'c/U9/V2/Z blocked',
    ]);
    expect(scene.at('b/U1/V2/Y').job?.key).toBe(key);
    expect(scene.at('c/U9/V1/Z').error?.message).toBe('blocked by grid/U9: button.missing');
  });

  test('depth first also where a wildcard lies between', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: "U* → X,Y" }
        a: { from: grid/**, click: V1, path: Z }`);
    scene.state.done(scene.at('grid'), [button('U1'), button('U2')]);
    expect(scene.lines().filter((text) => text.startsWith('a/'))).toEqual([
      'a/U1/X/V1 pending',
      'a/U1/X/V1/Z pending',
      'a/U1/Y/V1 pending',
      'a/U1/Y/V1/Z pending',
      'a/U2/X/V1 pending',
      'a/U2/X/V1/Z pending',
      'a/U2/Y/V1 pending',
      'a/U2/Y/V1/Z pending',
    ]);
  });
});

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
    const skeleton = layOut([grid, a, { ...b, from }]) as SlotGraph;
    const state = new SimulatedState();
    const slots = (): readonly Slot[] =>
      resolveCell({ serviceId: 'x', slotGraph: skeleton }, { number: 1, vars: {}, repeat: 1 }, state.lookup);
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
  test('the slot fails with the code, without a job; what follows is blocked; the rest goes on', async () => {
    const text = `
      matrix: { m: [{ name: ink }, { title: oil }] }
      steps: { grid: { imagine: "{{ m.name }}", path: U1 }, other: { imagine: x } }`;
    expect((await Scene.of(text, 0)).lines()).toEqual(['grid pending!', 'grid/U1 pending', 'other pending!']);
    const bad = await Scene.of(text, 1);
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

  test('told before money is spent above, unless what is above may yet be skipped', async () => {
    const text =
      '{ matrix: { m: [{ a: 1 }, { b: V1 }] }, steps: { g: { imagine: x, path: "U1 → {{ m.b }}" } } }';
    expect((await Scene.of(text)).lines().at(-1)).toBe('g/U1/{{ m.b }} failed');
    const later = await Scene.of(text.replace('U1', 'U1?'));
    expect(later.lines().at(-1)).toBe('g/U1/{{ m.b }} pending');
    later.done('g', 'g/U1');
    expect(later.lines().at(-1)).toBe('g/U1/{{ m.b }} failed');
  });
});

describe('files', () => {
  test('done without its file, and now wanted: to be fetched, not to be paid', async () => {
    const scene = await Scene.of('steps: { grid: { imagine: a fox, path: U1 } }');
    scene.state.done(scene.at('grid'), gridButtons, { artifacts: [], keep: false });
    expect(scene.at('grid')).toMatchObject({ status: 'saving', unsaved: true, ready: false });
    expect(scene.lines()).toEqual(['grid saving', 'grid/U1 pending!']);
  });

  test('not wanted, or with no image to fetch: done', async () => {
    const unwanted = await Scene.of('steps: { grid: { imagine: a fox, keep: false } }');
    unwanted.done('grid');
    expect(unwanted.at('grid').status).toBe('done');
    const imageless = await Scene.of('steps: { grid: { imagine: a fox } }');
    imageless.state.done(imageless.at('grid'), [], { artifacts: [], result: { buttons: [] } });
    expect(imageless.at('grid').status).toBe('done');
  });
});

test('the state is asked once for each slot that has a job', async () => {
  const scene = await Scene.of(`
    steps:
      grid: { imagine: a fox, path: "U1..U4 → V1..V4" }
      more: { from: grid/**, click: U* }`);
  scene.slots();
  expect(scene.state.lookups).toBe(21);
});

describe('the prompt of a slot', () => {
  test('is never what a text model above it was asked', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox }
        words: { from: grid, generate: { model: text-pro, prompt: Which is the best? } }
        mix: { from: words, blend: { images: ['https://images.test/a.png', 'https://images.test/b.png'] }, path: U1 }`);
    const prompts = () => ['grid', 'words', 'mix', 'mix/U1'].map((at) => scene.at(at).prompt);
    expect(prompts()).toEqual(['a fox', 'Which is the best?', undefined, undefined]);
    scene.done('grid', 'words', 'mix', 'mix/U1');
    expect(prompts()).toEqual(['a fox', 'Which is the best?', undefined, undefined]);
  });
});
