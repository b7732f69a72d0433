import { isObject } from './value.ts';

/** A type check for documents that somebody else may have written, so that readers may rely on their parts. */
export type Shape = (value: unknown) => boolean;

export const anything: Shape = () => true;
export const aText: Shape = (value) => typeof value === 'string';
export const aNumber: Shape = (value) => Number.isFinite(value);
export const aFlag: Shape = (value) => typeof value === 'boolean';

/** Checks for one of these texts. */
export const aWord = (...words: readonly string[]): Shape => {
  const known: ReadonlySet<unknown> = new Set(words);
  return (value) => known.has(value);
};

export const listOf =
  (item: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every((one) => item(one));

/** Checks for a mapping of any names to values of one shape. */
export const mapOf =
  (item: Shape): Shape =>
  (value) =>
    isObject(value) && Object.values(value).every((one) => item(one));

export const either =
  (...shapes: readonly Shape[]): Shape =>
  (value) =>
    shapes.some((shape) => shape(value));

/** Checks for a mapping with all required members. Optional members are checked if present; other names are ignored. */
export function aMapping(
  needed: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  const there = Object.entries(needed);
  const perhaps = Object.entries(optional);
  // Loops: every record of a state goes through this.
  return (value) => {
    if (!isObject(value)) return false;
    for (const [name, shape] of there) if (!shape(value[name])) return false;
    for (const [name, shape] of perhaps) if (value[name] !== undefined && !shape(value[name])) return false;
    return true;
  };
}
