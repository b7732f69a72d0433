import type { KnownImageFiles } from '../../artifacts/input/known-files.ts';
import type { ArtifactStore } from '../../artifacts/store/store.ts';
import type { Selection } from '../../plan/cell.ts';
import type { Matrix } from '../../plan/matrix/types.ts';
import type { Plan } from '../../plan/plan.ts';
import type { JsonOutputs, WorkersStatus } from '../../report/facts/json-outputs.generated.ts';
import type { InputTable, OutcomeFacts, RunFacts } from '../../report/facts/run.ts';
import type { RunSummary } from '../../report/text/summary.ts';
import type { ManifestTotals } from '../../results/row-ledger.ts';
import type { DirectorySums } from '../../results/sums.ts';
import type { RunEnd } from '../../run/events.ts';
import type { RunSettings } from '../../run/ports.ts';
import type { FactKeeper } from '../../state/store.ts';
import type { ReuseTarget } from '../../upkeep/reuse.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { MetricsWatch } from '../adapters/metrics-file.ts';
import type { Context } from '../context.ts';
import type { RunFlags } from '../flags.ts';
import type { Interrupts } from '../output/io.ts';
import type { RemotePlace } from '../service/artifact-place.ts';
import type { AdmittedService } from '../service/trust.ts';
import type { MissingWork } from '../workspace/checks/stale-state.ts';
import type { ReadPipeline } from '../workspace/read-pipeline.ts';
import type { RedoTaker, RedoWish } from './redo-order.ts';

/** The way a run is done: by this process alone, or by the workers of an engine. `app/run.ts` calls these methods in order. */
export interface Runner<Locked extends LockedRun = LockedRun, Planned extends PlannedRun = PlannedRun> {
  /**
   * Takes the lock of the run and of its directory; the run's `disposables` release both. Nothing is paid, and no other run is changed.
   *
   * @throws CliError, StateError if the run is refused
   */
  lock(run: CheckedRun): Promise<Locked>;
  /** Makes the plan, reaches the service, and records in the state that the run begins. @throws CliError, StateError, Reported */
  plan(run: CheckedRun, locked: Locked, wish: RedoWish): Promise<Planned>;
  /** Returns the state's redo orders, once no worker uses old ones. @throws StateError */
  orders(run: CheckedRun, planned: Planned): Promise<RedoTaker>;
  /** Opens what jobs of other run directories are taken over into; undefined: the run has nothing to do. */
  taker(run: CheckedRun, planned: Planned): Promise<ReuseTarget | undefined>;
  /** Does the work. @returns undefined if the run continues without this process */
  work(run: CheckedRun, planned: Planned, metrics: MetricsWatch | undefined): Promise<DoneWork | undefined>;
}

/** A run whose pipeline and service passed all checks; its lock is not taken yet. */
export interface CheckedRun {
  readonly read: ReadPipeline;
  readonly service: AdmittedService;
  readonly flags: RunFlags;
  readonly interrupts: Interrupts;
  readonly output: Omit<RunOutput, 'tell'>;
  readonly disposables: Disposables;
  readonly context: Context;
  /** The run only downloads the files that finished jobs of the whole plan lack; absent: it does what its flags choose. */
  readonly repairs?: Repairs | undefined;
}

/** A run that begins nothing and downloads again (`verify --repair`). */
export interface Repairs {
  /** How the last run ended before everything was done: it has not got further. Absent: nothing was left, or it was killed. */
  readonly left?: Pick<OutcomeFacts, 'end' | 'exitCode'>;
}

/** A run whose lock this process holds. */
export interface LockedRun {
  /** Absolute path of the run directory. */
  readonly directory: string;
  readonly state: FactKeeper;
  /** The store of the files that jobs produce. */
  readonly artifacts: ArtifactStore;
  /** The bucket of these files; absent: they are in the directory. */
  readonly remote?: RemotePlace;
  /** Unix ms. */
  readonly startedAt: number;
  /** Work that was sent and that the state does not know; nothing is paid before the user has decided about it. */
  readonly missing?: MissingWork;
  /** Address of its state, `postgres://…#name`, without a password; absent: the state is in the run directory. */
  readonly shown?: string;
  /** Returns sums over all jobs. @param isOver no job is in flight: requests without an answer may have been paid */
  readonly totals: (isOver: boolean) => DirectorySums;
  /** Returns the last known facts about the workers; absent: this process is the only one. */
  readonly workersStatus?: () => WorkersStatus | undefined;
}

/** A run whose plan is ready, whose service was reached, and whose beginning is recorded in its state. */
export interface PlannedRun extends LockedRun {
  readonly plan: Pick<Plan, 'pipeline' | 'serviceId' | 'slotGraph'> & {
    readonly matrix: Pick<Matrix, 'cellCount'>;
  };
  readonly tables: readonly InputTable[];
  /** The images of the pipeline that were read. */
  readonly images: Pick<KnownImageFiles, 'known'>;
  readonly selection: Selection;
  /** The recorded facts, without an outcome. */
  readonly facts: RunFacts;
  readonly settings: RunSettings;
  /** Origin of the service that receives its requests. */
  readonly origin: string;
  /** Lines for the user that say where the run is done. */
  readonly reached: readonly string[];
}

/** The work of a run, which has ended. */
export interface DoneWork {
  readonly end: RunEnd;
  /** Number of submissions of this invocation; absent: several machines made them, and the state has counted them. */
  readonly submits?: number;
  readonly redosFailed: number;
  /** Number of grids that were cut into frames. */
  readonly gridsCut: number;
  readonly timedOutAgain: number;
  /** Writes the manifest. @throws the error of the file system, StateError, TableError, the signal's reason */
  readonly list: (signal: AbortSignal) => Promise<ManifestTotals>;
  /** Stores the fingerprint of a run that left nothing to do; called where no redo is left. Absent: there is none. */
  readonly note?: () => Promise<void>;
}

/** Output of a run. With `--quiet`, a command buffers everything except warnings until the first job changes. */
export interface RunOutput {
  /** Called when the first job changes. */
  readonly onWork: () => void;
  /** Prints a message at once, for example that a notification failed. */
  readonly warn: (text: string) => void;
  /** Called when everything is written, before notifications are sent. @param again the command that continues the run */
  readonly tell: (summary: RunSummary, again: string) => void | Promise<void>;
  /** Called instead of `tell` if the run is left to the workers of its engine. Absent: the run has no engine. */
  readonly registered?: (run: JsonOutputs['registered']) => Promise<void>;
}
