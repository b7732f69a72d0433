import { roundMoney } from '../plan/estimate/price.ts';
import { isNotKept } from '../plan/estimate/scan.ts';
import type { SettledStep } from '../plan/estimate/settled.ts';
import { type JobError, type JobRecord, knownCost, type TokenUsage } from '../plan/job.ts';
import { type CountedStatus, type Slot, slotStatuses } from '../plan/slot.ts';
import { UsageSum } from '../plan/usage.ts';
import { type CommonMessage, Messages } from './messages.ts';
import { SameFiles, type SameFilesFound } from './same-files.ts';
import { lostBy } from './sums.ts';

/** A group of slots with the same status and error code, with their most frequent message. */
export interface Reason extends CommonMessage {
  readonly status: 'failed' | 'in-doubt';
  readonly code: string;
  readonly count: number;
  /** Number of failed slots among them without a job that could be retried. Absent: none. */
  readonly unasked?: number;
  /** True if the pipeline accepts this code (`failures.accept`). */
  readonly accepted?: true;
}

/** The totals of a manifest: the basis of exit codes and of the final messages. */
export interface ManifestTotals {
  readonly rows: number;
  /** Selected slots, by status. */
  readonly slots: Readonly<Record<CountedStatus, number>>;
  /** Number of other slots, which are listed only because they have a result. */
  readonly otherSlots: number;
  /** Number of rows that name a file, over all slots. */
  readonly files: number;
  /** Reasons why selected slots failed or are in doubt, most frequent first. */
  readonly reasons: readonly Reason[];
  /** Sum of the cost column; absent if no price is known. */
  readonly cost?: number;
  /** Possible further cost of unanswered submissions of the listed jobs; absent: none. */
  readonly possibleCost?: number;
  /** Sums of the token columns; absent if no tokens were counted. */
  readonly tokens?: TokenUsage;
  /** Estimated tokens of replies without a token count; absent: every reply had one. */
  readonly assumedTokens?: number;
  /** Submissions and calls of the listed jobs that were never answered and may have been paid; absent: none. */
  readonly unanswered?: number;
  /** Files of different jobs with the same bytes; absent: none. */
  readonly sameFiles?: SameFilesFound;
  /** Number of rows whose job has its tokens and its cost on an earlier row; absent: none. */
  readonly countedBefore?: number;
  /** Number of selected slots for groups of cells (`gather: over`) that are pending, by step; absent: none. */
  readonly pendingGroups?: Readonly<Record<string, number>>;
}

/** A row of the manifest, as it is counted. */
export interface CountedRow {
  readonly slot: Slot;
  /** The selection contains its slot. */
  readonly chosen: boolean;
  readonly firstOfSlot: boolean;
  readonly firstOfJob: boolean;
  /** An earlier slot has the same job. */
  readonly sharesJob?: boolean;
  /** A job that it depends on is being redone, or will be. */
  readonly mayChange?: boolean;
  /** Its job has its tokens and its cost on an earlier row. */
  readonly countedBefore?: boolean;
  readonly artifact?: { readonly file?: string };
}

/** Largest number of reasons: codes are a closed set, but a service may have many codes of its own. */
const maxReasons = 100;

/** Largest number of results that a reason names as examples. */
const maxExamples = 20;

/** A reason with examples of its slots. */
export interface ReasonFound extends Reason {
  /** The first slot with this reason, without the results of its job. */
  readonly first: Slot & { readonly error: JobError };
  /** Places of the first such slots. */
  readonly examples: readonly number[];
  readonly steps: Readonly<Record<string, number>>;
}

interface Group extends Pick<Reason, 'status' | 'accepted'> {
  readonly first: ReasonFound['first'];
  readonly messages: Messages;
  readonly examples: number[];
  readonly steps: Map<string, number>;
  count: number;
  unasked: number;
}

/** A counter of failed and in-doubt slots, grouped by reason. */
export class Reasons {
  readonly #groups = new Map<string, Group>();

  /** Adds a slot, once; ignores slots without a failure. @param at place of its result */
  add(slot: Slot, at = 0): void {
    const { status, error, record, step, accepted } = slot;
    if (error === undefined || (status !== 'failed' && status !== 'in-doubt')) return;
    const name = `${status} ${error.code}`;
    let group = this.#groups.get(name);
    if (group === undefined) {
      if (this.#groups.size === maxReasons) return;
      const { record: _, ...rest } = slot;
      const first = { ...rest, error, ...(record && { record: { ...record, artifacts: [] } }) };
      group = {
        status,
        ...(accepted && { accepted }),
        first,
        messages: new Messages(),
        examples: [],
        steps: new Map(),
        count: 0,
        unasked: 0,
      };
      this.#groups.set(name, group);
    }
    group.count += 1;
    if (record === undefined) group.unasked += 1;
    group.messages.add(error.message);
    if (group.examples.length < maxExamples) group.examples.push(at);
    group.steps.set(step, (group.steps.get(step) ?? 0) + 1);
  }

  /** Returns the reasons, most frequent first. */
  found(): readonly ReasonFound[] {
    return [...this.#groups.values()]
      .map(
        ({ status, accepted, first, messages, examples, steps, count, unasked }): ReasonFound => ({
          status,
          ...(accepted && { accepted }),
          code: first.error.code,
          count,
          ...(unasked === 0 ? {} : { unasked }),
          ...messages.common(),
          first,
          examples,
          steps: Object.fromEntries(steps),
        }),
      )
      .sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0));
  }
}

/** The counts and sums of a manifest, computed from its rows in their order. */
export class RowLedger {
  #rows = 0;
  #otherSlots = 0;
  #files = 0;
  #cost: number | undefined;
  #possibleCost = 0;
  readonly #tokens = new UsageSum();
  #assumedTokens = 0;
  #unanswered = 0;
  #countedBefore = 0;
  readonly #sameFiles = new SameFiles();
  readonly #slots = Object.fromEntries([...slotStatuses, 'accepted'].map((status) => [status, 0])) as Record<
    CountedStatus,
    number
  >;
  readonly #reasons = new Reasons();
  readonly #pendingGroups = new Map<string, number>();
  /** Counts by step. Undefined: some slot is not settled, or the counts of its step would not describe it fully. */
  #steps: Map<string, Record<keyof SettledStep, number>> | undefined = new Map();

  add(row: CountedRow): void {
    const { slot, chosen, artifact, firstOfSlot, firstOfJob, sharesJob, countedBefore } = row;
    this.#rows += 1;
    if (countedBefore === true) this.#countedBefore += 1;
    if (artifact?.file !== undefined) this.#files += 1;
    if (firstOfJob && slot.record !== undefined) this.#account(slot.record);
    if (!firstOfSlot) return;
    this.#settle(row);
    if (sharesJob !== true && slot.record !== undefined) this.#sameFiles.add(slot.record);
    if (!chosen) {
      this.#otherSlots += 1;
      return;
    }
    this.#slots[slot.accepted ? 'accepted' : slot.status] += 1;
    this.#reasons.add(slot);
    if (slot.group === undefined || slot.status !== 'pending') return;
    this.#pendingGroups.set(slot.step, (this.#pendingGroups.get(slot.step) ?? 0) + 1);
  }

  totals(): ManifestTotals {
    const tokens = this.#tokens.value;
    const sameFiles = this.#sameFiles.result();
    return {
      rows: this.#rows,
      slots: { ...this.#slots },
      otherSlots: this.#otherSlots,
      files: this.#files,
      reasons: this.#reasons.found().map(({ first: _first, examples: _at, steps: _in, ...reason }) => reason),
      ...(this.#cost === undefined ? {} : { cost: roundMoney(this.#cost) }),
      ...(this.#possibleCost === 0 ? {} : { possibleCost: roundMoney(this.#possibleCost) }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(this.#assumedTokens === 0 ? {} : { assumedTokens: this.#assumedTokens }),
      ...(this.#unanswered === 0 ? {} : { unanswered: this.#unanswered }),
      ...(sameFiles === undefined ? {} : { sameFiles }),
      ...(this.#countedBefore === 0 ? {} : { countedBefore: this.#countedBefore }),
      ...(this.#pendingGroups.size === 0 ? {} : { pendingGroups: Object.fromEntries(this.#pendingGroups) }),
    };
  }

  /** Returns the counts that a plan shows for each step, if all slots are settled; undefined: they cannot be counted. */
  settled(): Readonly<Record<string, SettledStep>> | undefined {
    return this.#steps && Object.fromEntries(this.#steps);
  }

  #account(record: JobRecord): void {
    const cost = knownCost(record);
    if (cost !== undefined) this.#cost = (this.#cost ?? 0) + cost;
    if (record.usage !== undefined) this.#tokens.add(record.usage);
    const { doubtful, assumed } = record;
    const lost = lostBy(record);
    this.#possibleCost += (doubtful?.cost ?? 0) + (assumed?.cost ?? 0) + lost.cost;
    this.#assumedTokens += (doubtful?.tokens ?? 0) + (assumed?.tokens ?? 0) + lost.tokens;
    this.#unanswered += (doubtful?.count ?? 0) + lost.count;
  }

  #settle({ slot, sharesJob, mayChange }: CountedRow): void {
    const { status, record, step } = slot;
    const isWithout = status === 'skipped' || status === 'blocked';
    const isDone = status === 'done' || status === 'failed';
    // A plan shows slots that failed without a job, and replies whose images are now wanted, in words of their own.
    const isPlain = isWithout || (isDone && record !== undefined && !isNotKept(slot));
    if (mayChange === true || !isPlain) this.#steps = undefined;
    if (this.#steps === undefined || !isPlain) return;
    const counts = this.#steps.get(step) ?? {
      done: 0,
      failed: 0,
      shared: 0,
      skipped: 0,
      blocked: 0,
      accepted: 0,
    };
    this.#steps.set(step, counts);
    counts[slot.accepted ? 'accepted' : isDone && sharesJob === true ? 'shared' : status] += 1;
  }
}
