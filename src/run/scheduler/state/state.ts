import type { Cell } from '../../../plan/cell.ts';
import type { JobRecord } from '../../../plan/job.ts';
import type { RecordLookup, Slot } from '../../../plan/slot.ts';
import { BudgetTracker, type Spent } from '../../limits/budget.ts';
import { Estimators } from '../../limits/estimators.ts';
import type { LearnedTexts } from '../../limits/learned.ts';
import { readLimits, readService } from '../../limits/learned-limits.ts';
import { readSent } from '../../limits/sent-log.ts';
import type { OtherRecords, RunSettings, ServiceAddress, SharedLimits } from '../../ports.ts';
import { Outbox } from '../commit.ts';
import { Kinds } from '../routes/kinds.ts';
import type { Routes } from '../routes/routes.ts';
import { ActiveJobs } from './active-jobs.ts';
import { EndedTasks } from './ended-tasks.ts';
import { FailingClicks } from './failing-clicks.ts';
import { RunLifecycle } from './lifecycle.ts';
import { LostTasks } from './lost-tasks.ts';
import { OpenCells } from './open-cells.ts';
import { RecentButtons } from './recent-buttons.ts';
import { Slices } from './slices.ts';
import { StallDetector } from './stall.ts';
import { TaskOwners } from './task-owners.ts';

/** The settings and ports of a scheduler. */
export interface SchedulerOptions {
  readonly settings: RunSettings;
  /** Unix ms. */
  readonly startedAt: number;
  /** Number of this run. */
  readonly invocation: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** See `RunPlan.resolve`. */
  readonly resolve: (cell: Cell, lookup: RecordLookup, isOwn?: boolean) => readonly Slot[];
  /** See `RunPlan.gathers`. */
  readonly gathers?: (cell: number) => readonly number[];
  /** Returns the durable records. */
  readonly lookup: RecordLookup;
  /** Returns the durable progress of a job's redo order; undefined where no open order names the job. */
  readonly redo: (key: string) => 'waiting' | 'begun' | undefined;
  /** Price of one submission, where known. */
  readonly price: (record: JobRecord) => number | undefined;
  /** `--only`: names of the steps that may run; absent: all. */
  readonly steps?: ReadonlySet<string>;
  /** Total spending in the directory before this run. */
  readonly spent: Spent;
  /** Limits and durations that earlier runs have learned about the service. */
  readonly learned?: LearnedTexts;
  /** Recent sends of earlier runs, as saved ({@link SentLog}). */
  readonly sent?: string;
  /** True where `onLeft` reports when requests are sent. Default: they count as sent when they are decided. */
  readonly tellsLeaving?: boolean;
  /** The service address of the requests. Absent: all runs of a state use one address. */
  readonly address?: ServiceAddress;
  /** Limits that this run shares with others; absent: none. */
  readonly shared?: SharedLimits;
  /** Records that other workers also write; absent: a run on one machine. */
  readonly others?: OtherRecords;
}

/** The cells that the run has received. */
export interface CellsState {
  /** Cells that are not open yet, in the plan's order. */
  incoming: Cell[];
  /** True when the plan has no further cells. */
  areAllGiven: boolean;
  /** False where a job that could have begun is left to a later run. */
  isWhole: boolean;
  readonly open: OpenCells;
  /** Cells that need jobs which an earlier run put back, and the number of tries of these jobs. They are opened last. */
  openedLast: { readonly cell: Cell; readonly tries: number }[];
  /** True once all other cells were opened. */
  isLast: boolean;
  /** Number of cells that were not begun, because they need a kind of request that is closed. */
  left: number;
}

/** The whole state of a scheduler. Functions over this state decide what a run does; nothing else changes the state. */
export interface SchedulerState {
  readonly options: SchedulerOptions;
  /** Time of the last input, Unix ms. */
  now: number;
  /** Called after each resolved cell; once it returns true, the other cells are left to the next tick. */
  isLong: () => boolean;
  /** Since when the run has polled its tasks without a gap, Unix ms. */
  watchedSince: number;
  readonly jobs: ActiveJobs;
  readonly cells: CellsState;
  readonly routes: Routes;
  readonly kinds: Kinds;
  readonly budget: BudgetTracker;
  readonly estimators: Estimators;
  readonly lifecycle: RunLifecycle;
  /** Decisions that are not yet part of a commit. */
  readonly outbox: Outbox;
  /** The slices of this worker, in a run on several machines. */
  readonly slices: Slices;
  readonly stall: StallDetector;
  readonly clicks: FailingClicks;
  readonly buttons: RecentButtons;
  readonly owners: TaskOwners;
  readonly ended: EndedTasks;
  readonly lost: LostTasks;
  /** Finds a job's latest record, durable or not yet. */
  readonly lookup: RecordLookup;
  /** True while several tasks are polled with one request (`poll.list`), until the gateway turns out to have no such endpoint. */
  pollsBatches: boolean;
  /** True while tasks are searched for by their tag, until the gateway turns out not to list tasks. */
  searches: boolean;
  /** True until the gateway turns out to tell no seeds. */
  tellsSeeds: boolean;
  /** True once the user was told that a seed could not be read. */
  notedSeed: boolean;
  /** The last search for tasks of jobs in doubt: its time, Unix ms, and whether its answer is still missing. */
  unconfirmedSearches: { readonly searchedAt: number; readonly isUnderWay: boolean };
  /** True once the user was told that a reply without a token count is charged by its estimate. */
  notedAssumedTokens: boolean;
  /** True once the user was told of a grid that could not be cut. */
  notedWhole: boolean;
  /** Number of jobs that have failed in this run, for `--max-failures`. */
  failures: number;
  /** Number of finished jobs whose redo failed. */
  redosFailed: number;
}

/** Returns the state of a run that has not begun. */
export function initialState(options: SchedulerOptions): SchedulerState {
  const { settings, startedAt } = options;
  const estimators = new Estimators(settings, options.price, options.learned?.poll);
  const { costModel } = estimators;
  const learned = readLimits(options.learned?.limits);
  const jobs = new ActiveJobs(
    settings,
    ({ record }) => costModel.tokens(record),
    options.shared,
    readSent(options.sent, settings.limits, startedAt),
    learned,
  );
  const { served } = readService(options.learned?.service, options.address?.id ?? '');
  for (const id of served) jobs.routes.onServed(id.startsWith('text/') ? 'text' : 'submit');
  if (options.tellsLeaving) jobs.routes.sent.countLeaving();
  const outbox = new Outbox(settings.acceptedFailures);
  return {
    options,
    now: startedAt,
    isLong: () => false,
    watchedSince: startedAt,
    jobs,
    cells: {
      incoming: [],
      areAllGiven: false,
      isWhole: true,
      open: new OpenCells(),
      openedLast: [],
      isLast: false,
      left: 0,
    },
    routes: jobs.routes,
    kinds: new Kinds(served, options.shared?.kinds),
    budget: new BudgetTracker(settings, costModel, options.spent, options.shared?.allowance),
    estimators,
    lifecycle: new RunLifecycle(),
    outbox,
    slices: new Slices(options.others),
    stall: new StallDetector(startedAt),
    clicks: new FailingClicks(),
    buttons: new RecentButtons(),
    ended: new EndedTasks(),
    lost: new LostTasks(),
    owners: new TaskOwners((key) => jobs.get(key) !== undefined),
    lookup: (key) => jobs.get(key)?.record ?? outbox.record(key) ?? options.lookup(key),
    pollsBatches: settings.poll.list === true,
    searches: settings.tag !== false,
    tellsSeeds: true,
    notedSeed: false,
    unconfirmedSearches: { searchedAt: Number.NEGATIVE_INFINITY, isUnderWay: false },
    notedAssumedTokens: false,
    notedWhole: false,
    failures: 0,
    redosFailed: 0,
  };
}
