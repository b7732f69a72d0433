import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArtifactStore } from '../../artifacts/store/store.ts';
import type { RowOutput } from '../../manifest/row.ts';
import type { Plan } from '../../plan/plan.ts';
import { isFreeFolder, writeWholeFolder } from '../../state/files/whole-folder.ts';
import type { StateReader } from '../../state/reader.ts';
import { type CardFacts, dataSetCard } from './card.ts';
import { type Column, columnsOf } from './columns.ts';
import type { Exported } from './exported.ts';
import { Copies, type FileProblem, openWhole, type WholeFile } from './files.ts';
import type { Format, PartWriter } from './formats/format.ts';
import { imagefolder } from './formats/imagefolder.ts';
import { jsonl } from './formats/jsonl.ts';
import { parquet } from './formats/parquet.ts';
import { webdataset } from './formats/webdataset.ts';
import { type Choice, LeftOut, type Sample, samples } from './samples.ts';
import { variableKinds } from './variable-kinds.ts';

/** All formats of data sets, each with its name in words. */
export const formats = {
  imagefolder: [imagefolder, 'images with their metadata.csv'],
  jsonl: [jsonl, 'one JSON object a line in data.jsonl'],
  parquet: [parquet, 'typed columns in data-00000.parquet and so on'],
  webdataset: [webdataset, 'samples in the archives 000000.tar and so on'],
} as const satisfies Record<string, readonly [Format, string]>;

export type FormatName = keyof typeof formats;

/** Number of files that are opened ahead of the row being written. */
const readAhead = 8;

export interface ExportOptions {
  readonly plan: Plan;
  readonly choice: Choice;
  readonly reader: Pick<StateReader, 'many' | 'rootKeys'>;
  /** Files of the run. */
  readonly artifacts: Pick<ArtifactStore, 'open'>;
  /** Absolute path of the folder for the data set. It must not exist or must be empty. */
  readonly to: string;
  readonly format: FormatName;
  /** Whether files are copied into the data set. If not, only the table is written. */
  readonly copyFiles: boolean;
  readonly captionFiles: boolean;
  readonly card: Omit<CardFacts, 'form'>;
  /** Removes from a text secrets that a service repeated; applied to every text. */
  readonly redact: (text: string) => string;
  readonly onRow?: (rows: number) => void;
  readonly signal: AbortSignal;
}

const maxExamples = 5;

/** Thrown when the folder for an export is not empty. */
export class NotEmptyError extends Error {}

/**
 * Writes a complete data set or nothing: files go to a temporary folder, which is renamed at the end. Rows are in plan order; the bytes
 * depend only on the plan, the state, the files and the options. Only a few rows and files are in memory at a time.
 *
 * @throws NotEmptyError; the error of the file system; StateError, TableError; the signal's reason
 */
export async function exportDataSet(options: ExportOptions): Promise<Exported> {
  const { plan, choice, to, format: name, signal } = options;
  if (!(await isFreeFolder(to))) throw new NotEmptyError(to);
  const columns = columnsOf(await variableKinds(plan, choice.selection, signal));
  const [, form] = formats[name];
  return await writeWholeFolder(
    to,
    async (folder) => {
      await mkdir(folder);
      const exported = await writeParts(options, columns, folder);
      await writeFile(join(folder, 'README.md'), dataSetCard({ ...options.card, form }, exported, columns), {
        flush: true,
      });
      return exported;
    },
    signal,
  );
}

interface Ahead {
  readonly sample: Sample;
  readonly file: Promise<WholeFile | FileProblem | undefined>;
}

async function writeParts(
  options: ExportOptions,
  columns: readonly Column[],
  folder: string,
): Promise<Exported> {
  const { plan, choice, reader, redact, artifacts, signal, copyFiles } = options;
  const [format] = formats[options.format] as readonly [Format, string];
  const parts = await openParts(options, format, columns, folder);
  const leftOut = new LeftOut();
  const steps = new Map<string, number>();
  const problems = { missing: 0, changed: 0, examples: [] as string[] };
  let [rows, files, withoutImage] = [0, 0, 0];

  const opened = async ({ output }: Sample): Promise<WholeFile | FileProblem | undefined> =>
    copyFiles && output !== undefined && hasFile(output) ? await openWhole(artifacts, output) : undefined;
  const write = async ({ sample, file: opening }: Ahead): Promise<void> => {
    const file = await opening;
    const { output, part: at } = sample;
    if (file === 'missing' || file === 'changed') {
      problems[file] += 1;
      if (problems.examples.length < maxExamples && output?.file !== undefined)
        problems.examples.push(output.file);
      return;
    }
    const part = parts.get(at) as Part;
    try {
      if (file !== undefined && output?.file !== undefined) {
        const isNew = !format.copiesFiles || (await part.copies.copy(output.file, file));
        if (isNew) files += 1;
      }
      await part.writer.add(sample, file);
    } finally {
      await file?.close();
    }
    part.rows += 1;
    rows += 1;
    const step = sample.fields[2] ?? '';
    steps.set(step, (steps.get(step) ?? 0) + 1);
    options.onRow?.(rows);
  };

  const ahead: Ahead[] = [];
  try {
    for await (const sample of samples(plan, choice, reader, leftOut, redact, signal)) {
      signal.throwIfAborted();
      if (format.takes === 'images' && !isImage(sample.output)) {
        withoutImage += 1;
        continue;
      }
      const file = opened(sample);
      // `write` reports the error when it reaches the row.
      file.catch(() => undefined);
      ahead.push({ sample, file });
      if (ahead.length > readAhead) await write(ahead.shift() as Ahead);
    }
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) await write(next);
    for (const { writer } of parts.values()) await writer.finish();
  } catch (error) {
    for (const { file } of ahead) await closed(file);
    for (const { writer } of parts.values()) await writer.abandon().catch(() => undefined);
    throw error;
  }
  const counts = [...parts].map(([part, { rows: of }]) => ({ part, rows: of }));
  return {
    rows,
    files,
    steps,
    parts: choice.parts.length === 0 ? [] : counts,
    leftOut,
    withoutImage,
    problems,
  };
}

async function closed(file: Ahead['file']): Promise<void> {
  const found = await file.catch(() => undefined);
  if (typeof found === 'object') await found.close();
}

interface Part {
  readonly writer: PartWriter;
  readonly copies: Copies;
  rows: number;
}

/** Opens a folder for each part, even for a part without rows. Without parts it opens the folder of the data set. */
async function openParts(
  { choice, card: { madeBy }, captionFiles }: ExportOptions,
  format: Format,
  columns: readonly Column[],
  folder: string,
): Promise<ReadonlyMap<string, Part>> {
  const parts = new Map<string, Part>();
  for (const name of choice.parts.length === 0 ? [''] : choice.parts.map((part) => part.name)) {
    const inner = join(folder, name);
    if (name !== '') await mkdir(inner);
    const writer = await format.open(inner, columns, { madeBy, captionFiles });
    parts.set(name, { writer, copies: new Copies(inner), rows: 0 });
  }
  return parts;
}

const hasFile = (output: RowOutput): output is RowOutput & { readonly file: string } =>
  output.file !== undefined;

const isImage = (output: RowOutput | undefined): boolean =>
  output?.file !== undefined && output.mime.startsWith('image/');
