import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { Cell, Selection } from '../../../src/plan/cell.ts';
import { type EstimateOptions, estimatePlan } from '../../../src/plan/estimate/estimate.ts';
import type { PlanReport } from '../../../src/plan/estimate/report.ts';
import type { PlanState } from '../../../src/plan/estimate/scan.ts';
import type { JobStatus } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { button, gridButtons, SimulatedState } from '../simulated-state.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../../schemas/plan.schema.json', import.meta.url), 'utf8'),
);
const isValid = new Ajv2020({ strict: true }).compile(schema);

/** An estimate that keeps its own laws and its schema. */
async function estimate(
  plan: Plan,
  selection: Selection = {},
  state?: PlanState,
  options?: EstimateOptions,
): Promise<PlanReport> {
  const report = await estimatePlan(plan, selection, state, options);
  expect(isValid(report), JSON.stringify(isValid.errors)).toBe(true);
  for (const counts of [report.total, ...report.steps]) {
    const { slots, jobs, shared, skipped, blocked, waiting, invalid } = counts;
    expect(slots).toBe(jobs + shared + skipped + blocked + waiting + invalid);
    const { submits, held, running, unsaved, done, inDoubt, failed, why } = counts;
    expect(jobs).toBe(submits + held + running + unsaved + done + inDoubt + failed);
    expect(submits).toBe(why.new + why.changed + why.retry + why.anew);
  }
  return report;
}

/** A run directory, as far as an estimate asks for it. */
class Directory extends SimulatedState implements PlanState {
  /** How often it was asked for a job or a slot. */
  asked = 0;
  /** What submissions that nobody answered may have cost. */
  possibleCost = 0;

  get(key: string): ReturnType<PlanState['get']> {
    this.asked += 1;
    return this.lookup(key);
  }

  keysOfSlot(slot: string): readonly string[] {
    this.asked += 1;
    return [...this.records.values()].filter(({ origin }) => origin.slot === slot).map(({ key }) => key);
  }

  totals(): ReturnType<PlanState['totals']> {
    const jobs: Record<string, number> = {};
    let attempts = 0;
    for (const record of this.records.values()) {
      jobs[record.status] = (jobs[record.status] ?? 0) + 1;
      attempts += record.attempts;
    }
    return {
      jobs: jobs as Record<JobStatus, number>,
      attempts,
      tokens: attempts * 100,
      assumedTokens: 0,
      cost: attempts * 0.5,
      possibleCost: this.possibleCost,
    };
  }
}

const text = `
  prices: { imagine: 0.04, "U*": 0.01 }
  matrix: { animal: [fox, owl] }
  steps:
    grid: { imagine: "a {{ animal }}", path: "U1..U2 → Vary (Strong)" }
    cat: { imagine: a cat }`;

async function scene(yaml = text): Promise<{
  plan: Plan;
  state: Directory;
  at: (cell: number, name: string) => Slot;
}> {
  const plan = await planOf(yaml);
  const cells = await cellsOf(plan);
  const state = new Directory();
  const at = (cell: number, name: string): Slot => {
    const slots = plan.resolve(cells[cell - 1] as Cell, state.lookup);
    return slots.find(({ step, branch }) => [step, ...branch].join('/') === name) as Slot;
  };
  return { plan, state, at };
}

describe('a plan without a run directory', () => {
  test('counts slots, different jobs, and what they cost', async () => {
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

  test('of the chosen cells and steps', async () => {
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

  test('what waits for a result, what is skipped, what cannot be rendered', async () => {
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

  test('a budget that would be reached', async () => {
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
  ])('a budget of cost of which %d may be spent already', async (possibleCost, codes) => {
    const { plan, state } = await scene(
      '{ budget: { cost: 3 }, prices: { imagine: 1 }, matrix: { n: [1, 2] }, steps: { g: { imagine: "{{ n }}" } } }',
    );
    state.possibleCost = possibleCost;
    const { warnings } = await estimate(plan, {}, state);
    expect(warnings.map(({ code }) => code)).toEqual(codes);
  });
});

describe('a plan with a run directory', () => {
  test('what is done, running, in doubt, failed and below them', async () => {
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

  test('flags that have jobs tried again', async () => {
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
    const redo = await estimate(plan, {}, state, { redo: [at(1, 'cat').job?.key ?? ''] });
    expect(redo.steps[1]).toMatchObject({ done: 0, submits: 1, why: { anew: 1 } });
  });

  test('a button that is not there stays so, where only optional slots ask for it', async () => {
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
    expect((await estimate(plan, {}, state, { retryFailed: {}, redo: [key] })).total.submits).toBe(2);
  });

  test('a mask that did not fit fails again without a request', async () => {
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
    const redo = [at(1, 'grid').job?.key ?? ''];
    expect(await grid({ retryFailed: {}, redo })).toMatchObject({ invalid: 0, why: { retry: 2, anew: 1 } });
  });

  test('examples are of what is to be submitted', async () => {
    const { plan, state, at } = await scene();
    for (const name of ['grid', 'cat']) state.done(at(1, name));
    expect((await estimate(plan, {}, state)).examples).toEqual([{ cell: 2, step: 'grid', prompt: 'a owl' }]);
  });

  test('a download that failed costs nothing to try again', async () => {
    const { plan, state, at } = await scene();
    const error = { code: 'download.status', message: 'no' };
    state.put(at(1, 'cat'), 'failed', { error, taskId: 'T1', result: { buttons: [] } });
    const report = await estimate(plan, {}, state, { retryFailed: {} });
    expect(report.steps[1]).toMatchObject({ failed: 0, unsaved: 1, submits: 0 });
  });

  test('an edited request is told from a new one', async () => {
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

  test('an empty one is asked for its totals only', async () => {
    const { plan, state } = await scene();
    await estimate(plan, {}, state);
    expect(state.lookups).toBe(0);
  });

  test('wildcards are counted as soon as their buttons are known', async () => {
    const { plan, state, at } = await scene('steps: { grid: { imagine: x, path: "U*" } }');
    state.done(at(1, 'grid'), [button('U1'), button('U2')]);
    expect((await estimate(plan, {}, state)).steps).toMatchObject([
      { slots: 3, done: 1, submits: 2, open: false },
    ]);
  });
});

describe('steps that gather', () => {
  const gathering = `
    prices: { imagine: 0.5, "U*": 0.25 }
    matrix: { n: [1, 2] }
    steps:
      grid: { imagine: "no {{ n }}", path: "U1,U2" }
      judge: { gather: grid/*, imagine: the best, path: U3 }
      maybe: { from: grid, click: "X?", path: V1 }
      wild: { from: grid, click: "V*" }
      late: { gather: maybe/*, imagine: another }
      every: { gather: wild, imagine: a third }
      after: { gather: late, imagine: a fourth }
      found: { from: grid, click: U4, path: "U*" }
      named: { gather: found/U1, imagine: a fifth }`;

  test.each([
    ['slot by slot', 200, true],
    ['by arithmetic', 1, false],
  ])('are counted %s: what is known, and what waits', async (_, mostSlots, exact) => {
    const { plan } = await scene(gathering);
    const report = await estimate(plan, {}, undefined, { mostSlots });
    expect(report.steps).toMatchObject([
      { step: 'grid', submits: 6 },
      { step: 'judge', kind: 'imagine', slots: 4, submits: 4, cost: 1.5, waiting: 0, open: false },
      { step: 'maybe', submits: 4 },
      { step: 'wild', waiting: 2, open: true },
      { step: 'late', waiting: 2, submits: 0, open: false },
      { step: 'every', waiting: 2, submits: 0, open: false },
      { step: 'after', waiting: 2, submits: 0, open: false },
      { step: 'found', waiting: 2, submits: 2, open: true },
      { step: 'named', waiting: 0, submits: 2, open: false },
    ]);
    expect(report.exact).toBe(exact);
  });

  test('below one input in doubt all is held; an edited input changes what gathers it', async () => {
    const { plan, state, at } = await scene(gathering);
    state.done(at(1, 'grid'));
    state.done(at(1, 'grid/U1'));
    state.put(at(1, 'grid/U2'), 'in-doubt');
    const report = await estimate(plan, { only: ['judge'] }, state);
    expect(report.steps).toMatchObject([
      { step: 'grid', done: 2, inDoubt: 1, submits: 3 },
      { step: 'judge', held: 2, submits: 2, why: { new: 2 } },
    ]);

    state.done(at(1, 'grid/U2'));
    state.done(at(1, 'judge'));
    const edited = await planOf(gathering.replace('U1,U2', 'U1,U4'));
    expect((await estimate(edited, { only: ['judge'], limit: 1 }, state)).steps).toMatchObject([
      { step: 'grid', done: 2, submits: 1 },
      { step: 'judge', submits: 2, why: { changed: 1, new: 1 } },
    ]);
  });
});

describe('too many slots to look at each', () => {
  const big = `
    prices: { imagine: 0.5, U1: 0.25 }
    matrix: { n: { from: 1, to: 10000000 } }
    steps:
      grid: { imagine: "no {{ n }}", path: "U1,V{{ n }}" }
      wild: { from: grid, click: "U*", path: V1 }
      late: { imagine: "{{ steps.grid.task_id }}", path: U1 }`;

  test('upper bounds by arithmetic: of ten million cells only some are looked at', async () => {
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

  test('the bound is of slots, and of those that wildcards really have', async () => {
    const { plan, state, at } = await scene('steps: { grid: { imagine: x, path: "U*" } }');
    state.done(at(1, 'grid'), gridButtons);
    expect((await estimate(plan, {}, state, { mostSlots: 5 })).exact).toBe(true);
    expect((await estimate(plan, {}, state, { mostSlots: 4 })).exact).toBe(false);
  });

  test('templates that fail are still told', async () => {
    const { plan } = await scene(
      '{ matrix: { m: [{ a: 1 }, { b: 1 }] }, steps: { g: { imagine: "{{ m.a }}" } } }',
    );
    const report = await estimate(plan, {}, undefined, { mostSlots: 1 });
    expect(report.warnings.map(({ code }) => code)).toEqual(['plan.at-most', 'plan.invalid']);
  });
});

describe('text calls', () => {
  const texts = `
    prices: { imagine: 0.5, pro: { input: 1000, output: 2000 }, chat: 0.25 }
    matrix: { n: { from: 1, to: 40 }, model: [pro, other] }
    steps:
      grid: { imagine: "{{ n }}" }
      pick:
        from: grid
        generate: { model: "{{ model }}", prompt: "which of {{ model }}?", images: [parent], generationConfig: { maxOutputTokens: 10 } }
      talk: { chat: { model: flat, prompt: "{{ n }}{{ model }}", max_tokens: 100 } }
      late: { from: pick, generate: { model: pro, prompt: "{{ steps.pick.text }}" } }`;
  const image = 5 * 258;
  const pick = { input: 80 * (4 + image), output: 800 };

  test.each([
    ['slot by slot', 1000, true, 40],
    ['by arithmetic', 1, false, 80],
  ])('take tokens, which are guessed, and cost what those cost: %s', async (_, mostSlots, exact, grids) => {
    const { plan } = await scene(texts);
    const report = await estimate(plan, {}, undefined, { mostSlots });
    const cost = 40 * ((4 + image) * 0.001 + 10 * 0.002);
    expect(report.steps).toMatchObject([
      { step: 'grid', submits: grids, tokens: { input: 0, output: 0 } },
      { step: 'pick', submits: 80, tokens: pick, unpriced: 40 },
      { step: 'talk', submits: 80, tokens: { output: 8000 }, cost: 20, unpriced: 0 },
      {
        step: 'late',
        submits: 0,
        waiting: 80,
        tokens: { input: 0, output: 0 },
        later: { tokens: { input: 80 * 1024, output: 80 * 1024 }, cost: 80 * 3 * 1.024, unpriced: 0 },
      },
    ]);
    expect(report.total.later).toEqual(report.steps[3]?.later);
    expect(report.steps[1]?.cost).toBeCloseTo(cost, 6);
    expect(report.total.tokens).toEqual({
      input: pick.input + (report.steps[2]?.tokens.input ?? 0),
      output: 8800,
    });
    expect(report.exact).toBe(exact);
  });

  test('that wait for results are guessed with stand-ins for those, and so is what they steer', async () => {
    const { plan, state, at } = await scene(
      `
      prices: { imagine: 1, "U*": 0.25, m: 2 }
      matrix: { n: [1, 2] }
      steps:
        grid: { imagine: "no {{ n }}" }
        judge: { from: grid, generate: { model: m, prompt: which, images: [parent], generationConfig: { responseMimeType: application/json } } }
        best: { from: grid, click: "U{{ steps.judge.json.best }}" }
        praise:
          gather: best
          generate: { model: "{{ steps.judge.json.who }}", prompt: "{{ steps.judge.json.all[0].y.z | divided_by: 0 }}" }
        odd:
          from: judge
          generate:
            model: m
            prompt: "xxxx"
            generationConfig: { maxOutputTokens: 9 }
            system: "{{ steps.judge.json.list[0].name.first }}"`,
    );
    const { steps, total } = await estimate(plan);
    expect(steps.map(({ later }) => later)).toMatchObject([
      { cost: 0, unpriced: 0 },
      { cost: 0, unpriced: 0 },
      { tokens: { input: 0, output: 0 }, cost: 0.5, unpriced: 0 },
      { tokens: { input: 2 * image, output: 2048 }, cost: 0, unpriced: 2 },
      { tokens: { input: 2 * (1 + 16), output: 18 }, cost: 4, unpriced: 0 },
    ]);
    expect(total).toMatchObject({ waiting: 6, later: { cost: 4.5, unpriced: 2 } });

    for (const cell of [1, 2]) state.done(at(cell, 'grid'));
    state.answer(at(1, 'judge'), '{"best":2}', true);
    const after = await estimate(plan, {}, state);
    expect(after.steps[2]).toMatchObject({ submits: 1, cost: 0.25, waiting: 1, later: { cost: 0.25 } });
  });

  test('that wait for results count for budgets, as what may be', async () => {
    const { plan } = await scene(`
      budget: { submits: 1, tokens: 1500, cost: 3 }
      prices: { m: 2 }
      steps:
        ask: { generate: { model: m, prompt: xxxx } }
        more: { generate: { model: m, prompt: "{{ steps.ask.text }}" } }`);
    const { warnings } = await estimate(plan);
    expect(warnings).toEqual([
      {
        code: 'budget.submits',
        message:
          'The budget of 1 submissions may be reached; all together 1 are planned, and about 1 more if all 1 that wait for results follow.',
      },
      { code: 'budget.tokens', message: expect.stringContaining('1500 tokens may be reached') },
      { code: 'budget.cost', message: expect.stringContaining('may be reached; all together 2 is planned') },
    ]);
  });

  test('that are done take none; a budget of tokens counts what was spent', async () => {
    const { plan, state, at } = await scene(`
      budget: { tokens: 500 }
      steps: { ask: { generate: { model: m, prompt: xxxx } }, talk: { chat: { model: m, prompt: x, max_tokens: 99 } } }`);
    expect((await estimate(plan)).warnings.map(({ code }) => code)).toEqual(['budget.tokens']);
    state.answer(at(1, 'ask'), 'hello');
    const report = await estimate(plan, {}, state);
    expect(report.total).toMatchObject({ done: 1, tokens: { input: 1, output: 99 } });
    expect(report.state?.tokens).toBe(100);
    expect(report.warnings).toEqual([]);
  });

  test('that are done and were not kept are to be written for nothing; images of theirs are to be paid again', async () => {
    const { plan, state, at } = await scene(`
      matrix: { n: [1, 2] }
      steps: { say: { generate: { model: m, prompt: "{{ n }}" } }, draw: { generate: { model: m, prompt: "draw {{ n }}" } } }`);
    const parts = [{ inlineData: { mimeType: 'image/png', output: 1 } }];
    for (const cell of [1, 2]) {
      state.answer(at(cell, 'say'), 'hello', false, { artifacts: [] });
      const text = { candidates: [{ text: '', isJson: false, parts }] };
      state.answer(at(cell, 'draw'), '', false, { text, artifacts: [] });
    }
    const report = await estimate(plan, {}, state);
    expect(report.total).toMatchObject({ unsaved: 2, done: 2, submits: 0 });
    expect(report.warnings).toEqual([
      {
        code: 'plan.not-kept',
        message: expect.stringMatching(/^2 finished answers .*cell 1, draw\. .*--redo [0-9a-f]{32}$/),
      },
    ]);
  });

  test('are held below doubt over what they show and continue; what has nothing to show is invalid', async () => {
    const { plan, state, at } = await scene(`
      steps:
        grid: { imagine: a fox }
        ask: { generate: { model: m, prompt: x, images: [steps.grid] } }
        why: { generate: { model: m, prompt: y, continue: ask } }`);
    state.put(at(1, 'grid'), 'in-doubt');
    expect((await estimate(plan, {}, state)).total).toMatchObject({ inDoubt: 1, held: 2, submits: 0 });
    state.done(at(1, 'grid'), [], { artifacts: [], result: { buttons: [] } });
    expect((await estimate(plan, {}, state)).total).toMatchObject({ done: 1, invalid: 1, blocked: 1 });
  });
});
