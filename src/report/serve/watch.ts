import { isNarrowed } from '../../manifest/cells.ts';
import type { Selection } from '../../plan/cell.ts';
import type { Plan } from '../../plan/plan.ts';
import type { StateReader } from '../../state/reader.ts';
import type { ChangeMark, StateChanges } from '../../state/sqlite/changes.ts';
import type { Advisor } from '../results/advice.ts';
import { readPageSums } from '../results/summary.ts';
import type { PageSummary, PageWorkers } from '../results/wire.ts';
import { IndexClosed, ResultIndex } from './index/result-index.ts';

/** What the last run of a directory was of. */
export interface WatchedPlan {
  readonly plan: Plan;
  readonly selection: Selection;
  readonly advisor: Omit<Advisor, 'running'>;
}

export interface WatchOptions {
  readonly reader: StateReader & StateChanges;
  /** The plan of the last run; asked again when another run has begun. */
  readonly plan: () => Promise<WatchedPlan>;
  /** Another text wherever {@link plan} gives another plan. */
  readonly identity: () => Promise<string>;
  /** A run is on; answered at once. */
  readonly isRunning: () => Promise<boolean>;
  /** The workers of a run on an engine; absent: it is none. */
  readonly workersStatus?: () => Promise<PageWorkers | undefined>;
  /** Name and version of this program. */
  readonly madeBy: string;
  /** Unix ms. */
  readonly now: () => number;
  /** How long work takes is measured with it, ms; default: the system's. */
  readonly elapsed?: () => number;
  /** A look failed: what is shown stays as it was. */
  readonly onProblem: (error: unknown) => void;
}

/** What takes long is done again when so many times as long has passed as that takes: at most a twentieth of the time goes into it. */
const rests = 20;

/**
 * Follows the state of a run directory for all viewers together. Each look asks whether anything was committed since the one before; only the cells
 * of jobs that changed are read.
 */
export class RunWatch {
  readonly #options: WatchOptions;
  readonly #elapsed: () => number;
  #watched: WatchedPlan;
  #identity: string;
  #index: ResultIndex;
  #mark: ChangeMark;
  /** Jobs that were not done when {@link #openMark} was taken: status and code by key. */
  #open: OpenJobs;
  /** How far the state had come when the open jobs were last read. */
  #openMark: ChangeMark;
  /** Jobs that had work under way at the last look: what becomes of them is in no list of the next. */
  #underWay: ReadonlySet<string>;
  #openTook = 0;
  #openAt = 0;
  #live: boolean;
  #workersStatus: PageWorkers | undefined;
  #counted: PageSummary;
  /** What {@link #counted} and {@link text} are of. */
  #countedVersion = -1;
  #countedAt = 0;
  #countTook = 0;
  /** When everything is to be read again, by {@link #elapsed}; absent: not at all. */
  #startsOverAt: number | undefined;
  #text = '';
  #told = '';
  #work: Promise<void> | undefined;
  #filling: Promise<void>;
  #isClosed = false;

  private constructor(options: WatchOptions, watched: WatchedPlan, identity: string, begin: Beginning) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#watched = watched;
    this.#identity = identity;
    this.#index = begin.index;
    this.#mark = begin.mark;
    this.#open = begin.open;
    this.#openMark = begin.mark;
    this.#underWay = underWay(begin.open);
    this.#counted = begin.counted;
    this.#live = begin.counted.live;
    this.#filling = this.#fill(begin.index);
  }

  /** Opens at once; the index is filled from then on. @throws what the plan and the state throw */
  static async open(options: WatchOptions): Promise<RunWatch> {
    const identity = await options.identity();
    const watched = await options.plan();
    const watch = new RunWatch(options, watched, identity, await begin(options, watched));
    await watch.#summarise();
    return watch;
  }

  get index(): ResultIndex {
    return this.#index;
  }

  get live(): boolean {
    return this.#live;
  }

  /** The summary as JSON. */
  get summary(): string {
    return this.#text;
  }

  /** Ends when the index holds all results. */
  get filled(): Promise<void> {
    return this.#filling;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#index.close();
    await Promise.allSettled([this.#filling, this.#work]);
  }

  /**
   * Looks at the state, unless the look before is still going on.
   *
   * @returns whether the summary is another one
   */
  async look(): Promise<boolean> {
    if (this.#work !== undefined || this.#isClosed) return false;
    this.#work = this.#look();
    try {
      await this.#work;
    } catch (error) {
      if (!(error instanceof IndexClosed)) this.#options.onProblem(error);
      // The summary does not have what is news by now: the next look that succeeds tells it.
      return false;
    } finally {
      this.#work = undefined;
    }
    const isOther = this.#told !== this.#news();
    this.#told = this.#news();
    return isOther;
  }

  /** What makes a summary worth telling: its time alone does not. */
  #news(): string {
    return `${this.#identity} ${this.#index.version} ${this.#countedVersion} ${this.#live} ${JSON.stringify(this.#workersStatus)}`;
  }

  async #look(): Promise<void> {
    const live = await this.#options.isRunning();
    // Results of cells that the flags did not choose may have come by jobs that cells share.
    if (this.#live && !live && isNarrowed(this.#watched.selection)) this.#startsOverAt = this.#elapsed();
    this.#live = live;
    if (this.#startsOverAt !== undefined && this.#elapsed() >= this.#startsOverAt) await this.#startOver();
    if (this.#index.isFilled) {
      const mark = await this.#options.reader.changeMark();
      const isOpenDue = this.#isOpenDue();
      // What a look has left out for want of the open jobs is owed, also where nothing is committed any more.
      if (isOther(mark, this.#mark) || (isOpenDue && isOther(mark, this.#openMark)))
        await this.#follow(mark, isOpenDue);
    }
    this.#workersStatus = live ? await this.#options.workersStatus?.() : undefined;
    await this.#summarise();
  }

  /** Open jobs are read again when many times as long has passed as that takes. */
  #isOpenDue(): boolean {
    return this.#openTook < 10 || this.#elapsed() - this.#openAt > rests * this.#openTook;
  }

  /**
   * A look with the open jobs finds every change since the last such look. One without them finds those of new jobs, of those with new
   * entries in the history, and of those that have or had work under way: a look with them is still due for the others.
   */
  async #follow(mark: ChangeMark, withOpen: boolean): Promise<void> {
    const { reader, identity } = this.#options;
    const now = await identity();
    if (now !== this.#identity) {
      await this.#startOver();
      this.#identity = now;
      return;
    }
    const jobs = new Set(this.#underWay);
    const cells = new Set<number>();
    for await (const { key, cell } of reader.begunSince(withOpen ? this.#openMark : this.#mark)) {
      jobs.add(key);
      cells.add(cell);
    }
    const unfinished = new Set<string>();
    for await (const { key } of reader.unfinished()) unfinished.add(key);
    for (const key of unfinished) jobs.add(key);
    let open = this.#open;
    if (withOpen) {
      const began = this.#elapsed();
      open = await openJobs(reader);
      for (const [key, status] of open) if (this.#open.get(key) !== status) jobs.add(key);
      for (const key of this.#open.keys()) if (!open.has(key)) jobs.add(key);
      this.#openAt = this.#elapsed();
      this.#openTook = this.#openAt - began;
    }
    await this.#index.refresh(jobs, cells);
    // Only now: a look that fails is made again from where this one began.
    this.#mark = mark;
    this.#underWay = unfinished;
    if (!withOpen) return;
    this.#open = open;
    this.#openMark = mark;
  }

  /** Another plan, or other cells of it: everything is read again. */
  async #startOver(): Promise<void> {
    const watched = await this.#options.plan();
    const { index, mark, open } = await begin(this.#options, watched);
    if (this.#isClosed) {
      index.close();
      throw new IndexClosed('Nobody watches any more.');
    }
    const before = this.#index;
    this.#watched = watched;
    this.#index = index;
    this.#mark = mark;
    this.#open = open;
    this.#openMark = mark;
    this.#underWay = underWay(open);
    this.#startsOverAt = undefined;
    this.#countedVersion = -1;
    this.#filling = this.#fill(index);
    before.close();
  }

  /** Where it fails, everything is read again later: a page would wait for the rest of the results for ever. */
  async #fill(index: ResultIndex): Promise<void> {
    const began = this.#elapsed();
    try {
      await index.fill();
    } catch (error) {
      if (error instanceof IndexClosed) return;
      const now = this.#elapsed();
      if (index === this.#index) this.#startsOverAt = now + rests * (now - began);
      this.#options.onProblem(error);
    }
  }

  async #summarise(): Promise<void> {
    const { reader, now, madeBy } = this.#options;
    const index = this.#index;
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

interface Beginning {
  readonly index: ResultIndex;
  readonly mark: ChangeMark;
  readonly open: OpenJobs;
  readonly counted: PageSummary;
}

/** What changes while the index is filled is found by the first look after that. */
async function begin(options: WatchOptions, watched: WatchedPlan): Promise<Beginning> {
  const { reader, isRunning, madeBy, now } = options;
  const mark = await reader.changeMark();
  const open = await openJobs(reader);
  const { elapsed } = options;
  const index = new ResultIndex({ ...watched, reader, ...(elapsed === undefined ? {} : { elapsed }) });
  const counted = await index.summary({ madeBy, at: now(), live: await isRunning() });
  return { index, mark, open, counted };
}

/** Jobs that are not done: status and code by key. */
type OpenJobs = ReadonlyMap<string, string>;

async function openJobs(reader: StateChanges): Promise<OpenJobs> {
  const open = new Map<string, string>();
  for await (const { key, status, code } of reader.openJobs()) open.set(key, `${status} ${code}`);
  return open;
}

const inFlight = /^(?:submitting|running|modal|saving) /;

/** Keys of those that have work under way. */
const underWay = (open: OpenJobs): ReadonlySet<string> =>
  new Set([...open].flatMap(([key, status]) => (inFlight.test(status) ? [key] : [])));

/** Whether something was committed between two marks. */
const isOther = (a: ChangeMark, b: ChangeMark): boolean => a.version !== b.version || a.job !== b.job;
