import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryFiles } from '../../table-port.ts';
import { rowsOf, tableErrorIn } from '../../table-rig.ts';

describe('a CSV table', () => {
  it('reads RFC 4180: quoted commas, doubled quotes, line ends inside quotes, CRLF, a byte order mark', async () => {
    const text = '\uFEFFanimal,scene\r\nfox,"snow, at ""dusk"""\r\n"owl","two\r\nlines"\r\n';
    expect(await rowsOf('csv', text)).toEqual([
      { line: 2, values: { animal: 'fox', scene: 'snow, at "dusk"' } },
      { line: 3, values: { animal: 'owl', scene: 'two\r\nlines' } },
    ]);
  });

  it('keeps values unchanged, as text', async () => {
    const [row] = await rowsOf('csv', 'a, b ,c,d\n 1 ,,007,6.0');
    expect(row).toEqual({ line: 2, values: { a: ' 1 ', b: '', c: '007', d: '6.0' } });
  });

  it('skips blank lines and counts them', async () => {
    expect((await rowsOf('csv', '\na,b\n\n1,2\n"x\ny",3\n\r\n4,5\n\n')).map(({ line }) => line)).toEqual([
      4, 5, 8,
    ]);
  });

  it('distinguishes an empty value from a blank line in a table of one column', async () => {
    expect(await rowsOf('csv', 'a\n1\n\n""\n"x\ny"\n3\n')).toEqual([
      { line: 2, values: { a: '1' } },
      { line: 4, values: { a: '' } },
      { line: 5, values: { a: 'x\ny' } },
      { line: 7, values: { a: '3' } },
    ]);
  });

  it('reads written values back, for any values and any chunks of bytes', async () => {
    const field = fc.oneof(
      fc.constantFrom('', 'x', '"', ',', '\n', '\r\n', 'é', '🦊'),
      fc.string({ maxLength: 4 }),
    );
    const table = fc.array(fc.tuple(field, field, field), { minLength: 1, maxLength: 20 });
    const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 40 }), async (rows, chunk) => {
        const text = ['a,b,c', ...rows.map((row) => row.map(quoted).join(','))].join('\r\n');
        const read = await rowsOf('csv', text, chunk);
        expect(read.map(({ values }) => Object.values(values))).toEqual(rows);
      }),
      { numRuns: 200, seed: 20_265 },
    );
  });

  it('reads a record that is larger than one chunk', async () => {
    const long = `line\n"",${'x'.repeat(100_000)}\n`.repeat(3);
    const rows = await rowsOf('csv', `a,b\n1,2\n3,"${long}"\n4,5\n`, 1000);
    expect(rows.map(({ line }) => line)).toEqual([2, 3, 10]);
    expect(rows[1]?.values['b']).toBe(long.replaceAll('""', '"'));
  });

  it.each([
    ['a row with a field too many', 'a,b\n1,2\n1,2,3\n', 'table.columns', 3],
    ['a row with a field too few', 'a,b\n1,2\n\n1\n', 'table.columns', 4],
    ['a column twice', 'a,b, a\n', 'table.duplicate-column', 1],
    ['a column without a name', 'a,\n', 'table.empty-column', 1],
    ['a column that would be a prototype', 'a,__proto__\n1,2\n', 'table.column-name', 1],
    ['a quote inside an unquoted field', 'a,b\n1,2\n5" nail,3\n', 'table.syntax', 3],
    ['something behind a closing quote', 'a,b\n"1"x,2\n', 'table.syntax', 2],
    ['a quote that is never closed', 'a,b\n"x\ny",2\n1,"2\n3,4\n5,6\n', 'table.syntax', 4],
    ['bytes that are not UTF-8', Buffer.from('a,b\n1,2\n3,\xff\n', 'latin1'), 'table.encoding', 3],
    ['UTF-16', Buffer.from('\uFEFFa,b\n1,2\n', 'utf16le'), 'table.encoding', 1],
    ['lines that end with a bare carriage return', 'a,b\r1,2\r', 'table.column-name', undefined],
    ['nothing', '', 'table.empty', 1],
    ['only a byte order mark', '\uFEFF', 'table.empty', 1],
    ['only a header', 'a,b\n', 'table.empty', 1],
    ['a record too long', `a,b\n1,2\n1,"${'x\n'.repeat(600_000)}"\n`, 'table.too-long', 3],
    ['a line too long', `a,b\n1,${'x'.repeat(1_200_000)}\n`, 'table.too-long', 2],
    ['too many columns', Array.from({ length: 1025 }, (_, index) => `c${index}`).join(), 'table.too-many', 1],
  ])('refuses %s', async (_, text, code, line) => {
    expect(await tableErrorIn('csv', text)).toMatchObject({ code, ...(line === undefined ? {} : { line }) });
  });

  it('throws table.unreadable if the file cannot be read', async () => {
    const diagnostic = await tableErrorIn('csv', 'unused', new MemoryFiles());
    expect(diagnostic).toMatchObject({ code: 'table.unreadable' });
    expect(diagnostic?.cause).toMatchObject({ code: 'ENOENT' });
  });
});
