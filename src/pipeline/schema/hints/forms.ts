import type { SchemaNode } from '../schema.ts';

const multiples: Readonly<Record<string, number>> = {
  k: 1000,
  thousand: 1000,
  m: 1_000_000,
  mio: 1_000_000,
  million: 1_000_000,
};

/** Reads the one number in a text such as `$25`, `1k`, `10,000` or `1_000` and writes it as in YAML; undefined if it is not clear. */
export function numberIn(text: string): string | undefined {
  const written = text.trim();
  const [, before = '', digits, behind = ''] =
    /^([^\d.-]{0,5})(-?\d[\d,_ ']{0,20}(?:\.\d{1,9})?)([^\d.]{0,10})$/.exec(written) ?? [];
  if (digits === undefined) return undefined;
  const plain = digits.trim();
  const isGrouped = /^-?\d{1,3}(?:[,_ ']\d{3})+(?:\.\d+)?$/.test(plain);
  if (!isGrouped && !/^-?\d+(?:\.\d+)?$/.test(plain)) return undefined;
  const number = plain.replaceAll(/[,_ ']/g, '');
  const times = multiples[behind.trim().toLowerCase()];
  if (times === undefined) return number;
  return before.trim() === '' || /^\p{Sc}$/u.test(before.trim())
    ? String(Number((Number(number) * times).toPrecision(15)))
    : undefined;
}

const units: readonly (readonly [unit: string, words: RegExp])[] = [
  ['ms', /^(?:ms|msecs?|millis|milliseconds?)$/],
  ['s', /^(?:s|secs?|seconds?)$/],
  ['m', /^(?:m|mins?|minutes?)$/],
  ['h', /^(?:h|hrs?|hours?)$/],
];

const unitOf = (word: string): string | undefined =>
  units.find(([, words]) => words.test(word.toLowerCase()))?.[0];

function duration(key: string, written: string): string | undefined {
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(written))
    return `A duration has a unit: ${key}: ${written}s (seconds) or ${key}: ${written}m (minutes).`;
  const [, number, word = ''] = /^(\d{1,9}(?:\.\d{1,3})?) {0,3}([A-Za-z]{1,20})\.?$/.exec(written) ?? [];
  const unit = unitOf(word);
  return number === undefined || unit === undefined ? undefined : `Write ${key}: ${number}${unit}.`;
}

function rate(key: string, written: string): string | undefined {
  if (/^\d{1,12}(?:\.\d{1,3})?$/.test(written))
    return `A rate needs a unit of time: ${key}: ${written}/min (a minute), ${written}/s or ${written}/h.`;
  const [, number, word = ''] =
    /^(\d{1,12}(?:\.\d{1,3})?) {0,3}(?:(?:per|an?|each|every|\/) {0,3})?([A-Za-z]{1,20})\.?$/.exec(written) ??
    [];
  if (/^rpm$/i.test(word)) return `Write ${key}: ${number}/min.`;
  const unit = unitOf(word);
  if (number === undefined || unit === undefined || unit === 'ms') return undefined;
  return `Write ${key}: ${number}/${unit === 'm' ? 'min' : unit}.`;
}

/** Suggests the correct form of a duration, a rate or a name; undefined if the value does not show what was meant. */
export function formHint(key: string, written: string, { title, pattern }: SchemaNode): string | undefined {
  const text = written.trim();
  if (title === 'duration') return duration(key, text);
  if (title === 'rate') return rate(key, text);
  const isName = key === 'name' && typeof pattern === 'string' && /^\d{1,100}$/.test(text);
  return isName ? `Put text that looks like a number in quotes: name: "${text}".` : undefined;
}
