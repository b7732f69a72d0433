import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowsOf, tableErrorIn } from '../../table-rig.ts';

describe('a TSV table', () => {
  it('reads fields unchanged: a quote at the beginning opens nothing and is kept', async () => {
    const text =
      'Prompt\tCategory\n"G I G G L E" painted in thick letters\tIllustrations\n"open\tPeople\n5" nail\tx\n';
    expect(await rowsOf('tsv', text)).toEqual([
      { line: 2, values: { Prompt: '"G I G G L E" painted in thick letters', Category: 'Illustrations' } },
      { line: 3, values: { Prompt: '"open', Category: 'People' } },
      { line: 4, values: { Prompt: '5" nail', Category: 'x' } },
    ]);
  });

  it('unquotes fields of spreadsheets: quoted as a whole, with each quote inside doubled', async () => {
    const text = '"Prompt"\tCategory\r\n"a sign that says ""Stop"""\t"a, b"\r\n"""so"""\t""\r\n';
    expect((await rowsOf('tsv', text)).map(({ values }) => values)).toEqual([
      { Prompt: 'a sign that says "Stop"', Category: 'a, b' },
      { Prompt: '"so"', Category: '' },
    ]);
  });

  it('reads a field unchanged if its quotes are not those of a spreadsheet', async () => {
    const [row] = await rowsOf('tsv', 'a\tb\tc\n"x" and "y"\t"\t"x"y"\n');
    expect(row?.values).toEqual({ a: '"x" and "y"', b: '"', c: '"x"y"' });
  });

  it('never loses or merges a row, whatever its quotes', async () => {
    const field = fc.string({ unit: fc.constantFrom('"', ',', 'x', ' '), maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(field, { minLength: 1, maxLength: 30 }),
        fc.nat(20),
        async (fields, chunk) => {
          const text = `a\tn\n${fields.map((value, index) => `${value}\t${index}\n`).join('')}`;
          const rows = await rowsOf('tsv', text, chunk + 1);
          expect(rows.map(({ values }) => values['n'])).toEqual(fields.map((_, index) => String(index)));
        },
      ),
      { numRuns: 200, seed: 20_266 },
    );
  });

  it.each([
    ['a tab inside quotes, which is a field too many', 'a\tb\n1\t2\n"x\ty"\tz\n', 'table.columns', 3],
    ['a line end inside quotes, which is a row too short', 'a\tb\n"x\ny"\tz\n', 'table.columns', 2],
    ['a line too long', `a\tb\n1\t2\n${'x'.repeat(1_100_000)}\ty\n`, 'table.too-long', 3],
    ['bytes that are not UTF-8', Buffer.from('a\n\xc3\n', 'latin1'), 'table.encoding', 2],
    ['only a header', 'a\tb\n', 'table.empty', 1],
  ])('refuses %s', async (_, text, code, line) => {
    expect(await tableErrorIn('tsv', text)).toMatchObject({ code, line });
  });
});
