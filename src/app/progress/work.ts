import type { JobStatus } from '../../plan/job.ts';
import { levelIn, type StepStart, type StepWork, wholeStep } from './step-start.ts';

/** Number of recent durations that are kept. */
const maxKept = 64;

/** The durations of the jobs of one kind, learned while they settle, in ms. */
class Durations {
  readonly #latest: number[] = [];
  #next = 0;
  readonly #earlier: number | undefined;
  #count = 0;

  /** @param earlier usual duration in earlier runs, used until this run has durations of its own */
  constructor(earlier?: number) {
    this.#earlier = earlier;
  }

  /** Number of durations learned in this run. */
  get count(): number {
    return this.#count;
  }

  learn(ms: number): void {
    this.#latest[this.#next] = ms;
    this.#next = (this.#next + 1) % maxKept;
    this.#count += 1;
  }

  /**
   * Returns the mean duration; undefined while nothing is known. Jobs in progress count as longer than their time so far (Kaplan-Meier),
   * because short jobs settle first and would alone make the mean too small.
   *
   * @param elapsed time so far of each job in progress
   */
  mean(elapsed: readonly number[]): number | undefined {
    if (this.#latest.length === 0) return this.#earlier;
    const seen = [
      ...this.#latest.map((ms) => ({ ms, settled: true })),
      ...elapsed.map((ms) => ({ ms, settled: false })),
    ].toSorted((one, other) => one.ms - other.ms);
    let mean = 0;
    let share = 1;
    let at = 0;
    for (const [index, { ms, settled }] of seen.entries()) {
      mean += share * (ms - at);
      at = ms;
      if (settled) share *= 1 - 1 / (seen.length - index);
    }
    return mean;
  }

  /** Returns the expected rest of a job that has taken this long: based on the jobs that took longer. */
  rest(elapsedMs: number, mean: number): number {
    const longer = this.#latest.filter((ms) => ms > elapsedMs);
    if (longer.length > 0) return longer.reduce((total, ms) => total + ms - elapsedMs, 0) / longer.length;
    // The job is late already, and its end cannot be predicted.
    return Math.max(mean - elapsedMs, mean / 10);
  }
}

/** The kind of service capacity that a job uses: image tasks or text calls. */
export type Room = 'task' | 'text';

/** One kind of work and its jobs. */
interface Kind {
  readonly room: Room;
  readonly work: StepWork;
  readonly durations: Durations;
  readonly step: StepStart;
  /** Number of jobs to be made at the start. */
  readonly left: number;
  /** Number of jobs that this run has started. */
  begun: number;
  done: number;
  /** Number of jobs that settled without a result for others to continue from. */
  ended: number;
  /** Number of slots that no job will settle. */
  ruledOut: number;
  /** Number of started jobs that are neither worked on nor saved. */
  queued: number;
}

/** A started job that is not settled. */
interface Job {
  readonly kind: Kind;
  /** An earlier run submitted the job, so its duration is not known here. */
  readonly adopted: boolean;
  status: JobStatus;
  /** When the current work on it began. */
  since?: number;
  /** Time that it was worked on before that. */
  workedMs: number;
}

/** The work left for one kind of capacity, as total duration of its jobs. */
export interface Load {
  readonly ms: number;
  /** Number of jobs that are worked on. */
  readonly active: number;
  /** Number of jobs that wait for free capacity. */
  readonly queued: number;
  /** Number of expected jobs that are not started. */
  readonly open: number;
  /** True if no duration of this work is known. */
  readonly isUnknown: boolean;
}

export interface Outlook {
  readonly task: Load;
  readonly text: Load;
  /** The longest path from a started job to the end of its cell, ms. */
  readonly longestBegun: number;
  /** The longest path through a whole cell, ms; 0 where no cell is left. */
  readonly longestCell: number;
  /** Number of jobs that are not settled. */
  readonly jobs: number;
}

const active = (status: JobStatus): boolean =>
  status === 'submitting' || status === 'running' || status === 'modal';

const idOf = (step: string, level: number): string => `${level} ${step}`;

/** The work that a run still has to do, with durations learned while it runs. */
export class Work {
  readonly #kinds = new Map<string, Kind>();
  readonly #levels = new Map<string, (branch: string) => number>();
  readonly #jobs = new Map<string, Job>();
  /** Ids of the kinds that depend on each kind. */
  readonly #following = new Map<string, string[]>();

  constructor(steps: readonly StepStart[]) {
    for (const step of steps) {
      const work = step.work.length > 0 ? step.work : [wholeStep];
      this.#levels.set(step.name, levelIn(work));
      const slots = work.reduce((sum, one) => sum + one.slots, 0);
      for (const one of work) {
        const id = idOf(step.name, one.level);
        this.#kinds.set(id, {
          room: step.isText ? 'text' : 'task',
          work: one,
          step,
          durations: new Durations(one.usualMs),
          left: (step.left * one.slots) / Math.max(1, slots),
          begun: 0,
          done: 0,
          ended: 0,
          ruledOut: 0,
          queued: 0,
        });
        for (const need of one.after) {
          const before = idOf(need.step, need.level);
          this.#following.set(before, [...(this.#following.get(before) ?? []), id]);
        }
      }
    }
  }

  /** Number of jobs that are being downloaded or written. */
  get saving(): number {
    return this.#count(({ status }) => status === 'saving');
  }

  inRoom(room: Room): number {
    return this.#count(({ kind, status }) => kind.room === room && active(status));
  }

  /** Returns how many jobs that use this capacity have settled in this run. */
  learned(room: Room): number {
    let count = 0;
    for (const kind of this.#kinds.values()) if (kind.room === room) count += kind.durations.count;
    return count;
  }

  /** Records a job's new status. */
  take(
    job: { readonly key: string; readonly step: string; readonly branch: string },
    from: JobStatus | undefined,
    to: JobStatus,
    now: number,
  ): void {
    const kind = this.#kindOf(job.step, job.branch);
    if (kind === undefined) return;
    const known = this.#jobs.get(job.key) ?? begin(kind, from, to);
    if (known.since !== undefined) known.workedMs += now - known.since;
    delete known.since;
    if (known.status === 'pending') kind.queued -= 1;
    if (to === 'done' || to === 'failed' || to === 'in-doubt') {
      this.#jobs.delete(job.key);
      if (to === 'done') kind.done += 1;
      else kind.ended += 1;
      if (known.workedMs > 0 && !known.adopted) kind.durations.learn(known.workedMs);
      return;
    }
    known.status = to;
    if (to === 'pending') kind.queued += 1;
    if (active(to)) known.since = now;
    this.#jobs.set(job.key, known);
  }

  /** Records a slot that no job will settle. */
  ruleOut(step: string, branch: string): void {
    const kind = this.#kindOf(step, branch);
    if (kind !== undefined) kind.ruledOut += 1;
  }

  outlook(now: number): Outlook {
    const known = this.#knownMeans(now);
    const means = { task: meanIn(known, 'task'), text: meanIn(known, 'text') };
    const mean = (kind: Kind): number => known.get(kind) ?? means[kind.room] ?? guessMs[kind.room];
    const loads = { task: emptyLoad(), text: emptyLoad() };
    const open = new Map<Kind, number>();
    const ways = new Map<string, number>();
    let longestCell = 0;
    let jobs = this.#jobs.size;
    for (const [id, kind] of this.#kinds) {
      const count = this.#open(kind, open);
      const load = loads[kind.room];
      load.open += count;
      load.queued += kind.queued;
      load.ms += (count + kind.queued) * mean(kind);
      if (!known.has(kind) && count + kind.queued > 0) load.isUnknown ||= means[kind.room] === undefined;
      jobs += count;
      if (count >= 0.5) longestCell = Math.max(longestCell, this.#wayFrom(id, mean, ways));
    }
    let longestBegun = 0;
    for (const { kind, status, since, workedMs } of this.#jobs.values()) {
      const way = this.#wayFrom(idOf(kind.step.name, kind.work.level), mean, ways) - mean(kind);
      const rest =
        since === undefined
          ? status === 'pending'
            ? mean(kind)
            : 0
          : kind.durations.rest(workedMs + now - since, mean(kind));
      if (since !== undefined) {
        loads[kind.room].ms += rest;
        loads[kind.room].active += 1;
        if (!known.has(kind)) loads[kind.room].isUnknown ||= means[kind.room] === undefined;
      }
      longestBegun = Math.max(longestBegun, rest + way);
    }
    return { ...loads, longestBegun, longestCell, jobs: Math.round(jobs) };
  }

  /** Returns the expected number of jobs of a kind that are not started. */
  #open(kind: Kind, known: Map<Kind, number>): number {
    const before = known.get(kind);
    if (before !== undefined) return before;
    const { work, step } = kind;
    const above = work.open
      ? this.#kinds.get(idOf(work.after[0]?.step ?? '', work.after[0]?.level ?? 0))
      : undefined;
    let count: number;
    if (above === undefined) {
      const rest = Math.max(0, kind.left - kind.begun - kind.ruledOut * step.jobsPerSlot);
      count = rest * this.#survival(kind);
    } else {
      // For a wildcard, the results so far predict the rest.
      const each = above.done > 0 ? kind.begun / above.done : work.slots / above.work.slots;
      const unsettled =
        this.#open(above, known) +
        above.queued +
        this.#count((job) => job.kind === above && job.status !== 'pending');
      count = unsettled * each * (1 - lossOf(above));
    }
    known.set(kind, count);
    return count;
  }

  /** Returns the probability that everything a slot of this kind needs succeeds. */
  #survival({ work }: Kind): number {
    let share = 1;
    for (const { step, level, slots } of work.needs) {
      const need = this.#kinds.get(idOf(step, level));
      if (need !== undefined) share *= (1 - lossOf(need)) ** slots;
    }
    return share;
  }

  /** Returns the total duration of a job of a kind and of the longest chain of jobs after it. */
  #wayFrom(id: string, mean: (kind: Kind) => number, ways: Map<string, number>): number {
    const known = ways.get(id);
    const kind = this.#kinds.get(id);
    if (known !== undefined || kind === undefined) return known ?? 0;
    ways.set(id, 0);
    const following = (this.#following.get(id) ?? []).map((next) => this.#wayFrom(next, mean, ways));
    const way = mean(kind) + Math.max(0, ...following);
    ways.set(id, way);
    return way;
  }

  /** Returns the mean duration of each kind where it is known, ms. */
  #knownMeans(now: number): ReadonlyMap<Kind, number> {
    const elapsed = new Map<Kind, number[]>();
    for (const { kind, since, workedMs, adopted } of this.#jobs.values()) {
      if (since === undefined || adopted) continue;
      const times = elapsed.get(kind);
      if (times === undefined) elapsed.set(kind, [workedMs + now - since]);
      else times.push(workedMs + now - since);
    }
    const known = new Map<Kind, number>();
    for (const kind of this.#kinds.values()) {
      const mean = kind.durations.mean(elapsed.get(kind) ?? []);
      if (mean !== undefined) known.set(kind, mean);
    }
    return known;
  }

  #count(holds: (job: Job) => boolean): number {
    let count = 0;
    for (const job of this.#jobs.values()) if (holds(job)) count += 1;
    return count;
  }

  #kindOf(step: string, branch: string): Kind | undefined {
    return this.#kinds.get(idOf(step, this.#levels.get(step)?.(branch) ?? 0));
  }
}

/** Durations used while none is known, ms. */
const guessMs = { task: 60_000, text: 10_000 } as const;

const emptyLoad = (): { -readonly [Name in keyof Load]: Load[Name] } => ({
  ms: 0,
  active: 0,
  queued: 0,
  open: 0,
  isUnknown: false,
});

function begin(kind: Kind, from: JobStatus | undefined, to: JobStatus): Job {
  kind.begun += 1;
  // A pending job is not in the queue, so there is nothing to take out of it.
  const status = from === undefined || from === 'pending' ? 'submitting' : from;
  return { kind, adopted: from === undefined && to !== 'pending', status, workedMs: 0 };
}

/** Returns the mean duration of the known kinds of work that use the same capacity. */
function meanIn(known: ReadonlyMap<Kind, number>, room: Room): number | undefined {
  const means = [...known].flatMap(([kind, mean]) => (kind.room === room ? [mean] : []));
  return means.length === 0 ? undefined : means.reduce((sum, one) => sum + one, 0) / means.length;
}

/** Returns the share of a kind's settled jobs that nothing can continue from. */
const lossOf = ({ done, ended }: Kind): number => ended / Math.max(1, done + ended);
