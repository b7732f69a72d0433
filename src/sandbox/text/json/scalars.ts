import type { Random } from '../../draw/canvas/random.ts';
import { uuidOf } from '../../seeded.ts';
import {
  choiceOf,
  type Occasion,
  sayPhrase,
  sayScene,
  saySentence,
  sayTitle,
  sayWord,
} from '../say/prose.ts';
import { decisionNames, rangeOf } from '../say/wishes.ts';
import { patternTest, textMatching } from './pattern.ts';
import { descriptionOf, type Schema } from './schema.ts';

/** Makes a number, of a size that suits the member's name if the schema allows any. */
export function numberFor(
  schema: Schema,
  whole: boolean,
  name: string,
  occasion: Occasion,
  random: Random,
): number {
  const bound = (key: string, open: number): number =>
    typeof schema[key] === 'number' || typeof schema[key] === 'string' ? Number(schema[key]) : open;
  const low = Math.max(
    bound('minimum', Number.NEGATIVE_INFINITY),
    above(bound('exclusiveMinimum', Number.NEGATIVE_INFINITY), whole),
  );
  const high = Math.min(
    bound('maximum', Number.POSITIVE_INFINITY),
    -above(-bound('exclusiveMaximum', Number.POSITIVE_INFINITY), whole),
  );
  const step = bound('multipleOf', 0);
  const decided = choiceOf(occasion);
  if (decisionNames.test(name) && step === 0 && decided >= low && decided <= high) return decided;
  const usual = usualRange(name, descriptionOf(schema), occasion, whole);
  const [from, to] = within(usual, low, high);
  if (step > 0) return multipleWithin(from, to, low, high, step, random);
  if (whole) {
    const first = Math.ceil(from);
    return Math.min(first + Math.floor(random.range(0, 1) * (Math.floor(to) - first + 1)), Math.floor(to));
  }
  const share = random.range(0, 1);
  const value = from * (1 - share) + to * share;
  const rounded = Math.round(value * 100) / 100;
  return rounded >= low && rounded <= high ? rounded : Math.min(Math.max(value, low), high);
}

function above(bound: number, whole: boolean): number {
  if (!Number.isFinite(bound)) return bound;
  if (whole) return Math.floor(bound) + 1;
  const step = Math.max(Math.abs(bound) * Number.EPSILON * 2, Number.MIN_VALUE);
  return bound + step;
}

/** Returns the part of the usual range within the bounds, or else a range of 100 at a bound. */
function within([from, to]: readonly [number, number], low: number, high: number): readonly [number, number] {
  const first = Math.max(from, low);
  const last = Math.min(to, high);
  if (Math.ceil(first) <= Math.floor(last)) return [first, last];
  if (Number.isFinite(low)) return [low, Math.min(high, low + 100)];
  if (Number.isFinite(high)) return [high - 100, high];
  return [from, to];
}

function multipleWithin(
  from: number,
  to: number,
  low: number,
  high: number,
  step: number,
  random: Random,
): number {
  const multiple = (factor: number): number => Number((factor * step).toPrecision(15));
  for (const [first, last] of [
    [from, to],
    [low, high],
  ] as const) {
    const least = Math.ceil(first / step);
    const most = Math.floor(last / step);
    if (!(least <= most)) continue;
    const start = Number.isFinite(least) ? least : Number.isFinite(most) ? most - 100 : 0;
    const span = Math.min(Number.isFinite(most) ? most - start : 100, 100_000);
    // Products of binary fractions are inexact: only a value that divides evenly will do.
    for (let attempt = 0; attempt < 40; attempt += 1) {
      const value = multiple(start + random.int(0, span));
      if (Number.isInteger(value / step) && value >= low && value <= high) return value;
    }
    for (let offset = 0; offset <= Math.min(span, 1000); offset += 1) {
      const value = multiple(start + offset);
      if (Number.isInteger(value / step) && value >= low && value <= high) return value;
    }
  }
  return 0;
}

function usualRange(
  name: string,
  description: string,
  { prompt, sights }: Occasion,
  whole: boolean,
): readonly [number, number] {
  const about = `${name} ${description}`.toLowerCase();
  const [, from, to] = /\b(\d{1,6})\s*(?:to|-|–|\.\.)\s*(\d{1,6})\b/.exec(description) ?? [];
  if (from !== undefined && Number(from) < Number(to)) return [Number(from), Number(to)];
  if (chosen.test(about)) {
    const { low, high } = rangeOf(prompt, sights.length);
    return [low, high];
  }
  if (/confidence|probability|likelihood|share|ratio/.test(about)) return whole ? [0, 1] : [0.5, 0.99];
  if (/score|rating|quality|grade|rank/.test(about)) return [1, 10];
  if (/year/.test(about)) return [1990, 2026];
  if (/latitude|\blat\b/.test(about)) return [-60, 60];
  if (/longitude|\b(lng|lon)\b/.test(about)) return [-170, 170];
  return /count|number|amount|quantity/.test(about) ? [1, 9] : [1, 100];
}

const chosen =
  /\b(best|worst|winner|winning|index|choice|chosen|pick(ed)?|frame|sharpest|selected|selection|option)\b/;

const longest = 100_000;

/** Makes a text, of a kind that suits the member's name if the schema allows any. */
export function textForSchema(schema: Schema, name: string, occasion: Occasion, random: Random): string {
  const least = Math.min(Number(schema['minLength'] ?? 0), longest);
  const most = Number(schema['maxLength'] ?? Number.POSITIVE_INFINITY);
  const { pattern, format } = schema;
  if (typeof pattern === 'string') {
    const text = matching(pattern, least, most, random);
    if (text !== undefined) return text;
  }
  const formed = typeof format === 'string' ? textOfFormat(format, random) : undefined;
  if (formed !== undefined) return formed;
  const text = textByName(`${name} ${descriptionOf(schema)}`, name, { ...occasion, random });
  return ofLength(text, least, most);
}

function matching(pattern: string, least: number, most: number, random: Random): string | undefined {
  const matches = patternTest(pattern);
  if (matches === undefined) return undefined;
  const fits = (text: string): boolean => {
    const length = lengthOf(text);
    return length >= least && length <= most && matches(text);
  };
  let any: string | undefined;
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const extra = attempt < 20 ? attempt % 4 : Math.min(least + attempt, longest);
    const text = textMatching(pattern, random, extra);
    if (text === undefined) return undefined;
    if (fits(text)) return text;
    // Without an anchor the text may be longer on either side.
    for (const padded of [ofLength(text, least, most), text + 'a'.repeat(Math.max(0, least - text.length))]) {
      if (fits(padded)) return padded;
    }
    if (matches(text)) any ??= text;
  }
  return any;
}

/** Cuts or fills up a text. Lengths are in characters, not UTF-16 units. */
function ofLength(text: string, least: number, most: number): string {
  const missing = least - lengthOf(text);
  const filled = missing > 0 ? text + ' and calm'.repeat(Math.ceil(missing / 9)) : text;
  const wanted = missing > 0 ? least : most;
  return lengthOf(filled) > wanted ? Array.from(filled).slice(0, wanted).join('') : filled;
}

const lengthOf = (text: string): number => Array.from(text).length;

function textByName(about: string, name: string, occasion: Occasion): string {
  const { random, prompt, sights } = occasion;
  const has = (words: RegExp): boolean => words.test(name) || (name === '' && words.test(about));
  if (has(/colou?r/i)) return sights[0]?.colours[0] ?? random.pick(['ochre', 'teal', 'navy', 'grey']);
  if (has(/^(tags?|keywords?|labels?|categor(y|ies)|topics?|subject|animal|word|noun)$/i))
    return sayWord(occasion);
  if (has(/title|headline|^name$/i)) return sayTitle(occasion);
  if (has(/^(scene|idea|shot|moment)s?$/i)) return sayScene(occasion);
  if (has(/city|location|place|town|country|where/i)) {
    const [, place] = /\b(?:in|at|near|for|of|to)\s+(\p{Lu}\p{L}+(?:\s\p{Lu}\p{L}+)?)/u.exec(prompt) ?? [];
    return place ?? random.pick(['Lisbon', 'Oslo', 'Kyoto', 'Lima']);
  }
  if (has(/url|uri|link|href/i)) return textOfFormat('uri', random) ?? '';
  if (has(/e-?mail/i)) return textOfFormat('email', random) ?? '';
  if (has(/(^|_)date|Date$/)) return textOfFormat('date', random) ?? '';
  if (has(/language|locale/i)) return 'en';
  if (has(/^id$|_id$|Id$/)) return `id-${random.int(1000, 9999)}`;
  if (has(/query|prompt|question|search|term/i)) return sayPhrase(occasion);
  if (has(/unit/i)) return 'celsius';
  if (has(/mood|style|tone|verdict|quality/i))
    return random.pick(['calm', 'bright', 'quiet', 'bold', 'wistful']);
  return saySentence(occasion);
}

const two = (random: Random, low: number, high: number): string =>
  String(random.int(low, high)).padStart(2, '0');
const dateOf = (random: Random): string =>
  `20${two(random, 20, 26)}-${two(random, 1, 12)}-${two(random, 1, 28)}`;
const timeOf = (random: Random): string =>
  `${two(random, 0, 23)}:${two(random, 0, 59)}:${two(random, 0, 59)}Z`;
const hostOf = (random: Random): string => `www.example.${random.pick(['org', 'com', 'net'])}`;
const hexOf = (random: Random): string => random.int(0, 0xffff).toString(16);

/** Writers of the formats of JSON Schema and OpenAPI. An `idn-` or `iri` format uses the plain one. */
const formats = new Map<string, (random: Random) => string>([
  ['date-time', (random) => `${dateOf(random)}T${timeOf(random)}`],
  ['date', dateOf],
  ['time', timeOf],
  ['duration', (random) => `PT${random.int(1, 59)}M`],
  ['email', (random) => `${random.pick(['ada', 'ben', 'cleo'])}${random.int(1, 99)}@example.org`],
  ['hostname', hostOf],
  ['ipv4', (random) => `192.0.2.${random.int(1, 254)}`],
  ['ipv6', (random) => `2001:db8:${hexOf(random)}:${hexOf(random)}::1`],
  ['uri', (random) => `https://${hostOf(random)}/${random.int(1, 999)}`],
  ['url', (random) => `https://${hostOf(random)}/${random.int(1, 999)}`],
  ['uri-reference', (random) => `/${random.int(1, 999)}`],
  ['uuid', (random) => uuidOf(`format ${random.int(0, 2 ** 31)} ${random.int(0, 2 ** 31)}`)],
  ['json-pointer', (random) => `/${random.int(0, 9)}`],
  ['regex', () => '^[a-z]+$'],
  ['byte', (random) => Buffer.from(`bytes ${random.int(0, 999)}`).toString('base64')],
]);

const textOfFormat = (format: string, random: Random): string | undefined =>
  formats.get(format.replace(/^idn-/, '').replace(/^iri/, 'uri'))?.(random);
