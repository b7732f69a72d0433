const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 });
const rough = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/** Formats a count: `3,264`. */
export const count = (value: number): string => whole.format(value);

/** Formats a count with its noun: `1 result`, `3,264 results`. */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** Formats a sum of money without a currency, because the prices of a pipeline do not name one. */
export const money = (value: number): string => exact.format(value);

/** Rounds a number to three digits: `0.25`, `12.3`, `1,230`. */
export const about = (value: number): string =>
  Math.abs(value) >= 1000 ? whole.format(value) : rough.format(value);

/** Formats a duration: `850 ms`, `4.2 s`, `3 min 10 s`, `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 1) return `${whole.format(seconds * 1000)} ms`;
  if (seconds < 60) return `${rough.format(seconds)} s`;
  const all = Math.round(seconds);
  if (all < 3600) return `${Math.floor(all / 60)} min${all % 60 === 0 ? '' : ` ${all % 60} s`}`;
  const minutes = Math.floor((all % 3600) / 60);
  return `${whole.format(Math.floor(all / 3600))} h${minutes === 0 ? '' : ` ${minutes} min`}`;
}

/** Formats a size: `512 bytes`, `12.3 kB`, `1.2 GB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte');
  const units = ['kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${rough.format(bytes / 1000 ** power)} ${units[power - 1]}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats a time in the user's time zone: `2026-11-23 14:05:09`. */
export function time(at: number): string {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
