import { join } from 'node:path';
import { isTextKind } from '../../pipeline/kinds.ts';
import { buildGraph } from '../../plan/graph/build.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { noCounts, type StepNow } from '../../results/run-ledger.ts';
import type { RunEnd } from '../../run/events.ts';
import type { MetricsWatch } from '../adapters/metrics-file.ts';
import { type Fingerprint, identityOf, recognise, refreshFingerprint } from '../fingerprint/fingerprint.ts';
import { asksForWork } from '../flags.ts';
import { selectionOf } from '../workspace/selection.ts';
import { openRunLog } from './log.ts';
import { isReuseOpen } from './reuse.ts';
import {
  beginRun,
  type LockedDirectory,
  type RunSession,
  stateServiceOf,
  type Unreached,
} from './session.ts';
import type { CheckedRun, DoneWork, PlannedRun } from './stages.ts';

/** A run that repeats the last one of its directory, which left nothing to do: its tables were not read. */
export interface RepeatedRun extends PlannedRun, Pick<RunSession, 'readSince' | 'baseUrl'> {
  readonly state: RunSession['state'];
  readonly known: Fingerprint;
}

/**
 * Begins a run that only repeats the last one, without reading tables or building the matrix.
 *
 * @returns undefined if there may be something to do
 */
export async function repeatLast(
  { read, service, flags, context: { redactor } }: CheckedRun,
  locked: LockedDirectory,
): Promise<Unreached<RepeatedRun> | undefined> {
  if (locked.missing !== undefined || asksForWork(flags) || (await isReuseOpen(locked.state.reader)))
    return undefined;
  const { pipeline, files } = read;
  const selection = selectionOf(flags);
  const named = stateServiceOf(service);
  const wanted = { directory: locked.directory, escapeFormulas: flags['escape-formulas'], redactor };
  const known = await recognise(
    locked.state.reader,
    identityOf(read, { service: named, selection }),
    files,
    wanted,
  );
  if (known === undefined) return undefined;
  const slotGraph = buildGraph(pipeline.steps, pipeline.models, pipeline.bests);
  if ('tooMany' in slotGraph) return undefined;
  const { tables, images } = known;
  const facts = await beginRun(read, named, selection, tables, locked);
  const plan = { pipeline, serviceId: service.id, slotGraph, matrix: { cellCount: known.cells } };
  return { ...locked, known, plan, tables, images: { known: () => images }, selection, facts };
}

/** Returns the steps of a run with nothing to do, for its metrics; empty if its fingerprint has no counts. */
const settledSteps = ({ plan, known: { steps = {} } }: RepeatedRun): readonly StepNow[] =>
  plan.pipeline.steps.flatMap(({ name, kind }) => {
    const step = steps[name];
    if (step === undefined) return [];
    const { done, failed, skipped, blocked } = step;
    const total = done + failed + skipped + blocked;
    const counts = { ...noCounts, done, failed, skipped, blocked };
    return [{ name, isText: isTextKind(kind), counts, total }];
  });

/** Logs the beginning and the end of a run with nothing to do. */
export function finishedWork(
  { flags, interrupts, context: { io, redactor } }: CheckedRun,
  run: RepeatedRun,
  metrics: MetricsWatch | undefined,
): DoneWork {
  const { directory, state, known, readSince } = run;
  metrics?.begin({ steps: settledSteps(run) });
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
  return { end, submits: 0, redosFailed: 0, gridsCut: 0, timedOutAgain: 0, list };
}
