import { standing } from './former.ts';
import type { Button, JobRecord } from './job.ts';
import type { Start } from './start.ts';
import type { Reading } from './verdict.ts';

/** The buttons of what a slot starts from, once they are known; of what is made anew, those that it had. */
export const buttonsOf = ({ above, gate }: Pick<Start, 'above' | 'gate'>): readonly Button[] | undefined =>
  above !== undefined && (gate.kind === 'done' || (gate.kind === 'open' && above.stands))
    ? ((above.slot.record && standing(above.slot.record).result?.buttons) ?? [])
    : undefined;

/** True where all that a slot waits for is done, and it has something to ask for. */
export const isFree = (start: Start, { gate, failure, shortage, off }: Reading): boolean =>
  start.gate.kind === 'done' &&
  gate.kind === 'done' &&
  failure === undefined &&
  shortage === undefined &&
  off === undefined;

/** True while a finished job is made anew and may still come to a new result in this run, or on the user's word. */
export const isBegunAnew = (record: JobRecord | undefined): boolean =>
  record?.former !== undefined && record.status !== 'done' && record.status !== 'failed';
