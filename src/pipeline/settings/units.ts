import type { Rate } from '../pipeline.ts';

const milliseconds: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  min: 60_000,
  m: 60_000,
  h: 3_600_000,
};

const unitOf = (unit: string | undefined, text: string): number => {
  const found = milliseconds[unit ?? ''];
  if (found === undefined) throw new Error(`Internal error: "${text}" passed the schema without a unit`);
  return found;
};

/** Converts `250ms`, `30s`, `20m`, `6h` to whole milliseconds; undefined if the text is not a duration. */
export function readDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([a-z]{1,3})$/.exec(text) ?? [];
  const ms = Math.round(Number(count) * (milliseconds[unit] ?? Number.NaN));
  return Number.isFinite(ms) ? ms : undefined;
}

/** Converts a duration to milliseconds. The schema has checked its form. */
export function durationMs(text: string): number {
  const ms = readDuration(text);
  if (ms === undefined) throw new Error(`Internal error: "${text}" passed the schema as a duration.`);
  return ms;
}

/** Parses a rate: `60/min` is 60 per 60,000 ms. The schema has checked its form. */
export function rate(text: string): Rate {
  const [count, unit] = text.split('/');
  return { count: Number(count), perMs: unitOf(unit, text) };
}
