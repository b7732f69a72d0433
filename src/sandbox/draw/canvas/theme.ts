import { type Colour, colourNames, coloursNamed, darker, lighter } from './colour.ts';
import type { Mood } from './palette.ts';

// Words of prompts; where several are in one, the first of a table counts.

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

/** Animals that a scene can hold. */
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

/** Things that can stand as the subject of a scene. */
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

/** Where a scene lies. */
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

/** How a picture is made. */
export type Style = keyof typeof styles;

/** What the words of a prompt ask for; absent where it says nothing of it. */
export interface Theme {
  readonly animal?: Animal;
  readonly thing?: Thing;
  /** Of the animal or the thing. */
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

/** Reads the words of a prompt that the sandbox can draw. */
export function themeOf(prompt: string): Theme {
  const text = prompt.slice(0, 4000).toLowerCase();
  const [animal, animalWords] = findEntry(animals, text) ?? [];
  const [thing, thingWords] = (animal === undefined ? findEntry(things, text) : undefined) ?? [];
  const subject = animalWords ?? thingWords;
  const colour = subject === undefined ? undefined : subjectColour(text, subject);
  const setting = find(settings, text);
  const mood = find(moods, text);
  const style = find(styles, text);
  return {
    ...(animal === undefined ? {} : { animal }),
    ...(thing === undefined ? {} : { thing }),
    ...(colour === undefined ? {} : { colour }),
    ...(setting === undefined ? {} : { setting }),
    ...(mood === undefined ? {} : { mood }),
    ...(style === undefined ? {} : { style }),
    moon: /\bmoon(lit|light)?\b/.test(text),
    rain: /\b(rain(y|ing)?|drizzle|downpour)\b/.test(text),
    snow: /\b(snow(y|fall|storm|flakes?|field)?|winter|blizzard)\b/.test(text),
    flowers: /\b(flowers?|blossoms?|wildflowers?|popp(y|ies)|garden|tulips?|roses?)\b/.test(text),
  };
}

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
function subjectColour(text: string, subject: RegExp): Colour | undefined {
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
