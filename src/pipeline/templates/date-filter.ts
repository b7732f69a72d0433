import { WrittenNumber } from '../values/value.ts';
import { TemplateError } from './template.ts';

/**
 * Date filters in UTC and English on every machine. liquidjs' own filters use local time, so that the same pipeline would send different
 * prompts from different machines.
 */

const months = 'January February March April May June July August September October November December'.split(
  ' ',
);
const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const dayMs = 86_400_000;

const written =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?\s*(Z|[+-]\d\d:?\d\d)?)?$/;

/** Whether a value is a word for the current time, such as `now`, which differs in each run. */
export const isMovingDate = (value: unknown): boolean =>
  typeof value === 'string' && /^\s*(?:now|today)\s*$/i.test(value);

function fail(message: string): never {
  throw new TemplateError('template.filter', message);
}

function zoneMs(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const digits = zone.replace(':', '');
  const minutes = Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3, 5));
  return (digits.startsWith('-') ? -minutes : minutes) * 60_000;
}

function parseWritten(text: string): Date | undefined {
  const match = written.exec(text.trim());
  if (match === null) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', zone] = match;
  const date = new Date(
    Date.UTC(
      Number(year),
      Number(month) - 1,
      Number(day),
      Number(hour),
      Number(minute),
      Number(second),
      Number(fraction.padEnd(3, '0')),
    ),
  );
  // Date.UTC turns 31 April into 1 May; a date that does not exist is an error.
  const kept =
    date.getUTCMonth() === Number(month) - 1 &&
    date.getUTCDate() === Number(day) &&
    date.getUTCHours() === Number(hour) &&
    date.getUTCMinutes() === Number(minute) &&
    date.getUTCSeconds() === Number(second);
  return kept ? new Date(date.getTime() - zoneMs(zone)) : undefined;
}

function parseDate(value: unknown): Date {
  if (isMovingDate(value)) {
    fail(`A date filter of "${String(value).trim()}" gives a different text each day; write the date.`);
  }
  const seconds =
    value instanceof WrittenNumber || typeof value === 'number'
      ? Number(value)
      : typeof value === 'string' && /^\d{1,15}$/.test(value.trim())
        ? Number(value)
        : undefined;
  const date = seconds === undefined ? parseWritten(String(value)) : new Date(seconds * 1000);
  if (date === undefined || Number.isNaN(date.getTime())) {
    const shown = typeof value === 'object' ? 'That value' : JSON.stringify(value);
    fail(`${shown} is not a date; write 2026-03-01, 2026-03-01T12:00:00Z or seconds since 1970.`);
  }
  return date;
}

const dayOfYear = (date: Date): number =>
  Math.floor(
    (Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()) -
      Date.UTC(date.getUTCFullYear(), 0, 1)) /
      dayMs,
  ) + 1;

const hour12 = (date: Date): number => date.getUTCHours() % 12 || 12;

/** Formatters by directive: a text, or a number with its width and fill character. */
const directives: Readonly<Record<string, (date: Date) => string | readonly [number, number, string]>> = {
  Y: (date) => String(date.getUTCFullYear()),
  C: (date) => [Math.floor(date.getUTCFullYear() / 100), 2, '0'],
  y: (date) => [date.getUTCFullYear() % 100, 2, '0'],
  m: (date) => [date.getUTCMonth() + 1, 2, '0'],
  B: (date) => months[date.getUTCMonth()] as string,
  b: (date) => (months[date.getUTCMonth()] as string).slice(0, 3),
  h: (date) => (months[date.getUTCMonth()] as string).slice(0, 3),
  d: (date) => [date.getUTCDate(), 2, '0'],
  e: (date) => [date.getUTCDate(), 2, ' '],
  j: (date) => [dayOfYear(date), 3, '0'],
  H: (date) => [date.getUTCHours(), 2, '0'],
  k: (date) => [date.getUTCHours(), 2, ' '],
  I: (date) => [hour12(date), 2, '0'],
  l: (date) => [hour12(date), 2, ' '],
  P: (date) => (date.getUTCHours() < 12 ? 'am' : 'pm'),
  p: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  M: (date) => [date.getUTCMinutes(), 2, '0'],
  S: (date) => [date.getUTCSeconds(), 2, '0'],
  L: (date) => [date.getUTCMilliseconds(), 3, '0'],
  A: (date) => days[date.getUTCDay()] as string,
  a: (date) => (days[date.getUTCDay()] as string).slice(0, 3),
  u: (date) => String(date.getUTCDay() || 7),
  w: (date) => String(date.getUTCDay()),
  s: (date) => String(Math.floor(date.getTime() / 1000)),
  z: () => '+0000',
  Z: () => 'UTC',
  F: (date) => strftime(date, '%Y-%m-%d'),
  T: (date) => strftime(date, '%H:%M:%S'),
  R: (date) => strftime(date, '%H:%M'),
  D: (date) => strftime(date, '%m/%d/%y'),
  x: (date) => strftime(date, '%m/%d/%y'),
  X: (date) => strftime(date, '%H:%M:%S'),
  r: (date) => strftime(date, '%I:%M:%S %p'),
  c: (date) => strftime(date, '%a %b %e %H:%M:%S %Y'),
  n: () => '\n',
  t: () => '\t',
  '%': () => '%',
};

/** Formats a date like Ruby's strftime, with the flags `-`, `_`, `0`, `^`. */
function strftime(date: Date, format: string): string {
  return format.replace(/%([-_0^]?)(.?)/gsu, (whole, flag: string, name: string) => {
    const directive = Object.hasOwn(directives, name) ? directives[name] : undefined;
    if (directive === undefined) fail(`"${whole}" is not a date directive.`);
    const part = directive(date);
    if (typeof part === 'string') return flag === '^' ? part.toUpperCase() : part;
    const [number, width, filler] = part;
    if (flag === '-') return String(number);
    return String(number).padStart(width, flag === '_' ? ' ' : flag === '0' ? '0' : filler);
  });
}

const formatted =
  (format: string) =>
  (value: unknown): unknown =>
    value === null || value === undefined ? value : strftime(parseDate(value), format);

/** Date filters by name; an absent value stays absent, as in Liquid. */
export const dateFilters: Readonly<Record<string, (value: unknown, ...args: unknown[]) => unknown>> = {
  date(value, format, zone) {
    if (zone !== undefined) fail('Dates are in UTC here: the date filter takes a format and no time zone.');
    if (format !== undefined && typeof format !== 'string') fail('The date format must be a text.');
    return formatted(format ?? '%F')(value);
  },
  date_to_xmlschema: formatted('%FT%T+00:00'),
  date_to_rfc822: formatted('%a, %d %b %Y %T %z'),
  date_to_string: formatted('%d %b %Y'),
  date_to_long_string: formatted('%d %B %Y'),
};
