import { describe, expect, test } from 'vitest';
import { GatherScene, text } from '../gather-rig.ts';
import { button, gridButtons } from '../simulated-state.ts';

describe('going forward', () => {
  test('it may start when every input is done; its key is known before and stays', async () => {
    const scene = await GatherScene.of(text);
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
      const scene = await GatherScene.of(pipeline);
      scene.done('grid', 'grid/U1', 'grid/U2');
      scene.state.done(scene.at('grid/U3'), gridButtons, { artifacts: [], keep: false });
      expect(scene.at('grid/U3').unsaved).toBe(true);
      expect(scene.judge.ready).toBe(ready);
    }
  });

  test('one that failed, or is blocked, blocks it at once and is named', async () => {
    const scene = await GatherScene.of(text.replace('U1..U3', 'U1..U3 → V1').replace('grid/*', 'grid/**'));
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
    const scene = await GatherScene.of(text);
    scene.done('grid', 'grid/U1', 'grid/U2');
    scene.state.put(scene.at('grid/U3'), 'in-doubt');
    expect(scene.judge).toMatchObject({ status: 'pending', ready: false });
    scene.fail('grid/U2');
    expect(scene.judge.status).toBe('blocked');
  });

  test('what is done stays done when an input is tried again', async () => {
    const scene = await GatherScene.of(text);
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
    const fox = await GatherScene.of(yaml);
    expect(fox.judge.job?.inputs).toEqual(fox.keys('b/U1/V1/X', 'b/U1/V1/Y'));
    const owl = await GatherScene.of(yaml, undefined, 1);
    expect(owl.judge).toMatchObject({
      status: 'skipped',
      error: { code: 'ancestor.skipped', message: 'skipped with a/U1: when.false' },
    });
    expect(owl.judge.job).toBeUndefined();
  });

  const optional = text.replace('U1..U3', 'U3?,U1,U2? → V1').replace('grid/*', 'grid/**');

  test('an optional button: no key until it is known to be there or not', async () => {
    const scene = await GatherScene.of(optional);
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

    const whole = await GatherScene.of(optional);
    whole.done('grid', 'grid/U1', 'grid/U2', 'grid/U3');
    expect(whole.judge.job?.inputs).toEqual(whole.keys('grid/U3/V1', 'grid/U1/V1', 'grid/U2/V1'));
  });

  test('an optional button that failed otherwise blocks', async () => {
    const scene = await GatherScene.of(optional);
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
    const yes = await GatherScene.of(conditional);
    expect(yes.judge.job).toBeUndefined();
    yes.state.done(yes.at('pick'), [], { taskId: 'T9' });
    expect(yes.judge.job?.inputs).toEqual(yes.keys('more/U2/U3', 'more/U2/U4'));
    expect(yes.at('on').job?.parent).toBe(yes.at('judge/V1').job?.key);
    expect(yes.at('on').ready).toBe(false);
  });

  test('all skipped: it is skipped, and all that follows', async () => {
    const no = await GatherScene.of(conditional);
    no.done('pick', 'grid');
    for (const name of ['judge', 'judge/V1', 'on'])
      expect(no.at(name)).toMatchObject({
        status: 'skipped',
        error: { code: 'ancestor.skipped', message: 'skipped with more/U2: when.false' },
      });
    expect(no.judge.job).toBeUndefined();
  });

  test('its own condition, and one on what it does not gather', async () => {
    const scene = await GatherScene.of(`
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
    const scene = await GatherScene.of(wild);
    expect(scene.judge.job).toBeUndefined();
    scene.state.done(scene.at('grid'), [button('U2'), button('V1'), button('U1')]);
    expect(scene.judge.job?.inputs).toEqual(scene.keys('grid/U2/V1', 'grid/U1/V1'));
    expect(scene.plan.slotGraph.templates.find(({ step }) => step.name === 'judge')?.open).toBe(false);
  });

  test('no match: blocked, or skipped when that is fine', async () => {
    const scene = await GatherScene.of(wild);
    scene.state.done(scene.at('grid'), []);
    expect(scene.judge.error?.message).toBe('blocked by grid/"U*": button.missing');
    const optional = await GatherScene.of(wild.replace('U*', 'U*?'));
    optional.state.done(optional.at('grid'), []);
    expect(optional.judge).toMatchObject({ status: 'skipped' });
  });

  test('one branch of it by name: known before, and checked after', async () => {
    const scene = await GatherScene.of(wild.replace('grid/**', 'grid/U2/**'));
    const named = await GatherScene.of(text.replace('U1..U3', 'U2 → V1').replace('grid/*', 'grid/**'));
    expect(scene.judge.job).toEqual(named.judge.job);
    scene.state.done(scene.at('grid'), [button('U1')]);
    expect(scene.judge.error?.message).toBe('blocked by grid/U2: button.missing');
  });
});
