import { isNarrowed } from '../../manifest/cells.ts';
import { type EstimateOptions, estimatePlan } from '../../plan/estimate/estimate.ts';
import type { PlanReport } from '../../plan/estimate/report.ts';
import { settledReport } from '../../plan/estimate/settled.ts';
import { buildGraph } from '../../plan/graph/build.ts';
import { type Plan, preparePlan } from '../../plan/plan.ts';
import { seenFrom } from '../../report/facts/place.ts';
import { readRunFacts } from '../../report/facts/run.ts';
import type { RunService } from '../../report/facts/services.ts';
import { setWords } from '../../report/text/next-commands.ts';
import { noteOnOtherService } from '../../report/text/other-service.ts';
import { planText } from '../../report/text/plan-text.ts';
import { readSums } from '../../results/sums.ts';
import { lockOwner } from '../../state/lock/lock.ts';
import type { StateReader, StoreTotals } from '../../state/reader.ts';
import { openStateForReading } from '../../state/state.ts';
import { closingAfter, type Disposables } from '../adapters/disposables.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../errors/cli-error.ts';
import { identityOf, recognise } from '../fingerprint/fingerprint.ts';
import {
  asksForWork,
  type EngineFlag,
  engineOfRun,
  type PlaceFlags,
  type ReuseFlags,
  type RevivalFlags,
  type SelectionFlags,
} from '../flags.ts';
import { jsonLine } from '../output/json-line.ts';
import { identifyService, type ServiceIdentity } from '../service/settings.ts';
import { checkRunDirectory } from '../workspace/checks/directory.ts';
import { refuseStranger } from '../workspace/checks/maker.ts';
import { placeOfRun } from '../workspace/checks/place.ts';
import { otherSet } from '../workspace/checks/set.ts';
import { imagesForPlan } from '../workspace/images.ts';
import { type ReadPipeline, reported } from '../workspace/read-pipeline.ts';
import { checkChosen, checkSelection, selectionOf } from '../workspace/selection.ts';
import { askedFor, plannedRedos, redoWishOf, staysWords } from './redo-order.ts';
import { isReuseOpen, plannedReuse } from './reuse.ts';
import { revivalOf } from './settings.ts';

/** The flags of `plan`. */
export type PlanFlags = PlaceFlags &
  SelectionFlags &
  RevivalFlags &
  ReuseFlags &
  EngineFlag & { readonly json: boolean };

/** Replaces the service in job keys while no address is known; a run never uses it. */
const unknownService = 'unknown';

/** Shows what a run would do, and why (`plan`, `run --dry-run`). Changes nothing and contacts no service. */
export const showPlan = (read: ReadPipeline, flags: PlanFlags, context: Context): Promise<number> =>
  closingAfter(async (disposables) => {
    const { io } = context;
    const { report, origin, note } = await estimated(read, flags, disposables, context);
    await printPlan(report, origin, flags, context);
    if (note !== undefined) io.err(`promptpress: ${note}\n`);
    return exitCodes.ok;
  });

/** Prints what a run would do. @param origin of the service that the run would use */
export async function printPlan(
  report: PlanReport,
  origin: string | undefined,
  { json }: Pick<PlanFlags, 'json'>,
  { io }: Context,
): Promise<void> {
  const place = origin === undefined ? {} : { origin };
  if (json) await io.data(jsonLine({ ...report, ...place }));
  else await io.out(planText(report, origin));
}

/** Returns what a run with these flags would do, in the form that `plan` shows. */
export const estimateRun = async (
  read: ReadPipeline,
  flags: PlanFlags,
  disposables: Disposables,
  context: Context,
): Promise<PlanReport> => (await estimated(read, flags, disposables, context)).report;

async function estimated(
  read: ReadPipeline,
  flags: PlanFlags,
  disposables: Disposables,
  context: Context,
): Promise<{ readonly report: PlanReport } & Pick<OpenPlace, 'origin' | 'note'>> {
  const place = await openPlace(read, flags, disposables, context);
  const { state, service, origin, note, running } = place;
  // Only the state's maker decides which other runs this machine opens.
  if (state !== undefined && (await isReuseOpen(state)))
    await refuseStranger(
      state,
      seenFrom(context.io.cwd, place.directory),
      { trusted: flags['trust-directory'] },
      context.io.env,
    );
  const reuse = await plannedReuse(flags, place, disposables, context);
  const settled = reuse ? undefined : state && (await settledPlan(read, flags, state, service));
  if (settled !== undefined) return { report: settled, origin, note };
  const plan = await planAt(read, flags, place, context);
  const report = await estimateWith(plan, flags, { state, running, reuse }, context.io.cwd);
  checkChosen(plan, report.cells.chosen);
  return { report, origin, note };
}

/** Returns the plan of a whole pipeline whose last run left nothing to do, without reading tables or slots. */
async function settledPlan(
  read: ReadPipeline,
  flags: PlanFlags,
  state: StateReader,
  { id, ...service }: RunService,
): Promise<PlanReport | undefined> {
  const selection = selectionOf(flags);
  if (asksForWork(flags) || isNarrowed(selection)) return undefined;
  const last = await readRunFacts(state);
  // With a service id, a plan needs no address: it uses that of the last run.
  const there = last?.origin === undefined || last.serviceId !== id ? {} : { origin: last.origin };
  const identity = identityOf(read, { service: { ...there, ...service, id }, selection });
  const known = await recognise(state, identity, read.files);
  if (known?.steps === undefined) return undefined;
  const { pipeline } = read;
  const slotGraph = buildGraph(pipeline.steps, pipeline.models, pipeline.bests);
  if ('tooMany' in slotGraph) return undefined;
  const { cells, steps } = known;
  return settledReport({ pipeline, serviceId: id, slotGraph }, { cells, steps }, await state.totals());
}

/** Returns what a run with these flags would do, from the finished work and the jobs to remake. @param kept.running a run is on */
export async function estimateWith(
  plan: Plan,
  flags: PlanFlags,
  { state, running, reuse }: Pick<OpenPlace, 'state' | 'running'> & Pick<EstimateOptions, 'reuse'>,
  cwd: string,
): Promise<PlanReport> {
  const revival = await revivalOf(flags, state);
  const wish = await redoWishOf(flags, state, cwd);
  const planned = state && (await plannedRedos(wish, state));
  const { keys, redo, stays = 0 } = planned ?? {};
  const totals = async (): Promise<StoreTotals> => {
    const { jobs, ...sums } = await readSums(state as StateReader, running);
    const { skipped: _skipped, accepted: _accepted, ...byStatus } = jobs;
    return { ...sums, jobs: byStatus };
  };
  const counted = state && { ...state, totals };
  const report = await estimatePlan(plan, selectionOf(flags), counted, {
    ...revival,
    running,
    redo: keys,
    reuse,
  });
  const message = `${sentence(staysWords(stays, askedFor(wish).length))}.`;
  return {
    ...report,
    ...(redo === undefined ? {} : { redo }),
    warnings: stays === 0 ? report.warnings : [...report.warnings, { code: 'redo.made', message }],
  };
}

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

interface OpenPlace {
  /** Absolute path of the run directory. */
  readonly directory: string;
  readonly state: StateReader | undefined;
  readonly service: RunService;
  /** Origin of the service that a run would use. */
  readonly origin: string | undefined;
  readonly note: string | undefined;
  /** True while a run is on. */
  readonly running: boolean;
}

/** Prints one line of JSON for each chosen cell (`plan --cells`). */
export const showCells = (read: ReadPipeline, flags: PlanFlags, context: Context): Promise<number> =>
  closingAfter(async (disposables) => {
    const place = await openPlace(read, flags, disposables, context);
    return await printCells(await planAt(read, flags, place, context), flags, context);
  });

/** Prints the chosen cells of a plan, as fast as the reader takes them. @returns the exit code */
export async function printCells(plan: Plan, flags: SelectionFlags, { io }: Context): Promise<number> {
  let batch = '';
  let chosen = 0;
  for await (const { number, vars, repeat } of plan.matrix.cells(selectionOf(flags))) {
    if (io.outClosed.aborted) return exitCodes.ok;
    chosen += 1;
    const times = plan.pipeline.matrix.repeat > 1 ? { repeat } : {};
    batch += jsonLine({ cell: number, vars, ...times });
    if (batch.length < 16_384) continue;
    await io.data(batch);
    batch = '';
  }
  checkChosen(plan, chosen);
  await io.data(batch);
  return exitCodes.ok;
}

async function openPlace(
  read: ReadPipeline,
  flags: PlanFlags,
  disposables: Disposables,
  context: Context,
): Promise<OpenPlace> {
  const { io } = context;
  const { pipeline } = read;
  const identity = identifyService(pipeline, flags, io.env);
  const engine = engineOfRun(flags, io);
  const kept =
    engine === undefined
      ? await keptInDirectory(read, flags, disposables, context)
      : await keptOnEngine(engine, read, disposables, context);
  const { name, elsewhere, running } = kept;
  // A run with another --set is refused there, so the work there is not part of the plan.
  const otherBefore = kept.state && (await otherSet(kept.state, pipeline));
  const state = otherBefore === undefined ? kept.state : undefined;
  const { serviceId, origin, note } = await settleIdentity(identity, state);
  const service = { id: serviceId, ...(origin === undefined ? {} : { origin }) };
  const place = { directory: kept.directory, name, file: pipeline.source.file, cwd: io.cwd };
  const other = state && !flags['new-service'] ? await noteOnOtherService(state, service, place) : undefined;
  const notes =
    otherBefore === undefined
      ? [
          kept.note,
          other === undefined
            ? note
            : `${other.message} A run is refused.\n  ${(kept.waysOn ?? other.hint).replaceAll('\n', '\n  ')}`,
        ]
      : [
          `${name} was run ${otherBefore.length === 0 ? 'without --set' : `with ${setWords(otherBefore)}`}, so this plan is for ${elsewhere}.`,
        ];
  const said = notes.filter((text) => text !== undefined);
  return {
    directory: kept.directory,
    state,
    service,
    origin,
    running,
    note: said.length === 0 ? undefined : said.join('\npromptpress: '),
  };
}

/** The place where the finished work of a pipeline is kept. */
interface Kept {
  readonly state: StateReader | undefined;
  /** True while a run is on. */
  readonly running: boolean;
  /** Absolute path. */
  readonly directory: string;
  /** Path as the user gave it. */
  readonly name: string;
  /** Words for another place of the same kind where nothing has run. */
  readonly elsewhere: string;
  /** What to do if the place has jobs of another service; absent: the usual advice for a run directory. */
  readonly waysOn?: string;
  readonly note?: string;
}

async function keptInDirectory(
  read: ReadPipeline,
  flags: PlanFlags,
  disposables: Disposables,
  { io }: Context,
): Promise<Kept> {
  const directory = placeOfRun(read.pipeline, flags, io.cwd);
  await checkRunDirectory(directory, { trusted: flags['trust-directory'] }, io.env);
  const state = openStateForReading(directory);
  if (state !== undefined) disposables.add(() => state.close());
  return {
    state,
    running: lockOwner(directory) !== undefined,
    directory,
    name: seenFrom(io.cwd, directory),
    elsewhere: 'a directory where nothing has run (--out)',
  };
}

async function keptOnEngine(
  given: string,
  { pipeline }: ReadPipeline,
  disposables: Disposables,
  context: Context,
): Promise<Kept> {
  const { findEngineRun } = await import('../service/engine/run.ts');
  const { shown, found } = await findEngineRun(given, pipeline.name, context);
  const there = {
    elsewhere: 'a run of another name that has not begun (--engine postgres://…#NAME)',
    waysOn: 'To begin again with this one, give the run a name of its own: --engine postgres://…#NAME',
  };
  if (found === undefined)
    return {
      ...there,
      state: undefined,
      running: false,
      directory: context.io.cwd,
      name: shown,
      note: `There is no run ${shown} yet: nothing of it is done.`,
    };
  const { place, state } = found;
  disposables.add(() => state.close());
  const running = (await place.owner()) !== undefined;
  return { ...there, state, running, directory: place.directory, name: place.name };
}

/** Makes the plan of a pipeline from the work in its run directory, and checks the selection against it. */
async function planAt(
  { pipeline, files }: ReadPipeline,
  flags: PlanFlags,
  { state, service }: OpenPlace,
  context: Context,
): Promise<Plan> {
  const prepared = await preparePlan(pipeline, {
    files,
    serviceId: service.id,
    images: imagesForPlan(pipeline, files.root, state),
  });
  if (!prepared.ok) throw await reported(prepared.error, context);
  await checkSelection(prepared.value, selectionOf(flags));
  return prepared.value;
}

/** Settles the service of a plan. Without an address it is that of the last run; without a last run nothing can be done already. */
async function settleIdentity(
  { id, origin, missing }: ServiceIdentity,
  state: StateReader | undefined,
): Promise<{ readonly serviceId: string; readonly origin: string | undefined; readonly note?: string }> {
  if (id !== undefined) return { serviceId: id, origin };
  const last = state === undefined ? undefined : await readRunFacts(state);
  if (last !== undefined) {
    return {
      serviceId: last.serviceId,
      origin: last.origin,
      note: `${missing} is not set: this plan is for the service of the last run, ${last.serviceId}.`,
    };
  }
  return {
    serviceId: unknownService,
    origin,
    note: `${missing} is not set, so the service is not known; nothing has run here yet either, so the plan is the same for any.`,
  };
}
