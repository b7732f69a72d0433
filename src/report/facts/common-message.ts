import { type IsOptional, isSkipped } from '../../plan/graph/optional.ts';
import { type CommonMessage, Messages } from '../../results/messages.ts';
import type { StateReader } from '../../state/reader.ts';
import { first } from './in-doubt.ts';

/** A status is asked for again and again: of many jobs with one code only the first by key are read. */
const mostRead = 10_000;

/** The most frequent message of the jobs with an error code, but of those that count as skipped. */
export async function commonMessage(
  code: string,
  state: StateReader,
  isOptional: IsOptional,
): Promise<CommonMessage> {
  const messages = new Messages();
  for (const status of ['failed', 'in-doubt'] as const) {
    for (const record of await first(mostRead, state.withStatus(status, code)))
      if (record.error !== undefined && !isSkipped(record, isOptional)) messages.add(record.error.message);
  }
  return messages.common();
}
