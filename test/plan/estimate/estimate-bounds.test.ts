import { describe, expect, test } from 'vitest';
import type { PlanReport } from '../../../src/plan/estimate/report.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { planOf } from '../../rig/pipeline-builder.ts';
import { estimate } from './estimate-rig.ts';

const codesOf = async (budget: string, selection = {}): Promise<readonly string[]> => {
  const plan = await planOf(
    `{ budget: ${budget}, prices: { imagine: 0.1 }, matrix: { n: [1, 2, 3] }, steps: { g: { imagine: "{{ n }}" } } }`,
  );
  return (await estimate(plan, selection)).warnings.map(({ code }) => code);
};

describe('a budget that is just enough', () => {
  test.each([
    ['{ submits: 3 }', []],
    ['{ submits: 2 }', ['budget.submits']],
    ['{ cost: 0.3 }', []],
    ['{ cost: 0.29 }', ['budget.cost']],
  ])('%s', async (budget, codes) => {
    expect(await codesOf(budget)).toEqual(codes);
  });

  test('may count tokens, which only text calls take', async () => {
    const plan = await planOf('{ steps: { t: { generate: { model: m, prompt: hello } } } }');
    const { tokens } = (await estimate(plan)).total;
    const all = tokens.input + tokens.output;
    const warned = async (most: number): Promise<readonly string[]> => {
      const bounded = await planOf(
        `{ budget: { tokens: ${most} }, steps: { t: { generate: { model: m, prompt: hello } } } }`,
      );
      return (await estimate(bounded)).warnings.map(({ code }) => code);
    };
    expect(all).toBeGreaterThan(1);
    expect(await warned(all)).toEqual([]);
    expect(await warned(all - 1)).toEqual(['budget.tokens']);
  });
});

describe('the contents of a report', () => {
  test('include the first three prompts, each once', async () => {
    const plan = await planOf(
      '{ matrix: { n: [1, 2] }, steps: { a: { imagine: "a {{ n }}" }, b: { imagine: same }, t: { generate: { model: m, prompt: same } }, c: { imagine: "c {{ n }}" } } }',
    );
    const { examples } = await estimate(plan);
    expect(examples).toEqual([
      { cell: 1, step: 'a', prompt: 'a 1' },
      { cell: 1, step: 'b', prompt: 'same' },
      { cell: 1, step: 'c', prompt: 'c 1' },
    ]);
  });

  test.each([
    [6, true],
    [5, false],
  ])('are exact for six slots, of which %i may be examined: %s', async (maxSlots, exact) => {
    const plan = await planOf(
      '{ matrix: { n: [1, 2, 3] }, steps: { a: { imagine: "a {{ n }}" }, b: { imagine: "b {{ n }}" } } }',
    );
    const report = await estimate(plan, {}, undefined, { maxSlots });
    expect(report).toMatchObject({ exact, total: { slots: 6, submits: 6 } });
    expect(report.warnings.map(({ code }) => code)).toEqual(exact ? [] : ['plan.at-most']);
  });

  test('count one slot of a list that its schema leaves empty, and all that lists below may have', async () => {
    const list = (most: number): string => `{ type: array, maxItems: ${most} }`;
    const plan = await planOf(
      `{ steps: { i: { generate: { model: m, prompt: p, responseSchema: { type: object, properties: { none: ${list(0)}, two: ${list(2)} }, required: [none, two] } } }, g: { each: "{{ steps.i.json.none }}", imagine: "{{ item }}", path: U1 }, c: { from: g/U1, each: "{{ steps.i.json.two }}", generate: { model: m, prompt: "{{ item }}" } } } }`,
    );
    const { steps } = await estimate(plan);
    expect(steps.map(({ step, slots }) => [step, slots])).toEqual([
      ['i', 1],
      ['g', 2],
      ['c', 2],
    ]);
  });

  test('count a list of the file as long as the longest, where not each slot is examined', async () => {
    const plan = await planOf(
      '{ matrix: { t: [{ s: [a] }, { s: [b, c, d] }] }, steps: { g: { each: "{{ t.s }}", imagine: "{{ item }}" } } }',
    );
    const { slots } = (await estimate(plan)).total;
    expect(slots).toBe(4);
    expect((await estimate(plan, {}, undefined, { maxSlots: 1 })).total.slots).toBeGreaterThanOrEqual(slots);
  });

  test('count four frames of what is pressed anew and cut', async () => {
    const plan = await planOf(
      `steps:
        grid: { imagine: a fox }
        again: { from: grid, click: reroll, grid: split }
        cap: { from: "again/#*", generate: { model: m, images: [parent], prompt: "{{ frame }}" } }
        after: { from: cap, chat: { model: m, prompt: "{{ steps.cap.text }}" } }`,
    );
    const { steps, warnings } = await estimate(plan);
    const of = (name: string) => steps.find(({ step }) => step === name);
    expect([of('again'), of('cap'), of('after')]).toMatchObject([
      { slots: 1 },
      { slots: 4, waiting: 4, atMost: true },
      { slots: 4, waiting: 4, atMost: true },
    ]);
    expect(warnings.map(({ code }) => code)).toEqual(expect.arrayContaining(['plan.open', 'plan.lists']));
    expect((await estimate(plan, {}, undefined, { maxSlots: 1 })).total.slots).toBe(10);
  });

  test.each([
    ['frames of what is pressed', 'grid: { imagine: "{{ n }}", path: U1..U2, grid: split }'],
    [
      'frames of a late grid',
      'say: { chat: { model: m, prompt: "{{ n }}" } }, grid: { imagine: "{{ steps.say.text }}", grid: split }',
    ],
    [
      'frames that are named',
      'grid: { imagine: "{{ n }}", grid: split }, cap: { from: "grid/#*", generate: { model: m, images: [parent], prompt: "{{ frame }}" } }',
    ],
    [
      'frames that may be fewer',
      'grid: { imagine: "{{ n }}" }, again: { from: grid, click: reroll, grid: split }, cap: { from: "again/#*", generate: { model: m, images: [parent], prompt: "{{ frame }}" } }',
    ],
    ['buttons of a wildcard', 'grid: { imagine: "{{ n }}", path: "U*" }'],
  ])('are those of each slot where counts are multiplied and none is shared: %s', async (_what, steps) => {
    const plan = await planOf(
      `{ prices: { imagine: 1, U1: 2 }, matrix: { n: { from: 1, to: 7 } }, steps: { ${steps} } }`,
    );
    const exact = await estimate(plan);
    const many = await estimate(plan, {}, undefined, { maxSlots: 6 });
    expect([exact.exact, many.exact]).toEqual([true, false]);
    const tokens = { input: 0, output: 0 };
    const counts = ({ steps: all, total }: PlanReport) =>
      [...all, total].map((one) => ({ ...one, tokens, later: { ...one.later, tokens } }));
    expect(counts(many)).toEqual(counts(exact));
  });

  test('need no more than a few cells, however many are chosen', async () => {
    const plan = await planOf(
      '{ matrix: { n: { from: 1, to: 9000 } }, steps: { g: { imagine: "{{ n }}" } } }',
    );
    let looks = 0;
    const counted: Plan = {
      ...plan,
      resolve: (...args) => {
        looks += 1;
        return plan.resolve(...args);
      },
    };
    const report = await estimate(counted, { limit: 8000 }, undefined, { maxSlots: 10 });
    expect(report).toMatchObject({ exact: false, total: { submits: 8000 } });
    expect(looks).toBeLessThan(100);
  });

  test('name at most twenty submissions without a price', async () => {
    const steps = Array.from({ length: 21 }, (_, n) => `s${n}: { generate: { model: m${n}, prompt: p } }`);
    const plan = await planOf(`{ prices: { other: 1 }, steps: { ${steps.join(', ')} } }`);
    const { unpricedNames, total } = await estimate(plan);
    expect(unpricedNames).toEqual(Array.from({ length: 20 }, (_, n) => `m${n}`));
    expect(total.unpriced).toBe(21);
  });
});
