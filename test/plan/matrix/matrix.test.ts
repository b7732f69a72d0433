import { afterEach, describe, expect, it, vi } from 'vitest';
import { renderValue, WrittenNumber } from '../../../src/pipeline/values/value.ts';
import type { Cell } from '../../../src/plan/cell.ts';
import { unknownFilters } from '../../../src/plan/matrix/selection.ts';
import { MemoryFiles } from '../../pipeline/table-port.ts';
import { slowWork } from '../../rig/slow-work.ts';
import { cellsOf, errorsOf, listed, matrixOf, ranged, rowed, varsOf } from './spec.ts';

const line = (vars: Cell['vars']) => Object.values(vars).map(renderValue).join(' ');

describe('more includes and excludes than a number has bits', () => {
  it('are told apart', async () => {
    const count = 70;
    const include = Array.from({ length: count }, (_, at) => ({ animal: 'fox', [`v${at}`]: at }));
    const gone = ['hen', 'cat', 'dog', 'cow', 'ape'];
    const exclude = gone.map((animal) => ({ animal }));
    const axes = [listed('animal', [...gone, 'fox', 'owl'])];
    const [fox, owl] = await varsOf({ axes, include, exclude });
    expect(fox).toEqual(Object.assign({ animal: 'fox' }, ...include));
    expect(owl).toEqual({ animal: 'owl' });
  });
});

describe('the product', () => {
  it('multiplies in written order, the first axis slowest, with rows at their written place', async () => {
    const files = new MemoryFiles({ 't.csv': 'scene,light\ndusk,low\nnoon,high\n' });
    const axes = [listed('animal', ['fox', 'owl']), rowed('t.csv', ['scene', 'light']), ranged('seed', 1, 2)];
    const vars = await varsOf({ axes }, files);
    expect(vars.map((cell) => line(cell))).toEqual([
      'fox dusk low 1',
      'fox dusk low 2',
      'fox noon high 1',
      'fox noon high 2',
      'owl dusk low 1',
      'owl dusk low 2',
      'owl noon high 1',
      'owl noon high 2',
    ]);
    expect(Object.keys(vars[0] ?? {})).toEqual(['animal', 'scene', 'light', 'seed']);
  });

  it('is one cell without a matrix', async () => {
    expect(await cellsOf(await matrixOf({}))).toEqual([{ number: 1, vars: {}, repeat: 1 }]);
  });

  it('consists of the includes if there are no axes', async () => {
    expect(await varsOf({ include: [{ a: 1 }, { a: 1, b: 2 }] })).toEqual([{ a: 1 }, { a: 1, b: 2 }]);
  });

  it.each([
    [0, 0.3, 0.1, [0, 0.1, 0.2, 0.3]],
    [0, 0.7, 0.1, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]],
    [0.1, 0.3, 0.1, [0.1, 0.2, 0.3]],
    [0, 0.29, 0.1, [0, 0.1, 0.2]],
    [3, 3, 1, [3]],
  ])('of a range from %d to %d by %d includes the end if a step reaches it', async (from, to, by, values) => {
    expect((await varsOf({ axes: [ranged('w', from, to, by)] })).map(({ w }) => w)).toEqual(values);
  });

  it('has values of a range without the noise of binary fractions', async () => {
    expect((await varsOf({ axes: [ranged('w', 0, 0.5, 0.1)] })).map(({ w }) => w)).toEqual([
      0, 0.1, 0.2, 0.3, 0.4, 0.5,
    ]);
  });

  it('keeps all decimals of the first number of a range, even if its steps have fewer', async () => {
    expect((await varsOf({ axes: [ranged('w', 0.25, 1.25, 0.5)] })).map(({ w }) => w)).toEqual([
      0.25, 0.75, 1.25,
    ]);
    expect((await varsOf({ axes: [ranged('w', 0.5, 2.5, 1)] })).map(({ w }) => w)).toEqual([0.5, 1.5, 2.5]);
  });

  it('repeats a cell directly after itself, each repeat with its own number', async () => {
    const cells = await cellsOf(await matrixOf({ axes: [listed('a', ['x', 'y'])], repeat: 2 }));
    expect(cells.map(({ number, vars, repeat }) => [number, vars['a'], repeat])).toEqual([
      [1, 'x', 1],
      [2, 'x', 2],
      [3, 'y', 1],
      [4, 'y', 2],
    ]);
  });
});

describe('exclude and include', () => {
  it("behave like GitHub's documented example", async () => {
    const vars = await varsOf({
      axes: [listed('fruit', ['apple', 'pear']), listed('animal', ['cat', 'dog'])],
      include: [
        { color: 'green' },
        { color: 'pink', animal: 'cat' },
        { fruit: 'apple', shape: 'circle' },
        { fruit: 'banana' },
        { fruit: 'banana', animal: 'cat' },
      ],
    });
    expect(vars).toEqual([
      { fruit: 'apple', animal: 'cat', color: 'pink', shape: 'circle' },
      { fruit: 'apple', animal: 'dog', color: 'green', shape: 'circle' },
      { fruit: 'pear', animal: 'cat', color: 'pink' },
      { fruit: 'pear', animal: 'dog', color: 'green' },
      { fruit: 'banana' },
      { fruit: 'banana', animal: 'cat' },
    ]);
  });

  it('exclude every combination that a partial does not contradict', async () => {
    const vars = await varsOf({
      axes: [listed('os', ['mac', 'win']), listed('version', [12, 14]), listed('env', ['staging', 'live'])],
      exclude: [
        { os: 'mac', version: 12, env: 'live' },
        { os: 'win', version: 14 },
      ],
    });
    expect(vars.map((cell) => line(cell))).toEqual([
      'mac 12 staging',
      'mac 14 staging',
      'mac 14 live',
      'win 12 staging',
      'win 12 live',
    ]);
  });

  it('match objects by the members they name, and compare values as they render', async () => {
    const ink = { name: 'ink', weight: new WrittenNumber('6.0', 6) };
    const oil = { name: 'oil', weight: 6 };
    const axes = [listed('medium', [ink, oil]), listed('seed', [1, 2])];
    const seedsLeft = async (exclude: Readonly<Record<string, never>>) =>
      (await varsOf({ axes, exclude: [exclude] })).map(({ medium, seed }) => [medium === ink, seed]);
    expect(await seedsLeft({ medium: { name: 'ink' }, seed: '1' } as never)).toEqual([
      [true, 2],
      [false, 1],
      [false, 2],
    ]);
    expect(await seedsLeft({ medium: { weight: '6' } } as never)).toEqual([
      [true, 1],
      [true, 2],
    ]);
  });

  it('read a missing member as null, as GitHub does', async () => {
    const axes = [listed('medium', [{ name: 'ink' }, { name: 'oil', gloss: 'high' }])];
    expect(await varsOf({ axes, exclude: [{ medium: { gloss: null } }] })).toEqual([
      { medium: { name: 'oil', gloss: 'high' } },
    ]);
  });

  it('let an include extend only cells that are not excluded, else add one', async () => {
    const axes = [listed('animal', ['fox', 'owl'])];
    const include = [{ animal: 'owl', note: 'night' }];
    expect(await varsOf({ axes, include, exclude: [{ animal: 'owl' }] })).toEqual([
      { animal: 'fox' },
      { animal: 'owl', note: 'night' },
    ]);
    expect(await varsOf({ axes, include })).toEqual([{ animal: 'fox' }, { animal: 'owl', note: 'night' }]);
  });

  it('treat a column of rows as a variable like any other', async () => {
    const files = new MemoryFiles({ 't.csv': 'scene,light\ndusk,low\nnoon,high\nnight,low\n' });
    const vars = await varsOf(
      {
        axes: [rowed('t.csv', ['scene', 'light']), listed('seed', [1, 2])],
        exclude: [{ light: 'low', seed: 2 }],
        include: [{ scene: 'noon', note: 'bright' }],
      },
      files,
    );
    expect(vars).toEqual([
      { scene: 'dusk', light: 'low', seed: 1 },
      { scene: 'noon', light: 'high', seed: 1, note: 'bright' },
      { scene: 'noon', light: 'high', seed: 2, note: 'bright' },
      { scene: 'night', light: 'low', seed: 1 },
    ]);
  });
});

describe('the check of a matrix', () => {
  it('reports an exclude that can match nothing, at its position', async () => {
    const files = new MemoryFiles({ 't.csv': 'scene,light\ndusk,low\nnoon,high\n' });
    const errors = await errorsOf(
      {
        axes: [rowed('t.csv', ['scene', 'light']), ranged('seed', 1, 4, 2)],
        exclude: [
          { scene: 'dusk' },
          // Each column has its value, no row has both.
          { scene: 'dusk', light: 'high' },
          { seed: 2 },
          { mood: 'calm' },
        ],
      },
      files,
    );
    expect(errors.map(({ code, line, column }) => [code, line, column])).toEqual([
      ['matrix.exclude-nothing', 2, 3],
      ['matrix.exclude-nothing', 3, 3],
      ['matrix.exclude-nothing', 4, 3],
    ]);
  });

  it('refuses a matrix without cells', async () => {
    const errors = await errorsOf({ axes: [listed('a', ['x', 'y'])], exclude: [{ a: 'x' }, { a: 'y' }] });
    expect(errors.map(({ code }) => code)).toEqual(['matrix.empty']);
  });

  it('refuses more cells than a number can count', async () => {
    const axes = [ranged('a', 1, 1e8), ranged('b', 1, 1e8)];
    expect((await errorsOf({ axes })).map(({ code }) => code)).toEqual(['matrix.too-large']);
  });

  it('refuses to draw a sample from more combinations than can be examined', async () => {
    const axes = [ranged('a', 1, 1e9), ranged('b', 1, 2)];
    const errors = await errorsOf({ axes, sample: { count: 10, seed: 1 } });
    expect(errors.map(({ code }) => code)).toEqual(['matrix.sample-too-large']);
  });

  it.each([
    [1e8 + 1, 10],
    [1e9, 999_999_999],
    [1e8, 10_000_001],
  ])('refuses a sample of %d combinations and %d cells', async (combinations, count) => {
    const errors = await errorsOf({ axes: [ranged('a', 1, combinations)], sample: { count, seed: 1 } });
    expect(errors.map(({ code }) => code)).toEqual(['matrix.sample-too-large']);
  });

  it('accepts a sample with the largest number of combinations and cells', async () => {
    const sample = { count: 10_000_000, seed: 1 };
    expect((await matrixOf({ axes: [ranged('a', 1, 1e8)], sample })).cellCount).toBe(10_000_000);
  });

  it('accepts a sample of all cells, however many there are', async () => {
    const matrix = await matrixOf({
      axes: [ranged('a', 1, 1e9), ranged('b', 1, 2)],
      sample: { count: 2e9, seed: 1 },
    });
    expect(matrix.cellCount).toBe(2e9);
  });

  it('reports the errors of a table in its file, relative to the path of the pipeline', async () => {
    const files = new MemoryFiles({ '/data/t.csv': 'scene,light\ndusk,low\nnoon\n' });
    const axis = { ...rowed('/data/t.csv', ['scene', 'light']), declared: '../data/t.csv' };
    const [error] = await errorsOf({ axes: [axis] }, files);
    expect(error).toMatchObject({ code: 'table.columns', file: 'data/t.csv', line: 3, severity: 'error' });
  });

  it('refuses a table that is missing, or whose columns changed since they were read', async () => {
    const axes = [rowed('t.csv', ['scene'])];
    expect((await errorsOf({ axes })).map(({ code, file }) => [code, file])).toEqual([
      ['table.unreadable', 'pipelines/p.yaml'],
    ]);
    const files = new MemoryFiles({ 't.csv': 'place\ndusk\n' });
    expect((await errorsOf({ axes }, files)).map(({ code }) => code)).toEqual(['table.changed']);
  });
});

describe('a selection', () => {
  const parts = {
    axes: [listed('medium', [{ name: 'ink' }, { name: 'oil' }]), ranged('seed', 1, 3)],
    include: [{ seed: 2, note: 'mid' }],
  };
  const numbers = async (selection: Parameters<typeof cellsOf>[1]) =>
    (await cellsOf(await matrixOf(parts), selection)).map(({ number }) => number);

  it('filters by rendered text: any value of one axis, and all axes', async () => {
    const filter = (...pairs: [string, string][]) => ({
      filters: pairs.map(([axis, value]) => ({ axis, value })),
    });
    expect(await numbers(filter(['seed', '2'], ['seed', '3']))).toEqual([2, 3, 5, 6]);
    expect(await numbers(filter(['medium.name', 'oil'], ['seed', '3']))).toEqual([6]);
    expect(await numbers(filter(['medium', '{"name":"ink"}']))).toEqual([1, 2, 3]);
    expect(await numbers(filter(['note', 'mid']))).toEqual([2, 5]);
    expect(await numbers(filter(['medium.weight', '']))).toEqual([]);
  });

  it('chooses the shard by number, then the first of the rest', async () => {
    expect(await numbers({ shard: { index: 2, of: 3 } })).toEqual([2, 5]);
    expect(await numbers({ shard: { index: 2, of: 3 }, limit: 1 })).toEqual([2]);
    expect(await numbers({ limit: 0 })).toEqual([]);
  });

  it('filters, then chooses the shard, then the first of the rest, each repeat being a cell', async () => {
    const repeated = await matrixOf({ ...parts, repeat: 2 });
    const filters = [{ axis: 'seed', value: '2' }];
    const chosen = async (selection: Parameters<typeof cellsOf>[1]) =>
      (await cellsOf(repeated, selection)).map(({ number, repeat }) => `${number}.${repeat}`);
    expect(await chosen({ filters })).toEqual(['3.1', '4.2', '9.1', '10.2']);
    for (const limit of [1, 2, 3, 4, 5]) {
      const first = await chosen({ filters, limit });
      expect(first).toEqual(['3.1', '4.2', '9.1', '10.2'].slice(0, limit));
      expect(await repeated.chosen({ filters, limit })).toBe(first.length);
    }
    const shard = { index: 2, of: 2 };
    expect(await chosen({ filters, shard })).toEqual(['4.2', '10.2']);
    expect(await chosen({ filters, shard, limit: 1 })).toEqual(['4.2']);
    expect(await repeated.chosen({ filters, shard, limit: 9 })).toBe(2);
  });

  it('names each unknown axis once', async () => {
    const filters = ['medium.name', 'note', 'medum', 'medum', 'seeds.x'].map((axis) => ({ axis, value: '' }));
    expect(unknownFilters(await matrixOf(parts), { filters })).toEqual(['medum', 'seeds.x']);
  });

  it('prefers a variable with that exact name to a member', async () => {
    const files = new MemoryFiles({ 't.csv': 'a.b,a\nx,1\ny,2\n' });
    const matrix = await matrixOf({ axes: [rowed('t.csv', ['a.b', 'a'])] }, files);
    const cells = await cellsOf(matrix, { filters: [{ axis: 'a.b', value: 'y' }] });
    expect(cells.map(({ number }) => number)).toEqual([2]);
  });

  it.each([[['a', 'a.b']], [['a.b', 'a']]])(
    'prefers a member of the longest matching name, of %j',
    async (columns) => {
      const text = '{"a.b":{"c":"x"},"a":{"b":{"c":"y"}}}\n{"a.b":{"c":"y"},"a":{"b":{"c":"x"}}}\n';
      const files = new MemoryFiles({ 't.jsonl': text });
      const matrix = await matrixOf({ axes: [rowed('t.jsonl', columns, 'jsonl')] }, files);
      const cells = await cellsOf(matrix, { filters: [{ axis: 'a.b.c', value: 'y' }] });
      expect(cells.map(({ number }) => number)).toEqual([2]);
    },
  );
});

describe('cells that each take long', () => {
  afterEach(() => vi.restoreAllMocks());

  it('let other work run, even if their consumer never waits', async () => {
    const slow = slowWork();
    const matrix = await matrixOf({ axes: [ranged('a', 1, 1000), ranged('b', 1, 1000)] });
    const all = async (): Promise<void> => {
      for await (const _cell of matrix.cells({}, slow.abortAfter(3))) slow.work();
    };
    await expect(all()).rejects.toThrow('heard');
    expect(slow.done()).toBe(3);
  });
});
