import { join } from 'node:path';
import { type Column, datumOf } from '../columns.ts';
import type { Sample } from '../samples.ts';
import type { Format } from './format.ts';
import { GatheredFile } from './gathered-file.ts';

/** One object a line in `data.jsonl`, each with all columns; what is unknown is null. */
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

/** A row as JSON, members in the order of the columns. Times are as in the manifest. */
export function jsonOf({ fields }: Pick<Sample, 'fields'>, columns: readonly Column[]): string {
  const members = columns.map(({ name, kind }, at) => {
    const field = fields[at] ?? '';
    const datum = datumOf(field, kind === 'time' ? 'text' : kind);
    const value = typeof datum === 'object' && datum !== null ? datum.json : JSON.stringify(datum);
    return `${JSON.stringify(name)}:${value}`;
  });
  return `{${members.join(',')}}`;
}
