/** The length of the wanted text. */
export interface WishedLength {
  readonly unit: 'word' | 'sentence' | 'paragraph' | 'item';
  readonly count: number;
  /** No more than this many; without it, as many. */
  readonly atMost: boolean;
}

const numbers: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  single: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  twelve: 12,
  twenty: 20,
  fifty: 50,
  hundred: 100,
};

const units: Readonly<Record<string, WishedLength['unit']>> = {
  word: 'word',
  sentence: 'sentence',
  paragraph: 'paragraph',
};

/** Longest text that is written, in words, whatever is asked for. */
export const mostWords = 20_000;

const wish =
  /\b(?:(at most|no more than|up to|under|fewer than|less than|within|maximum(?: of)?|max\.?)\s+)?(?:(\d{1,6})\s*(?:-|–|to|or)\s*)?(\d{1,6}|a|an|single|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty|hundred)[\s-]+(?:\p{L}+\s+)?(word|sentence|paragraph|line|bullet|bullet point|point|item|tag|keyword|idea|example|name|title|option|fact|reason|step|tip)s?\b/iu;

/** The length that a text asks for; absent where it names none. */
export function wishedLength(text: string): WishedLength | undefined {
  const [, bound, , number = '', unit = ''] = wish.exec(text) ?? [];
  if (number === '') {
    if (/\b(short|brief(ly)?|concise)\b/i.test(text)) return { unit: 'sentence', count: 1, atMost: false };
    if (/\b(detailed|in detail|long|essay|at length)\b/i.test(text)) {
      return { unit: 'sentence', count: 9, atMost: false };
    }
    return undefined;
  }
  const count = numbers[number.toLowerCase()] ?? Number(number);
  const kind = units[unit.toLowerCase()] ?? 'item';
  // "a word about foxes" asks for no single word.
  if (/^an?$/i.test(number) && kind === 'word') return undefined;
  const atMost = bound !== undefined;
  return {
    unit: kind,
    count: Math.max(1, /under|than/i.test(bound ?? '') && !/no more/i.test(bound ?? '') ? count - 1 : count),
    atMost,
  };
}
