import { join } from 'node:path';
import { isTextKind } from '../../pipeline/kinds.ts';
import { buildGraph } from '../../plan/graph/build.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { noCounts, type StepNow } from '../../results/run-ledger.ts';
import type { RunEnd } from '../../run/events.ts';
import { type Fingerprint, identityOf, recognise, refreshFingerprint } from '../fingerprint/fingerprint.ts';
import { asksForWork, type RunFlags } from '../flags.ts';
import type { Interrupts, Io } from '../output/io.ts';
import type { Redactor } from '../output/redact.ts';
import type { ReadPipeline } from '../workspace/read-pipeline.ts';
import { openRunLog } from './log.ts';
import type { RunWork } from './outcome.ts';
import { type BegunRun, beginRun, type HeldDirectory, type RunOpening } from './session.ts';

/**
 * Begins a run that only repeats the last one, which left nothing to do, without reading tables or building the matrix.
 *
 * @returns undefined if there may be something to do
 */
export async function openFinished(
  read: ReadPipeline,
  opening: RunOpening,
  held: HeldDirectory,
  flags: RunFlags,
  redactor: Redactor,
): Promise<{ readonly begun: BegunRun; readonly known: Fingerprint } | undefined> {
  if (held.missing !== undefined || asksForWork(flags)) return undefined;
  const wanted = { directory: held.directory, escapeFormulas: flags['escape-formulas'], redactor };
  const known = await recognise(held.state.reader, identityOf(read, opening), read.files, wanted);
  if (known === undefined) return undefined;
  const { pipeline } = read;
  const slotGraph = buildGraph(pipeline.steps, pipeline.models);
  if ('tooMany' in slotGraph) return undefined;
  const { tables, images } = known;
  const { service, selection } = opening;
  const facts = await beginRun(
    {
      identity: { file: read.path, text: pipeline.source.text },
      filesRoot: read.files.root,
      tables,
      service,
      selection,
    },
    pipeline,
    held,
  );
  const plan = { pipeline, serviceId: service.id, slotGraph, matrix: { cellCount: known.cells } };
  return { known, begun: { ...held, plan, tables, images: { known: () => images }, selection, facts } };
}

/** Returns the steps of a run with nothing to do, for its metrics; empty if its fingerprint has no counts. */
export const settledSteps = ({ plan }: BegunRun, { steps = {} }: Fingerprint): readonly StepNow[] =>
  plan.pipeline.steps.flatMap(({ name, kind }) => {
    const step = steps[name];
    if (step === undefined) return [];
    const { done, failed, skipped, blocked } = step;
    const total = done + failed + skipped + blocked;
    const counts = { ...noCounts, done, failed, skipped, blocked };
    return [{ name, isText: isTextKind(kind), counts, total }];
  });

/** Returns the work of a run with nothing to do, and logs its beginning and end. */
export function finishedWork(
  { directory, state }: BegunRun,
  known: Fingerprint,
  readSince: number,
  flags: RunFlags,
  interrupts: Interrupts,
  { io, redactor }: { readonly io: Io; readonly redactor: Redactor },
): RunWork {
  const log = openRunLog(join(directory, runFiles.log), flags['log-level'] ?? 'info', redactor, io, (error) =>
    io.err(`The log can no longer be written: ${error.message}\n`),
  );
  const end: RunEnd =
    interrupts.first() === undefined ? { kind: 'complete' } : { kind: 'interrupted', forced: false };
  try {
    log.listener({ type: 'run:start', at: io.now() });
    log.listener({ type: 'run:end', end });
  } finally {
    log.close();
  }
  refreshFingerprint(state, known, readSince);
  const list = () => Promise.resolve(known.totals);
  return { report: { end, submits: 0, redosFailed: 0 }, gridsCut: 0, list };
}
