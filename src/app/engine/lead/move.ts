import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type S3Address, shownS3Address } from '../../../artifacts/store/s3/address.ts';
import type { RunLease } from '../../../engine/slices/lead-lease.ts';
import { closeRun } from '../../../engine/slices/runs.ts';
import type { EngineFacts } from '../../../engine/state/facts.ts';
import { artifactPlaceFact } from '../../../report/facts/layout.ts';
import { count, counted } from '../../../report/text/amounts.ts';
import { quoted, shownLine } from '../../../report/text/printable.ts';
import { type FactKeeper, StateError } from '../../../state/store.ts';
import { type Copied, copyArtifacts } from '../../../upkeep/copy.ts';
import { closingAfter } from '../../adapters/disposables.ts';
import type { Context } from '../../context.ts';
import { CliError, exitCodes, usageError } from '../../errors/cli-error.ts';
import type { Interrupts } from '../../output/io.ts';
import { inFolder, placeFacts } from '../../service/artifact-place.ts';
import type { OpenEngine } from '../../service/engine/connect.ts';
import { directoryFact, engineOf, ownDirectory, textsOf } from '../../service/engine/directory.ts';
import { missingOnEngine, olderState } from '../../workspace/checks/stale-state.ts';
import { countsOf, openPlace, takeFolder, writeMark } from '../place.ts';
import type { SpecPlace } from '../spec.ts';

/** A run that this process leads, and the new place of its results. */
interface Moving {
  readonly engine: OpenEngine;
  readonly run: number;
  readonly shown: string;
  readonly lease: RunLease;
  readonly facts: FactKeeper & EngineFacts;
  /** The run directory. */
  readonly directory: string;
  /** The new place, if it is a bucket; absent: the run directory. */
  readonly wanted: S3Address | undefined;
  /** Name of the pipeline, written into the mark of the place. */
  readonly pipeline: string;
}

/** Name of the fact that stores the target folder and the mark of a move in progress, as JSON. */
const movingFact = 'artifacts.moving';

/** Name of the fact that stores the marks of the last folders that a run has left, separated by blanks. */
const leftFact = 'artifacts.left';
const maxLeft = 16;

/** How often the progress of a move is reported, ms. */
const sayEveryMs = 5000;

/**
 * Moves the results of a run to another folder or bucket, unless they are there already. The old place stays in use until all files are
 * copied; then the facts of the run change in one step. A folder that the run has left is recognised by its mark.
 *
 * The new folder gets a new mark, because earlier places and the run directory keep theirs. A bucket is identified by its address.
 *
 * @throws StateError `state.locked` (exit 75) while workers are working; CliError; SaveError; EngineError
 */
export async function moveOut(
  moving: Moving,
  interrupts: Pick<Interrupts, 'drain' | 'first'>,
  context: Context,
): Promise<void> {
  const { engine, run, shown, lease, facts, directory, wanted, pipeline } = moving;
  const { pool } = engine;
  const { io } = context;
  const id = facts.fact(placeFacts.owner);
  const url = facts.fact(artifactPlaceFact);
  const to = wanted === undefined ? directory : shownS3Address(wanted);
  const isThere = wanted === undefined ? url === undefined && engineOf(directory)?.place === id : url === to;
  if (id === undefined || isThere) return;
  const from = url === undefined ? await folderHere(facts, id, shown) : ({ kind: 's3', url, id } as const);
  const workers = await closeRun(pool, run, lease.epoch);
  if (workers > 0)
    throw new StateError(
      'state.locked',
      `${counted(workers, 'worker')} ${workers === 1 ? 'is' : 'are'} at work on ${shown}: its results are not moved meanwhile.`,
      {
        hint: `Wait for the end of the run, or end it: promptpress stop ${quoted(shown)}. Then give the same command again.`,
      },
    );
  const say = (text: string): void => io.err(`${shownLine(text)}\n`);
  const old = from.kind === 's3' ? from.url : from.path;
  const lost = new AbortController();
  const signal = AbortSignal.any([interrupts.drain, lost.signal]);
  const unlisten = pool.troubles.onTrouble(({ kind }) => {
    if (kind === 'lost') lost.abort();
  });
  try {
    await closingAfter(async (disposables) => {
      const source = await openPlace(from, pipeline, signal, disposables, context);
      const counts = countsOf(from, source);
      const missing = await missingOnEngine(pool, run, shown, counts);
      if (missing !== undefined) throw olderState(shown, missing);
      const place: SpecPlace =
        wanted === undefined
          ? { kind: 'folder', path: directory, id: await markOf(facts, to) }
          : { kind: 's3', url: to, id };
      // The mark of the run directory beside a bucket, or of a folder that the run has left, stays unchanged until the end.
      const own = [id, ...leftMarks(facts)];
      if (place.kind === 'folder' && !own.includes(engineOf(directory)?.place ?? ''))
        await takeFolder(directory, { engine: shown, place: place.id });
      const target =
        place.kind === 'folder'
          ? // No other process writes to it yet: the partial copies of an interrupted move are removed.
            inFolder(directory, disposables)
          : await openPlace(place, pipeline, signal, disposables, context, true);
      say(`Copying the results of ${shown} from ${old} to ${to}.`);
      let saidAt = io.now();
      const copied = await copyArtifacts(source.store, target.store, facts.reader, signal, (so) => {
        if (io.now() - saidAt < sayEveryMs) return;
        saidAt = io.now();
        say(copiedWords(so));
      });
      if (copied.faults > 0) throw notWhole(copied, shown, old);
      await countsOf(place, target).raise('move', await counts.highest());
      if (place.kind === 'folder') await writeMark(directory, { engine: shown, place: place.id });
      await facts.setFacts({
        [placeFacts.owner]: place.id,
        [artifactPlaceFact]: wanted === undefined ? undefined : to,
        [directoryFact]: JSON.stringify({ path: directory, host: hostname() }),
        [movingFact]: undefined,
        ...(place.id !== id && { [leftFact]: [...leftMarks(facts), id].join(' ') }),
      });
      say(`${copiedWords(copied)} The results are in ${to} from now on; ${old} was left as it is.`);
    });
  } catch (error) {
    if (pool.troubles.lost !== undefined) throw pool.troubles.lost;
    const name = interrupts.first();
    if (name === undefined || !interrupts.drain.aborted) throw error;
    throw new CliError(exitCodes[name], `The move was interrupted: the results of ${shown} are in ${old}.`, {
      cause: error,
      hint: 'The same command copies what is left.',
    });
  } finally {
    unlisten();
  }
}

/**
 * Whether a folder with another mark can still be the run directory beside a bucket: the run has left it, or a move to it was killed before
 * the facts of the run changed.
 */
export function isOwnBeside(facts: Pick<EngineFacts, 'fact'>, directory: string): boolean {
  const mark = engineOf(directory)?.place;
  if (mark === undefined || facts.fact(artifactPlaceFact) === undefined) return false;
  return mark === underWay(facts)?.id || leftMarks(facts).includes(mark);
}

function leftMarks(facts: Pick<EngineFacts, 'fact'>): readonly string[] {
  const words = facts.fact(leftFact)?.split(' ') ?? [];
  return words.slice(-maxLeft);
}

/** Returns the folder with the results of the run, if this machine has it. @throws CliError (exit 2), EngineError */
async function folderHere(facts: FactKeeper, id: string, shown: string): Promise<SpecPlace> {
  const own = await ownDirectory(facts.reader);
  if (own !== undefined && engineOf(own.path)?.place === id) return { kind: 'folder', path: own.path, id };
  const where = own === undefined ? 'another folder' : `${own.path} of ${own.host}`;
  throw usageError(
    `The results of ${shown} are in ${where}, and this machine does not have that folder there.`,
    'Lead the run once with --out DIR, as this machine has the folder, or on that machine; then give the same command again.',
  );
}

const underWay = (facts: Pick<EngineFacts, 'fact'>) => textsOf(facts.fact(movingFact), 'id', 'to');

/** Returns the mark of the target folder: that of an interrupted move, or a new one, stored durably. @throws EngineError */
async function markOf(facts: EngineFacts, to: string): Promise<string> {
  const known = underWay(facts);
  if (known?.to === to) return known.id;
  const id = randomUUID();
  await facts.setFact(movingFact, JSON.stringify({ id, to }));
  return id;
}

const copiedWords = ({ files, bytes, there }: Copied): string =>
  `Copied ${counted(files, 'file')} (${(bytes / 1e6).toFixed(1)} MB)${there === 0 ? '' : `; ${count(there)} ${there === 1 ? 'was' : 'were'} there already`}.`;

const notWhole = ({ faults, named }: Copied, shown: string, old: string): CliError =>
  new CliError(
    exitCodes.failed,
    `${counted(faults, 'file')} ${faults === 1 ? 'is' : 'are'} missing in ${old}, or not as the state says, such as ${named.slice(0, 3).map(shownLine).join(', ')}: the results of ${shown} stay there.`,
    {
      hint: 'promptpress verify FILE --repair downloads again what the service still has; promptpress run --redo JOB makes a job anew. Then give the same command again: it copies what is left.',
    },
  );
