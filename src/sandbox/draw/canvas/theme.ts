import { type Colour, colourNames, coloursNamed, darker, lighter } from './colour.ts';
import type { Mood } from './palette.ts';

// Words of prompts. If a prompt has words of several entries, the first entry of the table counts.

const animals = {
  fox: /\b(fox(es)?|vixen|foxcub)\b/,
  owl: /\b(owls?|owlet)\b/,
  lynx: /\b(lynx(es)?|bobcats?|caracals?)\b/,
  tiger: /\b(tigers?|tigress)\b/,
  lion: /\b(lions?|lioness)\b/,
  cat: /\b(cats?|kittens?|kitty|panthers?|leopards?)\b/,
  wolf: /\b(wol(f|ves)|dogs?|hounds?|husk(y|ies)|coyotes?|jackals?|pupp(y|ies))\b/,
  bear: /\b(bears?|pandas?|badgers?|otters?|raccoons?)\b/,
  hare: /\b(hares?|rabbits?|bunn(y|ies)|squirrels?|mouse|mice)\b/,
  deer: /\b(deer|stags?|elk|moose|fawns?|does?|antelopes?|horses?|goats?)\b/,
  bird: /\b(birds?|ravens?|crows?|herons?|eagles?|hawks?|cranes?|sparrows?|robins?|swallows?|swans?|gulls?)\b/,
};

/** The animals that the sandbox draws. */
export type Animal = keyof typeof animals;

const things = {
  lighthouse: /\b(lighthouses?|beacons?)\b/,
  boat: /\b(boats?|ships?|sail(boat|ing)?s?|yachts?|canoes?)\b/,
  castle: /\b(castles?|towers?|palaces?|temples?|cathedrals?|fortress)\b/,
  cabin: /\b(cabins?|houses?|cottages?|huts?|barns?|village|farm)\b/,
  balloon: /\b(balloons?|airships?|zeppelins?)\b/,
  flower:
    /\b(flowers?|roses?|popp(y|ies)|tulips?|lil(y|ies)|lotus|sunflowers?|bouquet|blossoms?|still life)\b/,
  tree: /\b(trees?|oaks?|willows?|bonsai|baobab)\b/,
  mountain: /\b(mountains?|peaks?|summit|alps|volcano(es)?)\b/,
};

/** The things that the sandbox draws as a subject. */
export type Thing = keyof typeof things;

const settings = {
  birches: /\b(birch(es)?|aspens?)\b/,
  forest: /\b(forests?|woods?|woodland|pines?|firs?|taiga|jungle)\b/,
  mountains: /\b(mountains?|peaks?|alps|cliffs?|valley|glacier)\b/,
  lake: /\b(lakes?|rivers?|pond|lagoon|stream|reflections?)\b/,
  sea: /\b(sea|seas|oceans?|coast|beach|shore|waves?|harbou?r|island|boats?|ships?|lighthouses?)\b/,
  city: /\b(city|cities|street|skyline|town|rooftops?|urban|tokyo|paris|london|new york)\b/,
  desert: /\b(deserts?|dunes?|canyon|sahara)\b/,
  meadow: /\b(meadows?|fields?|gardens?|grass(land)?|prairie|wildflowers?|flowers?|orchard)\b/,
  hills: /\b(hills?|moor|tundra|snow(y|field)?|landscape)\b/,
};

/** The landscapes that the sandbox draws. */
export type Setting = keyof typeof settings;

const moods = {
  night: /\b(night|midnight|moon(lit|light)?|stars?|starry|nocturn(e|al)|aurora)\b/,
  dusk: /\b(dusk|sunset|twilight|evening|golden hour|gloaming|nightfall)\b/,
  dawn: /\b(dawn|sunrise|morning|daybreak|first light)\b/,
  snow: /\b(snow(y|fall|storm|field)?|winter|frost(y)?|ice|blizzard|arctic)\b/,
  mist: /\b(mist(y)?|fog(gy)?|haze|hazy)\b/,
  storm: /\b(storm(y)?|rain(y|ing)?|thunder|lightning|tempest|drizzle)\b/,
  autumn: /\b(autumn(al)?|fall leaves|october|november|harvest)\b/,
  spring: /\b(spring|blossoms?|may|april|cherry)\b/,
  desert: /\b(deserts?|dunes?|canyon|sahara)\b/,
  day: /\b(noon|midday|sun(ny|light|lit)?|summer|day(light)?)\b/,
} satisfies Readonly<Record<Mood, RegExp>>;

const styles = {
  pixel: /\b(pixels?|pixel[- ]art|8[- ]?bit|16[- ]?bit|voxel|sprite)\b/,
  neon: /\b(neon|synthwave|cyberpunk|vaporwave|glow(ing)?)\b/,
  woodcut: /\b(wood(cut|block)|lino(cut|print)?|engrav(ing|ed)|etching|ukiyo-e|block print|screenprint)\b/,
  watercolour: /\b(water ?colou?rs?|aquarelle|gouache|wash)\b/,
  oil: /\b(oils?|impasto|impressionis[tm]|acrylics?|painting|painterly|canvas|van gogh|monet)\b/,
  pencil: /\b(pencils?|charcoal|graphite|sketch(es)?|crayon|pastels?|drawing|chalk)\b/,
  ink: /\b(ink(s|ed)?|sumi(-e)?|calligraphy|brush ?stroke|monochrome|black and white|pen)\b/,
  papercut: /\b(paper ?(cut(-?out)?|craft)?|collage|origami|cut-?out|felt)\b/,
  illustration: /\b(illustration|poster|vector|flat|photo(graph)?|cinematic|render|digital)\b/,
};

/** The styles that the sandbox paints in. */
export type Style = keyof typeof styles;

/** The elements of a picture that the words of a prompt name; the others are absent. */
export interface Theme {
  readonly animal?: Animal;
  readonly thing?: Thing;
  /** The colour of the animal or the thing. */
  readonly colour?: Colour;
  readonly setting?: Setting;
  readonly mood?: Mood;
  readonly style?: Style;
  readonly moon: boolean;
  readonly rain: boolean;
  readonly snow: boolean;
  readonly flowers: boolean;
}

const findEntry = <T extends string>(words: Readonly<Record<T, RegExp>>, text: string) =>
  (Object.entries(words) as [T, RegExp][]).find(([, pattern]) => pattern.test(text));

const find = <T extends string>(words: Readonly<Record<T, RegExp>>, text: string): T | undefined =>
  findEntry(words, text)?.[0];

/** Finds the words of a prompt that the sandbox can draw. */
export function themeOf(prompt: string): Theme {
  const text = prompt.slice(0, 4000).toLowerCase();
  const [animal, animalWords] = findEntry(animals, text) ?? [];
  const [thing, thingWords] = (animal === undefined ? findEntry(things, text) : undefined) ?? [];
  const subject = animalWords ?? thingWords;
  const colour = subject && subjectColour(text, subject);
  const [setting, mood, style] = [find(settings, text), find(moods, text), find(styles, text)];
  return {
    ...(animal && { animal }),
    ...(thing && { thing }),
    ...(colour && { colour }),
    ...(setting && { setting }),
    ...(mood && { mood }),
    ...(style && { style }),
    moon: /\bmoon(lit|light)?\b/.test(text),
    rain: /\b(rain(y|ing)?|drizzle|downpour)\b/.test(text),
    snow: /\b(snow(y|fall|storm|flakes?|field)?|winter|blizzard)\b/.test(text),
    flowers: /\b(flowers?|blossoms?|wildflowers?|popp(y|ies)|garden|tulips?|roses?)\b/.test(text),
  };
}

/** A colour before the subject, as in `light blue baby fox`: at most two words may stand between. */
const before = new RegExp(
  `(?<![\\w-])(?:(dark|deep|light|pale)[ -])?(?:[a-z]+-)?(${colourNames})(?:ish)?((?:[ -][a-z']+){0,2})[ -]$`,
);

/** Words which show that the colour before them belongs to another thing: a blue forest with a fox, a blue-eyed fox. */
const others =
  /[ -](?:a|an|the|and|or|of|in|on|at|by|with|for|from|to|under|over|near|behind|beside|\w*(?:eye|tail|nose|ear|paw|foot|leg|throat|breast|crest|head|wing|tip)\w*)\b/;

const fur = new RegExp(
  `\\b(?:(dark|deep|light|pale)[ -])?(${colourNames})[ -](?:fur|pelt|feathers|plumage)\\b`,
);

/**
 * Finds the colour that a prompt gives to its subject: the word before the subject (a blue fox), or the colour of its fur or feathers.
 * `subject` matches the subject's words in `text`, which is in lower case.
 */
function subjectColour(text: string, subject: RegExp): Colour | undefined {
  for (const { index } of text.matchAll(new RegExp(subject, 'g'))) {
    const [found, shade, name = '', between = ''] =
      before.exec(text.slice(Math.max(0, index - furthest), index).replaceAll(/\s+/g, ' ')) ?? [];
    if (found !== undefined && !others.test(`${between} `)) return shaded(shade, name);
  }
  const [, shade, name] = fur.exec(text) ?? [];
  return name === undefined ? undefined : shaded(shade, name);
}

/** Number of characters before a subject that are searched for a colour. */
const furthest = 60;

function shaded(shade: string | undefined, name: string): Colour | undefined {
  const [colour] = coloursNamed(name);
  if (colour === undefined || shade === undefined) return colour;
  return shade === 'dark' || shade === 'deep' ? darker(colour, 0.4) : lighter(colour, 0.45);
}
