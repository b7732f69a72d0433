/** The numbers of a range axis, by arithmetic: no list of them ever exists. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** How many numbers a range has, its end included where a step falls on it. */
export function rangeSize({ from, to, step }: NumberRange): number {
  // The tolerance is for steps such as 0.1, of which ten are not quite one.
  const steps = (to - from) / step + 1e-9;
  return Number.isFinite(steps) && steps >= 0 ? Math.floor(steps) + 1 : 0;
}

/** The number at an index, with no more decimals than `from` and `step` have. */
export function rangeValue({ from, step }: NumberRange, index: number): number {
  const value = from + index * step;
  if (Number.isInteger(from) && Number.isInteger(step)) return value;
  return Number(value.toFixed(Math.min(100, Math.max(decimals(from), decimals(step)))));
}

/** The index at which a range has the number that renders so; -1 for none. */
export function rangeIndex(range: NumberRange, text: string): number {
  if (text === '') return -1;
  const index = Math.round((Number(text) - range.from) / range.step);
  return index >= 0 && index < rangeSize(range) && String(rangeValue(range, index)) === text ? index : -1;
}

function decimals(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  return Math.max(0, (mantissa.split('.')[1] ?? '').length - Number(exponent));
}
