import { describe, expect, test } from 'vitest';
import { planOf } from '../../rig/pipeline-builder.ts';
import { estimate, scene } from './estimate-rig.ts';

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
  ])('are counted %s, known and waiting ones', async (_, maxSlots, exact) => {
    const { plan } = await scene(gathering);
    const report = await estimate(plan, {}, undefined, { maxSlots });
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

  test('are held below an input in doubt, and changed by an edited input', async () => {
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
  ])('take estimated tokens at their price: %s', async (_, maxSlots, exact, grids) => {
    const { plan } = await scene(texts);
    const report = await estimate(plan, {}, undefined, { maxSlots });
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

  test('that wait for results are estimated with placeholders, as are the slots that depend on them', async () => {
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
    state.reply(at(1, 'judge'), '{"best":2}', true);
    const after = await estimate(plan, {}, state);
    expect(after.steps[2]).toMatchObject({ submits: 1, cost: 0.25, waiting: 1, later: { cost: 0.25 } });
  });

  test('that wait for results count as possible for budgets', async () => {
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

  test('that are done take no tokens, and a budget of tokens counts spent ones', async () => {
    const { plan, state, at } = await scene(`
      budget: { tokens: 500 }
      steps: { ask: { generate: { model: m, prompt: xxxx } }, talk: { chat: { model: m, prompt: x, max_tokens: 99 } } }`);
    expect((await estimate(plan)).warnings.map(({ code }) => code)).toEqual(['budget.tokens']);
    state.reply(at(1, 'ask'), 'hello');
    const report = await estimate(plan, {}, state);
    expect(report.total).toMatchObject({ done: 1, tokens: { input: 1, output: 99 } });
    expect(report.state?.tokens).toBe(100);
    expect(report.warnings).toEqual([]);
  });

  test('that are done but not kept need nothing, except that their images must be paid again', async () => {
    const { plan, state, at } = await scene(`
      matrix: { n: [1, 2] }
      steps: { say: { generate: { model: m, prompt: "{{ n }}" } }, draw: { generate: { model: m, prompt: "draw {{ n }}" } } }`);
    const parts = [{ inlineData: { mimeType: 'image/png', output: 1 } }];
    for (const cell of [1, 2]) {
      state.reply(at(cell, 'say'), 'hello', false, { artifacts: [] });
      const text = { candidates: [{ text: '', isJson: false, parts }] };
      state.reply(at(cell, 'draw'), '', false, { text, artifacts: [] });
    }
    const report = await estimate(plan, {}, state);
    expect(report.total).toMatchObject({ unsaved: 0, done: 4, submits: 0 });
    expect(report.warnings).toEqual([
      {
        code: 'plan.not-kept',
        message: expect.stringMatching(
          new RegExp(`^2 finished answers .*cell 1, draw\\. .*--redo ${at(1, 'draw').job?.key}$`),
        ),
      },
    ]);
  });

  test('are held if an input is in doubt, and invalid with nothing to show', async () => {
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
