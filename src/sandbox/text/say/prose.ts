import type { Random } from '../../draw/canvas/random.ts';
import { unitOf } from '../../seeded.ts';
import type { Sight } from '../sight.ts';
import { type Decision, mostWords, rangeOf, subjectOf, type WishedLength, wishedLength } from './wishes.ts';

/** What a text is made of. */
export interface Occasion {
  readonly prompt: string;
  readonly system: string;
  readonly sights: readonly Sight[];
  /** What functions answered, as text. */
  readonly facts: readonly string[];
  readonly random: Random;
  /** Of this reply: what it decides is the same wherever it says it. */
  readonly seed: string;
  /** 0 to 2: the higher, the more the wording strays. */
  readonly temperature: number;
  /** What the conversation has decided before: what is said now agrees with it. */
  readonly earlier?: Decision;
}

/** The number that a reply decides for, of those that the prompt lets it choose among. */
export function choiceOf({ prompt, sights, seed, earlier }: Occasion): number {
  if (earlier !== undefined && !/\b(worst|weakest|other|another|second|instead)\b/i.test(prompt))
    return earlier.choice;
  const { low, high } = rangeOf(prompt, sights.length);
  return low + Math.floor(unitOf(`${seed} choice`) * (high - low + 1));
}

/** A text that suits its prompt: of the wanted length, in the prompt's own words, about the images seen. */
export function sayText(occasion: Occasion): string {
  const { prompt, system } = occasion;
  const length = wishedLength(prompt) ?? wishedLength(system);
  const text = ofLength(occasion, length);
  const wishes = `${prompt}\n${system}`;
  if (/\b(upper ?case|all caps|capital letters)\b/i.test(wishes)) return text.toUpperCase();
  if (/\blower ?case\b/i.test(wishes)) return text.toLowerCase();
  return text;
}

/** One sentence of a reply, in no voice. */
export const saySentence = (occasion: Occasion): string => {
  const next = sentences({ ...occasion, system: '' });
  const first = next();
  return occasion.random.chance(0.5) ? first : next();
};

/**
 * The words that a reply is about. A caption is about what its images show, where that is known: its prompt says how to
 * write, and not what is seen.
 */
function topicsOf({ prompt, sights }: Occasion, most?: number): readonly string[] {
  const asked = subjectOf(prompt, most);
  if (asked.length > 0 && !isCaption(prompt)) return asked;
  const shown = subjectOf(sights.map(({ subject }) => subject).join('. '), most);
  return shown.length > 0 ? shown : asked;
}

/** What the prompt is about, in a few words. */
export const sayPhrase = (occasion: Occasion): string => topicsOf(occasion, 5).join(' ') || 'the question';

/** One word of the prompt's subject. */
export const sayWord = (occasion: Occasion): string => {
  const words = [...topicsOf(occasion), ...colourWords(occasion)].map((word) => word.toLowerCase());
  return occasion.random.pick([...words, ...spare]);
};

const spare = ['light', 'form', 'texture', 'calm', 'detail', 'shade', 'outline'] as const;

/** A title for what the prompt is about. */
export const sayTitle = (occasion: Occasion): string => title(occasion);

function ofLength(occasion: Occasion, length: WishedLength | undefined): string {
  const { random, prompt } = occasion;
  const next = sentences(occasion);
  const take = (count: number): string => Array.from({ length: count }, () => next()).join(' ');
  if (length === undefined)
    return /^\s*(list|name)\b/i.test(prompt) ? items(occasion, 5) : take(random.int(2, 3));
  const count = Math.min(length.count, mostWords);
  switch (length.unit) {
    case 'sentence':
      return take(Math.min(count, mostWords / 10));
    case 'paragraph':
      return Array.from({ length: Math.min(count, mostWords / 50) }, () => take(random.int(3, 5))).join(
        '\n\n',
      );
    case 'item':
      return count === 1 ? title(occasion) : items(occasion, Math.min(count, mostWords / 5));
    case 'word':
      return inWords(occasion, next, length.atMost ? Math.max(1, Math.floor(count * 0.8)) : count);
  }
}

function inWords(occasion: Occasion, next: () => string, count: number): string {
  if (count === 1) return oneWord(occasion);
  if (count <= 4)
    return [...topicsOf(occasion), ...colourWords(occasion), 'quiet', 'light', 'study', 'scene']
      .slice(0, count)
      .join(' ');
  const words: string[] = [];
  while (words.length < count) words.push(...next().split(' '));
  const [text = ''] = /^[^]*[^.,;:!?]/.exec(words.slice(0, count).join(' ')) ?? [];
  return `${text}.`;
}

function oneWord(occasion: Occasion): string {
  const { prompt, random, sights } = occasion;
  if (isYesNo(prompt)) return random.chance(0.6) ? 'Yes' : 'No';
  if (isChoice(prompt)) return String(choiceOf(occasion));
  const [sight] = sights;
  const choices = [...topicsOf(occasion), ...(sight?.colours ?? [])];
  return choices.length === 0 ? 'Agreed' : capital(random.pick(choices));
}

const isYesNo = (prompt: string): boolean =>
  /^\s*(is|are|was|were|does|do|did|can|could|should|would|will|has|have)\b[^]*\?/i.test(prompt) ||
  /\b(yes or no|true or false)\b/i.test(prompt);

const isChoice = (prompt: string): boolean =>
  /\b(which|best|worst|pick|choose|select|winner|strongest|sharpest|judge|rank)\b/i.test(prompt);

const isCaption = (prompt: string): boolean =>
  /\b(captions?|describe|description|alt text|depict|what (is|do you see) in)\b/i.test(prompt);

const colourWords = ({ sights }: Occasion): readonly string[] => sights.flatMap(({ colours }) => colours);

function title(occasion: Occasion): string {
  const words = [...topicsOf(occasion, 4), ...colourWords(occasion)];
  const subject = words.length === 0 ? 'Study' : capital(words.slice(0, 3).join(' '));
  return occasion.random.pick([
    `The ${subject}`,
    `${subject} at Rest`,
    `Notes on ${subject}`,
    `${subject}, Unhurried`,
  ]);
}

function items(occasion: Occasion, count: number): string {
  const { random } = occasion;
  const words = [...topicsOf(occasion), ...colourWords(occasion), 'light', 'form'];
  return Array.from({ length: count }, (_, index) => {
    const word = words[index % words.length] ?? 'form';
    return `${index + 1}. ${capital(word)}: ${two(random)}`;
  }).join('\n');
}

const qualities = [
  'calm',
  'clear in outline',
  'warm in tone',
  'finely textured',
  'quietly balanced',
  'bold at the edges',
  'soft in the distance',
  'full of small detail',
  'plain and well placed',
  'bright against its ground',
  'a little restless',
  'held by a steady light',
] as const;

function two(random: Random): string {
  const first = random.int(0, qualities.length - 1);
  const second = (first + random.int(1, qualities.length - 1)) % qualities.length;
  return `${qualities[first]} and ${qualities[second]}`;
}

const verbs = ['holds', 'carries', 'gathers', 'settles', 'frames', 'anchors', 'opens', 'steadies'] as const;
const nouns = [
  'the composition',
  'the scene',
  'the whole',
  'the eye',
  'the foreground',
  'the moment',
  'the page',
] as const;

/** An endless supply of sentences; the first replies to the prompt, the others continue from it. */
function sentences(occasion: Occasion): () => string {
  const { random, prompt, sights, facts, temperature, earlier } = occasion;
  const words = topicsOf(occasion);
  const voice = voiceOf(occasion.system);
  // Without temperature the likeliest opening is always taken; wording further on differs by request.
  const reach = temperature === 0 ? 1 : temperature < 1 ? 3 : 6;
  let count = 0;
  const word = (): string => (words.length === 0 ? 'subject' : random.pick(words));
  const opening = (): string => {
    if (facts.length > 0) return `According to what was looked up, ${facts.join('; ')}.`;
    const subject = words.length === 0 ? 'it' : phrase(words);
    if (isCaption(prompt) && sights.length > 0)
      return sights.map((sight) => captionOf(sight, words, random)).join(' ');
    if (isYesNo(prompt)) {
      const yes = random.chance(0.6);
      return `${yes ? 'Yes' : 'No'}, ${subject} ${yes ? 'fits what is asked' : 'does not quite fit what is asked'}.`;
    }
    if (isChoice(prompt)) {
      const asked = `${prompt}\n${earlier?.question ?? ''}`;
      const thing =
        /\b(frame|image|picture|option|candidate|version|photo|panel)s?\b/i.exec(asked)?.[1] ?? 'number';
      return `${capital(thing.toLowerCase())} ${choiceOf(occasion)} is the best choice${words.length === 0 ? '' : ` for ${subject}`}: ${two(random)}.`;
    }
    const [sight] = sights;
    if (sight !== undefined) return captionOf(sight, words, random);
    return [
      `In short, ${subject} can be seen as ${two(random)}.`,
      `On the question of ${subject}, the plainest answer is that it is ${random.pick(qualities)}.`,
      `What stands out about ${subject} is how it is ${random.pick(qualities)}.`,
      `Taken together, ${subject} ${random.pick(verbs)} ${random.pick(nouns)}.`,
      `There is much to say of ${subject}, and most of it is ${random.pick(qualities)}.`,
      `Consider ${subject}: ${random.pick(qualities)}, ${random.pick(qualities)}.`,
    ][random.int(0, reach - 1)] as string;
  };
  const following = (): string =>
    [
      `The ${word()} ${random.pick(verbs)} ${random.pick(nouns)}, ${two(random)}.`,
      `Beside it the ${word()} is ${random.pick(qualities)}.`,
      `Nothing in the ${word()} is out of place, and it is ${random.pick(qualities)}.`,
      `From the ${word()} one comes to the ${word()}, which is ${random.pick(qualities)}.`,
      `It is the ${word()} that ${random.pick(verbs)} ${random.pick(nouns)}.`,
      `A second look at the ${word()} finds it ${random.pick(qualities)}.`,
    ][random.int(0, Math.min(5, reach + 2))] as string;
  return () => {
    count += 1;
    if (count > 1) return following();
    const first = opening();
    return voice === ''
      ? first
      : `${voice}${/^[A-Z](?=[a-z ])/.test(first) ? first.charAt(0).toLowerCase() : first.charAt(0)}${first.slice(1)}`;
  };
}

/** How an instruction for the whole conversation shows: the reply speaks in the role, or says what it follows. */
function voiceOf(system: string): string {
  if (system.trim() === '') return '';
  const [, role] = /\byou(?:'re| are)\s+((?:an?|the)\s[^.,;:!\n]{2,60})/i.exec(system) ?? [];
  if (role !== undefined) return `Speaking as ${role.trim()}, `;
  return 'As instructed, ';
}

function captionOf(sight: Sight, words: readonly string[], random: Random): string {
  const shape = sight.width > sight.height ? 'wide' : sight.width < sight.height ? 'tall' : 'square';
  const colours = sight.colours.length === 0 ? 'no one colour' : phrase(sight.colours);
  const known = sight.subject === '' ? phrase(words) : sight.subject;
  const subject = known === '' ? '' : ` of ${known}`;
  return random.pick([
    `A ${sight.light}, ${shape} picture${subject} in ${colours}, ${random.pick(qualities)}.`,
    `${capital(colours)} ${sight.colours.length > 1 ? 'carry' : 'carries'} this ${shape}, ${sight.light} picture${subject}, ${random.pick(qualities)}.`,
    `This ${shape} picture${subject} of ${sight.width} by ${sight.height} pixels is ${sight.light}, in ${colours}.`,
  ]);
}

const phrase = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
