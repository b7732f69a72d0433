import { type IsOptional, isSkipped, missingCode, neverOptional } from '../../plan/graph/optional.ts';
import type { StateReader } from '../../state/reader.ts';

/**
 * Jobs that failed because their optional button is not there: they are skipped. Reads all of them, page by page: an index gives only
 * the number of missing buttons.
 */
export async function countSkipped(state: StateReader, isOptional: IsOptional): Promise<number> {
  if (isOptional === neverOptional) return 0;
  let count = 0;
  for await (const record of state.withStatus('failed', missingCode))
    if (isSkipped(record, isOptional)) count += 1;
  return count;
}
