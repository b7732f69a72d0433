import { describe, expect, test } from 'vitest';
import { type EstimateOptions, estimatePlan } from '../../../src/plan/estimate/estimate.ts';
import { planOf } from '../../rig/pipeline-builder.ts';
import { button, gridButtons } from '../simulated-state.ts';
import { Directory, estimate, scene, text } from './estimate-rig.ts';

describe('a plan without a run directory', () => {
  test('counts slots, distinct jobs, and their cost', async () => {
    const { plan } = await scene();
    const report = await estimate(plan);
    expect(report).toMatchObject({
      pipeline: 'test',
      file: 'test.yaml',
      service: 'https://service.test',
      cells: { total: 2, chosen: 2 },
      slotsPerCell: 6,
      exact: true,
      total: { slots: 12, jobs: 11, shared: 1, submits: 11, why: { new: 11 }, cost: 0.16, unpriced: 4 },
      steps: [
        {
          step: 'grid',
          kind: 'imagine',
          path: true,
          slots: 10,
          submits: 10,
          cost: 0.12,
          unpriced: 4,
          open: false,
        },
        { step: 'cat', path: false, slots: 2, jobs: 1, shared: 1, cost: 0.04, unpriced: 0 },
      ],
      priced: true,
      unpricedNames: ['Vary (Strong)'],
      examples: [
        { cell: 1, step: 'grid', prompt: 'a fox' },
        { cell: 1, step: 'cat', prompt: 'a cat' },
        { cell: 2, step: 'grid', prompt: 'a owl' },
      ],
    });
    expect(report.state).toBeUndefined();
    expect(report.warnings.map(({ code }) => code)).toEqual(['plan.shared']);
  });

  test('covers the chosen cells and steps', async () => {
    const { plan } = await scene();
    const report = await estimate(plan, { limit: 1, only: ['cat'] });
    expect(report).toMatchObject({
      cells: { total: 2, chosen: 1 },
      total: { slots: 1, submits: 1 },
      steps: [{ step: 'cat' }],
    });
    expect(report.examples).toEqual([{ cell: 1, step: 'cat', prompt: 'a cat' }]);
    await expect(estimatePlan(plan, { only: ['nothing'] }, undefined)).rejects.toThrow(/^Internal error:/);
  });

  test('counts slots that wait for a result, are skipped, or cannot be rendered', async () => {
    const { plan } = await scene(`
      matrix: { m: [{ a: 1 }, { b: 1 }] }
      steps:
        bad: { imagine: "{{ m.a }}", path: U1 }
        grid: { imagine: a fox, path: "U* → V1" }
        off: { imagine: a cat, when: repeat == 2, path: U1 }
        late: { imagine: "like {{ steps.grid.image_url }}", path: U1 }`);
    const report = await estimate(plan);
    expect(report.steps).toMatchObject([
      { step: 'bad', submits: 2, invalid: 1, blocked: 1, open: false },
      { step: 'grid', submits: 1, shared: 1, waiting: 4, open: true },
      { step: 'off', slots: 4, skipped: 4 },
      { step: 'late', waiting: 4, open: false },
    ]);
    expect(report.warnings.map(({ code }) => code)).toEqual(['plan.open', 'plan.invalid', 'plan.shared']);
    expect(report.warnings[1]?.message).toMatch(/^1 .*cell 2, bad: /);
  });

  test('warns of a budget that would be reached', async () => {
    const { plan } = await scene(
      `budget: { submits: 10, cost: 0.1 }${text}`
        .replace(/\n {2}/g, '\n')
        .replace('prices: {', 'prices: { click: 0,'),
    );
    const { warnings } = await estimate(plan);
    expect(warnings.map(({ code }) => code)).toEqual(['plan.shared', 'budget.submits', 'budget.cost']);
  });

  test.each([
    [1, []],
    [1.5, ['budget.cost']],
  ])('warns of a cost budget of which %d may be spent already', async (possibleCost, codes) => {
    const { plan, state } = await scene(
      '{ budget: { cost: 3 }, prices: { imagine: 1 }, matrix: { n: [1, 2] }, steps: { g: { imagine: "{{ n }}" } } }',
    );
    state.possibleCost = possibleCost;
    const { warnings } = await estimate(plan, {}, state);
    expect(warnings.map(({ code }) => code)).toEqual(codes);
  });
});

describe('a plan with a run directory', () => {
  test('counts done, running, in-doubt and failed jobs, and the slots below them', async () => {
    const { plan, state, at } = await scene();
    state.done(at(1, 'grid'));
    state.fail(at(1, 'grid/U1'));
    state.put(at(1, 'grid/U2'), 'running');
    state.put(at(2, 'grid'), 'in-doubt');
    state.done(at(1, 'cat'), gridButtons, { artifacts: [] });
    const report = await estimate(plan, {}, state);
    expect(report.steps[0]).toMatchObject({
      done: 1,
      failed: 1,
      blocked: 1,
      running: 1,
      inDoubt: 1,
      held: 4,
      submits: 1,
    });
    expect(report.steps[1]).toMatchObject({ unsaved: 1, shared: 1, submits: 0 });
    expect(report.state).toMatchObject({ attempts: 5, cost: 2.5, jobs: { running: 1 } });
  });

  test('counts the jobs that flags retry', async () => {
    const { plan, state, at } = await scene();
    state.done(at(1, 'grid'));
    state.fail(at(1, 'grid/U1'), 'task.failed');
    state.fail(at(1, 'grid/U2'), 'task.timeout');
    state.put(at(2, 'grid'), 'in-doubt');
    state.done(at(1, 'cat'));
    const grid = async (options: EstimateOptions): Promise<unknown> =>
      (await estimate(plan, {}, state, options)).steps[0];
    expect(await grid({})).toMatchObject({ failed: 2, blocked: 2, inDoubt: 1, held: 4, submits: 0 });
    expect(await grid({ retryFailed: {} })).toMatchObject({
      failed: 0,
      blocked: 0,
      submits: 4,
      why: { new: 2, changed: 0, retry: 2, anew: 0 },
    });
    expect(await grid({ retryFailed: { code: 'task.timeout' } })).toMatchObject({ failed: 1, submits: 2 });
    expect(await grid({ inDoubt: 'retry' })).toMatchObject({
      inDoubt: 0,
      held: 0,
      submits: 5,
      why: { retry: 1 },
    });
    const redo = await estimate(plan, {}, state, { redo: new Set([at(1, 'cat').job?.key ?? '']) });
    expect(redo.steps[1]).toMatchObject({ done: 0, submits: 1, why: { anew: 1 } });
  });

  test('does not retry a missing button if only optional slots ask for it', async () => {
    const { plan, state, at } = await scene(`
      steps:
        grid: { imagine: a, path: "Nope?" }
        same: { from: grid, click: "U9?" }
        needed: { from: grid, click: U9 }`);
    state.done(at(1, 'grid'));
    for (const name of ['grid/Nope', 'same/U9']) state.fail(at(1, name), 'button.missing');
    const report = await estimate(plan, {}, state, { retryFailed: {} });
    expect(report.steps[0]).toMatchObject({ done: 1, skipped: 1, submits: 0 });
    expect(report.total).toMatchObject({ submits: 1, why: { retry: 1 } });
    const key = at(1, 'grid/Nope').job?.key ?? '';
    expect((await estimate(plan, {}, state, { retryFailed: {}, redo: new Set([key]) })).total.submits).toBe(
      2,
    );
  });

  test.each([
    ['before', 'needed: { from: grid, click: U9 }\n        same: { from: grid, click: "U9?" }'],
    ['behind', 'same: { from: grid, click: "U9?" }\n        needed: { from: grid, click: U9 }'],
  ])(
    'retries a missing button if another slot that requires it stands %s an optional one',
    async (_, two) => {
      const { plan, state, at } = await scene(`
      steps:
        grid: { imagine: a }
        ${two}`);
      state.done(at(1, 'grid'));
      state.fail(at(1, 'needed/U9'), 'button.missing');
      const report = await estimate(plan, {}, state, { retryFailed: {} });
      expect(report.total).toMatchObject({ submits: 1, why: { retry: 1 } });
    },
  );

  test('counts a wrong mask as failing again without a request', async () => {
    const { plan, state, at } = await scene();
    state.done(at(1, 'grid'));
    state.fail(at(1, 'grid/U1'), 'mask.size');
    state.fail(at(1, 'grid/U2'), 'task.failed');
    const grid = async (options: EstimateOptions): Promise<unknown> =>
      (await estimate(plan, { limit: 1 }, state, options)).steps[0];
    expect(await grid({})).toMatchObject({ failed: 2, invalid: 0, submits: 0 });
    expect(await grid({ retryFailed: {} })).toMatchObject({ failed: 0, invalid: 1, why: { retry: 1 } });
    expect(await grid({ retryFailed: { code: 'mask.size' } })).toMatchObject({
      failed: 1,
      invalid: 1,
      submits: 0,
    });
    const redo = new Set([at(1, 'grid').job?.key ?? '']);
    expect(await grid({ retryFailed: {}, redo })).toMatchObject({ invalid: 0, why: { retry: 2, anew: 1 } });
  });

  test('shows examples of jobs to submit', async () => {
    const { plan, state, at } = await scene();
    for (const name of ['grid', 'cat']) state.done(at(1, name));
    expect((await estimate(plan, {}, state)).examples).toEqual([{ cell: 2, step: 'grid', prompt: 'a owl' }]);
  });

  test('counts a retry of a failed download as free', async () => {
    const { plan, state, at } = await scene();
    const error = { code: 'download.status' as const, message: 'no' };
    state.put(at(1, 'cat'), 'failed', { error, taskId: 'T1', result: { buttons: [] } });
    const report = await estimate(plan, {}, state, { retryFailed: {} });
    expect(report.steps[1]).toMatchObject({ failed: 0, unsaved: 1, submits: 0 });
  });

  test('counts an edited request as changed, not as new', async () => {
    const { plan, state, at } = await scene();
    for (const name of ['grid', 'grid/U1', 'cat']) state.done(at(1, name));
    state.done(at(2, 'grid'));
    const edited = await planOf(text.replace('a {{', 'one {{').replace('[fox, owl]', '[fox, owl, lynx]'));
    expect((await estimate(edited, {}, state)).steps).toMatchObject([
      { step: 'grid', submits: 15, why: { new: 12, changed: 3, retry: 0, anew: 0 } },
      { step: 'cat', done: 1, shared: 2 },
    ]);
    expect((await estimate(plan, {}, state)).steps[0]?.why).toEqual({
      new: 7,
      changed: 0,
      retry: 0,
      anew: 0,
    });
  });

  test('counts a request that was planned before as new, until it is sent', async () => {
    const { plan, state, at } = await scene();
    state.put(at(1, 'cat'), 'pending');
    expect((await estimate(plan, {}, state)).steps[1]).toMatchObject({
      submits: 1,
      why: { new: 1, changed: 0 },
    });
  });

  test('does not count the click of a modal whose confirm may have arrived, whatever is retried', async () => {
    const { plan, state, at } = await scene();
    const sent = { attempts: 1, submittedAt: 1, taskId: 'T1' };
    state.put(at(1, 'cat'), 'submitting', { ...sent, modal: { taskId: 'T1', sent: 1 } });
    const flags = { inDoubt: 'retry' } as const;
    expect((await estimate(plan, {}, state, flags)).steps[1]).toMatchObject({ inDoubt: 1, submits: 0 });
    state.put(at(1, 'cat'), 'submitting', sent);
    expect((await estimate(plan, {}, state, flags)).steps[1]).toMatchObject({ inDoubt: 0, submits: 1 });
  });

  test('reads only the totals of an empty directory', async () => {
    const { plan, state } = await scene();
    await estimate(plan, {}, state);
    expect(state.lookups).toBe(0);
  });

  test('counts wildcards as soon as their buttons are known', async () => {
    const { plan, state, at } = await scene('steps: { grid: { imagine: x, path: "U*" } }');
    state.done(at(1, 'grid'), [button('U1'), button('U2')]);
    expect((await estimate(plan, {}, state)).steps).toMatchObject([
      { slots: 3, done: 1, submits: 2, open: false },
    ]);
  });
});

describe('a plan with too many slots to examine each', () => {
  const big = `
    prices: { imagine: 0.5, U1: 0.25 }
    matrix: { n: { from: 1, to: 10000000 } }
    steps:
      grid: { imagine: "no {{ n }}", path: "U1,V{{ n }}" }
      wild: { from: grid, click: "U*", path: V1 }
      late: { imagine: "{{ steps.grid.task_id }}", path: U1 }`;

  test('gives upper bounds by multiplication, and examines only some of ten million cells', async () => {
    const plan = await planOf(big);
    const directory = new Directory();
    const report = await estimate(plan, {}, directory);
    expect(directory.asked).toBeLessThan(1000);
    expect(report).toMatchObject({
      exact: false,
      cells: { total: 1e7, chosen: 1e7 },
      steps: [
        { step: 'grid', submits: 3e7, cost: 7.5e6, unpriced: 1e7, open: false },
        { step: 'wild', waiting: 2e7, submits: 0, open: true },
        { step: 'late', waiting: 2e7, submits: 0, open: false },
      ],
      examples: [{ prompt: 'no 1' }, { prompt: 'no 2' }, { prompt: 'no 3' }],
    });
    expect(report.warnings.map(({ code }) => code)).toEqual(['plan.at-most', 'plan.open']);
  });

  test('limits the number of slots, including those that wildcards really have', async () => {
    const { plan, state, at } = await scene('steps: { grid: { imagine: x, path: "U*" } }');
    state.done(at(1, 'grid'), gridButtons);
    expect((await estimate(plan, {}, state, { maxSlots: 5 })).exact).toBe(true);
    expect((await estimate(plan, {}, state, { maxSlots: 4 })).exact).toBe(false);
  });

  test('still reports templates that fail', async () => {
    const { plan } = await scene(
      '{ matrix: { m: [{ a: 1 }, { b: 1 }] }, steps: { g: { imagine: "{{ m.a }}" } } }',
    );
    const report = await estimate(plan, {}, undefined, { maxSlots: 1 });
    expect(report.warnings.map(({ code }) => code)).toEqual(['plan.at-most', 'plan.invalid']);
  });
});
