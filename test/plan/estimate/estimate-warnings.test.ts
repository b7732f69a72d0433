import { describe, expect, test } from 'vitest';
import { planOf } from '../../rig/pipeline-builder.ts';
import { Directory, estimate, scene } from './estimate-rig.ts';

/** The words of the warning about a budget; undefined where there is none. */
const budgetWords = async (steps: string, budget: string): Promise<string | undefined> => {
  const plan = await planOf(`{ budget: ${budget}, prices: { imagine: 1 }, steps: ${steps} }`);
  return (await estimate(plan)).warnings.find(({ code }) => code.startsWith('budget.'))?.message;
};

const certain = '{ a: { imagine: one }, b: { imagine: two } }';
const waiting = '{ a: { imagine: one }, b: { imagine: two }, late: { imagine: "{{ steps.a.image_url }}" } }';

describe('a warning about a budget', () => {
  test.each([
    [certain, '{ submits: 2 }', undefined],
    [certain, '{ submits: 1 }', 'The budget of 1 submissions would be reached; all together 2 are planned.'],
    [waiting, '{ submits: 3 }', undefined],
    [
      waiting,
      '{ submits: 2 }',
      'The budget of 2 submissions may be reached; all together 2 are planned, and about 1 more if all 1 that wait for results follow.',
    ],
    [
      waiting,
      '{ submits: 1 }',
      'The budget of 1 submissions would be reached; all together 2 are planned, and about 1 more if all 1 that wait for results follow.',
    ],
    [certain, '{ cost: 2 }', undefined],
    [certain, '{ cost: 1.9 }', 'The budget of 1.9 would be reached; all together 2 is planned.'],
    [waiting, '{ cost: 3 }', undefined],
    [
      waiting,
      '{ cost: 2 }',
      'The budget of 2 may be reached; all together 2 is planned, and about 1 more if all 1 that wait for results follow.',
    ],
    [
      waiting,
      '{ cost: 1.5 }',
      'The budget of 1.5 would be reached; all together 2 is planned, and about 1 more if all 1 that wait for results follow.',
    ],
  ])('for %s with %s says whether it is certain', async (steps, budget, words) => {
    expect(await budgetWords(steps, budget)).toBe(words);
  });

  test('for tokens counts waiting slots separately', async () => {
    const steps =
      '{ a: { generate: { model: m, prompt: hello } }, b: { generate: { model: m, prompt: "{{ steps.a.text }}" } } }';
    const { total } = await estimate(await planOf(`{ steps: ${steps} }`));
    const now = total.tokens.input + total.tokens.output;
    const later = total.later.tokens.input + total.later.tokens.output;
    expect(Math.min(now, later)).toBeGreaterThan(1);
    expect(await budgetWords(steps, `{ tokens: ${now + later} }`)).toBeUndefined();
    const more = `about ${now} are planned, and about ${later} more if all 1 that wait for results follow.`;
    expect(await budgetWords(steps, `{ tokens: ${now} }`)).toBe(
      `The budget of ${now} tokens may be reached; all together ${more}`,
    );
    expect(await budgetWords(steps, `{ tokens: ${now - 1} }`)).toBe(
      `The budget of ${now - 1} tokens would be reached; all together ${more}`,
    );
  });

  test('counts the possible tokens of calls without a count', async () => {
    const { plan, state, at } = await scene('{ budget: { tokens: 107 }, steps: { g: { imagine: a } } }');
    state.done(at(1, 'g'));
    const withAssumed = new (class extends Directory {
      override async totals() {
        return { ...(await super.totals()), assumedTokens: 8 };
      }
    })();
    for (const [key, record] of state.records) withAssumed.records.set(key, record);
    expect((await estimate(plan, {}, state)).warnings).toEqual([]);
    const report = await estimate(plan, {}, withAssumed);
    expect(report.state?.tokens).toBe(108);
    expect(report.warnings.map(({ code }) => code)).toEqual(['budget.tokens']);
  });
});

describe('a warning about wildcards', () => {
  test('names only the steps whose buttons are unknown', async () => {
    const plan = await planOf(
      '{ steps: { a: { imagine: x, path: "U*" }, b: { imagine: y, path: U1 }, c: { from: a, click: "V*" } } }',
    );
    const [warning] = (await estimate(plan)).warnings;
    expect(warning).toMatchObject({ code: 'plan.open' });
    expect(warning?.message).toMatch(/only in the run: a, c\.$/);
  });
});

describe('the prices of an estimate', () => {
  test('are absent if the pipeline has none', async () => {
    const steps = '{ g: { imagine: a } }';
    expect(await estimate(await planOf(`{ steps: ${steps} }`))).toMatchObject({ priced: false });
    expect(await estimate(await planOf(`{ prices: { other: 1 }, steps: ${steps} }`))).toMatchObject({
      priced: true,
    });
  });

  test('are reported missing under the names that the file could use', async () => {
    const plan = await planOf(`
      prices: { other: 1 }
      steps:
        g: { imagine: a, path: "Upscale (Subtle) | Upscale (2x)" }
        t: { generate: { model: text-pro, prompt: p } }
        c: { chat: { model: chat-pro, prompt: p } }`);
    expect((await estimate(plan)).unpricedNames).toEqual([
      'imagine',
      'Upscale (Subtle) | Upscale (2x)',
      'text-pro',
      'chat-pro',
    ]);
  });

  test('are reported missing for redone jobs too', async () => {
    const { plan, state, at } = await scene(
      '{ prices: { imagine: 1 }, steps: { g: { imagine: a, path: U1 } } }',
    );
    for (const name of ['g', 'g/U1']) state.done(at(1, name));
    expect((await estimate(plan, {}, state)).unpricedNames).toEqual([]);
    const redo = new Set([at(1, 'g').job?.key ?? '']);
    const report = await estimate(plan, {}, state, { redo });
    expect(report).toMatchObject({ unpricedNames: ['U1'], total: { submits: 2, why: { anew: 2 }, cost: 1 } });
    const priced = await planOf('{ prices: { imagine: 1, U1: 2 }, steps: { g: { imagine: a, path: U1 } } }');
    expect(await estimate(priced, {}, state, { redo })).toMatchObject({
      unpricedNames: [],
      total: { cost: 3 },
    });
  });
});

describe('an estimate by multiplication', () => {
  const options = { maxSlots: 1 };

  test('examines only chosen cells, and only twenty of them', async () => {
    const failing = (n: number): Promise<readonly string[]> =>
      planOf(
        `{ matrix: { n: { from: 1, to: 30 } }, steps: { g: { imagine: "{% if n == ${n} %}{{ n.x.y }}{% endif %} {{ n }}" } } }`,
      ).then(async (plan) =>
        (await estimate(plan, n === 4 ? { limit: 3 } : {}, undefined, options)).warnings.map(
          ({ code }) => code,
        ),
      );
    expect(await failing(4)).toEqual(['plan.at-most']);
    expect(await failing(21)).toEqual(['plan.at-most']);
    expect(await failing(20)).toEqual(['plan.at-most', 'plan.invalid']);
  });

  test('counts text calls without an example, and without a price', async () => {
    const plan = await planOf(`
      prices: { generate: 2 }
      matrix: { n: { from: 1, to: 30 } }
      steps:
        g: { imagine: "a {{ n }}" }
        t: { when: n > 25, generate: { model: m, prompt: "{{ n }}" } }`);
    expect((await estimate(plan, {}, undefined, options)).steps).toMatchObject([
      { step: 'g', submits: 30 },
      { step: 't', submits: 30, cost: 0, unpriced: 30 },
    ]);
  });

  test('applies the prices of the examples to all calls', async () => {
    const plan = await planOf(`
      prices: { cheap: 2 }
      matrix: { n: { from: 1, to: 40 }, m: [cheap, dear] }
      steps:
        t: { generate: { model: "{{ m }}", prompt: same } }`);
    const [step] = (await estimate(plan, {}, undefined, options)).steps;
    expect(step).toMatchObject({ submits: 80, unpriced: 40, cost: 80 });
    const all = await planOf(`
      prices: { generate: 2 }
      matrix: { n: { from: 1, to: 40 } }
      steps: { t: { generate: { model: m, prompt: "{{ n }}" } } }`);
    expect((await estimate(all, {}, undefined, options)).steps).toMatchObject([
      { submits: 40, unpriced: 0, cost: 80 },
    ]);
  });

  test('counts only the chosen steps', async () => {
    const plan = await planOf(
      '{ matrix: { n: { from: 1, to: 30 } }, steps: { a: { imagine: "a {{ n }}" }, b: { imagine: "b {{ n }}" } } }',
    );
    const report = await estimate(plan, { only: ['b'] }, undefined, options);
    expect(report.steps).toMatchObject([{ step: 'b', submits: 30 }]);
    expect(report.total.slots).toBe(30);
    // Thirty slots are chosen, and no more.
    expect(await estimate(plan, { only: ['b'] }, undefined, { maxSlots: 30 })).toMatchObject({
      exact: true,
    });
  });
});

describe('a job that depends on a job in doubt', () => {
  test('is held for any order of the steps', async () => {
    const { plan, state, at } = await scene(`
      steps:
        more: { from: up, click: Vary (Strong) }
        up: { from: grid, click: U1 }
        grid: { imagine: a }
        other: { imagine: b }`);
    state.put(at(1, 'grid'), 'in-doubt');
    const { steps } = await estimate(plan, {}, state);
    expect(steps).toMatchObject([
      { step: 'more', held: 1, submits: 0 },
      { step: 'up', held: 1, submits: 0 },
      { step: 'grid', inDoubt: 1 },
      { step: 'other', held: 0, submits: 1 },
    ]);
  });

  test('is held if only one of its images is in doubt', async () => {
    const { plan, state, at } = await scene(`
      steps:
        a: { imagine: a }
        b: { imagine: b }
        both: { blend: { images: [steps.a, steps.b] } }`);
    for (const [doubted, other] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      state.done(at(1, other));
      state.put(at(1, doubted), 'in-doubt');
      expect((await estimate(plan, {}, state)).steps[2]).toMatchObject({ step: 'both', held: 1, submits: 0 });
    }
  });

  test.each(['submitting', 'running', 'modal'] as const)(
    'is not shown for a job that is %s',
    async (status) => {
      const { plan, state, at } = await scene('{ steps: { g: { imagine: a, path: U1 } } }');
      state.put(at(1, 'g'), status);
      const { total } = await estimate(plan, {}, state, { running: true });
      expect(total).toMatchObject({ running: 1, held: 0, submits: 1 });
    },
  );
});
