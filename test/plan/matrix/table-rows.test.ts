import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { TableError } from '../../../src/pipeline/matrix/table/error.ts';
import { listingColumns, listingName, listingText } from '../../../src/pipeline/matrix/table/glob.ts';
import { MemoryFiles } from '../../pipeline/table-port.ts';
import { cellsOf, listed, matrixOf, rowed } from './spec.ts';

/** A table too large to be kept: a megabyte and more in rows of about 130 bytes. */
const rows = 12_000;
const table = `id,text\n${Array.from({ length: rows }, (_, id) => `${id},${'x'.repeat(120)}\n`).join('')}`;
const columns = ['id', 'text'];
const large = () => new MemoryFiles({ 't.csv': table });
const twoTimes = [listed('a', ['p', 'q']), rowed('t.csv', columns)];

describe('a table of a matrix', () => {
  it('is counted and hashed in one reading', async () => {
    const files = large();
    const matrix = await matrixOf({ axes: twoTimes }, files);
    expect(matrix.tables).toEqual([
      { file: 't.csv', declared: 't.csv', rows, sha256: createHash('sha256').update(table).digest('hex') },
    ]);
    expect(matrix.cellCount).toBe(2 * rows);
    expect(files.opened).toBe(1);
  });

  it('is not read again when it is small', async () => {
    const files = new MemoryFiles({ 't.csv': 'id,text\n1,x\n2,y\n' });
    const matrix = await matrixOf({ axes: twoTimes }, files);
    expect(await cellsOf(matrix)).toHaveLength(4);
    expect(files.opened).toBe(1);
  });

  it('is read once for each outer combination, and only up to the last requested row', async () => {
    const files = large();
    const matrix = await matrixOf({ axes: twoTimes }, files);
    files.opened = 0;
    files.bytesRead = 0;
    expect(await cellsOf(matrix, { limit: 100 })).toHaveLength(100);
    expect(files.bytesRead).toBeLessThan(200_000);
    const cells = await cellsOf(matrix);
    expect(cells.map(({ vars }) => vars['id'])).toEqual(
      Array.from({ length: 2 * rows }, (_, index) => String(index % rows)),
    );
    expect(files.opened).toBe(3);
  });

  it('is read once for many scattered cells, not once for each', async () => {
    const files = large();
    const outer = Array.from({ length: 500 }, (_, index) => index);
    const matrix = await matrixOf({ axes: [listed('a', outer), rowed('t.csv', columns)] }, files);
    files.opened = 0;
    const filters = [
      { axis: 'id', value: '7' },
      { axis: 'id', value: '11999' },
    ];
    const cells = await cellsOf(matrix, { filters });
    expect(cells.map(({ vars }) => [vars['a'], vars['id']])).toEqual(
      outer.flatMap((a) => [
        [a, '7'],
        [a, '11999'],
      ]),
    );
    // Once to find the rows, once to fetch them.
    expect(files.opened).toBe(2);
  });

  it('is read in one pass for a sample', async () => {
    const files = large();
    const outer = Array.from({ length: 50 }, (_, index) => index);
    const axes = [listed('a', outer), rowed('t.csv', columns)];
    const matrix = await matrixOf({ axes, sample: { count: 200, seed: 1 } }, files);
    files.opened = 0;
    expect(await cellsOf(matrix)).toHaveLength(200);
    expect(files.opened).toBe(1);
  });

  it('closes the file when its reader stops', async () => {
    const files = large();
    let closed = 0;
    const watched = {
      root: files.root,
      facts: (file: string) => files.facts(file),
      list: (listing: string) => files.list(listing),
      async *read(file: string) {
        try {
          yield* files.read(file);
        } finally {
          closed++;
        }
      },
    };
    const matrix = await matrixOf({ axes: twoTimes }, watched);
    for await (const { number } of matrix.cells()) if (number === 3) break;
    expect(closed).toBe(2);
  });
});

describe('files as rows', () => {
  const axis = {
    kind: 'rows',
    name: 'rows',
    declared: 'in/*.png',
    file: listingName('/files', 'in/*.png'),
    format: 'files',
    columns: listingColumns,
    position: { line: 1, column: 1, length: 1 },
  } as const;
  const pngs = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`/files/in/${String(index).padStart(6, '0')}.png`, 'x']),
    );

  it('are one axis at its place, counted and hashed by their list', async () => {
    const files = new MemoryFiles({ '/files/in/b.png': 'x', '/files/in/a.png': 'y', '/files/in/c.txt': 'z' });
    const matrix = await matrixOf({ axes: [listed('n', [1, 2]), axis] }, files);
    expect((await cellsOf(matrix)).map(({ vars }) => vars)).toEqual([
      { n: 1, file: 'in/a.png', name: 'a' },
      { n: 1, file: 'in/b.png', name: 'b' },
      { n: 2, file: 'in/a.png', name: 'a' },
      { n: 2, file: 'in/b.png', name: 'b' },
    ]);
    const sha256 = createHash('sha256')
      .update(listingText(['in/a.png', 'in/b.png']))
      .digest('hex');
    expect(matrix.tables).toEqual([{ file: axis.file, declared: 'in/*.png', rows: 2, sha256 }]);
  });

  it('are excluded, filtered and sampled as other rows', async () => {
    const files = new MemoryFiles(pngs(50));
    const matrix = await matrixOf({ axes: [axis], exclude: [{ name: '000007' }] }, files);
    expect(matrix.cellCount).toBe(49);
    const filters = [{ axis: 'file', value: 'in/000008.png' }];
    expect(await cellsOf(matrix, { filters })).toMatchObject([{ vars: { name: '000008' } }]);
    const sampled = await matrixOf({ axes: [axis], sample: { count: 5, seed: 1 } }, files);
    expect(await cellsOf(sampled)).toHaveLength(5);
  });

  it('are listed again if they are many, and may not change meanwhile', async () => {
    const long = 'x'.repeat(150);
    const files = new MemoryFiles(
      Object.fromEntries(Object.keys(pngs(4000)).map((name) => [name.replace('.', `${long}.`), 'x'])),
    );
    const matrix = await matrixOf({ axes: [axis] }, files);
    expect(await cellsOf(matrix, { shard: { index: 400, of: 400 } })).toHaveLength(10);
    files.contents.set('/files/in/zzz.png', Buffer.from('x'));
    await expect(cellsOf(matrix)).rejects.toMatchObject({ code: 'table.changed' });
  });
});

describe('a table that changes after it was counted', () => {
  /** Reads the cells of a table that was edited meanwhile: the ids that were given, and how it ended. */
  const after = async (edit: (content: Buffer) => Buffer) => {
    const files = large();
    const matrix = await matrixOf({ axes: twoTimes }, files);
    files.contents.set('t.csv', edit(Buffer.from(table)));
    const ids: unknown[] = [];
    try {
      for await (const { vars } of matrix.cells()) ids.push(vars['id']);
    } catch (error) {
      return { ids, code: error instanceof TableError ? error.code : error };
    }
    return { ids, code: 'none' };
  };

  it('is refused before a changed row is used', async () => {
    const at = table.length - 200_000;
    const { ids, code } = await after((content) => {
      content.write('!', at);
      return content;
    });
    expect(code).toBe('table.changed');
    expect(ids).toEqual(Array.from(ids, (_, id) => String(id)));
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.length).toBeLessThan((rows * at) / table.length);
  });

  it('is refused when it has grown, and when it has shrunk', async () => {
    const grown = await after((content) => Buffer.concat([content, Buffer.from('12000,more\n')]));
    expect(grown.code).toBe('table.changed');
    const shrunk = await after((content) => content.subarray(0, content.length - 131));
    expect(shrunk.code).toBe('table.changed');
  });

  it('is refused when it is missing', async () => {
    const files = large();
    const matrix = await matrixOf({ axes: twoTimes }, files);
    files.contents.clear();
    await expect(cellsOf(matrix)).rejects.toMatchObject({ code: 'table.unreadable' });
  });
});
