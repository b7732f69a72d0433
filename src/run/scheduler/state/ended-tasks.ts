import type { JobRecord } from '../../../plan/job.ts';
import { kindOf } from '../../limits/poll/task-kind.ts';

interface Ended {
  readonly submittedAt: number;
  readonly endedAt: number;
}

/** Ends that are remembered of a kind: the oldest one is forgotten first, and a task counts as overtaken a little later. */
const mostEnds = 256;

/**
 * When tasks were overtaken by later ones of their kind. A status that says both "in the queue" and "begun" says "begun" once a later
 * task has ended, for queues keep their order.
 */
export class EndedTasks {
  /** By kind, in the order of their ends: each was submitted later than those before it. Others tell nothing new. */
  readonly #ends = new Map<string, Ended[]>();

  /** The service showed the end of this job's task. Unix ms. */
  note(record: JobRecord, endedAt: number): void {
    const { submittedAt } = record;
    if (submittedAt === undefined) return;
    const kind = kindOf(record).name;
    const ends = this.#ends.get(kind) ?? [];
    if (submittedAt <= (ends.at(-1)?.submittedAt ?? Number.NEGATIVE_INFINITY)) return;
    ends.push({ submittedAt, endedAt });
    if (ends.length > mostEnds) ends.shift();
    this.#ends.set(kind, ends);
  }

  /** When the first task of its kind ended that was submitted later, Unix ms; undefined: none has. */
  overtakenAt(record: JobRecord): number | undefined {
    const { submittedAt } = record;
    if (submittedAt === undefined) return undefined;
    return this.#ends.get(kindOf(record).name)?.find((later) => later.submittedAt > submittedAt)?.endedAt;
  }
}
