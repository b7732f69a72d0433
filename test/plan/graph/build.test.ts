import { describe, expect, test } from 'vitest';
import type { BranchAddress, Step } from '../../../src/pipeline/pipeline.ts';
import { buildGraph } from '../../../src/plan/graph/build.ts';
import type { SlotGraph } from '../../../src/plan/graph/slot-template.ts';
import { preparePlan } from '../../../src/plan/plan.ts';
import { noFiles, pipelineOf, planOf } from '../../rig/pipeline-builder.ts';

test('steps are resolved after all they need and listed as in the file', async () => {
  const { slotGraph: graph } = await planOf(`
    steps:
      c: { from: b, click: "{{ steps.a.task_id }}" }
      b: { from: d, click: U1 }
      a: { imagine: x }
      d: { imagine: y }`);
  expect(graph.order.map(({ step }) => step.name)).toEqual(['d', 'b', 'a', 'c']);
  expect([...graph.steps.keys()]).toEqual(['c', 'b', 'a', 'd']);
  expect(graph.templates.map(({ step, index }) => `${index} ${step.name}`)).toEqual([
    '0 c',
    '1 b',
    '2 a',
    '3 d',
  ]);
});

test('** of a step without a path is its own operation', async () => {
  const { steps } = await pipelineOf('steps: { a: { imagine: x }, b: { from: a, click: U1 } }');
  const [a, b] = steps as [Step, Step];
  const graph = buildGraph([
    a,
    { ...b, from: { ...(b.from as BranchAddress), segments: ['**'] } },
  ]) as SlotGraph;
  expect(graph.templates.map(({ branch }) => branch)).toEqual([[], ['U1']]);
});

test('a plan with too many slots in a cell is refused at the first step above the limit', async () => {
  const pipeline = await pipelineOf(`
    name: big
    steps:
      a: { imagine: x, path: "U1..U20 → V1..V20" }
      b: { from: a/**, click: W, path: "U1..U30" }`);
  const plan = await preparePlan(pipeline, { files: noFiles, serviceId: 'x' });
  expect(plan).toMatchObject({
    ok: false,
    error: [{ code: 'plan.too-large', severity: 'error', line: 4, column: 3, file: 'test.yaml' }],
  });
  expect(plan.ok ? '' : plan.error[0]?.sourceLine).toContain('b: { from: a/**');
});

test('errors of the matrix are reported together with too many slots', async () => {
  const pipeline = await pipelineOf(`
    name: big
    matrix: { n: [1] }
    steps: { a: { imagine: "{{ n }}", path: "U1..U20 → V1..V20 → W1..W24" } }`);
  const exclude = [{ values: { n: 1 }, position: { line: 2, column: 1, length: 1 } }];
  const plan = await preparePlan(
    { ...pipeline, matrix: { ...pipeline.matrix, exclude } },
    { files: noFiles, serviceId: 'x' },
  );
  expect(plan.ok ? [] : plan.error.map(({ code }) => code)).toEqual(['matrix.empty', 'plan.too-large']);
});

test('steps that wait for each other, which validation refuses, are a bug', async () => {
  const { steps } = await pipelineOf('steps: { a: { imagine: x }, b: { imagine: y } }');
  const [a, b] = steps as [Step, Step];
  expect(() =>
    buildGraph([
      { ...a, after: ['b'] },
      { ...b, after: ['a'] },
    ]),
  ).toThrow(/^Internal error:/);
  expect(() => buildGraph([{ ...a, kind: 'click' }])).toThrow(/^Internal error:/);
});

describe('a cell may have 10,000 slots, and gather 10,000 jobs', () => {
  const codeOf = async (steps: string): Promise<string | undefined> => {
    const pipeline = await pipelineOf(`\n      steps:\n        ${steps.replaceAll('\n', '\n        ')}`);
    const plan = await preparePlan(pipeline, { files: noFiles, serviceId: 'x' });
    return plan.ok ? undefined : `${plan.error[0]?.code} ${plan.error[0]?.sourceLine.trim().slice(0, 1)}`;
  };
  /** 1 + 99 + 9900 slots. */
  const full = 'a: { imagine: x, path: "U1..U99 → V1..V100" }';

  test('counted over all its steps', async () => {
    expect(await codeOf(full)).toBeUndefined();
    expect(await codeOf(`${full}\nb: { imagine: y }`)).toBe('plan.too-large b');
  });

  test('counted for each place that a step starts from', async () => {
    const many = 'a: { imagine: x, path: "U1..U99" }\nb: { from: a/*, click: W, path: "V1..V';
    // 100 and 99 × (1 + 99) slots.
    expect(await codeOf(`${many}99" }`)).toBeUndefined();
    expect(await codeOf(`${many}99" }\nc: { imagine: y }`)).toBe('plan.too-large c');
    expect(await codeOf(`${many}100" }`)).toBe('plan.too-large b');
  });

  test('counted over all steps that gather', async () => {
    const grid = 'a: { imagine: x, path: "U1..U50 → V1..V50" }\n';
    const all = (name: string): string =>
      `${name}: { gather: a/**, generate: { model: m, prompt: ${name}, images: [] } }\n`;
    const four = `${grid}${['b', 'c', 'd', 'e'].map(all).join('')}`;
    expect(await codeOf(four)).toBeUndefined();
    expect(await codeOf(`${four}f: { gather: a/U1, generate: { model: m, prompt: f, images: [] } }`)).toBe(
      'plan.too-large f',
    );
  });
});

describe('branches of a wildcard that are named by addresses', () => {
  const slotsOf = async (text: string): Promise<readonly string[]> =>
    (await planOf(text))
      .resolve({ number: 1, vars: {}, repeat: 1 }, () => undefined)
      .map(({ step, branch }) => [step, ...branch].join('/'));

  test('belong to every step that starts from them', async () => {
    expect(
      await slotsOf(`
        steps:
          grid: { imagine: a fox, path: "U*" }
          a: { from: grid/U1, click: V1 }
          b: { from: grid/U1, click: V2 }`),
    ).toEqual(['grid', 'grid/U*', 'a/U1/V1', 'b/U1/V2']);
  });

  test('may have wildcards below them', async () => {
    const { slotGraph } = await planOf(`
      steps:
        grid: { imagine: a fox, path: "U* → V*" }
        one: { from: grid/U1/V1, click: X }
        two: { from: grid/U2/V1, click: X }
        all: { from: grid/U3/*, click: X }`);
    const above = (name: string) => slotGraph.steps.get(name)?.operations.map(({ above }) => above?.branch);
    expect(above('one')).toEqual([['U1', 'V1']]);
    expect(above('two')).toEqual([['U2', 'V1']]);
    expect(above('all')).toEqual([['U3', 'V*']]);
    const open = ['one', 'two', 'all'].map((name) => slotGraph.steps.get(name)?.operations[0]?.open);
    expect(open).toEqual([false, false, true]);
    const late = ['one', 'two', 'all'].map((name) => slotGraph.steps.get(name)?.operations[0]?.late);
    expect(late).toEqual([false, false, true]);
  });
});

test('places below a wildcard are open and late, also below a named branch', async () => {
  const { slotGraph } = await planOf(`
    steps:
      grid: { imagine: a fox, path: "U* → V* → W1" }
      deep: { from: grid/U3/**, click: X }`);
  const [operation] = slotGraph.steps.get('deep')?.operations ?? [];
  expect(operation).toMatchObject({ open: true, late: true, above: { branch: ['U3', 'V*', 'W1'] } });
});

test('a place below a named branch is late if its press reads a result', async () => {
  const { slotGraph } = await planOf(`
    steps:
      say: { generate: { model: m, prompt: hi } }
      grid: { imagine: a fox, path: ["U*", { button: W1, prompt: "{{ steps.say.text }}" }] }
      deep: { from: grid/U3/W1, click: X }
      near: { from: grid/U3, click: X }`);
  const late = ['deep', 'near'].map((name) => slotGraph.steps.get(name)?.operations[0]?.above?.late);
  expect(late).toEqual([true, false]);
});

test('a place is skippable or late because of any place that it depends on', async () => {
  const { slotGraph } = await planOf(`
    steps:
      say: { generate: { model: m, prompt: hi } }
      two: { imagine: a, path: "U1,U2?" }
      below: { from: two/U2, click: V1 }
      asks: { imagine: b, when: steps.say.text == "x", path: U1 }
      reads: { imagine: "{{ steps.say.text }}" }
      both: { imagine: "{{ steps.reads.image_url }}", when: steps.say.text == "x" }
      all: { gather: two/*, imagine: c }
      shows: { imagine: { prompt: d, images: [steps.below] } }
      talk: { generate: { model: m, prompt: "{{ steps.say.text }}" } }
      more: { generate: { model: m, prompt: ho, continue: talk } }
      wild: { imagine: e, path: "U*" }
      found: { gather: wild/*, imagine: f }
      shown: { imagine: { prompt: g, images: [steps.found] } }`);
  const said = slotGraph.templates.map(({ step, branch, sure, maySkip, late, waits }) =>
    [
      [step.name, ...branch].join('/'),
      ...(sure ? ['sure'] : []),
      ...(maySkip ? ['may skip'] : []),
      ...(late ? ['late'] : []),
      ...waits,
    ].join(', '),
  );
  expect(said).toEqual([
    'say, sure',
    'two, sure',
    'two/U1, sure',
    'two/U2, sure, may skip',
    'below/U2/V1, may skip',
    'asks, may skip, late, say',
    'asks/U1, may skip, late',
    'reads, may skip, late, say',
    'both, may skip, late, say, reads',
    'all, may skip, late',
    'shows, may skip, late',
    'talk, may skip, late, say',
    'more, may skip, late',
    'wild, sure',
    'wild/U*, sure, late',
    'found, sure, late',
    'shown, sure, late',
  ]);
});

test('files are kept for steps that show them, not for steps that continue a conversation', async () => {
  const { slotGraph } = await planOf(`
    steps:
      talk: { keep: false, generate: { model: m, prompt: hi } }
      one: { keep: false, imagine: a }
      two: { keep: false, imagine: b }
      more: { generate: { model: m, prompt: ho, continue: talk, images: [steps.one, steps.two] } }`);
  expect(slotGraph.templates.map(({ step, keep }) => `${step.name} ${keep}`)).toEqual([
    'talk false',
    'one true',
    'two true',
    'more true',
  ]);
});

test('files of a wildcard are kept for a step that shows a branch of it', async () => {
  const { slotGraph } = await planOf(`
    steps:
      grid: { keep: false, imagine: a fox, path: "U*" }
      big: { keep: false, from: grid/U1, click: X }
      said: { from: grid/U1, generate: { model: m, prompt: hi, images: [parent] } }`);
  expect(
    slotGraph.templates.map(({ step, branch, keep }) => [[step.name, ...branch].join('/'), keep]),
  ).toEqual([
    ['grid', false],
    ['grid/U*', true],
    ['big/U1/X', false],
    ['said/U1', true],
  ]);
});

test('a path inherits `keep: false` from its step, and is skipped with its operation', async () => {
  const plan = await planOf('steps: { g: { imagine: a, path: "U1 → V1", keep: false, when: repeat == 2 } }');
  const slots = plan.resolve({ number: 1, vars: {}, repeat: 1 }, () => undefined);
  expect(slots.map(({ keep, error }) => [keep, error?.code])).toEqual([
    [false, 'when.false'],
    [false, 'ancestor.skipped'],
    [false, 'ancestor.skipped'],
  ]);
});

test('depth is the longest way from a root, through gathered, shown and continued jobs', async () => {
  const { slotGraph } = await planOf(`
    steps:
      a: { imagine: a, path: "U1 → V1" }
      b: { imagine: b }
      both: { blend: { images: [steps.b, steps.both1] } }
      both1: { gather: a/**, imagine: c }
      talk: { generate: { model: m, prompt: hi, images: [steps.both] } }
      more: { from: b, generate: { model: m, prompt: ho, continue: talk } }`);
  expect(
    slotGraph.templates.map(({ step, branch, depth }) => `${[step.name, ...branch].join('/')} ${depth}`),
  ).toEqual(['a 0', 'a/U1 1', 'a/U1/V1 2', 'b 0', 'both 4', 'both1 3', 'talk 5', 'more 6']);
});
