/** Longest id that is put into an address. Known ids have 14 to 36 characters. */
const maxLength = 256;

// Characters that no id contains: white space, control characters and commas (a list of ids, gateway 3.4). `.` and `..` would change
// the path; a lone surrogate cannot be encoded.
const unusable = /[\s\p{Cc},\p{Surrogate}]/u;

/** Whether an id can be put into an address and names one task. */
export const isUsableTaskId = (id: string): boolean =>
  id !== '' && id.length <= maxLength && id !== '.' && id !== '..' && !unusable.test(id);

/**
 * Reads the task id in a submit response's `result`: a string, or a bare number without rounding (gateway 3.4). Undefined for null,
 * lists, fractions, rounded numbers and anything else that does not name a single task.
 */
export function readTaskId(result: unknown): string | undefined {
  if (typeof result === 'bigint') return result > 0n ? String(result) : undefined;
  if (typeof result === 'number')
    return Number.isSafeInteger(result) && result > 0 ? String(result) : undefined;
  if (typeof result !== 'string') return undefined;
  const id = result.trim();
  return isUsableTaskId(id) ? id : undefined;
}

/** Reads the ids of a `result` that lists several tasks, joined by commas or as a list (gateway 3.4): at most 10. Otherwise empty. */
export function readTaskIds(result: unknown): readonly string[] {
  const items: readonly unknown[] =
    typeof result === 'string' ? result.split(',') : Array.isArray(result) ? result : [];
  const ids = items.slice(0, 10).map(readTaskId);
  // Sentences have commas too; ids have digits.
  return ids.length > 1 && ids.every((id) => id !== undefined && /\d/.test(id)) ? (ids as string[]) : [];
}
