import { describe, expect, it } from 'vitest';
import { tableDiagnostics } from '../../../../src/pipeline/matrix/table/error.ts';
import type { TableFormat } from '../../../../src/pipeline/matrix/table/table.ts';
import { tableErrorIn } from '../../table-rig.ts';

/** Tables of `rows` rows in which each one but the first is wrong. */
const tables: readonly (readonly [TableFormat, code: string, table: (rows: number) => string])[] = [
  ['csv', 'table.columns', (rows) => `a,b\n1,2\n${'1,2,3\n'.repeat(rows - 1)}`],
  ['tsv', 'table.columns', (rows) => `a\tb\n1\t2\n${'1\n'.repeat(rows - 1)}`],
  ['jsonl', 'table.not-object', (rows) => `{"a":1}\n${'[1]\n'.repeat(rows - 1)}`],
  ['json', 'table.columns', (rows) => `[{"a":1}${',\n{"b":1}'.repeat(rows - 1)}]`],
  ['yaml', 'table.not-object', (rows) => `- a: 1\n${'- 1\n'.repeat(rows - 1)}`],
];

describe('wrong rows', () => {
  it.each(tables)('of a %s table are shown at once', async (format, code, table) => {
    const error = await tableErrorIn(format, table(4));
    if (error === undefined) throw new Error('no error');
    const found = tableDiagnostics(error, 't');
    expect(found.map((one) => one.code)).toEqual([code, code, code]);
    const [first] = found;
    expect(found.map(({ line }) => line)).toEqual([0, 1, 2].map((next) => (first?.line ?? 0) + next));
    expect(found.every(({ sourceLine }) => sourceLine !== '')).toBe(true);
  });

  it.each(tables)('of a %s table are limited to the first 20, with a note', async (format, code, table) => {
    const error = await tableErrorIn(format, table(60));
    if (error === undefined) throw new Error('no error');
    const found = tableDiagnostics(error, 't');
    expect(found.map((one) => one.code)).toEqual([
      ...Array.from({ length: 20 }, () => code),
      'file.more-mistakes',
    ]);
  });

  it('are shown before the error that ends the reading', async () => {
    const error = await tableErrorIn('csv', `a,b\n1\n${'1,2\n'.repeat(40_000)}1,"2\n`);
    expect([error, ...(error?.others ?? [])].map((one) => [one?.code, one?.line])).toEqual([
      ['table.columns', 2],
      ['table.syntax', 40_003],
    ]);
  });

  it('are not searched for in the whole of a long table', async () => {
    const error = await tableErrorIn('tsv', `a\tb\n1\n${'1\t2\n'.repeat(100_000)}1\n`);
    expect([error?.line, error?.others, error?.unread]).toEqual([2, [], true]);
  });

  it('have a hint and show their line', async () => {
    const error = await tableErrorIn('csv', 'id,prompt\n1,a fox, in snow\n');
    expect(error).toMatchObject({
      message: 'The row on line 2 has 3 fields, the header has 2.',
      hint: 'A field with a comma in it is put in double quotes: 1,"a fox, in snow".',
      sourceLine: '1,a fox, in snow',
    });
  });
});

describe('a header with the separators of another table format', () => {
  it.each([
    [
      'csv',
      'id;prompt\n1;a, b\n',
      'semicolons instead of commas',
      'Save the table with commas between the fields.',
    ],
    [
      'csv',
      'id\tprompt\n',
      'tabs instead of commas',
      'Save the table with commas between the fields. Or name it .tsv.',
    ],
    [
      'tsv',
      'id,prompt\n',
      'commas instead of tabs',
      'Save the table with tabs between the fields. Or name it .csv.',
    ],
    ['tsv', 'id;prompt\n', 'semicolons instead of tabs', 'Save the table with tabs between the fields.'],
  ] as const)('%s %j', async (format, text, message, hint) => {
    const error = await tableErrorIn(format, text);
    expect(error).toMatchObject({ code: 'table.separator', line: 1, hint });
    expect(error?.message).toContain(message);
  });
});
