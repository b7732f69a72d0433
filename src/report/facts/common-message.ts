import { type IsOptional, isSkipped } from '../../plan/graph/optional.ts';
import { type CommonMessage, Messages } from '../../results/messages.ts';
import type { StateReader } from '../../state/reader.ts';
import { first } from './in-doubt.ts';

/** Number of jobs whose messages are read for one code, first by key: status is read often. */
const mostRead = 10_000;

/** Returns the most frequent message of jobs with an error code. Jobs that count as skipped are ignored. */
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
