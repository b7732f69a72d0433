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

/** Every form of a data set, with what it is in words. */
export const formats = {
  imagefolder: [imagefolder, 'images with their metadata.csv'],
  jsonl: [jsonl, 'one JSON object a line in data.jsonl'],
  parquet: [parquet, 'typed columns in data-00000.parquet and so on'],
  webdataset: [webdataset, 'samples in the archives 000000.tar and so on'],
} as const satisfies Record<string, readonly [Format, string]>;

export type FormatName = keyof typeof formats;

/** Files that are read ahead of the row that is written. */
const readAhead = 8;

export interface ExportOptions {
  readonly plan: Plan;
  readonly choice: Choice;
  readonly reader: Pick<StateReader, 'many' | 'rootKeys'>;
  /** The files of the run. */
  readonly artifacts: Pick<ArtifactStore, 'open'>;
  /** Where the data set goes: a folder that is not there, or an empty one. Absolute. */
  readonly to: string;
  readonly format: FormatName;
  /** false: the table alone; its files stay in the run directory. */
  readonly copyFiles: boolean;
  readonly captionFiles: boolean;
  readonly card: Omit<CardFacts, 'form'>;
  /** Applied to every text: takes out secrets that a service repeated. */
  readonly redact: (text: string) => string;
  readonly onRow?: (rows: number) => void;
  readonly signal: AbortSignal;
}

const mostExamples = 5;

/** A folder that something lies in: an export does not mix with what is there. */
export class NotEmptyError extends Error {}

/**
 * Writes a data set whole or not at all: in a folder beside the one that it gets, which is renamed at the end. Rows are in plan order; the
 * bytes follow from the plan, the state, the files and the options alone. A few rows and files are in memory at a time.
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
      if (problems.examples.length < mostExamples && output?.file !== undefined)
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
      // Heard where the row is written.
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

/** A folder for each part, also for one that gets no row; without parts the data set's own. */
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
