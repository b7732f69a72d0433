import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { ArtifactStore } from '../../artifacts/store/store.ts';
import { manifestRows, rowsByCell } from '../../manifest/rows.ts';
import { writeWhole } from '../../manifest/whole-file.ts';
import type { Selection } from '../../plan/cell.ts';
import type { Plan } from '../../plan/plan.ts';
import { isMissing, makeFolders } from '../../state/files/folders.ts';
import {
  checkFile,
  checkFolder,
  kindOfEntry,
  readOwnText,
  refuseOther,
} from '../../state/files/plain-path.ts';
import { unfinishedFile } from '../../state/files/unfinished.ts';
import type { StateReader } from '../../state/reader.ts';
import { StateError } from '../../state/store.ts';
import { reportFiles } from '../facts/layout.ts';
import type { Advisor } from '../results/advice.ts';
import { type CellResult, cellResults } from '../results/cell-results.ts';
import { SummaryCounter, type SummaryFacts } from '../results/summary.ts';
import {
  DataFolder,
  dataFile,
  detailsPerFile,
  removeData,
  resultsPerFile,
  summaryFile,
  summaryStart,
} from './data-folder.ts';
import { type ThumbnailCounts, Thumbnails } from './thumbnails.ts';

export interface ReportOptions extends Advisor, SummaryFacts {
  readonly plan: Plan;
  readonly selection: Selection;
  readonly reader: StateReader;
  /** Absolute path of the files of the run. */
  readonly directory: string;
  /** Absolute path of the report's folder; created if it does not exist. */
  readonly folder: string;
  /** Absolute path of the built page, which is copied. */
  readonly page: string;
  /** Store of the images; absent if no thumbnails are wanted. */
  readonly artifacts?: Pick<ArtifactStore, 'get'>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ReportProgress) => void;
}

export interface ReportProgress {
  /** Number of the cell being written. */
  readonly cell: number;
  readonly results: number;
  readonly thumbnails: ThumbnailCounts;
}

export interface ReportTotals {
  readonly results: number;
  readonly thumbnails: ThumbnailCounts;
}

/** Number of results whose thumbnails may be in progress. Only their names are in memory, not their files. */
const maxAwaited = 256;

/**
 * Writes the report of a run: a folder with a page that opens from the disk. An older report stays intact until this one is complete; an
 * unfinished one leaves only thumbnails. The images stay in the run directory.
 *
 * The bytes of all files depend only on the plan, the selection, the state, the page and {@link SummaryFacts}.
 *
 * @throws StateError for a refused folder, `state.locked` when another writer took it over; a file system error; the signal's reason
 */
export async function writeReport(options: ReportOptions): Promise<ReportTotals> {
  const { plan, selection, reader, folder, page, artifacts, signal } = options;
  signal?.throwIfAborted();
  const pageFiles = await readdir(page);
  await takeFolder(folder, pageFiles);
  const thumbnails = new Thumbnails(join(folder, reportFiles.thumbnails), artifacts ?? noArtifacts);
  if (artifacts !== undefined) await mkdir(join(folder, reportFiles.thumbnails), { recursive: true });
  const data = await DataFolder.begin(folder, [...plan.slotGraph.steps.keys()]);
  try {
    const counter = new SummaryCounter(plan, options);
    // Results that wait for their thumbnails, and are written in order.
    const ahead: { readonly each: CellResult; readonly making: Promise<string | undefined> | undefined }[] =
      [];
    const writeFirst = async (): Promise<void> => {
      const { each, making } = ahead.shift() as (typeof ahead)[number];
      const thumbnail = await making;
      await data.add(thumbnail === undefined ? each.result : { ...each.result, thumbnail }, each.detail);
    };
    const context = { ...options, variables: plan.matrix.variables };
    for await (const rows of rowsByCell(manifestRows(plan, selection, reader, signal))) {
      for (const each of cellResults(rows, counter.results, context)) {
        signal?.throwIfAborted();
        counter.add(each);
        const { artifact } = each.row;
        const making = artifact && artifacts && thumbnails.of(artifact);
        // `writeFirst` awaits it later and reports the error.
        making?.catch(() => {});
        ahead.push({ each, making });
        if (ahead.length > maxAwaited) await writeFirst();
      }
      const cell = rows[0]?.cell.number ?? 0;
      options.onProgress?.({ cell, results: counter.results, thumbnails: thumbnails.counts });
    }
    while (ahead.length > 0) await writeFirst();
    signal?.throwIfAborted();
    await data.finish({
      ...(await counter.summary(reader, options)),
      files: { resultsPerFile, detailsPerFile, runDirectory: addressOf(options.directory, folder) },
    });
    await copyPage(page, pageFiles, folder);
    await thumbnails.sweep();
    return { results: counter.results, thumbnails: thumbnails.counts };
  } catch (error) {
    await thumbnails.stop();
    const isTaken = isMissing(error) && data.isGone;
    await data.discard();
    throw isTaken ? takenOver(folder, error) : error;
  }
}

const takenOver = (folder: string, cause: unknown): StateError =>
  new StateError('state.locked', `Another promptpress report that began later is writing ${folder}.`, {
    hint: 'Its report replaces this one; you need not do anything.',
    cause,
  });

const noArtifacts: Pick<ArtifactStore, 'get'> = {
  get: () => Promise.resolve({ ok: false, why: 'missing' }),
};

/** Mark in the built page that becomes the script element of the summary; see `PageFiles`. */
const summaryMark = '<!-- promptpress:summary -->';
const summaryScript = `<script src="${reportFiles.data}/${summaryFile}"></script>`;

/** Copies the built page, `index.html` last, so that everything it loads exists when it is opened. */
async function copyPage(page: string, files: readonly string[], folder: string): Promise<void> {
  const others = files.filter((name) => name !== reportFiles.page);
  for (const name of [...others, reportFiles.page]) {
    const text = await readFile(join(page, name), 'utf8');
    const isPage = name === reportFiles.page;
    await writeWhole(join(folder, name), [isPage ? text.replace(summaryMark, () => summaryScript) : text]);
  }
}

function addressOf(directory: string, from: string): string {
  const way = relative(from, directory)
    .split(sep)
    .map((part) => encodeURIComponent(part.toWellFormed()))
    .join('/');
  return way === '' ? './' : `${way}/`;
}

/**
 * Creates the folder of a report, or takes over an empty folder or an older report. Removes files of killed writers. Of two writers the
 * later one continues.
 *
 * @param pageFiles names of the files of the page
 * @throws StateError `directory.foreign` if the folder has other files, `directory.link` | `directory.kind`; a file system error
 */
async function takeFolder(folder: string, pageFiles: readonly string[]): Promise<void> {
  makeFolders(folder);
  await checkPlace(folder, pageFiles);
  for (const { name } of await readdir(folder, { withFileTypes: true })) {
    if (!unfinishedFile.test(name)) continue;
    const stem = name.replace(unfinishedFile, '');
    const path = join(folder, name);
    if (stem === reportFiles.data && checkFolder(path)) await removeData(path);
    else if (pageFiles.includes(stem) && checkFile(path)) await rm(path, { force: true });
  }
}

/** Checks the folder of a report without changing it. */
async function checkPlace(folder: string, pageFiles: readonly string[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const data = join(folder, reportFiles.data);
  for (const name of [reportFiles.data, reportFiles.thumbnails]) checkFolder(join(folder, name));
  for (const name of pageFiles) checkFile(join(folder, name));
  const isReport = checkFolder(data) && isSummary(join(data, summaryFile));
  const other = isReport
    ? undefined
    : entries.find(({ name }) => name !== reportFiles.thumbnails && !unfinishedFile.test(name));
  if (other !== undefined) throw foreign(folder, other.name);
  if (!isReport) return;
  for (const entry of await readdir(data, { withFileTypes: true })) {
    if (!dataFile.test(entry.name)) throw foreign(folder, join(reportFiles.data, entry.name));
    refuseOther(join(data, entry.name), kindOfEntry(entry), 'file');
  }
}

const isSummary = (file: string): boolean => readOwnText(file, summaryStart.length) === summaryStart;

const foreign = (folder: string, name: string): StateError =>
  new StateError('directory.foreign', `${folder} holds something other than a report: ${name}.`, {
    hint: 'Nothing was changed. Name a new or empty folder with --to.',
  });
