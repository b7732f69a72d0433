import type { JobRecord } from '../../plan/job.ts';
import { type CommonMessage, Messages } from '../../results/messages.ts';
import {
  kindOfRequest,
  operationOf,
  slotName,
  withoutParticulars,
} from '../../run/scheduler/routes/kind-names.ts';
import type { StateReader } from '../../state/reader.ts';

/** A group of jobs with one kind of request that were refused for one reason. They were not paid for; a later run retries them. */
export interface PutBack extends CommonMessage {
  /** Kind of request: `imagine`, `pan`, `model (chat)`. For a button that was not read yet its slot: `grid/U1`. */
  readonly kind: string;
  /** Error code of the refusal. */
  readonly code: string;
  readonly count: number;
}

/** Groups the jobs that went back to pending after a refusal, most frequent first. Reads all pending jobs that ever began, page by page. */
export async function readPutBack(state: Pick<StateReader, 'withStatus'>): Promise<readonly PutBack[]> {
  const groups = new Map<string, { kind: string; code: string; count: number; messages: Messages }>();
  for await (const record of state.withStatus('pending')) {
    if (record.putBack !== true) continue;
    const kind = kindOf(record);
    const { code, message } = record.error ?? { code: 'submit.refused', message: '' };
    const key = `${kind} ${code} ${groups.size < maxReasons ? withoutParticulars(message) : ''}`;
    const group = groups.get(key) ?? { kind, code, count: 0, messages: new Messages() };
    groups.set(key, group);
    group.count += 1;
    group.messages.add(message);
  }
  return [...groups.values()]
    .map(({ messages, ...group }) => ({ ...group, ...messages.common() }))
    .sort((a, b) => b.count - a.count);
}

/** Number of groups from which on messages no longer separate groups. */
const maxReasons = 200;

const kindOf = ({ request, pressed, origin }: JobRecord): string => {
  if (request.press === undefined) return kindOfRequest(request);
  return pressed === undefined ? slotName(origin) : operationOf(pressed.customId);
};
