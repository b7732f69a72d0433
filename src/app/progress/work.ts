import type { JobStatus } from '../../plan/job.ts';
import { levelIn, type StepStart, type StepWork, wholeStep } from './step-start.ts';

/** This many of the latest durations are kept. */
const mostKept = 64;

/** How long the jobs of one kind take, learned while they settle. Milliseconds. */
class Durations {
  readonly #latest: number[] = [];
  #next = 0;
  readonly #earlier: number | undefined;
  #count = 0;

  /** @param earlier the usual duration in earlier runs: it counts until this run has durations of its own */
  constructor(earlier?: number) {
    this.#earlier = earlier;
  }

  /** How many this run has learned. */
  get count(): number {
    return this.#count;
  }

  learn(ms: number): void {
    this.#latest[this.#next] = ms;
    this.#next = (this.#next + 1) % mostKept;
    this.#count += 1;
  }

  /**
   * The mean; undefined while nothing is known. Jobs under way count as longer than they have taken so far (Kaplan and Meier):
   * short ones are the first to settle, and would alone make the mean too small.
   *
   * @param elapsed how long each job under way has taken
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

  /** What is left of a job that has taken this long: the mean of those that took longer. */
  rest(elapsedMs: number, mean: number): number {
    const longer = this.#latest.filter((ms) => ms > elapsedMs);
    if (longer.length > 0) return longer.reduce((total, ms) => total + ms - elapsedMs, 0) / longer.length;
    // It is late already, and nobody knows how late it will be.
    return Math.max(mean - elapsedMs, mean / 10);
  }
}

/** What a job takes room of while it is worked on. */
export type Room = 'task' | 'text';

/** One kind of work, and how much of it there is. */
interface Kind {
  readonly room: Room;
  readonly work: StepWork;
  readonly durations: Durations;
  readonly step: StepStart;
  /** Jobs that were to be made at the start. */
  readonly left: number;
  /** Jobs that this run took up. */
  begun: number;
  done: number;
  /** Settled without a result that others can start from. */
  ended: number;
  /** Slots that no job will settle. */
  ruledOut: number;
  /** Taken up, and neither worked on nor saved. */
  queued: number;
}

/** A job that is taken up and not settled. */
interface Job {
  readonly kind: Kind;
  /** An earlier run submitted it: how long it takes is not seen here. */
  readonly adopted: boolean;
  status: JobStatus;
  /** Since when it is worked on. */
  since?: number;
  /** How long it was worked on before that. */
  workedMs: number;
}

/** What is still to be done in one kind of room: the time that its jobs take one after another. */
export interface Load {
  readonly ms: number;
  /** Jobs that are worked on. */
  readonly active: number;
  /** Jobs that could be worked on if there was room. */
  readonly queued: number;
  /** Jobs to come that are not taken up. */
  readonly open: number;
  /** No duration of this work is known. */
  readonly isUnknown: boolean;
}

export interface Outlook {
  readonly task: Load;
  readonly text: Load;
  /** The longest way from a job that is taken up to the end of its cell, ms. */
  readonly longestBegun: number;
  /** The longest way through a whole cell, ms; 0 where no cell is left. */
  readonly longestCell: number;
  /** Jobs that are not settled. */
  readonly jobs: number;
}

const active = (status: JobStatus): boolean =>
  status === 'submitting' || status === 'running' || status === 'modal';

const idOf = (step: string, level: number): string => `${level} ${step}`;

/** Knows what a run still has to do, and learns how long that takes. */
export class Work {
  readonly #kinds = new Map<string, Kind>();
  readonly #levels = new Map<string, (branch: string) => number>();
  readonly #jobs = new Map<string, Job>();
  /** Ids of the kinds that follow on a kind. */
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

  /** Jobs that are downloaded or written. */
  get saving(): number {
    return this.#count(({ status }) => status === 'saving');
  }

  inRoom(room: Room): number {
    return this.#count(({ kind, status }) => kind.room === room && active(status));
  }

  /** How many jobs of this room this run has seen settle. */
  learned(room: Room): number {
    let count = 0;
    for (const kind of this.#kinds.values()) if (kind.room === room) count += kind.durations.count;
    return count;
  }

  /** Notes a job's new status. */
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

  /** Notes a slot that no job will settle. */
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

  /** Jobs of a kind that are not taken up and will come. */
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
      // Of a wildcard, what the results so far had stands for what the others will have.
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

  /** How likely all is done that a slot of this kind needs. */
  #survival({ work }: Kind): number {
    let share = 1;
    for (const { step, level, slots } of work.needs) {
      const need = this.#kinds.get(idOf(step, level));
      if (need !== undefined) share *= (1 - lossOf(need)) ** slots;
    }
    return share;
  }

  /** How long a job of a kind and all that follows on it take, one after another. */
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

  /** What a job of each kind takes, where that is known, ms. */
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

/** Where no duration is known, this stands for it. */
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
  // It was not in the queue that a pending job leaves.
  const status = from === undefined || from === 'pending' ? 'submitting' : from;
  return { kind, adopted: from === undefined && to !== 'pending', status, workedMs: 0 };
}

/** What a job of a room takes where some of its kinds are known. */
function meanIn(known: ReadonlyMap<Kind, number>, room: Room): number | undefined {
  const means = [...known].flatMap(([kind, mean]) => (kind.room === room ? [mean] : []));
  return means.length === 0 ? undefined : means.reduce((sum, one) => sum + one, 0) / means.length;
}

/** The share of a kind's settled jobs on which nothing can follow. */
const lossOf = ({ done, ended }: Kind): number => ended / Math.max(1, done + ended);
