import type { Cell } from '../../src/plan/cell.ts';
import type { JobSpec } from '../../src/plan/job.ts';
import type { TextRequest } from '../../src/plan/job-request.ts';
import type { RecordLookup, Slot } from '../../src/plan/slot.ts';
import { textRecord } from './jobs.ts';

/** One text job of every cell, as a plan would give it: to try the run without the plan. */
export interface PlannedText {
  readonly step: string;
  readonly request: (cell: number) => TextRequest;
  /** Names of the steps whose jobs of the same cell it comes after. */
  readonly after?: readonly string[];
  readonly keep?: boolean;
  readonly accept?: readonly string[];
}

export const keyOf = (step: string, cell: number): string => `${step}${cell}`;

export const cellsUpTo = (count: number): readonly Cell[] =>
  Array.from({ length: count }, (_, at) => ({ number: at + 1, vars: { n: at + 1 }, repeat: 1 }));

/** Resolves cells of text jobs, each after the ones it names. */
export function resolveTexts(
  planned: readonly PlannedText[],
): (cell: Cell, lookup: RecordLookup) => readonly Slot[] {
  return ({ number }, lookup) =>
    planned.map(({ step, request, after = [], keep = true, accept = [] }, depth) => {
      const job: JobSpec = {
        key: keyOf(step, number),
        kind: 'generate',
        request: request(number),
        call: { stream: false, accept },
      };
      const record = lookup(job.key);
      const above = after.map((name) => lookup(keyOf(name, number))?.status);
      const blocked = above.includes('failed') && (record === undefined || record.status === 'pending');
      const status = blocked ? 'blocked' : (record?.status ?? 'pending');
      return {
        cell: number,
        step,
        kind: 'generate',
        branch: [],
        depth,
        keep,
        id: job.key,
        job,
        ...(record === undefined ? {} : { record }),
        status,
        ready: status === 'pending' && above.every((one) => one === 'done'),
      };
    });
}

/** The request of a record of the rig. */
export const greeting = (): TextRequest => textRecord().request as TextRequest;
