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

/** `250ms`, `30s`, `20m`, `6h` in whole milliseconds. The schema has checked the form. */
export function durationMs(text: string): number {
  const [, count, unit] = /^([0-9.]+)([a-z]+)$/.exec(text) ?? [];
  return Math.round(Number(count) * unitOf(unit, text));
}

/** `60/min` is 60 per 60,000 ms. The schema has checked the form. */
export function rate(text: string): Rate {
  const [count, unit] = text.split('/');
  return { count: Number(count), perMs: unitOf(unit, text) };
}
