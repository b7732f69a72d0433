import type { Cell } from '../../../plan/cell.ts';
import type { JobRecord } from '../../../plan/job.ts';
import type { RecordLookup, Slot } from '../../../plan/slot.ts';
import { BudgetTracker, type Spent } from '../../limits/budget.ts';
import { Estimators } from '../../limits/estimators.ts';
import type { LearnedTexts } from '../../limits/learned.ts';
import { readLimits, readService } from '../../limits/learned-limits.ts';
import { PollLoad } from '../../limits/poll/poll-load.ts';
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
  readonly resolve: (cell: Cell, lookup: RecordLookup) => readonly Slot[];
  /** The records that are durable. */
  readonly lookup: RecordLookup;
  /** How far the jobs of open orders are that the user wants made anew, by what is durable; undefined: no order has it to be made. */
  readonly redo: (key: string) => 'waiting' | 'begun' | undefined;
  /** Price of one submission, where known. */
  readonly price: (record: JobRecord) => number | undefined;
  /** `--only`: names of the steps that may run; absent: all. */
  readonly steps?: ReadonlySet<string>;
  /** Spending over the directory's life until this run. */
  readonly spent: Spent;
  /** What earlier runs have learned about the service. */
  readonly learned?: LearnedTexts;
  /** What earlier runs sent lately, as kept ({@link SentLog}). */
  readonly sent?: string;
  /** The scheduler is told when requests leave (`onLeft`). Default: they leave when they are decided. */
  readonly tellsLeaving?: boolean;
  /** Where its requests go. Absent: all runs of a state go to one address. */
  readonly address?: ServiceAddress;
  /** Limits that this run shares with others; absent: none. */
  readonly shared?: SharedLimits;
  /** What others write too; absent: a run on one machine. */
  readonly others?: OtherRecords;
}

/** The cells that the run was given. */
export interface CellsState {
  /** Cells that are not open yet, in the plan's order. */
  incoming: Cell[];
  /** True when the plan has no cells beyond these. */
  areAllGiven: boolean;
  /** False where a job that could have been begun is left to a later run. */
  isWhole: boolean;
  readonly open: OpenCells;
  /** Cells that ask for jobs that an earlier run put back, and how often these were tried: they are opened last. */
  openedLast: { readonly cell: Cell; readonly tries: number }[];
  /** All other cells were opened. */
  isLast: boolean;
  /** Cells that were not begun, because they need a kind of request that is closed. */
  left: number;
}

/** The whole state of a scheduler. Functions over this state decide what a run does; nothing else changes the state. */
export interface SchedulerState {
  readonly options: SchedulerOptions;
  /** Moment of the last input, Unix ms. */
  now: number;
  /** Asked after each cell that is resolved: true, and so for the rest of this input, where the others are left to the next tick. */
  isLong: () => boolean;
  /** Since when the run polls its tasks without a gap, Unix ms. */
  watchedSince: number;
  readonly jobs: ActiveJobs;
  readonly cells: CellsState;
  readonly routes: Routes;
  readonly kinds: Kinds;
  readonly budget: BudgetTracker;
  readonly estimators: Estimators;
  readonly polls: PollLoad;
  readonly lifecycle: RunLifecycle;
  /** Decisions that were not handed over yet. */
  readonly outbox: Outbox;
  /** What this worker holds, in a run on several machines. */
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
  /** True while tasks are searched for by their tag, until the gateway turns out to list none. */
  searches: boolean;
  /** When tasks of jobs in doubt were last searched for, Unix ms, and whether the answer is still to come. */
  doubtSearches: { readonly searchedAt: number; readonly isUnderWay: boolean };
  /** True once the user was informed that a reply without a token count is charged by its estimate. */
  notedAssumedTokens: boolean;
  /** The user was told of a grid that stays whole. */
  notedWhole: boolean;
  /** Jobs that have failed in this run, counted for `--max-failures`. */
  failures: number;
  /** Finished jobs whose redo failed. */
  redosFailed: number;
}

/** The state of a run that has not begun. */
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
  const outbox = new Outbox();
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
    polls: new PollLoad(settings.limits.poll),
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
    doubtSearches: { searchedAt: Number.NEGATIVE_INFINITY, isUnderWay: false },
    notedAssumedTokens: false,
    notedWhole: false,
    failures: 0,
    redosFailed: 0,
  };
}
