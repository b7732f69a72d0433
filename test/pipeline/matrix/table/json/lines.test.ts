import { describe, expect, it } from 'vitest';
import { renderValue } from '../../../../../src/pipeline/values/value.ts';
import { rowsOf, tableErrorIn } from '../../../table-rig.ts';

describe('a JSONL table', () => {
  it('reads one object per line, with nested values, and skips blank lines', async () => {
    const text =
      '{"scene":"dusk","medium":{"name":"ink","tags":["a",1,true,null]}}\r\n\n  \n{"medium":null,"scene":""}';
    expect(await rowsOf('jsonl', text, 5)).toEqual([
      { line: 1, values: { scene: 'dusk', medium: { name: 'ink', tags: ['a', 1, true, null] } } },
      { line: 4, values: { scene: '', medium: null } },
    ]);
  });

  it('reads null for a member that a row lacks', async () => {
    const rows = await rowsOf('jsonl', '{"a":1,"b":2}\n{"b":3}\n{"a":4}\n{}\n');
    expect(rows.map(({ values }) => values)).toEqual([
      { a: 1, b: 2 },
      { a: null, b: 3 },
      { a: 4, b: null },
      { a: null, b: null },
    ]);
  });

  it('suggests the member of the first row that was meant, or where to add it', async () => {
    const error = await tableErrorIn('jsonl', '{"prompt":"a"}\n{"promt":"b"}\n{"style":"ink"}\n');
    expect([error, ...(error?.others ?? [])].map((one) => [one?.line, one?.message, one?.hint])).toEqual([
      [
        2,
        'The row on line 2 has "promt", which the first row does not have.',
        'Did you mean "prompt"? The first row names all columns: write "promt": null there.',
      ],
      [
        3,
        'The row on line 3 has "style", which the first row does not have.',
        'The first row names all columns: write "style": null there.',
      ],
    ]);
  });

  it('renders numbers as they are written', async () => {
    const [row] = await rowsOf(
      'jsonl',
      '{"id":9007199254740993,"weight":6.0,"big":1e3,"plain":12.5,"n":{"x":-0.50}}',
    );
    expect(row).toBeDefined();
    expect(Object.values(row?.values ?? {}).map(renderValue)).toEqual([
      '9007199254740993',
      '6.0',
      '1e3',
      '12.5',
      '{"x":-0.50}',
    ]);
    expect(row?.values['plain']).toBe(12.5);
  });

  it('accepts "__proto__" as a value', async () => {
    expect(await rowsOf('jsonl', '{"a":"__proto__"}')).toEqual([{ line: 1, values: { a: '__proto__' } }]);
  });

  it.each([
    ['a list', '{"a":1}\n[1]\n', 'table.not-object', 2, 1],
    ['a text', '"a"\n', 'table.not-object', 1, 1],
    ['a mistake, where it stands', '{"a":1}\n\n{"a":1,}\n', 'table.syntax', 3, 8],
    ['an unfinished line', '{"a":"x\n', 'table.syntax', 1, 8],
    ['a member twice', '{"a":1,"a":2}\n', 'table.duplicate-column', 1, 8],
    ['a member that the first row does not have', '{"a":1}\n{"a":1,"b":2}\n', 'table.columns', 2, 1],
    ['a member that would be a prototype', '{"__proto__":1}\n', 'table.column-name', 1, 1],
    [
      'the same deep inside, and written otherwise',
      '{"a":[{"\\u005f_proto__":{}}]}\n',
      'table.column-name',
      1,
      1,
    ],
    ['nesting without end', `{"a":${'['.repeat(200_000)}`, 'table.syntax', 1, 1],
    ['a first row without members', '{}\n', 'table.empty-column', 1, 1],
    ['nothing but blank lines', '\n\n', 'table.empty', 1, 1],
  ])('refuses %s', async (_, text, code, line, column) => {
    expect(await tableErrorIn('jsonl', text)).toMatchObject({ code, line, column });
  });
});
