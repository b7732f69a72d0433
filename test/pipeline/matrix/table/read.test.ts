import { describe, expect, it } from 'vitest';
import { tableColumns } from '../../../../src/pipeline/matrix/table/read.ts';
import { type TableFormat } from '../../../../src/pipeline/matrix/table/table.ts';
import { MemoryFiles } from '../../table-port.ts';

describe('the columns of a table', () => {
  it.each<[TableFormat, string]>([
    ['csv', 'animal, scene \n'],
    ['tsv', '\nanimal\tscene\n'],
    ['jsonl', '{"animal":"fox","scene":"dusk"}\n'],
    ['yaml', '- animal: fox\n  scene: dusk\n'],
  ])('are known from the beginning of %s', async (format, text) => {
    expect(await tableColumns(new MemoryFiles({ t: text }), 't', format)).toEqual(['animal', 'scene']);
  });

  it.each<[TableFormat, string, string]>([
    ['csv', 'a,b\n', '1,2\n'],
    ['tsv', 'a\tb\n', '1\t2\n'],
    ['jsonl', '', '{"a":1,"b":2}\n'],
  ])('need only the beginning of %s, whatever follows', async (format, header, row) => {
    const files = new MemoryFiles({ t: `${header}${row.repeat(500_000)}` });
    expect(await tableColumns(files, 't', format)).toEqual(['a', 'b']);
    expect(files.bytesRead).toBeLessThanOrEqual(64 * 1024);
    const broken = new MemoryFiles({ t: `${header}${row}"x"y\n` });
    expect(await tableColumns(broken, 't', format)).toEqual(['a', 'b']);
  });

  it('cannot be read from an empty table', async () => {
    await expect(tableColumns(new MemoryFiles({ t: '' }), 't', 'csv')).rejects.toMatchObject({
      code: 'table.empty',
    });
  });
});
