import type { JobRecord } from '../../plan/job.ts';
import { type CommonMessage, Messages } from '../../results/messages.ts';
import {
  kindOfRequest,
  operationOf,
  slotName,
  withoutParticulars,
} from '../../run/scheduler/routes/kind-names.ts';
import type { StateReader } from '../../state/reader.ts';

/** Jobs of one kind of request that were refused for one reason: nothing was paid for them, and a later run tries them again. */
export interface PutBack extends CommonMessage {
  /** `imagine`, `pan`, `model (chat)`; of a button that was not read yet, its slot: `grid/U1`. */
  readonly kind: string;
  /** Code of the refusal. */
  readonly code: string;
  readonly count: number;
}

/** Counts the jobs that were put back to pending after a refusal, most frequent first. Reads all pending jobs that ever began, page by page. */
export async function readPutBack(state: Pick<StateReader, 'withStatus'>): Promise<readonly PutBack[]> {
  const groups = new Map<string, { kind: string; code: string; count: number; messages: Messages }>();
  for await (const record of state.withStatus('pending')) {
    if (record.putBack !== true) continue;
    const kind = kindOf(record);
    const { code, message } = record.error ?? { code: 'submit.refused', message: '' };
    const key = `${kind} ${code} ${groups.size < mostReasons ? withoutParticulars(message) : ''}`;
    const group = groups.get(key) ?? { kind, code, count: 0, messages: new Messages() };
    groups.set(key, group);
    group.count += 1;
    group.messages.add(message);
  }
  return [...groups.values()]
    .map(({ messages, ...group }) => ({ ...group, ...messages.common() }))
    .sort((a, b) => b.count - a.count);
}

/** Beyond so many different ones, those of one kind and code count as one reason. */
const mostReasons = 200;

const kindOf = ({ request, pressed, origin }: JobRecord): string => {
  if (request.press === undefined) return kindOfRequest(request);
  return pressed === undefined ? slotName(origin) : operationOf(pressed.customId);
};
