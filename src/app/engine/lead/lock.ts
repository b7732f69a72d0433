import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { leaseRun, type RunLease } from '../../../engine/slices/lead-lease.ts';
import { forgetEmptyRun } from '../../../engine/slices/remove.ts';
import { openFacts } from '../../../engine/state/facts.ts';
import { engineReader } from '../../../engine/state/reader.ts';
import { registerRun } from '../../../engine/state/slices.ts';
import type { WorkersStatus } from '../../../report/facts/json-outputs.generated.ts';
import { artifactPlaceFact, namesDirectory } from '../../../report/facts/layout.ts';
import { noteOnOtherService } from '../../../report/text/other-service.ts';
import { sumsOf } from '../../../results/sums.ts';
import { checkDirectory } from '../../../state/binding.ts';
import type { StoreTotals } from '../../../state/reader.ts';
import { type FactKeeper, StateError } from '../../../state/store.ts';
import { usageError } from '../../errors/cli-error.ts';
import { checkPlace, identityIn, stateServiceOf } from '../../run/session.ts';
import type { CheckedRun, LockedRun } from '../../run/stages.ts';
import { placeFacts, s3PlaceOf, takePlace } from '../../service/artifact-place.ts';
import { type OpenEngine, openEngine } from '../../service/engine/connect.ts';
import { directoryFact, ownDirectory } from '../../service/engine/directory.ts';
import { folderCounts } from '../../service/engine/folder-counts.ts';
import type { AdmittedService } from '../../service/trust.ts';
import { placeOfRun } from '../../workspace/checks/place.ts';
import { checkSet } from '../../workspace/checks/set.ts';
import { missingOnEngine, olderState } from '../../workspace/checks/stale-state.ts';
import { takeFolder, writeMark } from '../place.ts';
import type { SpecPlace } from '../spec.ts';
import { isOwnBeside, moveOut } from './move.ts';

/** A service at a real address, not a rehearsal. */
export type ReachedService = AdmittedService & { readonly baseUrl: string };

/** A run on an engine that this process leads, and its run directory. */
export interface LedRun extends LockedRun {
  readonly engine: OpenEngine;
  readonly service: ReachedService;
  readonly run: number;
  readonly name: string;
  readonly shown: string;
  readonly lease: RunLease;
  readonly place: SpecPlace;
  /** The last known figures of all workers, for the metrics. */
  readonly seen: { totals: StoreTotals; workersStatus: WorkersStatus | undefined };
}

/** PostgreSQL connections of a coordinator, whether or not it works too; its queue opens one more. */
const connections = 2;

/**
 * Takes the lease of a run on an engine, and its run directory.
 *
 * @throws StateError, EngineError, CliError
 */
export async function lockOnEngine(checked: CheckedRun): Promise<LedRun> {
  const { read, flags, interrupts, output, disposables, context } = checked;
  const { baseUrl } = checked.service;
  if (baseUrl === undefined) throw new Error('Internal error: a run on an engine has a service.');
  const service = { ...checked.service, baseUrl };
  const { io } = context;
  const { leave } = interrupts;
  const say = (text: string): void => output.warn(`${text}\n`);
  const waits = { signal: interrupts.drain, say };
  const use = { as: 'run', name: 'run', connections, waits } as const;
  const engine = await openEngine(flags.engine, use, disposables, context);
  const { pipeline } = read;
  const { address, pool } = engine;
  const name = address.run ?? pipeline.name;
  const shown = `${address.shown}#${name}`;
  const startedAt = io.now();
  const directory = placeOfRun(pipeline, flags, io.cwd);
  const isDefault = !namesDirectory(flags);
  await checkPlace(directory, { trusted: flags['trust-directory'], isDefault }, io);
  const run = await registerRun(pool, name);
  let isTaken = false;
  // A refused run that has no jobs is removed again.
  disposables.add(async () => {
    if (!isTaken) await forgetEmptyRun(pool, run).catch(() => undefined);
  });
  const lease = await leaseRun(engine, run, name, {
    signal: leave,
    onWait: (ms) => io.err(`${waitText(name, ms)}\n`),
  });
  disposables.add(() => lease.close());
  const reader = engineReader(pool, run);
  const facts = { reader, ...(await openFacts(pool, run, lease.epoch)) };
  await refuseOtherPipeline(facts, directory, identityIn(read), shown);
  await checkSet(reader, directory, pipeline, io.cwd);
  await refuseOtherService(facts, service, shown, { directory, file: pipeline.source.file, cwd: io.cwd });
  const wanted = s3PlaceOf(flags.out);
  if (flags['move-out'])
    await moveOut(
      { engine, run, shown, lease, facts, directory, wanted, pipeline: name },
      interrupts,
      context,
    );
  const known = facts.fact(placeFacts.owner);
  const id = known ?? randomUUID();
  // The id must be durable before the place is marked with it.
  if (known === undefined) await facts.setFact(placeFacts.owner, id);
  const mark = { engine: shown, place: id };
  if (isOwnBeside(facts, directory)) await writeMark(directory, mark);
  else await takeFolder(directory, mark, await resultsElsewhere(facts));
  isTaken = true;
  await facts.setFact(directoryFact, JSON.stringify({ path: directory, host: hostname() }));
  const taken = await takePlace(
    {
      directory,
      pipeline: name,
      wanted,
      isShared: true,
    },
    facts,
    leave,
    disposables,
    context,
  );
  const { store: artifacts, remote } = taken;
  const place: SpecPlace =
    remote === undefined ? { kind: 'folder', path: directory, id } : { kind: 's3', url: remote.url, id };
  const missing = await missingOnEngine(pool, run, shown, remote?.counts ?? folderCounts(directory));
  if (missing !== undefined && !flags['accept-older-state'] && flags['in-doubt'] !== 'find')
    throw olderState(directory, missing);
  const seen: LedRun['seen'] = { totals: await reader.totals(), workersStatus: undefined };
  const locked = { engine, service, run, name, shown, lease, state: facts, directory, place, artifacts };
  return {
    ...locked,
    startedAt,
    seen,
    ...(remote && { remote }),
    ...(missing && { missing }),
    totals: () => sumsOf(seen.totals, []),
    workersStatus: () => seen.workersStatus,
  };
}

const waitText = (name: string, ms: number): string =>
  `The process that led the run ${name} may be gone: if nothing is heard from it for ${Math.ceil(ms / 1000)} s, this process leads the run.`;

/** Returns where a run has its results, in words; undefined: nowhere yet, or in a bucket. */
async function resultsElsewhere(facts: FactKeeper): Promise<string | undefined> {
  const { reader } = facts;
  if (facts.fact(artifactPlaceFact) !== undefined || (await reader.totals()).attempts === 0) return undefined;
  const own = await ownDirectory(reader);
  return own && `${own.path} of ${own.host}`;
}

/** @throws CliError (exit 2) if the run of this name belongs to another pipeline */
async function refuseOtherPipeline(
  { reader }: FactKeeper,
  directory: string,
  identity: { readonly file: string; readonly text: string },
  shown: string,
): Promise<void> {
  try {
    await checkDirectory(reader, directory, identity);
  } catch (error) {
    if (!(error instanceof StateError) || error.code !== 'state.foreign') throw error;
    throw usageError(
      `The run ${shown} is of another pipeline, or of another file of this name.`,
      'Give this run a name of its own behind the address: --engine postgres://…#NAME',
    );
  }
}

/** @throws CliError (exit 2) if the run's jobs were made for another service */
async function refuseOtherService(
  { reader }: FactKeeper,
  service: ReachedService,
  shown: string,
  place: { readonly directory: string; readonly file: string; readonly cwd: string },
): Promise<void> {
  const other = await noteOnOtherService(reader, stateServiceOf(service), { ...place, name: shown });
  if (other === undefined) return;
  throw usageError(
    other.message,
    'To begin again with this one, give the run a name of its own: --engine postgres://…#NAME',
  );
}
