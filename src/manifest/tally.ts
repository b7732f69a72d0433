import { roundMoney } from '../plan/estimate/price.ts';
import { isInterrupted } from '../plan/estimate/revival.ts';
import { type JobRecord, knownCost, type TokenUsage } from '../plan/job.ts';
import type { SlotStatus } from '../plan/slot.ts';
import { UsageSum } from '../plan/usage.ts';
import { type CommonMessage, Messages } from './messages.ts';
import type { ManifestRow } from './row.ts';
import { SameFiles, type SameFilesFound } from './same-files.ts';

/** Slots that share a status and an error code, with the most frequent of their messages. */
export interface Reason extends CommonMessage {
  readonly status: 'failed' | 'in-doubt';
  readonly code: string;
  readonly count: number;
  /** Of a failure: how many of them have no job that could be tried again. Absent: none. */
  readonly unasked?: number;
}

/** The totals of a manifest: the basis of exit codes and of the final messages. */
export interface ManifestTotals {
  readonly rows: number;
  /** Slots that the selection chose, by status. */
  readonly slots: Readonly<Record<SlotStatus, number>>;
  /** Slots that are listed only because they have a result. */
  readonly otherSlots: number;
  /** Rows that name a file, in all slots. */
  readonly files: number;
  /** Why chosen slots failed or are in doubt, most frequent first. */
  readonly reasons: readonly Reason[];
  /** Sum of the cost column; absent when no price is known. */
  readonly cost?: number;
  /** What submissions of the listed jobs that nobody answered may have cost beside it; absent: nothing. */
  readonly possibleCost?: number;
  /** Sums of the token columns; absent when no tokens were counted. */
  readonly tokens?: TokenUsage;
  /** Estimated tokens of replies without a token count; absent: every reply had one. */
  readonly assumedTokens?: number;
  /** Submissions and calls of the listed jobs whose answer never came, and which may have been paid; absent: none. */
  readonly unanswered?: number;
  /** Different jobs with the same bytes; absent: none. */
  readonly sameFiles?: SameFilesFound;
  /** Rows whose job has its tokens and its cost on an earlier row; absent: none. */
  readonly countedBefore?: number;
}

/** Codes are a closed set; a service's own codes could be many. */
const mostReasons = 100;

/** Adds rows up, one at a time. */
export class ManifestCounter {
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
  readonly #slots: Record<SlotStatus, number> = {
    pending: 0,
    submitting: 0,
    running: 0,
    modal: 0,
    saving: 0,
    done: 0,
    failed: 0,
    'in-doubt': 0,
    skipped: 0,
    blocked: 0,
  };
  readonly #reasons = new Map<
    string,
    { status: Reason['status']; code: string; count: number; unasked?: number; messages: Messages }
  >();

  add({ slot, chosen, artifact, firstOfSlot, firstOfJob, sharesJob, countedBefore }: ManifestRow): void {
    this.#rows += 1;
    if (countedBefore === true) this.#countedBefore += 1;
    if (artifact?.file !== undefined) this.#files += 1;
    if (firstOfJob) this.#account(slot.record);
    if (!firstOfSlot) return;
    if (sharesJob !== true && slot.record !== undefined) this.#sameFiles.add(slot.record);
    if (!chosen) {
      this.#otherSlots += 1;
      return;
    }
    this.#slots[slot.status] += 1;
    if (slot.error !== undefined && (slot.status === 'failed' || slot.status === 'in-doubt')) {
      this.#count(slot.status, slot.error.code, slot.error.message, slot.record === undefined);
    }
  }

  result(): ManifestTotals {
    const tokens = this.#tokens.value;
    const sameFiles = this.#sameFiles.result();
    return {
      rows: this.#rows,
      slots: { ...this.#slots },
      otherSlots: this.#otherSlots,
      files: this.#files,
      reasons: [...this.#reasons.values()]
        .map(({ messages, ...reason }) => ({ ...reason, ...messages.common() }))
        .sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0)),
      ...(this.#cost === undefined ? {} : { cost: roundMoney(this.#cost) }),
      ...(this.#possibleCost === 0 ? {} : { possibleCost: roundMoney(this.#possibleCost) }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(this.#assumedTokens === 0 ? {} : { assumedTokens: this.#assumedTokens }),
      ...(this.#unanswered === 0 ? {} : { unanswered: this.#unanswered }),
      ...(sameFiles === undefined ? {} : { sameFiles }),
      ...(this.#countedBefore === 0 ? {} : { countedBefore: this.#countedBefore }),
    };
  }

  #account(record: JobRecord | undefined): void {
    const cost = record && knownCost(record);
    if (cost !== undefined) this.#cost = (this.#cost ?? 0) + cost;
    this.#possibleCost += (record?.doubtful?.cost ?? 0) + (record?.assumed?.cost ?? 0);
    this.#assumedTokens += (record?.doubtful?.tokens ?? 0) + (record?.assumed?.tokens ?? 0);
    this.#unanswered += record?.doubtful?.count ?? 0;
    if (record?.usage !== undefined) this.#tokens.add(record.usage);
    if (record === undefined || !isInterrupted(record)) return;
    this.#unanswered += 1;
    this.#possibleCost += record.reserve?.cost ?? 0;
    this.#assumedTokens += record.reserve?.tokens ?? 0;
  }

  #count(status: Reason['status'], code: string, message: string, isUnasked: boolean): void {
    const name = `${status} ${code}`;
    let reason = this.#reasons.get(name);
    if (reason === undefined) {
      if (this.#reasons.size >= mostReasons) return;
      reason = { status, code, count: 0, messages: new Messages() };
      this.#reasons.set(name, reason);
    }
    reason.count += 1;
    if (isUnasked) reason.unasked = (reason.unasked ?? 0) + 1;
    reason.messages.add(message);
  }
}
