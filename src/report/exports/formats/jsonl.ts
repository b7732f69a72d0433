import { join } from 'node:path';
import { type Column, datumOf } from '../columns.ts';
import type { Sample } from '../samples.ts';
import type { Format } from './format.ts';
import { GatheredFile } from './gathered-file.ts';

/** Format: `data.jsonl` with one JSON object per line. Each object has all columns; unknown values are null. */
export const jsonl: Format = {
  takes: 'everything',
  copiesFiles: true,
  open: async (folder, columns) => {
    const table = await GatheredFile.create(join(folder, 'data.jsonl'));
    return {
      add: (sample) => table.write(`${jsonOf(sample, columns)}\n`),
      finish: () => table.finish(),
      abandon: () => table.close(),
    };
  },
};

/** Returns a row as a JSON object with members in column order. Times are written as in the manifest. */
export function jsonOf({ fields }: Pick<Sample, 'fields'>, columns: readonly Column[]): string {
  const members = columns.map(({ name, kind }, at) => {
    const field = fields[at] ?? '';
    const datum = datumOf(field, kind === 'time' ? 'text' : kind);
    const value = typeof datum === 'object' && datum !== null ? datum.json : JSON.stringify(datum);
    return `${JSON.stringify(name)}:${value}`;
  });
  return `{${members.join(',')}}`;
}
