import { type AskTurn, joinedText } from '../ask.ts';

const stopWords = new Set(
  (
    'a an the this that these those and or but nor so of in on at to for from by with without into onto over under as is are was ' +
    'were be been being am do does did done have has had can could should would will may might must shall i me my you your ' +
    'he she it its we our they them their who whom whose which what when where why how not no yes only just also please very ' +
    'more most less least each every all any some one two three four five six seven eight nine ten twelve twenty fifty hundred if then than there here ' +
    'up down out about between within during per via use using used write writing give show shows tell describe caption ' +
    'name list answer reply return respond explain say make create generate produce summarize summarise translate rate ' +
    'rank score judge choose pick select compare find identify word words sentence sentences paragraph paragraphs line ' +
    'lines short long brief briefly exactly most json image images picture pictures photo text prompt question following ' +
    'draw paint render see seen look good best better worst want need like get let fact facts idea ideas tag tags keyword ' +
    'keywords item items bullet bullets title titles example examples option options language languages caption captions ' +
    'description descriptions translation tone style format output length limit maximum minimum character characters instruction ' +
    'scene scenes series thing things happens sharpest strongest instructions include including mention avoid plain simple clear alone frame frames row rows'
  ).split(' '),
);

/** Instructions about the form of a text, such as `Language: German.` or `Tone: dry`. */
const settings =
  /\b(?:language|tone|style|format|length|audience|voice|output|limit|maximum)[ \t]?:[^.;\n]*/gi;

/** Instructions about the language of a text, such as `in German` or `into plain English`. */
const languages =
  /\b(?:in|into|to|from)[ \t](?:plain[ \t]|simple[ \t])?(?:arabic|chinese|czech|danish|dutch|english|finnish|french|german|greek|hebrew|hindi|italian|japanese|korean|latin|norwegian|polish|portuguese|russian|spanish|swedish|turkish|ukrainian)\b/gi;

/** Returns the words of a prompt's subject, each once, without instructions about the form. */
export function subjectOf(prompt: string, most = 8): readonly string[] {
  const found = new Map<string, string>();
  const text = prompt.slice(0, 20_000).replaceAll(settings, ' ').replaceAll(languages, ' ');
  for (const [word] of text.matchAll(/\p{L}[\p{L}\p{M}'’-]{2,40}/gu)) {
    const plain = word.toLowerCase();
    if (!stopWords.has(plain) && !found.has(plain)) found.set(plain, word);
    if (found.size >= most) break;
  }
  return [...found.values()];
}

/** Returns the stems of a text's meaningful words, to compare the subjects of two texts. */
export function stemsOf(text: string): ReadonlySet<string> {
  const split = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
  return new Set(subjectOf(split, 400).map((word) => word.toLowerCase().replace(/(ing|ed|es|s)$/, '')));
}

/** Reads the range of numbers that a prompt gives, such as `frames (1 to 4)`; default: 1 to the number of images, or to 4. */
export function rangeOf(prompt: string, images: number): { readonly low: number; readonly high: number } {
  const [, from, to] = /\b(\d{1,4})\s*(?:to|-|–|\.\.|through|and)\s*(\d{1,4})\b/.exec(prompt) ?? [];
  const low = Number(from);
  const high = Number(to);
  if (from !== undefined && low < high) return { low, high };
  return { low: 1, high: images > 1 ? images : 4 };
}

/** The wanted length of a text. */
export interface WishedLength {
  readonly unit: 'word' | 'sentence' | 'paragraph' | 'item';
  readonly count: number;
  /** Whether the text may be shorter. */
  readonly atMost: boolean;
}

const numbers = new Map([
  ...['a', 'an', 'single'].map((word): [string, number] => [word, 1]),
  ...'one two three four five six seven eight nine ten'
    .split(' ')
    .map((word, index): [string, number] => [word, index + 1]),
  ...Object.entries({ twelve: 12, twenty: 20, fifty: 50, hundred: 100 }),
]);

const units: Readonly<Record<string, WishedLength['unit']>> = {
  word: 'word',
  sentence: 'sentence',
  paragraph: 'paragraph',
};

/** Length of the longest text, in words. */
export const maxWords = 20_000;

const wish =
  /\b(?:(at most|no more than|up to|under|fewer than|less than|within|maximum(?: of)?|max\.?)\s+)?(?:(\d{1,6})\s*(?:-|–|to|or)\s*)?(\d{1,6}|a|an|single|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty|hundred)[\s-]+(?:\p{L}+\s+)?(word|sentence|paragraph|line|bullet|bullet point|point|item|tag|keyword|idea|example|name|title|option|fact|reason|step|tip)s?\b/iu;

/** Reads the length that a prompt asks for, or returns undefined. */
export function wishedLength(text: string): WishedLength | undefined {
  const [, bound, , number = '', unit = ''] = wish.exec(text) ?? [];
  if (number === '') {
    if (/\b(short|brief(ly)?|concise)\b/i.test(text)) return { unit: 'sentence', count: 1, atMost: false };
    if (/\b(detailed|in detail|long|essay|at length)\b/i.test(text)) {
      return { unit: 'sentence', count: 9, atMost: false };
    }
    return undefined;
  }
  const count = numbers.get(number.toLowerCase()) ?? Number(number);
  const kind = units[unit.toLowerCase()] ?? 'item';
  // "a word about foxes" does not ask for a single word.
  if (/^an?$/i.test(number) && kind === 'word') return undefined;
  const atMost = bound !== undefined;
  return {
    unit: kind,
    count: Math.max(1, /under|than/i.test(bound ?? '') && !/no more/i.test(bound ?? '') ? count - 1 : count),
    atMost,
  };
}

/** Names of JSON members that hold the decision of a reply. */
export const decisionNames = /^(best|winner|choice|chosen|pick|picked|selected|sharpest)$/i;

/** A decision of an earlier turn. */
export interface Decision {
  /** Number of the chosen frame, picture or option. */
  readonly choice: number;
  /** The earlier questions. */
  readonly question: string;
}

/** Depth of JSON to which a decision is searched. */
const maxDepth = 4;

/** Finds the last decision of earlier turns, which the reply agrees with. Returns undefined without one, or if new images came since. */
export function earlierDecision(turns: readonly AskTurn[]): Decision | undefined {
  for (let index = turns.length - 1; index > 0; index -= 1) {
    const { role, parts } = turns[index] as AskTurn;
    if (role === 'user' && parts.some(({ kind }) => kind === 'image')) return undefined;
    const choice = role === 'model' ? decidedIn(joinedText(parts)) : undefined;
    if (choice === undefined) continue;
    const asked = turns.slice(0, index).filter((turn) => turn.role === 'user');
    return { choice, question: asked.map(({ parts: said }) => joinedText(said)).join('\n') };
  }
  return undefined;
}

function decidedIn(text: string): number | undefined {
  const [, said = text] = /\b(\d{1,4}) is the best choice\b/.exec(text) ?? [];
  try {
    const value: unknown = JSON.parse(said);
    return typeof value === 'number' ? whole(value) : memberIn(value, 0);
  } catch {
    return undefined;
  }
}

function memberIn(value: unknown, depth: number): number | undefined {
  if (typeof value !== 'object' || value === null || depth === maxDepth) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = decisionNames.test(name) ? whole(member) : memberIn(member, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const whole = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
