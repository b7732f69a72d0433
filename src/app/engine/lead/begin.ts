import { createImageFiles, type KnownImageFiles } from '../../../artifacts/input/known-files.ts';
import { SharedImages } from '../../../engine/images.ts';
import { forgetService } from '../../../engine/limits/known-service.ts';
import { forgetOtherTables, keepTable } from '../../../engine/state/tables.ts';
import { type Plan, preparePlan } from '../../../plan/plan.ts';
import { type RunFacts, readRunFacts, writeRunFacts } from '../../../report/facts/run.ts';
import { enterService } from '../../../report/facts/services.ts';
import { serviceWords } from '../../../report/text/plan-text.ts';
import { bindDirectory } from '../../../state/binding.ts';
import { nameOfWish, type RedoWish } from '../../run/redo-order.ts';
import { factsAtStart, identityIn, stateServiceOf } from '../../run/session.ts';
import { runSettings } from '../../run/settings.ts';
import type { CheckedRun, PlannedRun } from '../../run/stages.ts';
import type { OpenEngine } from '../../service/engine/connect.ts';
import { checkFrozen } from '../../workspace/frozen.ts';
import { reported } from '../../workspace/read-pipeline.ts';
import { checkChosen, checkSelection, partToWork, selectionOf } from '../../workspace/selection.ts';
import { forgetOtherInputs, keepInputs, keptFiles } from '../../workspace/tables.ts';
import { namedQueue } from '../queue.ts';
import { makesTasks, type RunSpec, specSettings, specTables, specText } from '../spec.ts';
import type { LedRun } from './lock.ts';

/** Largest number of cells per slice, by kind of work: few where cells wait for images, so that a takeover is cheap. */
const maxCells = { image: 64, text: 256 } as const;
/** Smallest number of slices of a run, so that several workers have something to do. */
const fewestSlices = 32;

/** A run on an engine whose plan is ready, and which its engine knows. */
export interface RegisteredRun extends LedRun, PlannedRun {
  readonly shown: string;
  readonly plan: Plan;
  readonly images: KnownImageFiles;
  /** The images, shared with the other workers and compared with theirs. */
  readonly sharedImages: SharedImages;
  readonly spec: RunSpec;
  readonly specText: string;
  /** Number of chosen cells. */
  readonly cells: number;
  /** The run is open and has the same spec. */
  readonly goesOn: boolean;
  /** The run had the same spec before, and all of it was done. */
  readonly wasComplete: boolean;
}

/** Makes the plan of a run and registers the run on its engine. */
export async function planOnEngine(
  { read, flags, context, repairs }: CheckedRun,
  locked: LedRun,
  redo: RedoWish,
): Promise<RegisteredRun> {
  const { pipeline, files } = read;
  const { redactor } = context;
  const { directory, state, run, service, shown } = locked;
  const { pool } = locked.engine;
  const { reader } = state;
  const { id: serviceId, baseUrl } = service;
  const selection = selectionOf(flags);
  const tables = await keepInputs(pipeline, files, directory);
  const kept = keptFiles(tables, directory, files);
  for (const { copied, sha256, file } of tables)
    if (copied) await keepTable(pool, run, sha256, kept.read(file));
  if (flags.frozen) await checkFrozen(reader, { text: pipeline.source.text, tables, serviceId });
  const images = createImageFiles({ folder: pipeline.source.folder, filesRoot: files.root });
  const sharedImages = new SharedImages(images, pool, run, true);
  const prepared = await preparePlan(pipeline, { files: kept, serviceId, images: sharedImages });
  if (!prepared.ok) throw await reported(prepared.error, context);
  const plan = prepared.value;
  await checkSelection(plan, selection);
  const part = partToWork(selection, repairs);
  const cells = await plan.matrix.chosen(part);
  checkChosen(plan, cells);
  const settings = await runSettings(pipeline, flags, service.speed, reader);
  const redoName = nameOfWish(redo);
  const { file, folder, text, set } = pipeline.source;
  const { origin } = new URL(baseUrl);
  const spec = {
    pipeline: { file, folder, text, ...(set === undefined ? {} : { set }) },
    tables: specTables(pipeline, tables),
    filesRoot: files.root,
    service: {
      id: serviceId,
      origin,
      // The value of a variable in an address may be a token.
      ...(redactor.applyToData(baseUrl) === baseUrl ? { baseUrl } : {}),
    },
    selection: part,
    settings: specSettings(settings),
    ...(redoName === undefined ? {} : { redo: redoName }),
    place: locked.place,
    queue: namedQueue(flags.queue, redactor).choice,
  };
  const written = specText(spec);
  await bindDirectory(state, directory, identityIn(read));
  const totals = await reader.totals();
  const before = await readRunFacts(reader);
  const { isSame, hasEnded } = await saidBefore(locked.engine, run, written);
  // Measured rates are forgotten once, when the run begins.
  if (settings.relearn === true && !isSame) await forgetService(state, { pool, run });
  const named = stateServiceOf(service);
  const facts: RunFacts = {
    ...factsAtStart(read, named, { tables, selection, startedAt: locked.startedAt }, totals),
    // A continued run keeps its original start time.
    ...(isSame && before !== undefined ? { startedAt: before.startedAt, atStart: before.atStart } : {}),
  };
  await enterService(state, named);
  await writeRunFacts(state, facts);
  await forgetOtherInputs(tables, directory);
  await forgetOtherTables(
    pool,
    run,
    tables.map(({ sha256 }) => sha256),
  );
  return {
    ...locked,
    startedAt: facts.startedAt,
    plan,
    tables,
    images,
    sharedImages,
    selection,
    settings,
    origin,
    reached: [`Service: ${serviceWords(serviceId, origin)}`, `Engine: ${shown}`],
    spec: JSON.parse(written) as RunSpec,
    specText: written,
    facts,
    cells,
    goesOn: isSame,
    wasComplete: hasEnded && before?.outcome?.end.kind === 'complete',
  };
}

/** Returns whether the run has this spec and is still open (`isSame`), or has ended by itself (`hasEnded`). */
async function saidBefore(
  { pool }: OpenEngine,
  run: number,
  spec: string,
): Promise<{ readonly isSame: boolean; readonly hasEnded: boolean }> {
  const { rows } = await pool.query<{ state: string }>(
    'SELECT state FROM promptpress.runs WHERE run = $1 AND spec IS NOT DISTINCT FROM $2 AND ended IS NULL',
    [run, spec],
  );
  const state = rows[0]?.state;
  return { isSame: state === 'open', hasEnded: state === 'ended' };
}

/** Returns how many cells each slice of the run has. */
export function sliceSize(plan: Plan, cells: number): number {
  const most = makesTasks(plan) ? maxCells.image : maxCells.text;
  return Math.max(1, Math.min(most, Math.ceil(cells / fewestSlices)));
}
