import { describe, expect, test } from 'vitest';
import { planOf } from '../../rig/pipeline-builder.ts';
import { Directory, estimate, scene } from './estimate-rig.ts';

const numbered = '{ matrix: { n: { from: 1, to: 30 } }, steps: { g: { imagine: "no {{ n }}" } } }';

describe('an estimate of a part of the cells', () => {
  test.each([
    ['slot by slot', 1000],
    ['by arithmetic', 1],
  ])('counts these, and gives the total number of cells: %s', async (_, maxSlots) => {
    const plan = await planOf(numbered);
    const filters = [
      { axis: 'n', value: '7' },
      { axis: 'n', value: '9' },
    ];
    expect(await estimate(plan, { filters }, undefined, { maxSlots })).toMatchObject({
      cells: { total: 30, chosen: 2 },
      total: { slots: 2, submits: 2 },
      examples: [{ cell: 7, prompt: 'no 7' }, { cell: 9 }],
    });
    expect(await estimate(plan, { shard: { index: 3, of: 10 } }, undefined, { maxSlots })).toMatchObject({
      cells: { total: 30, chosen: 3 },
      total: { submits: 3 },
      examples: [{ cell: 3 }, { cell: 13 }, { cell: 23 }],
    });
    expect(await estimate(plan, { limit: 2 }, undefined, { maxSlots })).toMatchObject({
      cells: { total: 30, chosen: 2 },
      total: { submits: 2 },
      examples: [{ cell: 1 }, { cell: 2 }],
    });
  });

  test('is exact for few chosen cells, however many there are in total', async () => {
    const plan = await planOf(numbered);
    expect(await estimate(plan, { limit: 5 }, undefined, { maxSlots: 5 })).toMatchObject({ exact: true });
    expect(await estimate(plan, { limit: 6 }, undefined, { maxSlots: 5 })).toMatchObject({ exact: false });
  });

  test('is exact for some thousand slots, and multiplied above 200,000, by default', async () => {
    const cells = async (count: number) =>
      (
        await estimate(
          await planOf(`{ matrix: { n: { from: 1, to: ${count} } }, steps: { g: { imagine: "{{ n }}" } } }`),
        )
      ).exact;
    expect(await cells(2500)).toBe(true);
    expect(await cells(200_001)).toBe(false);
  });
});

describe('an estimate with a state', () => {
  test.each(['failed', 'in-doubt', 'running', 'pending'] as const)(
    'uses the state even if it has only jobs that are %s',
    async (status) => {
      const { plan, state, at } = await scene('{ steps: { g: { imagine: a, path: U1 } } }');
      state.put(
        at(1, 'g'),
        status,
        status === 'failed' ? { error: { code: 'task.failed', message: '' } } : {},
      );
      const { total } = await estimate(plan, {}, state);
      expect([total.failed, total.inDoubt, total.running, total.submits]).toEqual(
        { failed: [1, 0, 0, 0], 'in-doubt': [0, 1, 0, 0], running: [0, 0, 1, 1], pending: [0, 0, 0, 2] }[
          status
        ],
      );
    },
  );

  test('adds spent and planned amounts, for each budget', async () => {
    const warned = async (budget: string, spent: boolean): Promise<readonly string[]> => {
      const { plan, state, at } = await scene(
        `{ budget: ${budget}, prices: { imagine: 0.25 }, steps: { a: { imagine: a }, b: { imagine: b } } }`,
      );
      if (spent) state.done(at(1, 'a'));
      return (await estimate(plan, {}, state)).warnings.map(({ code }) => code);
    };
    // One attempt was made, and cost 0.5: one more is planned.
    expect(await warned('{ submits: 1 }', true)).toEqual(['budget.submits']);
    expect(await warned('{ submits: 2 }', true)).toEqual([]);
    expect(await warned('{ cost: 0.74 }', true)).toEqual(['budget.cost']);
    expect(await warned('{ cost: 0.75 }', true)).toEqual([]);
    expect(await warned('{ cost: 0.5 }', false)).toEqual([]);
  });

  test('shows the totals unchanged, and counts estimated tokens with counted ones', async () => {
    const { plan } = await scene('{ steps: { g: { imagine: a } } }');
    const totals = { jobs: {}, attempts: 7, tokens: 30, assumedTokens: 12, cost: 2, possibleCost: 3 };
    class Totals extends Directory {
      override async totals() {
        return totals as never;
      }
    }
    expect((await estimate(plan, {}, new Totals())).state).toEqual({
      jobs: {},
      attempts: 7,
      tokens: 42,
      cost: 2,
      possibleCost: 3,
    });
    expect(await estimate(plan)).not.toHaveProperty('state');
  });
});

describe('an estimate of slots that wait for results', () => {
  const picture = 5 * 258;

  test('uses the values of their cell', async () => {
    const plan = await planOf(`
      matrix: { words: ["${'x'.repeat(400)}"] }
      steps:
        say: { generate: { model: m, prompt: hi } }
        more: { generate: { model: m, prompt: "{{ words }}{{ steps.say.text }}" } }`);
    const [, more] = (await estimate(plan)).steps;
    expect(more).toMatchObject({ waiting: 1, later: { tokens: { input: 100 + 1024 } } });
  });

  test('counts the images that they gather or start from', async () => {
    const plan = await planOf(`
      steps:
        grid: { imagine: a fox, path: "U1..U3" }
        say: { from: grid, generate: { model: m, prompt: hi } }
        all: { gather: grid/*, generate: { model: m, prompt: "{{ steps.say.text }}" } }
        one: { from: grid, generate: { model: m, prompt: "{{ steps.say.text }}", images: [parent, steps.grid] } }`);
    const { steps } = await estimate(plan);
    expect(steps.slice(2).map(({ later }) => later.tokens.input)).toEqual([
      1024 + 3 * picture,
      1024 + 2 * picture,
    ]);
  });

  test('covers every member that they read: a whole reply, or a part of one', async () => {
    const plan = await planOf(`
      steps:
        say: { generate: { model: m, prompt: hi, responseSchema: { type: object } } }
        both: { generate: { model: m, prompt: "{{ steps.say.text }}", system: "{{ steps.say.json.a }}{{ steps.say.json.b.c }}" } }`);
    expect((await estimate(plan)).steps[1]?.later.tokens.input).toBe(1024 + 32);
  });

  test('omits a field that cannot be rendered with placeholders', async () => {
    const plan = await planOf(`
      steps:
        say: { generate: { model: m, prompt: hi, responseSchema: { type: object } } }
        odd:
          generate:
            model: m
            prompt: "{% for x in steps.say.json.list %}{{ x.name }}{% endfor %}"
            system: xxxxxxxx`);
    expect((await estimate(plan)).steps[1]?.later.tokens.input).toBe(2);
  });
});

describe('an estimate of redone jobs', () => {
  test('omits jobs below a redone job that the user gave up', async () => {
    const { plan, state, at } = await scene('{ steps: { g: { imagine: a, path: "U1,U2" } } }');
    state.done(at(1, 'g'));
    state.fail(at(1, 'g/U1'), 'job.dropped');
    state.done(at(1, 'g/U2'));
    const redo = new Set([at(1, 'g').job?.key ?? '']);
    expect((await estimate(plan, {}, state, { redo })).total).toMatchObject({
      failed: 1,
      submits: 2,
      why: { anew: 2 },
    });
  });

  test('holds jobs that depend on a job in doubt', async () => {
    const { plan, state, at } = await scene(`
      steps:
        a: { imagine: a }
        b: { imagine: b }
        both: { blend: { images: [steps.a, steps.b] } }`);
    for (const name of ['a', 'b', 'both']) state.done(at(1, name));
    state.put(at(1, 'b'), 'in-doubt');
    const redo = new Set([at(1, 'a').job?.key ?? '']);
    expect((await estimate(plan, {}, state, { redo })).total).toMatchObject({
      inDoubt: 1,
      done: 1,
      submits: 1,
    });
  });

  test('counts jobs below a list or a pick that may become others', async () => {
    const { plan, state, at } = await scene(`
      matrix: { seed: [1, 2] }
      steps:
        list: { chat: { model: m, prompt: L } }
        idea: { each: "{{ steps.list.text | lines }}", chat: { model: m, prompt: "{{ item }} {{ seed }}" } }
        best: { best: { from: idea, by: "{{ steps.idea.text }}", over: [seed] } }
        tale: { from: best, chat: { model: m, prompt: "tale {{ item }} {{ seed }}" } }`);
    state.reply(at(1, 'list'), 'a');
    for (const cell of [1, 2]) state.reply(at(cell, 'idea/[1]'), String(cell));
    state.reply(at(2, 'tale/1'), 'done');
    const countOf = async (name: string) => {
      const { steps } = await estimate(plan, {}, state, { redo: new Set([at(1, name).job?.key ?? '']) });
      return steps.map(({ step, submits, done, waiting }) => [step, submits, done, waiting].join(' '));
    };
    expect(await countOf('idea/[1]')).toEqual(['list 0 1 0', 'idea 1 1 0', 'tale 0 0 1']);
    expect(await countOf('list')).toEqual(['list 1 0 0', 'idea 0 0 2', 'tale 0 0 1']);
  });

  test('counts a job that several slots share once', async () => {
    const { plan, state, at } = await scene('{ matrix: { n: [1, 2] }, steps: { g: { imagine: same } } }');
    state.done(at(1, 'g'));
    const redo = new Set([at(1, 'g').job?.key ?? '']);
    expect((await estimate(plan, {}, state, { redo })).total).toMatchObject({ shared: 1, submits: 1 });
  });
});
