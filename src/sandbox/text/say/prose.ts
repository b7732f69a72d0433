import type { Random } from '../../draw/canvas/random.ts';
import { unitOf } from '../../seeded.ts';
import type { Sight } from '../sight.ts';
import { type Decision, maxWords, rangeOf, subjectOf, type WishedLength, wishedLength } from './wishes.ts';

/** The input of a text. */
export interface Occasion {
  readonly prompt: string;
  readonly system: string;
  readonly sights: readonly Sight[];
  /** The responses of functions, as text. */
  readonly facts: readonly string[];
  readonly random: Random;
  /** Seed of the reply's decision, which is the same everywhere in the reply. */
  readonly seed: string;
  /** 0 to 2: the higher, the more varied the wording. */
  readonly temperature: number;
  /** Number of the item of a list that is written, from 0. */
  readonly item?: number;
  /** The decision of an earlier turn, which the reply agrees with. */
  readonly earlier?: Decision;
}

/** Returns the number that a reply chooses, in the range that the prompt gives. */
export function choiceOf({ prompt, sights, seed, earlier }: Occasion): number {
  if (earlier !== undefined && !/\b(worst|weakest|other|another|second|instead)\b/i.test(prompt))
    return earlier.choice;
  const { low, high } = rangeOf(prompt, sights.length);
  return low + Math.floor(unitOf(`${seed} choice`) * (high - low + 1));
}

/** Writes a text for a prompt: of the wanted length, in the prompt's own words, about its images. */
export function sayText(occasion: Occasion): string {
  const { prompt, system } = occasion;
  const length = wishedLength(prompt) ?? wishedLength(system);
  const text = ofLength(occasion, length);
  const wishes = `${prompt}\n${system}`;
  if (/\b(upper ?case|all caps|capital letters)\b/i.test(wishes)) return text.toUpperCase();
  if (/\blower ?case\b/i.test(wishes)) return text.toLowerCase();
  return text;
}

/** Writes one sentence, without the role of the system prompt. */
export const saySentence = (occasion: Occasion): string => {
  const next = sentences({ ...occasion, system: '' });
  const first = next();
  return occasion.random.chance(0.5) ? first : next();
};

/** Returns the subject of a reply in words. The subject of a caption comes from the images, if they are pictures of the sandbox. */
function topicsOf({ prompt, sights }: Occasion, most?: number): readonly string[] {
  const asked = subjectOf(prompt, most);
  if (asked.length > 0 && !isCaption(prompt)) return asked;
  const shown = subjectOf(sights.map(({ subject }) => subject).join('. '), most);
  return shown.length > 0 ? shown : asked;
}

/** Writes the subject of the prompt in a few words. */
export const sayPhrase = (occasion: Occasion): string => topicsOf(occasion, 5).join(' ') || 'the question';

/** Writes one word of the prompt's subject. */
export const sayWord = (occasion: Occasion): string => {
  const words = [...topicsOf(occasion), ...colourWords(occasion)].map((word) => word.toLowerCase());
  return occasion.random.pick([...words, ...spare]);
};

const spare = ['light', 'form', 'texture', 'calm', 'detail', 'shade', 'outline'] as const;

function ofLength(occasion: Occasion, length: WishedLength | undefined): string {
  const { random, prompt } = occasion;
  const next = sentences(occasion);
  const take = (count: number): string => Array.from({ length: count }, () => next()).join(' ');
  if (length === undefined)
    return /^\s*(list|name)\b/i.test(prompt) ? items(occasion, 5) : take(random.int(2, 3));
  const count = Math.min(length.count, maxWords);
  switch (length.unit) {
    case 'sentence':
      return take(Math.min(count, maxWords / 10));
    case 'paragraph':
      return Array.from({ length: Math.min(count, maxWords / 50) }, () => take(random.int(3, 5))).join(
        '\n\n',
      );
    case 'item':
      return count === 1 ? sayTitle(occasion) : items(occasion, Math.min(count, maxWords / 5));
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

/** Parts of scenes, of pairwise coprime numbers: by its number, each of 280 scenes differs. */
const actors = ['fox', 'owl', 'deer', 'hare', 'lynx', 'wolf', 'bear', 'cat'] as const;
const acts = ['waits', 'looks up', 'rests', 'stands still', 'wanders'] as const;
const lights = [
  'at dawn',
  'at dusk',
  'in the rain',
  'in the snow',
  'in the mist',
  'at night',
  'in autumn',
] as const;

/** The parts of a scene of a list; outside of lists, of any one. */
function sceneOf({ item, random, seed }: Occasion) {
  const number = item === undefined ? random.int(0, 279) : Math.floor(unitOf(`${seed} scene`) * 280) + item;
  const of = (parts: readonly string[]): string => parts[number % parts.length] ?? '';
  return { actor: of(actors), act: of(acts), light: of(lights) };
}

/** Writes a scene that the sandbox can draw, at the place that the prompt names. */
export function sayScene(occasion: Occasion): string {
  const { actor, act, light } = sceneOf(occasion);
  const [place] = topicsOf(occasion, 1);
  return `${actor === 'owl' ? 'An' : 'A'} ${actor} ${act}${place === undefined ? '' : ` near the ${place}`} ${light}`;
}

/** Writes a title for the subject of the prompt; in a list of scenes, for the one of its item. */
export function sayTitle(occasion: Occasion): string {
  if (occasion.item !== undefined && /\bscenes?\b/i.test(occasion.prompt)) {
    const { actor, light } = sceneOf(occasion);
    return `The ${capital(actor)} ${light}`;
  }
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

const verbs = ['holds', 'carries', 'gathers', 'settles', 'frames', 'anchors', 'opens', 'steadies'];
const nouns = ['composition', 'scene', 'whole', 'eye', 'foreground', 'moment', 'page'].map(
  (noun) => `the ${noun}`,
);

/** Returns a function that writes one sentence after another; the first one answers the prompt. */
function sentences(occasion: Occasion): () => string {
  const { random, prompt, sights, facts, temperature, earlier } = occasion;
  const words = topicsOf(occasion);
  const voice = voiceOf(occasion.system);
  // With temperature 0 the opening is always the same one; later sentences depend on the request.
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

/** Returns the first words of a reply that follows a system prompt: the role that it gives, or that there are instructions. */
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
