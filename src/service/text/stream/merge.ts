import { isSameInteger, members } from '../../http/json.ts';
import type { JsonObject } from '../../text-service.ts';
import { indexOf, objectsIn } from '../reply/native.ts';

/** An object that collects the events of a stream: a Map, so that no member name is special. */
export type Gathered = Map<string, unknown>;

/**
 * Merges a later value of a member that is not text: objects member by member; a list that begins with the earlier one replaces it, any
 * other list is appended; other values are replaced. Null changes nothing.
 *
 * @returns the merged value, which owns its lists
 */
export function mergedMember(earlier: unknown, later: unknown): unknown {
  if (later === null || later === undefined) return earlier ?? later;
  if (Array.isArray(later)) {
    if (!Array.isArray(earlier)) return [...(later as unknown[])];
    if (isBeginning(earlier, later)) return [...(later as unknown[])];
    for (const item of later as unknown[]) earlier.push(item);
    return earlier;
  }
  const [before, after] = [members(earlier), members(later)];
  if (before === undefined || after === undefined) return after === undefined ? later : ownLists(after);
  const result = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(after)) {
    result.set(name, mergedMember(result.get(name), value));
  }
  return Object.fromEntries(result);
}

/** Copies an object so that its lists can grow; their items are not changed. */
const ownLists = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mergedMember(undefined, inner)]));

const isBeginning = (earlier: readonly unknown[], later: readonly unknown[]): boolean =>
  earlier.length <= later.length && earlier.every((item, i) => isSame(item, later[i]));

function isSame(a: unknown, b: unknown): boolean {
  if (a === b || isSameInteger(a, b)) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && isBeginning(a, b);
  }
  const [left, right] = [members(a), members(b)];
  if (left === undefined || right === undefined) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]))
  );
}

/** Merges a later value into a member of a gathered object. @returns about how many bytes of it are kept */
export function gather(into: Gathered, name: string, value: unknown): number {
  into.set(name, mergedMember(into.get(name), value));
  return weightOf(value);
}

/** Adds each object of a list to the part of its index, which `make` creates. @returns about how many bytes are kept */
export function gatherList<T extends { add(event: JsonObject): number }>(
  parts: Map<number, T>,
  list: unknown,
  make: () => T,
): number {
  return objectsIn(list).reduce((kept, item, place) => {
    const index = indexOf(item) ?? place;
    const part = parts.get(index) ?? make();
    parts.set(index, part);
    return kept + part.add(item);
  }, 0);
}

/** Returns parts in the order of their indexes. */
export const inIndexOrder = <T>(parts: ReadonlyMap<number, T>): readonly (readonly [number, T])[] =>
  [...parts].sort(([a], [b]) => a - b);

/** Estimates the bytes that a value takes in memory, to count the kept part of a stream. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return 24 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + weightOf(item), 32);
  return Object.entries(value).reduce((sum, [name, item]) => sum + name.length + 16 + weightOf(item), 56);
}
