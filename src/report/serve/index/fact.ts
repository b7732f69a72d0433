import type { Slot } from '../../../plan/slot.ts';
import type { CellResult } from '../../results/cell-results.ts';
import type { CountedResult } from '../../results/summary.ts';

/** What counters look at in a result, and nothing else: it is kept for each. */
export function countedFact({ row, result, detail }: CellResult): unknown {
  const { slot, firstOfSlot } = row;
  const { step, status, kind, place, error, job, record } = slot;
  const { branch } = result;
  const shared = { step: result.step, status: result.status, branch };
  if (!firstOfSlot) return { row: { firstOfSlot, slot: { place } }, result: shared, detail: {} };
  const counted: Partial<Slot> = {
    step,
    status,
    kind,
    ...(place === undefined ? {} : { place }),
    ...(error === undefined ? {} : { error }),
    ...(job === undefined ? {} : { job: { key: job.key } as NonNullable<Slot['job']> }),
    ...(record === undefined ? {} : { record: countedRecord(record) as NonNullable<Slot['record']> }),
  };
  const fact: Omit<CountedResult, 'row' | 'result'> & { row: unknown; result: unknown } = {
    row: { firstOfSlot, slot: counted },
    result: shared,
    detail: detail.model === undefined ? {} : { model: detail.model },
  };
  return fact;
}

const countedRecord = (record: NonNullable<Slot['record']>): unknown => {
  const { key, kind, attempts, submittedAt, finishedAt, usage, speed, cost, partlyPriced } = record;
  const files = [...record.artifacts, ...(record.frames?.files ?? [])];
  const artifacts = files.map(({ bytes }) => ({ bytes }));
  return { key, kind, attempts, submittedAt, finishedAt, usage, speed, cost, partlyPriced, artifacts };
};
