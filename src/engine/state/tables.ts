import { gunzipSync, gzipSync } from 'node:zlib';
import { damaged, EngineError } from '../postgres/engine-error.ts';
import type { EnginePool } from '../postgres/pool.ts';

/** Uncompressed size of the part of a table in one row, bytes. */
const partBytes = 1024 * 1024;

/** Copies of the tables that runs were planned from, for writing a manifest where only the engine is available. */
export const tablesSchema = `
  CREATE TABLE tables (
    run    int NOT NULL,
    sha256 text NOT NULL,
    -- Part 0 is written last, and says that all others are there.
    part   int NOT NULL,
    bytes  bytea NOT NULL,
    PRIMARY KEY (run, sha256, part)
  );
  ALTER TABLE tables ALTER COLUMN bytes SET STORAGE EXTERNAL;
`;

/** Stores a copy of a table, unless it exists. @param sha256 of all `chunks` together @throws EngineError, any error of reading */
export async function keepTable(
  pool: EnginePool,
  run: number,
  sha256: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  if (await isKept(pool, run, sha256)) return;
  let part = 0;
  const put = async (number: number, bytes: Uint8Array): Promise<void> => {
    await pool.query(
      `INSERT INTO promptpress.tables VALUES ($1, $2, $3, $4) ON CONFLICT (run, sha256, part) DO UPDATE SET bytes = excluded.bytes`,
      [run, sha256, number, Buffer.from(bytes)],
    );
  };
  for await (const piece of inParts(chunks)) {
    part += 1;
    await put(part, gzipSync(piece));
  }
  await put(0, Buffer.alloc(0));
}

/** Deletes the copies that a run no longer uses. @throws EngineError */
export async function forgetOtherTables(
  pool: EnginePool,
  run: number,
  used: readonly string[],
): Promise<void> {
  await pool.query('DELETE FROM promptpress.tables WHERE run = $1 AND sha256 <> ALL ($2)', [run, used]);
}

/** Yields a stored table. @throws EngineError `engine.io` where it is missing or incomplete */
export async function* readTable(pool: EnginePool, run: number, sha256: string): AsyncGenerator<Uint8Array> {
  if (!(await isKept(pool, run, sha256)))
    throw new EngineError(
      'io',
      `The engine ${pool.shown} has no copy of a table of this run (${sha256}).`,
      'Start the run again from its pipeline: that keeps its tables.',
    );
  for (let part = 0; ; ) {
    const { rows } = await pool.query<{ part: number; bytes: Buffer }>(
      'SELECT part, bytes FROM promptpress.tables WHERE run = $1 AND sha256 = $2 AND part > $3 ORDER BY part LIMIT 1',
      [run, sha256, part],
    );
    const [row] = rows;
    if (row === undefined) return;
    yield unpacked(row.bytes, pool.shown);
    ({ part } = row);
  }
}

/** Unpacks a part. @throws EngineError `engine.damaged` where it is invalid, or larger than any packed part */
function unpacked(bytes: Buffer, shown: string): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: partBytes });
  } catch (error) {
    throw damaged(shown, 'a table of the run', error);
  }
}

const isKept = async (pool: EnginePool, run: number, sha256: string): Promise<boolean> =>
  (
    await pool.query('SELECT FROM promptpress.tables WHERE run = $1 AND sha256 = $2 AND part = 0', [
      run,
      sha256,
    ])
  ).rows.length > 0;

async function* inParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks)
    for (let from = 0; from < chunk.length; ) {
      const piece = chunk.subarray(from, from + partBytes - bytes);
      gathered.push(piece);
      bytes += piece.length;
      from += piece.length;
      if (bytes < partBytes) continue;
      yield Buffer.concat(gathered);
      gathered = [];
      bytes = 0;
    }
  if (bytes > 0) yield Buffer.concat(gathered);
}
