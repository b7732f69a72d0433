import { describe, expect, test } from 'vitest';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { Scene } from '../scene.ts';
import { gridButtons } from '../simulated-state.ts';

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
      scene.state.put(scene.at('grid'), status, { error: { code: 'service.rejected', message: 'y' } });
      expect(scene.lines()).toEqual([`grid ${status}`, 'grid/U1 pending']);
      expect(scene.slots()[0]?.error?.code).toBe(status === 'in-doubt' ? 'service.rejected' : undefined);
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
    const fox = await Scene.of(text, undefined, 0);
    expect(fox.lines()).toEqual(['grid pending!', 'grid/U1 pending', 'more/U1/V1 pending', 'other pending!']);
    const owl = await Scene.of(text, undefined, 1);
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
