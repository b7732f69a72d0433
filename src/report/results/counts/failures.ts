import { Messages, messageText } from '../../../manifest/messages.ts';
import type { JobError } from '../../../plan/job.ts';
import type { Slot } from '../../../plan/slot.ts';
import { type Advisor, groupAdvice } from '../advice.ts';
import type { FailureGroup } from '../wire.ts';

/** Codes are a closed set; a service's own codes could be many. */
const mostGroups = 100;

/** Results that a group names. */
const mostExamples = 20;

interface Group {
  readonly first: Slot & { readonly error: JobError };
  readonly messages: Messages;
  readonly examples: number[];
  readonly steps: Map<string, number>;
  results: number;
  hasJobs: boolean;
}

/** Groups slots that failed or are in doubt by their reason. */
export class FailureCounter {
  readonly #groups = new Map<string, Group>();

  /** A slot, once; nothing is counted of one that is well. @param at the place of its result */
  add(slot: Slot, at: number): void {
    const { status, error } = slot;
    if (error === undefined || (status !== 'failed' && status !== 'in-doubt')) return;
    const group = this.#groupOf({ ...slot, error });
    if (group === undefined) return;
    group.results += 1;
    group.hasJobs ||= slot.record !== undefined;
    group.messages.add(error.message);
    if (group.examples.length < mostExamples) group.examples.push(at);
    group.steps.set(slot.step, (group.steps.get(slot.step) ?? 0) + 1);
  }

  /** Most frequent first. */
  groups(advisor: Advisor): readonly FailureGroup[] {
    return [...this.#groups.values()]
      .map(
        ({ first, messages, examples, steps, results, hasJobs }): FailureGroup => ({
          code: advisor.mask(first.error.code),
          message: advisor.mask(messageText(messages.common())),
          ...groupAdvice(first, hasJobs, advisor),
          results,
          examples,
          steps: Object.fromEntries(steps),
        }),
      )
      .sort((a, b) => b.results - a.results || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0));
  }

  #groupOf(slot: Group['first']): Group | undefined {
    const name = `${slot.status} ${slot.error.code}`;
    const there = this.#groups.get(name);
    if (there !== undefined) return there;
    if (this.#groups.size === mostGroups) return undefined;
    const { record, ...rest } = slot;
    const group: Group = {
      // One record is kept for each group, without what it made.
      first: record === undefined ? rest : { ...rest, record: { ...record, artifacts: [] } },
      messages: new Messages(),
      examples: [],
      steps: new Map(),
      results: 0,
      hasJobs: false,
    };
    this.#groups.set(name, group);
    return group;
  }
}
