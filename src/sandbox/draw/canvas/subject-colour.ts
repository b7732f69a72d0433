import { type Colour, darker, lighter } from './colour.ts';
import { colourNames, coloursNamed } from './colour-words.ts';

/** `light blue baby fox`: up to two words may stand between, none of which begins something else. */
const before = new RegExp(
  `(?<![\\w-])(?:(dark|deep|light|pale)[ -])?(?:[a-z]+-)?(${colourNames})(?:ish)?((?:[ -][a-z']+){0,2})[ -]$`,
);

/** Words after which a colour before them is another thing's: a blue forest with a fox, a blue-eyed fox. */
const others =
  /[ -](?:a|an|the|and|or|of|in|on|at|by|with|for|from|to|under|over|near|behind|beside|\w*(?:eye|tail|nose|ear|paw|foot|leg|throat|breast|crest|head|wing|tip)\w*)\b/;

const fur = new RegExp(
  `\\b(?:(dark|deep|light|pale)[ -])?(${colourNames})[ -](?:fur|pelt|feathers|plumage)\\b`,
);

/**
 * The colour that a prompt gives to its subject: the word before it (a blue fox), or that of its fur or feathers. A colour
 * elsewhere is another thing's. `subject` matches the subject's words in `text`, which is in small letters.
 */
export function subjectColour(text: string, subject: RegExp): Colour | undefined {
  for (const { index } of text.matchAll(new RegExp(subject, 'g'))) {
    const [found, shade, name = '', between = ''] =
      before.exec(text.slice(Math.max(0, index - furthest), index).replaceAll(/\s+/g, ' ')) ?? [];
    if (found !== undefined && !others.test(`${between} `)) return shaded(shade, name);
  }
  const [, shade, name] = fur.exec(text) ?? [];
  return name === undefined ? undefined : shaded(shade, name);
}

/** Characters before a subject that are searched. */
const furthest = 60;

function shaded(shade: string | undefined, name: string): Colour | undefined {
  const [colour] = coloursNamed(name);
  if (colour === undefined || shade === undefined) return colour;
  return shade === 'dark' || shade === 'deep' ? darker(colour, 0.4) : lighter(colour, 0.45);
}
