import { join } from 'node:path';
import {
  type BasicType,
  ByteWriter,
  type ColumnSource,
  ParquetWriter,
  schemaFromColumnData,
} from 'hyparquet-writer';
import { type ColumnKind, datumOf } from '../columns.ts';
import type { Format } from './format.ts';
import { GatheredFile } from './gathered-file.ts';

/** Bounds of a row group, which is in memory until it is written: rows and characters. */
const groupRows = 5_000;
const groupCharacters = 4 * 1024 * 1024;

/** File size in bytes; the row group that exceeds it is the last of its file. */
const fileBytes = 512 * 1024 * 1024;

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

/** Format: Parquet files `data-00000.parquet` and so on with typed columns and Snappy compression. Objects and lists are JSON texts. */
export const parquet: Format = {
  takes: 'everything',
  copiesFiles: true,
  open: async (folder, columns, { madeBy }) => {
    let files = 0;
    let file: ParquetFile | undefined;
    let rows: (readonly string[])[] = [];
    let characters = 0;
    const nextFile = async (data: ColumnSource[]): Promise<ParquetFile> => {
      const name = `data-${String(files).padStart(5, '0')}.parquet`;
      files += 1;
      return parquetFile(await GatheredFile.create(join(folder, name)), data, madeBy);
    };
    const finishFile = async (): Promise<void> => {
      await file?.finish();
      file = undefined;
    };
    const writeGroup = async (): Promise<void> => {
      const group = rows;
      rows = [];
      characters = 0;
      const data = columns.map(
        ({ name, kind }, at): ColumnSource => ({
          name,
          type: types[kind],
          data: group.map((fields) => cellOf(fields[at] ?? '', kind)),
        }),
      );
      file ??= await nextFile(data);
      if ((await file.write(data)) >= fileBytes) await finishFile();
    };
    return {
      add: async ({ fields }) => {
        rows.push(fields);
        for (const field of fields) characters += field.length;
        if (rows.length >= groupRows || characters >= groupCharacters) await writeGroup();
      },
      finish: async () => {
        // A data set without rows still gets a file with its columns.
        if (rows.length > 0 || files === 0) await writeGroup();
        await finishFile();
      },
      abandon: async () => await file?.close(),
    };
  },
};

function cellOf(field: string, kind: ColumnKind): Cell {
  const datum = datumOf(field, kind);
  if (datum === null) return null;
  if (typeof datum === 'object') return datum.json;
  if (kind === 'integer') return BigInt(datum);
  return kind === 'time' ? new Date(datum as number) : datum;
}

interface ParquetFile extends Pick<GatheredFile, 'finish' | 'close'> {
  /** Writes a group of rows. @returns the bytes of the file so far */
  write(data: ColumnSource[]): Promise<number>;
}

function parquetFile(file: GatheredFile, columnData: ColumnSource[], createdBy: string): ParquetFile {
  const bytes = new ByteWriter();
  const schema = schemaFromColumnData({ columnData });
  const writer = new ParquetWriter({ writer: bytes, schema, createdBy });
  const flush = async (): Promise<void> => {
    await file.write(bytes.getBytes());
    bytes.index = 0;
  };
  return {
    write: async (data) => {
      if ((data[0]?.data.length ?? 0) > 0) await writer.write({ columnData: data, rowGroupSize: groupRows });
      await flush();
      return bytes.offset;
    },
    finish: async () => {
      await writer.finish();
      await flush();
      await file.finish();
    },
    close: () => file.close(),
  };
}
