import { hostname } from 'node:os';
import type { SliceQueue } from '../../../engine/queue/queue.ts';
import type { WorkerSlots } from '../../../engine/slots.ts';
import { countSubmissions } from '../../../engine/state/facts.ts';
import { type Work, workOn } from '../../../engine/worker.ts';
import type { RunListener } from '../../../run/events.ts';
import type { RunControl, RunReport, RunSettings } from '../../../run/ports.ts';
import type { DiskPort } from '../../../run/resources/disk-space.ts';
import { stepsForRun } from '../../../run/run-plan.ts';
import { KnownEndpoints } from '../../../service/failures/known-endpoints.ts';
import { closingAfter, type Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../context.ts';
import { failureText } from '../../errors/render.ts';
import type { Machine } from '../../output/io.ts';
import { takingOn } from '../../run/doubt/find-tasks.ts';
import type { ArtifactPlace } from '../../service/artifact-place.ts';
import { addressId } from '../../service/clients.ts';
import type { OpenEngine } from '../../service/engine/connect.ts';
import { openOutside } from '../../service/outside.ts';
import { missingOnEngine, olderState } from '../../workspace/checks/stale-state.ts';
import { countsOf, inputsOf, openPlace, placeHere } from '../place.ts';
import { makesTasks, type RunSpec, type SpecPlace } from '../spec.ts';
import type { PreparedRun } from './prepare.ts';
import { SubmissionCounter } from './submission-counter.ts';

/** Time without a heartbeat after which a worker loses its slices, ms. */
export const defaultLeaseMs = 30_000;

/** Returns the name of this process among the workers. */
export const workerName = (given: string | undefined, { pid }: Machine): string =>
  given ?? `${hostname()}-${pid}`;

/** The settings of this process for one run. */
export interface Working {
  readonly run: number;
  readonly invocation: number;
  readonly spec: RunSpec;
  readonly prepared: PreparedRun;
  /** Name shown beside its sessions; unique among the processes there. */
  readonly name: string;
  readonly leaseMs: number;
  readonly slots: WorkerSlots;
  /** The queue that the run has chosen. */
  readonly queue: SliceQueue;
  readonly once?: boolean;
  /** Absolute paths where this machine may have the run's folder; the coordinator's path is tried last. */
  readonly folders?: readonly string[];
  /** True if this process leads the run too. */
  readonly isCoordinator?: boolean;
}

/**
 * Works on one run until the run is over or this process ends.
 *
 * @throws EngineError; CliError (exit 2) for what this machine lacks; Error beginning `Internal error:` for a bug
 */
export async function workOnRun(
  engine: OpenEngine,
  working: Working,
  control: RunControl,
  listener: RunListener,
  context: Context,
): Promise<RunReport> {
  context.io.boundHeapGrowth();
  return await closingAfter(async (disposables) => {
    const { run, name, prepared } = working;
    const here = placeHere(working.spec.place, working.folders ?? []);
    const place = await openPlace(here, prepared.pipeline.name, control.leave, disposables, context);
    const { pool, address, clock } = engine;
    const counts = countsOf(here, place);
    const checkAge = async (): Promise<void> => {
      const missing = await missingOnEngine(pool, run, address.shown, counts);
      if (missing !== undefined) throw olderState(address.shown, missing);
    };
    const counter = new SubmissionCounter({
      clock,
      add: (count) => countSubmissions(pool, run, count),
      raise: (total) => counts.raise(name, total),
      ...(place.remote && { results: place.remote.results(prepared.pipeline.retry.patienceMs) }),
    });
    try {
      const work = { ...workOf(working, here, place, counter, disposables, context), checkAge };
      return await workOn(engine, work, control, (event) => {
        if (event.type === 'job:status' && event.to === 'submitting') counter.note();
        listener(event);
      });
    } finally {
      await counter.stop();
    }
  });
}

function workOf(
  working: Working,
  place: SpecPlace,
  { store: artifacts, remote }: ArtifactPlace,
  results: SubmissionCounter,
  disposables: Disposables,
  context: Context,
): Work {
  const { run, invocation, spec, prepared, name, leaseMs, slots } = working;
  const { pipeline, plan, images, filesRoot, service } = prepared;
  const settings: RunSettings = spec.settings;
  const endpoints = new KnownEndpoints();
  const { io } = context;
  const warn = (words: string): void => io.err(failureText(`warning: ${words}`));
  const outside = openOutside(
    {
      pipeline,
      service,
      baseUrl: service.baseUrl,
      endpoints,
      store: artifacts,
      filesRoot,
      shared: inputsOf(place, remote),
    },
    { keyForm: warn, notice: warn },
    io,
    disposables,
  );
  const diskOf = (directory: string): DiskPort => ({
    directory,
    freeBytes: () => io.freeBytes(directory),
    jobsLeft: undefined,
    made: { jobs: 0, bytes: 0 },
  });
  return {
    run,
    invocation,
    name,
    leaseMs,
    queue: working.queue,
    plan: stepsForRun(plan, spec.selection),
    selection: spec.selection,
    settings,
    service: spec.service.id,
    address: { id: addressId(service.baseUrl, service), endpoints },
    makesTasks: makesTasks(plan),
    images,
    slots,
    ...(working.once === true ? { once: true } : {}),
    ...(working.isCoordinator === true ? { endsRun: true } : {}),
    ports: async (store) => ({
      // Continues tasks of submissions that an older state does not know.
      service: await takingOn(outside.images, store.reader),
      text: outside.text,
      inputs: outside.inputs,
      // One writer per session of the worker: replies are committed with its own records.
      artifacts: outside.writerFor(store),
      results,
      memory: outside.memory,
      ...(place.kind === 'folder' && { disk: diskOf(place.path) }),
    }),
    isHeldBack: () => results.isAway,
    random: Math.random,
  };
}
