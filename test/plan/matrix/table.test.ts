import { describe, expect, it } from 'vitest';
import { TableError } from '../../../src/pipeline/matrix/table/error.ts';
import type { Axis } from '../../../src/pipeline/pipeline.ts';
import { Fingerprint, scanTable } from '../../../src/plan/matrix/table.ts';
import { MemoryFiles } from '../../pipeline/table-port.ts';
import { cellsOf, matrixOf, rowed } from './spec.ts';

const mebibyte = 1024 * 1024;
const block = 64 * 1024;

type Rows = Extract<Axis, { kind: 'rows' }>;
const axisOf = (columns = ['id', 'text']): Rows => rowed('t.csv', columns) as Rows;

/** A CSV table of exactly so many bytes. */
const csvOf = (bytes: number): string => {
  const head = 'id,text\n1,';
  return `${head}${'x'.repeat(bytes - head.length - 1)}\n`;
};

const scanned = (content: string, axis: Rows) =>
  scanTable(new MemoryFiles({ [axis.file]: content }), axis, () => {});

describe('a table', () => {
  it('is kept in memory up to a mebibyte, and read again beyond', async () => {
    const kept = await scanned(csvOf(mebibyte), axisOf());
    expect([kept.rows, kept.kept?.length, kept.fingerprint.bytes]).toEqual([1, 1, mebibyte]);
    const large = await scanned(csvOf(mebibyte + 1), axisOf());
    expect([large.rows, large.kept, large.fingerprint.bytes]).toEqual([1, undefined, mebibyte + 1]);
  });

  it.each([['a,b'], ['a,b,c'], ['b'], ['b,a']])(
    'with the columns a and c has changed if they are %s',
    async (columns) => {
      const found = scanned(`${columns}\n${columns}\n`, axisOf(['a', 'c']));
      await expect(found).rejects.toMatchObject({ code: 'table.changed' });
    },
  );

  it('may have its columns in another order', async () => {
    const found = await scanned('c,a\n1,2\n', axisOf(['a', 'c']));
    expect([found.columns, found.rows, found.kept]).toEqual([['c', 'a'], 1, [{ c: '1', a: '2' }]]);
  });

  it('is not read further when the reader stops', async () => {
    const stop = new Error('stop');
    const controller = new AbortController();
    const seen: unknown[] = [];
    const content = `id,text\n${`1,${'x'.repeat(1000)}\n`.repeat(3000)}`;
    const axis = axisOf();
    const reading = scanTable(
      new MemoryFiles({ 't.csv': content }),
      axis,
      (row) => {
        seen.push(row);
        controller.abort(stop);
      },
      controller.signal,
    );
    await expect(reading).rejects.toBe(stop);
    expect(seen.length).toBeLessThan(3000);
  });
});

describe('the fingerprint of a file', () => {
  const read = async (files: MemoryFiles | ReturnType<Fingerprint['checking']>): Promise<Buffer> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of files.read('t')) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const recorded = async (content: Buffer, chunkBytes?: number): Promise<Fingerprint> => {
    const fingerprint = new Fingerprint();
    const files = fingerprint.recording(new MemoryFiles({ t: content }, chunkBytes));
    expect((await read(files)).equals(content)).toBe(true);
    expect(fingerprint.bytes).toBe(content.length);
    return fingerprint;
  };
  /** How much is given of a file before a change of it is noticed; undefined where none is. */
  const given = async (fingerprint: Fingerprint, content: Buffer, chunkBytes?: number) => {
    let bytes = 0;
    try {
      for await (const chunk of fingerprint.checking(new MemoryFiles({ t: content }, chunkBytes)).read('t'))
        bytes += chunk.length;
      return undefined;
    } catch (error) {
      expect(error).toBeInstanceOf(TableError);
      return bytes;
    }
  };

  it('detects a change in any block, before that block is used', async () => {
    const content = Buffer.alloc(70 * block + 5);
    for (let at = 0; at < content.length; at += 1) content[at] = (at * 7 + (at >> 13)) & 0xff;
    const fingerprint = await recorded(content);
    expect(await given(fingerprint, content)).toBeUndefined();
    for (const changed of [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 69, 70]) {
      const other = Buffer.from(content);
      const at = Math.min(other.length - 1, changed * block + 4);
      other.writeUInt8((other[at] ?? 0) ^ 1, at);
      expect([changed, await given(fingerprint, other)]).toEqual([changed, changed * block]);
    }
  });

  it.each([1, 100, block - 1, block, block + 1, 3 * block])(
    'does not depend on chunks of %i bytes',
    async (chunkBytes) => {
      const length = chunkBytes === 1 ? 9 : 2 * block + 77;
      const content = Buffer.alloc(length, 'abcdefg');
      const fingerprint = await recorded(content, chunkBytes);
      expect(await given(fingerprint, content, 999)).toBeUndefined();
      expect(fingerprint.sha256()).toBe((await recorded(content)).sha256());
    },
  );

  it('detects a file that is shorter or longer, at the end of a block or not', async () => {
    for (const length of [2 * block, 2 * block + 9]) {
      const content = Buffer.alloc(length, 1);
      const fingerprint = await recorded(content);
      for (const other of [0, 1, block, 2 * block - 1, length - 1, length + 1, 3 * block])
        expect([other, await given(fingerprint, Buffer.alloc(other, 1))]).toEqual([
          other,
          expect.any(Number),
        ]);
    }
    const nothing = await recorded(Buffer.alloc(0));
    expect(await given(nothing, Buffer.alloc(0))).toBeUndefined();
    expect(await given(nothing, Buffer.alloc(1))).toBe(0);
  });
});

describe('a large table beside another axis', () => {
  it('gives the right rows for any jumps of a sample', async () => {
    const rows = Array.from({ length: 9000 }, (_, id) => `${id},${'x'.repeat(150)}`).join('\n');
    const files = new MemoryFiles({ 't.csv': `id,text\n${rows}\n` });
    const two = new MemoryFiles({ 't.csv': `id,text\n${rows}\n`, 'u.csv': 'n\n1\n2\n3\n' });
    const matrix = await matrixOf({ axes: [rowed('t.csv', ['id', 'text'])] }, files);
    for (const index of [1, 2, 4000, 8999, 9000]) {
      const [cell] = await cellsOf(matrix, { shard: { index, of: 9000 } });
      expect([cell?.number, cell?.vars['id']]).toEqual([index, String(index - 1)]);
    }
    const both = await matrixOf({ axes: [rowed('u.csv', ['n']), rowed('t.csv', ['id', 'text'])] }, two);
    const cells = await cellsOf(both, { shard: { index: 1000, of: 1000 } });
    expect(cells.map(({ number, vars }) => [number, vars['n'], vars['id']])).toEqual(
      Array.from({ length: 27 }, (_, at) => {
        const number = (at + 1) * 1000;
        return [number, String(Math.floor((number - 1) / 9000) + 1), String((number - 1) % 9000)];
      }),
    );
  });
});
