import { join } from 'node:path';
import {
  type BasicType,
  ByteWriter,
  type ColumnSource,
  ParquetWriter,
  schemaFromColumnData,
} from 'hyparquet-writer';
import { type Column, type ColumnKind, datumOf } from '../columns.ts';
import type { Sample } from '../samples.ts';
import type { Format, PartWriter } from './format.ts';
import { GatheredFile } from './gathered-file.ts';

/** Bounds of a row group, which is in memory until it is written: rows and characters. */
const groupRows = 5_000;
const groupCharacters = 4 * 1024 * 1024;

/** File size in bytes; the row group that exceeds it is the last of its file. */
const fileBytes = 512 * 1024 * 1024;

/** Format: Parquet files `data-00000.parquet` and so on with typed columns and Snappy compression. Objects and lists are JSON texts. */
export const parquet: Format = {
  takes: 'everything',
  copiesFiles: true,
  open: async (folder, columns, { madeBy }) => new ParquetPart(folder, columns, madeBy),
};

const types = {
  text: 'STRING',
  integer: 'INT64',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  time: 'TIMESTAMP',
  // As text, because numbers in JSON may have more digits than JavaScript keeps.
  json: 'STRING',
} as const satisfies Record<ColumnKind, BasicType>;

type Cell = string | number | bigint | boolean | Date | null;

class ParquetPart implements PartWriter {
  readonly #folder: string;
  readonly #columns: readonly Column[];
  readonly #madeBy: string;
  #files = 0;
  #file: ParquetFile | undefined;
  #rows: (readonly string[])[] = [];
  #characters = 0;

  constructor(folder: string, columns: readonly Column[], madeBy: string) {
    this.#folder = folder;
    this.#columns = columns;
    this.#madeBy = madeBy;
  }

  async add({ fields }: Sample): Promise<void> {
    this.#rows.push(fields);
    for (const field of fields) this.#characters += field.length;
    if (this.#rows.length >= groupRows || this.#characters >= groupCharacters) await this.#writeGroup();
  }

  async finish(): Promise<void> {
    // A data set without rows still gets a file with its columns.
    if (this.#rows.length > 0 || this.#files === 0) await this.#writeGroup();
    await this.#file?.finish();
    this.#file = undefined;
  }

  async abandon(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #writeGroup(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    this.#characters = 0;
    const data = this.#columns.map(
      ({ name, kind }, at): ColumnSource => ({
        name,
        type: types[kind],
        data: rows.map((fields) => cellOf(fields[at] ?? '', kind)),
      }),
    );
    this.#file ??= await this.#nextFile(data);
    await this.#file.write(data);
    if (this.#file.bytes < fileBytes) return;
    await this.#file.finish();
    this.#file = undefined;
  }

  async #nextFile(data: ColumnSource[]): Promise<ParquetFile> {
    const name = `data-${String(this.#files).padStart(5, '0')}.parquet`;
    this.#files += 1;
    return new ParquetFile(await GatheredFile.create(join(this.#folder, name)), data, this.#madeBy);
  }
}

function cellOf(field: string, kind: ColumnKind): Cell {
  const datum = datumOf(field, kind);
  if (datum === null) return null;
  if (typeof datum === 'object') return datum.json;
  if (kind === 'integer') return BigInt(datum);
  return kind === 'time' ? new Date(datum as number) : datum;
}

/** One Parquet file, written one row group at a time. */
class ParquetFile {
  readonly #file: GatheredFile;
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;

  constructor(file: GatheredFile, data: ColumnSource[], createdBy: string) {
    this.#file = file;
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: schemaFromColumnData({ columnData: data }),
      createdBy,
    });
  }

  get bytes(): number {
    return this.#bytes.offset;
  }

  async write(data: ColumnSource[]): Promise<void> {
    if ((data[0]?.data.length ?? 0) > 0)
      await this.#writer.write({ columnData: data, rowGroupSize: groupRows });
    await this.#flush();
  }

  /** Finishes the file; it is durable when this returns. */
  async finish(): Promise<void> {
    await this.#writer.finish();
    await this.#flush();
    await this.#file.finish();
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #flush(): Promise<void> {
    await this.#file.write(this.#bytes.getBytes());
    this.#bytes.index = 0;
  }
}
