import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';

export type ManifestRow = Readonly<Record<string, string>>;

/** The rows of a manifest as a spreadsheet would read them. */
export async function readManifest(file: string): Promise<readonly ManifestRow[]> {
  return parse<ManifestRow>(await readFile(file), { columns: true, bom: true });
}

/** Columns that differ between two runs of the same plan: times, ids, and how often something had to be asked. */
const ofOneRun = [
  'image_url',
  'task_id',
  'parent_task_id',
  'custom_id',
  'attempts',
  'submitted_at',
  'finished_at',
  'request_id',
];

/** The rows without what differs between two runs of the same plan. */
export function comparable(rows: readonly ManifestRow[]): readonly ManifestRow[] {
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !ofOneRun.includes(name))),
  );
}

/** How many rows are in each status. */
export function byStatus(rows: readonly ManifestRow[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status = '' } of rows) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
