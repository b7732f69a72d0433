/**
 * A number whose written form differs from JavaScript's (`6.0`, `1e3`, `0x10`): it renders as written and computes as a number.
 * Implements liquidjs' Comparable, so that conditions compare it by value.
 */
export class WrittenNumber {
  readonly source: string;
  readonly value: number;

  constructor(source: string, value: number) {
    this.source = source;
    this.value = value;
  }

  toString(): string {
    return this.source;
  }

  valueOf(): number {
    return this.value;
  }

  /** Whether it is an integer that a number cannot hold, which only lossless JSON can write. */
  get isLongInteger(): boolean {
    return isLongSource(this.source, this.value);
  }

  /** Returns the number: plain JSON would write its original text as a string. */
  toJSON(): number {
    return this.value;
  }

  equals(other: unknown): boolean {
    return plain(other) === this.value;
  }

  gt(other: unknown): boolean {
    return this.value > plain(other);
  }

  geq(other: unknown): boolean {
    return this.value >= plain(other);
  }

  lt(other: unknown): boolean {
    return this.value < plain(other);
  }

  leq(other: unknown): boolean {
    return this.value <= plain(other);
  }
}

/** Whether an integer in JSON's notation has digits that a number cannot hold. */
export const isLongSource = (source: string, value: number): boolean =>
  !Number.isSafeInteger(value) && /^-?[1-9]\d{15,255}$/.test(source) && String(value) !== source;

/** Whether a value is an integer with more digits than a number holds; pipelines and replies have such integers. */
export const isLongInteger = (
  value: unknown,
): value is { toString(): string; readonly isLongInteger: true } =>
  typeof value === 'object' && value !== null && 'isLongInteger' in value && value.isLongInteger === true;

/**
 * Converts the other side of a comparison with a number. A text never equals a number (`6 == "6"` is false), but may be larger or
 * smaller; Liquid's `nil` and `empty` are objects and never compare.
 */
function plain(other: unknown): number {
  if (other instanceof WrittenNumber) return other.value;
  return (typeof other === 'object' ? Number.NaN : other) as number;
}

/** A value of the matrix or of a template: JSON, with numbers that keep their written form. */
export type Value =
  | string
  | number
  | boolean
  | null
  | WrittenNumber
  | readonly Value[]
  | { readonly [name: string]: Value };

/** Whether a value is a mapping, neither a list nor a written number. */
export function isMapping(value: unknown): value is { readonly [name: string]: Value } {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof WrittenNumber)
  );
}

/**
 * Writes canonical JSON: keys sorted by code unit, no white space, numbers as written. Equal values give equal text, in any order of
 * their keys. Values are compared and hashed in this form, and a manifest shows objects in it.
 */
export function canonicalJson(value: Value): string {
  if (value instanceof WrittenNumber) return value.source;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value as readonly Value[]) text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const mapping = value as { readonly [name: string]: Value };
  for (const name of Object.keys(mapping).sort())
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(mapping[name] as Value)}`;
  return `{${text}}`;
}

/** Renders a value in a template: scalars as written, lists and mappings as canonical JSON. */
export function renderValue(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'object' && !(value instanceof WrittenNumber)) return canonicalJson(value);
  return String(value);
}

/** A mapping as `JSON.parse` returns it, used for declared reply schemas. */
export type Json = { readonly [name: string]: unknown };

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Returns the number that a whole text is: finite, decimal, with blanks around it at most. */
export function numberIn(text: string): number | undefined {
  if (text.length > 400 || !/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/.test(text.trim()))
    return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
