import { type Draft, draft, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { mutate, odd } from './oddity.ts';

const forms = ['path', 'segment', 'selector', 'address'] as const;

const valid = [
  'U1..U4 → Vary (Strong)',
  'U1, U2 -> "a, b" | /upsample::[1-4]::/?',
  'U* → reroll | "🔄" → pan left?',
  '"U{{ n }}", {{ label }} → V1..V4',
  'grid/U2/Vary (Strong)',
  'grid/"a/b"/**',
  'grid//x::\\d{1,4}::/*',
];

/** Regular expressions whose time grows with the square of the text, or worse, in an engine that goes back. */
const costly = [
  '(a+)+$',
  '(a|a)*b',
  '(a|aa)+$',
  '(.*)*x',
  'a*a*a*a*a*a*a*a*b',
  '(a?){50}a{50}',
  '([a-z]+)*!',
  '(\\w+\\s?)*$',
  '(?=(a+))\\1b',
  '(a{1,100}){1,100}$',
  '.*.*.*.*=.*',
  '(?<=(a+)+)b',
  '\\b(a*)*\\b',
  '(?:a|b|ab)*c',
  '(a*?)*?b',
  '[\\s\\S]*[\\s\\S]*[\\s\\S]*z',
  '(x+x+)+y',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
];

const pattern = (random: Random): string => {
  const one = (): string =>
    random.pick([
      ...costly,
      ...costly,
      '[',
      '(',
      ')',
      '\\',
      '\\p{L}',
      '\\u{110000}',
      '(?<a>x)\\k<a>',
      'a{2,1}',
      '(?i:x)',
      '^',
      '$',
    ]);
  return random.some(1, 4, one).join(random.pick(['', '|', '*', '+']));
};

/** Much of one sign: marks without anything between them, quotes and templates that never close. */
const much = (random: Random): Draft => {
  const unit = random.pick([
    'a|',
    'a, ',
    'a → ',
    '/',
    'a/',
    '"',
    "'",
    '{{',
    '{{ a }}',
    '}}',
    '?',
    '*',
    '**/',
    '..',
    'U1..U',
    '\\',
    '\\"',
    '"a"',
    '/a/',
    '| ',
    '→',
    '->',
    '\uD800',
    'e\u0301',
    '\u00a0',
  ]);
  return draft(
    random.pick(forms),
    random.pick(['', 'grid/', '"', '/', '{{ "']),
    piece(unit, random.size(random.happens(0.1) ? 100_000 : 6000)),
    random.pick(['', '"', '/', '}}']),
  );
};

const ranges = (random: Random): Draft => {
  const bound = (): string =>
    random.pick([
      'U1',
      'U4',
      'U0',
      'U99',
      'U999999999',
      'U1e9',
      'U-1',
      'U01',
      `U${'9'.repeat(40)}`,
      'V2',
      '',
      '1',
      'x',
    ]);
  return draft(
    random.pick(forms),
    random.some(1, 30, () => `${bound()}..${bound()}`).join(random.pick([', ', ' → ', ' | '])),
  );
};

/** A path, one of its parts, an address, or a pattern with a text to match. */
export function hostileSelector(random: Random): Draft {
  const chosen = random.next();
  if (chosen < 0.3) return draft(random.pick(forms), mutate(random.pick(valid), random));
  if (chosen < 0.6) return draft('pattern', pattern(random));
  if (chosen < 0.7) return draft('pattern', mutate(pattern(random), random));
  if (chosen < 0.85) return much(random);
  if (chosen < 0.95) return ranges(random);
  return draft(random.pick(forms), ...random.some(1, 8, () => odd(random)));
}
