import { describe, expect, it } from 'vitest';
import { formatDiagnostic } from '../../../src/pipeline/diagnostics/format.ts';
import { renderValue } from '../../../src/pipeline/values/value.ts';
import { parse, placed } from '../diagnose.ts';

const text = `name: t
matrix:
  animal: [fox, owl]
  seed: { from: 1, to: 4 }
  medium: [{ name: ink }, { name: oil }]
  exclude:
    - { animal: owl, seed: 2 }
    - { animal: fox, medium: { name: oil } }
  include:
    - { animal: owl, note: at night }
    - { animal: lynx, seed: 9, medium: { name: ink } }
steps:
  grid: { imagine: "{{ animal }} in {{ medium.name }} --seed {{ seed }}" }
`;

async function matrixWith(...set: readonly string[]) {
  const { pipeline, diagnostics } = await parse(text, {}, set);
  expect(diagnostics).toEqual([]);
  const { axes, exclude, include } = pipeline?.matrix ?? { axes: [], exclude: [], include: [] };
  return {
    axes: axes.map((axis) =>
      axis.kind === 'values'
        ? axis.values.map(renderValue)
        : axis.kind === 'range'
          ? [axis.from, axis.to, axis.step]
          : [],
    ),
    exclude: exclude.map(({ values }) => values),
    include: include.map(({ values }) => values),
  };
}

describe('axes that the user replaces', () => {
  it.each([
    ['animal=lynx', 0, ['lynx']],
    ['animal=red fox', 0, ['red fox']],
    ['animal=a: b', 0, ['a: b']],
    ['animal=', 0, ['']],
    ['animal=[lynx, "red fox"]', 0, ['lynx', 'red fox']],
    ['animal="[brackets]"', 0, ['[brackets]']],
    ['seed=07.50', 1, ['07.50']],
    ['seed=6.0', 1, ['6.0']],
    ['seed={from: 5, to: 7}', 1, [5, 7, 1]],
    ['medium={name: chalk}', 2, ['{"name":"chalk"}']],
  ])('%s gives the same values as the file with that axis', async (set, at, values) => {
    expect((await matrixWith(set)).axes[at]).toEqual(values);
  });

  it('keep their order, and other axes keep their values', async () => {
    const { axes } = await matrixWith('seed=9');
    expect(axes).toEqual([['fox', 'owl'], ['9'], ['{"name":"ink"}', '{"name":"oil"}']]);
  });

  it('combine the values of several settings', async () => {
    const { axes } = await matrixWith('animal=lynx', 'seed=7', 'animal=[hare, owl]', 'seed=8');
    expect(axes.slice(0, 2)).toEqual([
      ['lynx', 'hare', 'owl'],
      ['7', '8'],
    ]);
  });

  it('drop the excludes and includes of removed values', async () => {
    expect(await matrixWith('animal=fox')).toMatchObject({
      exclude: [{ animal: 'fox', medium: { name: 'oil' } }],
      include: [],
    });
    expect(await matrixWith('seed={from: 5, to: 9}', 'medium={name: ink}')).toMatchObject({
      exclude: [],
      include: [{ animal: 'owl' }, { animal: 'lynx' }],
    });
    expect((await matrixWith('seed={from: 2, to: 4, step: 2}')).exclude).toHaveLength(2);
    const odd = await matrixWith('seed={from: 1, to: 9, step: 2}');
    expect([odd.exclude, odd.include.length]).toEqual([[{ animal: 'fox', medium: { name: 'oil' } }], 2]);
  });

  it.each([
    [
      'animl=lynx',
      'animl',
      'The matrix has no axis "animl".',
      'Did you mean "animal"? Write --set \'animal=lynx\'.',
    ],
    ['include=x', 'include', 'The matrix has no axis "include".', 'The axes of the matrix are'],
    ['animal=[lynx', '[', 'The [ that opens here is never closed.', "Write --set 'animal=[lynx]'."],
    ['animal=["lynx', '"', 'is never closed', 'A list is written animal=[a, b]'],
    ['animal=[]', '[]', 'The axis "animal" has no value.', 'Remove it'],
    ['seed={from: 4, to: 1}', '1', 'The range of "seed" ends (1) before it begins (4).', 'Swap'],
    ['seed={from: 1, to: x}', 'x', 'matrix.seed.to must be a', ''],
    [
      'medium.name=chalk',
      'medium.name',
      '--set replaces a whole axis, but "medium.name" is a member of the values of "medium".',
      "--set 'medium=[{name: chalk}]'",
    ],
  ])('%s is an error in the flag, at %s', async (set, marked, message, hint) => {
    const { pipeline, diagnostics } = await parse(text, {}, [set]);
    expect(pipeline).toBeUndefined();
    const flag = `--set ${set}`;
    const [{ column, length, ...found } = { column: 0, length: 0 }] = diagnostics;
    expect(found).toMatchObject({
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
      file: flag,
      line: 1,
      sourceLine: flag,
    });
    expect(flag.slice(column - 1, column - 1 + length).startsWith(marked)).toBe(true);
  });

  it('are reported as the wrong flag, after the errors of the file', async () => {
    const { diagnostics } = await parse(`${text}what: 1\n`, {}, ['animal=fox', 'sed=[1, 2]']);
    expect(diagnostics.map((found) => formatDiagnostic(found).split('\n'))).toEqual([
      expect.arrayContaining([expect.stringContaining('t.yaml:14:1 error')]),
      [
        '--set sed=[1, 2]: error matrix.set The matrix has no axis "sed".',
        '    | --set sed=[1, 2]',
        '    |       ^~~',
        '    = Did you mean "seed"? Write --set \'seed=[1, 2]\'.',
      ],
    ]);
  });

  it('that are ranges cannot be combined with other settings', async () => {
    const { diagnostics } = await parse(text, {}, ['seed={from: 1, to: 2}', 'seed=7']);
    expect(diagnostics.map(placed)).toEqual(['matrix.set 1:12']);
    expect(diagnostics[0]?.file).toBe('--set seed=7');
  });

  it('cannot be columns of a table, and the hint suggests --filter', async () => {
    const table = 'name: t\nmatrix: { rows: t.csv }\nsteps: { grid: { imagine: "{{ a }}" } }\n';
    const { diagnostics } = await parse(table, { 't.csv': 'a,b\n1,2\n' }, ['a=3']);
    expect(diagnostics).toMatchObject([
      {
        code: 'matrix.set',
        message: '--set replaces an axis, but "a" can only be a column of t.csv.',
        hint: expect.stringContaining("--filter 'a=VALUE'"),
      },
    ]);
  });

  it('are checked against the templates that use them', async () => {
    const { diagnostics } = await parse(text, {}, ['medium=chalk']);
    expect(diagnostics.map(({ code }) => code)).toEqual(['template.unknown-member']);
  });

  it('are stored with the pipeline, whose text is unchanged', async () => {
    const { pipeline } = await parse(text, {}, ['animal=lynx']);
    expect(pipeline?.source).toMatchObject({ text, set: [{ axis: 'animal', value: 'lynx' }] });
    expect((await parse(text)).pipeline?.source).not.toHaveProperty('set');
  });
});
