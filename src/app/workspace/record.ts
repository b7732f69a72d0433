import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import type { KnownImageFiles } from '../../artifacts/input/known-files.ts';
import { writeWhole } from '../../manifest/whole-file.ts';
import type { Selection } from '../../plan/cell.ts';
import type { Matrix } from '../../plan/matrix/types.ts';
import type { Plan } from '../../plan/plan.ts';
import type { InputTable } from '../../report/facts/run.ts';
import type { ManifestTotals } from '../../results/row-ledger.ts';
import type { SpentSoFar } from '../../results/sums.ts';
import type { RunEnd } from '../../run/events.ts';
import type { RunSettings } from '../../run/ports.ts';
import type { GitFacts } from '../adapters/git/git.ts';
import { plainJson } from '../output/json-line.ts';
import type { Redactor } from '../output/redact.ts';
import { nodeVersion, version } from '../version.ts';

/** Largest number of images, and of remade jobs, that are listed one by one; each job in the state names its own images. */
const maxListed = 1000;

/** The known facts when a run begins. */
export interface RunBegin {
  readonly plan: Pick<Plan, 'pipeline' | 'serviceId'> & { readonly matrix: Pick<Matrix, 'cellCount'> };
  readonly tables: readonly InputTable[];
  /** The images of the pipeline that the run has read. */
  readonly images: Pick<KnownImageFiles, 'known'>;
  readonly git?: GitFacts;
  /** Origin of the base address. */
  readonly origin: string;
  readonly selection: Selection;
  readonly settings: RunSettings;
  /** Keys of the jobs that its flags remake. */
  readonly redo: readonly string[];
  readonly startedAt: number;
  /** Address of its state, `postgres://…#name`, without a password; absent: the state is in the run directory. */
  readonly shown?: string;
}

/** The known facts when a run has ended. */
export interface RunOutcome {
  readonly finishedAt: number;
  readonly end: RunEnd;
  readonly exitCode: number;
  /** Submissions of this invocation. */
  readonly submits: number;
  /** Spending over the life of the directory. */
  readonly spent: SpentSoFar;
  /** Absent when the run left before it could be counted. */
  readonly totals?: ManifestTotals;
}

/**
 * Writes `run.json`: the pipeline, its commit and data, and the outcome. Written without an outcome when a run begins, and again when it
 * ends: without `finishedAt`, the run was killed or is still on.
 *
 * @throws the error of the file system
 */
export async function writeRunRecord(
  file: string,
  begin: RunBegin,
  outcome: RunOutcome | undefined,
  redactor: Redactor,
): Promise<void> {
  const text = JSON.stringify(runRecord(begin, outcome), undefined, 2);
  await writeWhole(file, [plainJson(redactor.applyToData(`${text}\n`))]);
}

function runRecord(begin: RunBegin, outcome: RunOutcome | undefined): Readonly<Record<string, unknown>> {
  const { plan, tables, images, git, settings, redo } = begin;
  const shown = images.known();
  const { source, name } = plan.pipeline;
  const { retryFailed, inDoubt, relearn, failFast, maxFailures, maxSubmits, maxDurationMs, ...limits } =
    settings;
  return {
    promptpress: version,
    node: nodeVersion,
    pipeline: {
      name,
      file: source.file,
      sha256: sha256(source.text),
      ...(source.set === undefined ? {} : { set: source.set }),
    },
    tables: tables.map(({ file, sha256, bytes }) => ({
      file: relative(source.folder, file).replaceAll('\\', '/'),
      sha256,
      bytes,
    })),
    ...(shown.length === 0
      ? {}
      : {
          images: shown.slice(0, maxListed).map(({ path, sha256, bytes }) => ({ file: path, sha256, bytes })),
          imageCount: shown.length,
        }),
    git,
    service: { id: plan.serviceId, origin: begin.origin },
    engine: begin.shown,
    cells: plan.matrix.cellCount,
    selection: begin.selection,
    settings: limits,
    flags: {
      retryFailed,
      ...redoFacts(redo),
      inDoubt,
      relearn,
      failFast,
      maxFailures,
      maxSubmits,
      maxDurationMs,
    },
    startedAt: iso(begin.startedAt),
    ...(outcome === undefined ? {} : outcomeFacts(outcome)),
  };
}

/** Lists all remade jobs if they are few, else the first ones and their number. */
const redoFacts = (redo: readonly string[]) => ({
  ...(redo.length === 0 ? {} : { redo: redo.slice(0, maxListed) }),
  ...(redo.length <= maxListed ? {} : { redoCount: redo.length }),
});

const outcomeFacts = ({ finishedAt, end, exitCode, submits, spent, totals }: RunOutcome) => ({
  finishedAt: iso(finishedAt),
  end,
  exitCode,
  submits,
  slots: totals?.slots,
  otherSlots: totals?.otherSlots,
  rows: totals?.rows,
  files: totals?.files,
  ...spent,
  tokens: totals?.tokens,
});

const iso = (unixMs: number): string => new Date(unixMs).toISOString();

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
