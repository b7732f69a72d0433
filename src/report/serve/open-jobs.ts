import type { ChangeMark, StateChanges } from '../../state/sqlite/changes.ts';

/** Jobs that are not done: status and code by key. */
export type OpenJobs = ReadonlyMap<string, string>;

export async function openJobs(reader: StateChanges): Promise<OpenJobs> {
  const open = new Map<string, string>();
  for await (const { key, status, code } of reader.openJobs()) open.set(key, `${status} ${code}`);
  return open;
}

const inFlight = /^(?:submitting|running|modal|saving) /;

/** Keys of those that have work under way. */
export const underWay = (open: OpenJobs): ReadonlySet<string> =>
  new Set([...open].flatMap(([key, status]) => (inFlight.test(status) ? [key] : [])));

/** Whether something was committed between two marks. */
export const isOther = (a: ChangeMark, b: ChangeMark): boolean => a.version !== b.version || a.job !== b.job;
