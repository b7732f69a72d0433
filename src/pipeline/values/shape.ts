import { isObject } from './value.ts';

/** What a document that somebody else may have written has to be, so that readers may rely on its parts. */
export type Shape = (value: unknown) => boolean;

export const anything: Shape = () => true;
export const aText: Shape = (value) => typeof value === 'string';
export const aNumber: Shape = (value) => Number.isFinite(value);
export const aFlag: Shape = (value) => typeof value === 'boolean';

/** One of these texts. */
export const aWord = (...words: readonly string[]): Shape => {
  const known: ReadonlySet<unknown> = new Set(words);
  return (value) => known.has(value);
};

export const listOf =
  (item: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every((one) => item(one));

/** A mapping of any names to values of one shape. */
export const mapOf =
  (item: Shape): Shape =>
  (value) =>
    isObject(value) && Object.values(value).every((one) => item(one));

export const either =
  (...shapes: readonly Shape[]): Shape =>
  (value) =>
    shapes.some((shape) => shape(value));

/** A mapping that has what is needed; what is optional has its shape where it is there, and other names are passed over. */
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
