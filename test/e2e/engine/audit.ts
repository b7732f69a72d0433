import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifest } from '../../rig/manifest.ts';
import type { MadeTask } from './service-process.ts';

/** Columns that differ between two runs of the same plan: times, ids, and how often something had to be asked. */
const ofOneRun = new Set([
  'task_id',
  'parent_task_id',
  'custom_id',
  'image_url',
  'request_id',
  'submitted_at',
  'finished_at',
  'attempts',
]);

/** The fields of a line of CSV as they are written, with their quotes. */
const rawFields = /(?:"(?:[^"]|"")*"|[^",\r\n]*)(?:,|\r\n|\n|$)/g;

/** A manifest's bytes without some of its columns. */
export function withoutColumns(manifest: string, dropped: ReadonlySet<string> = ofOneRun): string {
  let names: readonly string[] | undefined;
  let line: string[] = [];
  const kept: string[] = [];
  for (const [field] of manifest.matchAll(rawFields)) {
    if (field === '') continue;
    line.push(field);
    if (field.endsWith(',')) continue;
    names ??= line.map((name) => name.replaceAll(/[",\r\n\uFEFF]/g, ''));
    kept.push(...line.filter((_field, at) => !dropped.has(names?.[at] ?? '')));
    line = [];
  }
  return [...kept, ...line].join('');
}

export interface Audit {
  /** Keys of planned jobs of which the service made fewer tasks than it should. */
  readonly lost: readonly string[];
  /** Keys of jobs of which it made more. */
  readonly duplicated: readonly string[];
  /** Rows that are not done. */
  readonly undone: number;
  /** Files that the manifest names and that are missing or of another content. */
  readonly wrongFiles: readonly string[];
  /** Whether the manifest has the bytes of a run that nothing happened to, but for the columns of one run. */
  readonly sameManifest: boolean;
  /** The same with the number of attempts, which stays as it is where nothing happens. */
  readonly sameAttempts: boolean;
}

const butAttempts = new Set([...ofOneRun].filter((name) => name !== 'attempts'));

/** Tasks of each job, by its key. */
export function timesMade(tasks: readonly MadeTask[]): ReadonlyMap<string, number> {
  const made = new Map<string, number>();
  for (const { tag } of tasks) made.set(tag, (made.get(tag) ?? 0) + 1);
  return made;
}

/** What a run on an engine came to, held against one that one process did on an undisturbed service of its own. @param wanted tasks of a job */
export async function audit(
  directory: string,
  tasks: readonly MadeTask[],
  calm: { readonly manifest: string; readonly tags: ReadonlySet<string> },
  wanted: (tag: string) => number,
): Promise<Audit> {
  const made = timesMade(tasks);
  const file = join(directory, 'manifest.csv');
  const rows = await readManifest(file);
  const manifest = await readFile(file, 'utf8');
  const wrongFiles: string[] = [];
  for (const { file_name: name = '', sha256 } of rows) {
    if (name === '') continue;
    const content = await readFile(join(directory, name)).catch(() => Buffer.alloc(0));
    if (createHash('sha256').update(content).digest('hex') !== sha256) wrongFiles.push(name);
  }
  return {
    lost: [...calm.tags].filter((tag) => (made.get(tag) ?? 0) < wanted(tag)),
    duplicated: [...made]
      .filter(([tag, count]) => count > wanted(tag) || !calm.tags.has(tag))
      .map(([tag]) => tag),
    undone: rows.filter(({ status }) => status !== 'done').length,
    wrongFiles,
    sameManifest: withoutColumns(manifest) === withoutColumns(calm.manifest),
    sameAttempts: withoutColumns(manifest, butAttempts) === withoutColumns(calm.manifest, butAttempts),
  };
}
