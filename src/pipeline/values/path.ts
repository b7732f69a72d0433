import { isMapping, renderValue, type Value } from './value.ts';

/** One leaf of a partial value: its path and its rendered text. */
export interface PartialLeaf {
  readonly path: readonly string[];
  readonly text: string;
}

/** Returns the scalars of a value with their paths; list members are named by their index. */
export function leavesOf(value: Value, path: readonly string[] = []): PartialLeaf[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: Value, index) => leavesOf(item, [...path, String(index)]));
  }
  if (isMapping(value)) {
    return Object.keys(value).flatMap((name) => leavesOf(value[name] as Value, [...path, name]));
  }
  return [{ path, text: renderValue(value) }];
}

/** Returns the member of a value at a path; undefined if there is none. */
export function memberAt(value: Value, path: readonly string[]): Value | undefined {
  let at: Value | undefined = value;
  for (const name of path) {
    if (Array.isArray(at)) at = /^\d+$/.test(name) ? (at as readonly Value[])[Number(name)] : undefined;
    else if (isMapping(at)) at = Object.hasOwn(at, name) ? at[name] : undefined;
    else return undefined;
    if (at === undefined) return undefined;
  }
  return at;
}
