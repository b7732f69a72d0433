import type { WorkersStatus } from '../../report/facts/json-outputs.generated.ts';
import type { DirectorySums } from '../../results/sums.ts';
import type { RunSettings } from '../../run/ports.ts';
import type { StateReader } from '../../state/reader.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { MetricsWatch } from '../adapters/metrics-watch.ts';
import type { Context } from '../context.ts';
import type { RunFlags } from '../flags.ts';
import type { Interrupts } from '../output/io.ts';
import type { AdmittedService } from '../service/trust.ts';
import type { ReadPipeline } from '../workspace/read-pipeline.ts';
import type { RunBegin } from '../workspace/record.ts';
import type { EndedRun, RunOutput, RunWork } from './outcome.ts';
import type { RedoTaker, RedoWish } from './redo-order.ts';

/** The way a run is done: by this process alone, or by the workers of an engine. `app/run.ts` calls these methods in order. */
export interface Runner {
  /**
   * Takes the lock of the run and of its directory; `disposables` releases both. Nothing is paid, and no other run is changed.
   *
   * @throws CliError, StateError if the run is refused
   */
  hold(run: OpeningRun): Promise<HeldRun>;
}

/** A run whose lock is about to be taken. */
export interface OpeningRun {
  readonly read: ReadPipeline;
  readonly service: AdmittedService;
  readonly flags: RunFlags;
  readonly interrupts: Interrupts;
  readonly output: Omit<RunOutput, 'tell'>;
  readonly disposables: Disposables;
  readonly context: Context;
}

/** A run that this process holds. */
export interface HeldRun {
  /** Unix ms. */
  readonly startedAt: number;
  readonly reader: StateReader;
  /** Returns sums over all jobs. @param isOver no job is in flight: requests without an answer may have been paid */
  totals(isOver: boolean): DirectorySums;
  /** Address of its state, `postgres://…#name`, without a password; absent: the state is in the run directory. */
  readonly engine?: string;
  /** Returns the last known facts about the workers; absent: this process is the only one. */
  readonly workersStatus?: () => WorkersStatus | undefined;
  /** Makes the plan and records in the state that the run begins. @throws CliError, StateError, Reported */
  begin(wish: RedoWish): Promise<BegunWork>;
}

/** A run whose plan is ready and whose service was reached. */
export interface BegunWork {
  readonly run: EndedRun & Pick<RunBegin, 'tables' | 'images' | 'selection'>;
  readonly settings: RunSettings;
  /** Origin of the service that receives its requests. */
  readonly origin: string;
  /** Lines for the user that say where the run is done. */
  readonly reached: readonly string[];
  /** Returns the state's redo orders, once no worker uses old ones. @throws StateError */
  orders(): Promise<RedoTaker>;
  /** Does the work of the run. @returns undefined if the run continues without this process */
  work(metrics: MetricsWatch | undefined): Promise<RunWork | undefined>;
}
