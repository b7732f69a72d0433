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

/** How a run is carried out: by this process alone, or by the workers of an engine. `app/run.ts` calls these in order. */
export interface Runner {
  /**
   * Takes hold of the run and of its directory; `disposables` lets go of both. Nothing is paid, and nothing of a run of somebody else is
   * changed.
   *
   * @throws CliError, StateError for what is refused
   */
  hold(run: OpeningRun): Promise<HeldRun>;
}

/** A run that is about to be held. */
export interface OpeningRun {
  readonly read: ReadPipeline;
  readonly service: AdmittedService;
  readonly flags: RunFlags;
  readonly interrupts: Interrupts;
  readonly output: Omit<RunOutput, 'tell'>;
  readonly disposables: Disposables;
  readonly context: Context;
}

/** A run that nobody else leads. */
export interface HeldRun {
  /** Unix ms. */
  readonly startedAt: number;
  readonly reader: StateReader;
  /** Sums over all jobs. @param isOver nothing is under way: what has no answer may have been paid */
  totals(isOver: boolean): DirectorySums;
  /** Where its state lies, `postgres://…#name` without a password; absent: in the run directory. */
  readonly engine?: string;
  /** The workers, as last seen; absent: there are none but this process. */
  readonly workersStatus?: () => WorkersStatus | undefined;
  /** Makes the plan, and says in the state what is about to run. @throws CliError, StateError, Reported */
  begin(wish: RedoWish): Promise<BegunWork>;
}

/** A run whose plan is ready, and whose service is reached. */
export interface BegunWork {
  readonly run: EndedRun & Pick<RunBegin, 'tables' | 'images' | 'selection'>;
  readonly settings: RunSettings;
  /** Of the service that its requests go to. */
  readonly origin: string;
  /** Where it is carried out, for the user; a line each. */
  readonly reached: readonly string[];
  /** The orders of the state, once nobody works by what they were. @throws StateError */
  orders(): Promise<RedoTaker>;
  /** Does what is to be done. @returns undefined where the run goes on without this process */
  work(metrics: MetricsWatch | undefined): Promise<RunWork | undefined>;
}
