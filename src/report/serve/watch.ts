import { isNarrowed } from '../../manifest/cells.ts';
import type { Selection } from '../../plan/cell.ts';
import type { Plan } from '../../plan/plan.ts';
import type { StateReader } from '../../state/reader.ts';
import type { ChangeMark, StateChanges } from '../../state/sqlite/changes.ts';
import type { Advisor } from '../results/advice.ts';
import { readPageSums } from '../results/summary.ts';
import type { PageSummary, PageWorkers } from '../results/wire.ts';
import { IndexClosed, ResultIndex } from './index/result-index.ts';

/** The plan and selection of a directory's last run. */
export interface WatchedPlan {
  readonly plan: Plan;
  readonly selection: Selection;
  readonly advisor: Omit<Advisor, 'running'>;
}

export interface WatchOptions {
  readonly reader: StateReader & StateChanges;
  /** Reads the plan of the last run; called again after another run has begun. */
  readonly plan: () => Promise<WatchedPlan>;
  /** Returns a text that changes whenever {@link plan} changes. */
  readonly identity: () => Promise<string>;
  /** Whether a run is active; responds at once. */
  readonly isRunning: () => Promise<boolean>;
  /** Reads the status of the workers; absent for a run without an engine. */
  readonly workersStatus?: () => Promise<PageWorkers | undefined>;
  /** Name and version of the program. */
  readonly madeBy: string;
  readonly now: () => number;
  /** Clock for measuring durations, ms; default: the system's. */
  readonly elapsed?: () => number;
  /** Called when an update fails; the last summary stays. */
  readonly onProblem: (error: unknown) => void;
}

/** Slow work is repeated only after this many times its duration, so that it takes at most a twentieth of the time. */
const rests = 20;

/** Watches the state of a run directory for all viewers. Each update checks for new commits and reads only the cells of changed jobs. */
export class RunWatch {
  readonly #options: WatchOptions;
  readonly #elapsed: () => number;
  #identity: string;
  #view: View;
  #openTook = 0;
  #openAt = 0;
  #live: boolean;
  #workersStatus: PageWorkers | undefined;
  #counted: PageSummary;
  /** Version of the index that {@link #counted} and {@link text} show. */
  #countedVersion = -1;
  #countedAt = 0;
  #countTook = 0;
  /** Time of {@link #elapsed} to read everything again; absent if not needed. */
  #startsOverAt: number | undefined;
  #text = '';
  #told = '';
  #work: Promise<void> | undefined;
  #filling: Promise<void>;
  #isClosed = false;

  private constructor(options: WatchOptions, identity: string, view: View, counted: PageSummary) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#identity = identity;
    this.#view = view;
    this.#counted = counted;
    this.#live = counted.live;
    this.#filling = this.#fill(view.index);
  }

  /** Opens a watch and starts to fill its index. @throws what the plan and the state throw */
  static async open(options: WatchOptions): Promise<RunWatch> {
    const identity = await options.identity();
    const view = await viewOf(options);
    const { madeBy, now, isRunning } = options;
    const counted = await view.index.summary({ madeBy, at: now(), live: await isRunning() });
    const watch = new RunWatch(options, identity, view, counted);
    await watch.#summarise();
    return watch;
  }

  get index(): ResultIndex {
    return this.#view.index;
  }

  get live(): boolean {
    return this.#live;
  }

  get summary(): string {
    return this.#text;
  }

  /** Resolves when the index contains all results. */
  get filled(): Promise<void> {
    return this.#filling;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#view.index.close();
    await Promise.allSettled([this.#filling, this.#work]);
  }

  /**
   * Updates the index and the summary, unless an update is already running.
   *
   * @returns whether the summary changed
   */
  async look(): Promise<boolean> {
    if (this.#work !== undefined || this.#isClosed) return false;
    this.#work = this.#look();
    try {
      await this.#work;
    } catch (error) {
      if (!(error instanceof IndexClosed)) this.#options.onProblem(error);
      // The news stays unsent; the next successful update sends it.
      return false;
    } finally {
      this.#work = undefined;
    }
    const isOther = this.#told !== this.#news();
    this.#told = this.#news();
    return isOther;
  }

  /** Text that changes when viewers need a new summary; its time alone is not enough. */
  #news(): string {
    return `${this.#identity} ${this.#view.index.version} ${this.#countedVersion} ${this.#live} ${JSON.stringify(this.#workersStatus)}`;
  }

  async #look(): Promise<void> {
    const live = await this.#options.isRunning();
    // Shared jobs may have added results of cells outside of the selection.
    if (this.#live && !live && isNarrowed(this.#view.watched.selection)) this.#startsOverAt = this.#elapsed();
    this.#live = live;
    if (this.#startsOverAt !== undefined && this.#elapsed() >= this.#startsOverAt) await this.#startOver();
    if (this.#view.index.isFilled) {
      const mark = await this.#options.reader.changeMark();
      const isOpenDue = this.#isOpenDue();
      // An update without the open jobs may have missed changes, so it is repeated even without new commits.
      if (isOther(mark, this.#view.mark) || (isOpenDue && isOther(mark, this.#view.openMark)))
        await this.#follow(mark, isOpenDue);
    }
    this.#workersStatus = live ? await this.#options.workersStatus?.() : undefined;
    await this.#summarise();
  }

  /** Whether the open jobs may be read again, given how long that takes. */
  #isOpenDue(): boolean {
    return this.#openTook < 10 || this.#elapsed() - this.#openAt > rests * this.#openTook;
  }

  /**
   * Updates the changed cells. With the open jobs it finds every change since the last such update. Without them it finds only new jobs,
   * jobs with new history entries, and jobs in flight now or before.
   */
  async #follow(mark: ChangeMark, withOpen: boolean): Promise<void> {
    const { reader, identity } = this.#options;
    const now = await identity();
    if (now !== this.#identity) {
      await this.#startOver();
      this.#identity = now;
      return;
    }
    const jobs = new Set(this.#view.underWay);
    const cells = new Set<number>();
    for await (const { key, cell } of reader.begunSince(withOpen ? this.#view.openMark : this.#view.mark)) {
      jobs.add(key);
      cells.add(cell);
    }
    const unfinished = new Set<string>();
    for await (const { key } of reader.unfinished()) unfinished.add(key);
    for (const key of unfinished) jobs.add(key);
    let open = this.#view.open;
    if (withOpen) {
      const began = this.#elapsed();
      open = await openJobs(reader);
      for (const [key, status] of open) if (this.#view.open.get(key) !== status) jobs.add(key);
      for (const key of this.#view.open.keys()) if (!open.has(key)) jobs.add(key);
      this.#openAt = this.#elapsed();
      this.#openTook = this.#openAt - began;
    }
    await this.#view.index.refresh(jobs, cells);
    // Set last, so that a failed update starts from the same mark again.
    this.#view.mark = mark;
    this.#view.underWay = unfinished;
    if (!withOpen) return;
    this.#view.open = open;
    this.#view.openMark = mark;
  }

  /** Reads everything again, for another plan or selection. */
  async #startOver(): Promise<void> {
    const view = await viewOf(this.#options);
    if (this.#isClosed) {
      view.index.close();
      throw new IndexClosed('Nobody watches any more.');
    }
    const before = this.#view.index;
    this.#view = view;
    this.#startsOverAt = undefined;
    this.#countedVersion = -1;
    this.#filling = this.#fill(view.index);
    before.close();
  }

  /** Fills an index. After an error everything is read again later; otherwise the page would wait forever. */
  async #fill(index: ResultIndex): Promise<void> {
    const began = this.#elapsed();
    try {
      await index.fill();
    } catch (error) {
      if (error instanceof IndexClosed) return;
      const now = this.#elapsed();
      if (index === this.#view.index) this.#startsOverAt = now + rests * (now - began);
      this.#options.onProblem(error);
    }
  }

  async #summarise(): Promise<void> {
    const { reader, now, madeBy } = this.#options;
    const index = this.#view.index;
    const facts = { madeBy, at: now(), live: this.#live };
    const began = this.#elapsed();
    const { version } = index;
    if (version !== this.#countedVersion && began - this.#countedAt >= rests * this.#countTook) {
      this.#counted = await index.summary(facts);
      this.#countedVersion = version;
      this.#countedAt = this.#elapsed();
      this.#countTook = this.#countedAt - began;
    }
    const { totals, ...sums } = await readPageSums(reader, facts);
    const { planned: _planned, ...counted } = this.#counted;
    const { cost: _cost, possibleCost: _possible, ...counts } = counted.totals;
    const summary: PageSummary = {
      ...counted,
      ...facts,
      ...sums,
      ...(this.#workersStatus === undefined ? {} : { workersStatus: this.#workersStatus }),
      results: index.expected,
      indexed: index.size,
      statuses: index.statuses,
      totals: { ...counts, ...totals },
    };
    this.#text = JSON.stringify(summary);
  }
}

/** What was read of a run for its last plan. */
interface View {
  readonly watched: WatchedPlan;
  readonly index: ResultIndex;
  mark: ChangeMark;
  /** Jobs that were not done at {@link openMark}: status and code by key. */
  open: OpenJobs;
  /** Mark of the state when the open jobs were last read. */
  openMark: ChangeMark;
  /** Jobs in flight at the last update. If they have ended since, no list of the next update contains them. */
  underWay: ReadonlySet<string>;
}

/** Creates a view with an empty index. The first update after filling finds the changes made in the meantime. */
async function viewOf({ plan, reader, elapsed }: WatchOptions): Promise<View> {
  const watched = await plan();
  const mark = await reader.changeMark();
  const open = await openJobs(reader);
  const index = new ResultIndex({ ...watched, reader, ...(elapsed === undefined ? {} : { elapsed }) });
  return { watched, index, mark, open, openMark: mark, underWay: underWay(open) };
}

type OpenJobs = ReadonlyMap<string, string>;

async function openJobs(reader: StateChanges): Promise<OpenJobs> {
  const open = new Map<string, string>();
  for await (const { key, status, code } of reader.openJobs()) open.set(key, `${status} ${code}`);
  return open;
}

const inFlight = /^(?:submitting|running|modal|saving) /;

const underWay = (open: OpenJobs): ReadonlySet<string> =>
  new Set([...open].flatMap(([key, status]) => (inFlight.test(status) ? [key] : [])));

const isOther = (a: ChangeMark, b: ChangeMark): boolean => a.version !== b.version || a.job !== b.job;
