import type { JobRecord } from '../../../plan/job.ts';
import { kindOf } from '../../limits/task-kind.ts';

interface Ended {
  readonly submittedAt: number;
  readonly endedAt: number;
}

/** Largest number of ends stored per kind. The oldest is dropped first, so that a task counts as overtaken a little later. */
const maxEnds = 256;

/**
 * Records when tasks were overtaken by later ones of their kind. A status that says both "in the queue" and "begun" means "begun" once a
 * later task has ended, because queues keep their order.
 */
export class EndedTasks {
  /** Ends by kind, in order: each task was submitted later than those before it. Others would add nothing. */
  readonly #ends = new Map<string, Ended[]>();

  /** Notes that the service showed the end of this job's task. @param endedAt Unix ms */
  note(record: JobRecord, endedAt: number): void {
    const { submittedAt } = record;
    if (submittedAt === undefined) return;
    const kind = kindOf(record).name;
    const ends = this.#ends.get(kind) ?? [];
    if (submittedAt <= (ends.at(-1)?.submittedAt ?? Number.NEGATIVE_INFINITY)) return;
    ends.push({ submittedAt, endedAt });
    if (ends.length > maxEnds) ends.shift();
    this.#ends.set(kind, ends);
  }

  /** Returns when a later task of the same kind first ended, Unix ms; undefined where none has. */
  overtakenAt(record: JobRecord): number | undefined {
    const { submittedAt } = record;
    if (submittedAt === undefined) return undefined;
    return this.#ends.get(kindOf(record).name)?.find((later) => later.submittedAt > submittedAt)?.endedAt;
  }
}
