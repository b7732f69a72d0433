import { type IsOptional, isSkipped, neverOptional } from '../../../plan/graph/optional.ts';
import type { JobRecord } from '../../../plan/job.ts';
import type { JobReference } from '../../facts/json-outputs.generated.ts';
import { shownLine } from '../printable.ts';

/** Returns a short reference to a job. @param isOptional default: no button is optional */
export function referenceTo(
  job: string,
  record: JobRecord | undefined,
  isOptional: IsOptional = neverOptional,
): JobReference {
  if (record === undefined) return { job };
  const { origin, taskId } = record;
  const status = isSkipped(record, isOptional) ? 'skipped' : record.status;
  const { cell, step, branch } = origin;
  return { job, cell, step, branch, status, ...(taskId === undefined ? {} : { taskId }) };
}

/** Formats a slot: `grid/U1/Vary (Strong)`. */
export const slotWords = ({ step, branch }: { readonly step: string; readonly branch: string }): string =>
  shownLine(branch === '' ? step : `${step}/${branch}`);
