import { type Colour, coloursNamed, darker, lighter } from '../canvas/colour.ts';
import type { Frame } from '../canvas/drawing.ts';
import { type Mood, type Palette, paletteOf, tinted } from '../canvas/palette.ts';
import { Pen, type Scene, type Shape } from '../canvas/pen.ts';
import type { Random } from '../canvas/random.ts';
import { type Setting, type Theme, themeOf } from '../canvas/theme.ts';
import { type Box, World } from '../canvas/world.ts';
import { drawGround, groundOf } from '../motif/land.ts';
import { drawRain, drawSnowfall } from '../motif/sky.ts';
import { drawThing } from '../motif/things.ts';
import { drawAbstract, drawBackdrop, drawForeground } from './backdrop.ts';
import { animalPoses, drawAdded, drawAnimal, drawPlaced, isRecoloured, type Placed } from './subjects.ts';

const openSettings: readonly Setting[] = ['hills', 'mountains', 'forest', 'lake', 'meadow'];
const openMoods: readonly Mood[] = ['day', 'dawn', 'dusk', 'autumn', 'mist', 'spring'];

/** Composes the scene of a frame: sky, land, subject, weather. `placed` replaces the subject, and its words change the land. */
export function composeScene(frame: Frame, placed?: Placed): Scene {
  const world = new World(frame);
  const theme = placed === undefined ? themeOf(frame.text) : placedTheme(frame, placed);
  const random = world.random('composition');
  const mood = theme.mood ?? (theme.snow ? 'snow' : random.pick(openMoods));
  const plain = paletteOf(mood, world.random('palette'));
  const lit = frame.tint === undefined ? plain : tinted(plain, frame.tint);
  const palette = theme.colour === undefined ? lit : { ...lit, subject: theme.colour };
  const pen = new Pen();
  const known =
    theme.animal !== undefined ||
    theme.thing !== undefined ||
    theme.setting !== undefined ||
    theme.mood !== undefined ||
    theme.moon;
  const own = themeOf(frame.text).animal;
  // The same animal with an addition: the animal stays in its place, and only the addition is new.
  const again = placed !== undefined && own !== undefined && theme.animal === own;
  if (known) drawLandscape(pen, world, theme, palette, random, mood, again ? undefined : placed);
  else drawAbstract(pen, world, inNamedColour(palette, frame.text), frame.pose);
  if (again && !isRecoloured(placed)) drawAdded(pen, palette, placed);
  else if (placed !== undefined && !known) drawPlaced(pen, world, theme, palette, placed);
  return {
    shapes: pen.shapes.filter((shape) => isSeen(shape, world.box)),
    mood: { light: palette.sky[2], dark: palette.land[3], accent: palette.accent },
  };
}

/** Tints the palette with the colour of a prompt of which nothing else can be drawn. */
function inNamedColour(palette: Palette, text: string): Palette {
  const [colour] = coloursNamed(text);
  if (colour === undefined) return palette;
  return tinted(palette, { sky: lighter(colour, 0.3), land: darker(colour, 0.2), accent: colour });
}

function drawLandscape(
  pen: Pen,
  world: World,
  theme: Theme,
  palette: Palette,
  random: Random,
  mood: Mood,
  placed: Placed | undefined,
): void {
  const setting = theme.setting ?? settingOf(theme, mood, random);
  const pose = animalPoses[world.frame.pose] ?? 'portrait';
  const distant = theme.animal !== undefined && pose === 'wandering';
  const horizon = random.range(20, 110) + (distant ? 70 : 0);
  const floor = distant ? 330 : random.range(235, 300);
  const clear = pose === 'portrait' || pose === 'seated' ? 260 : 180;
  const { ground, near } = drawBackdrop(pen, world, palette, theme, setting, horizon, floor, {
    from: -clear,
    to: clear,
  });

  const subject = pen.as('subject');
  if (placed !== undefined) {
    drawForeground(pen.as('detail'), world, palette, theme, setting, (x) => ground(x) + 46);
    drawPlaced(pen, world, theme, palette, placed);
  } else if (theme.animal !== undefined) {
    if (pose === 'portrait') drawForeground(pen.as('detail'), world, palette, theme, setting, ground);
    drawAnimal(subject, world, palette, theme.animal, pose, ground);
    if (pose === 'portrait') drawRidge(pen, world, palette, theme, setting, near);
  } else if (theme.thing !== undefined) {
    const own = world.random('thing');
    const x = (own.chance(0.5) ? 1 : -1) * own.range(30, 190);
    const scale = [1.25, 0.9, 1.05, 0.68][world.frame.pose] ?? 1;
    const afloat = theme.thing === 'boat';
    const aloft = theme.thing === 'balloon';
    const far = theme.thing === 'mountain' || theme.thing === 'castle';
    const y = aloft ? own.range(60, 170) : afloat ? horizon + 120 : far ? horizon + 70 : ground(x) + 36;
    const place = subject.at(x, y, scale, afloat ? own.range(-0.05, 0.05) : 0, own.chance(0.5));
    drawThing(place, theme.thing, palette, own, theme.snow || mood === 'snow');
    for (const offset of aloft ? [-1, 1] : []) {
      const [far, high] = [x + offset * own.range(260, 380), own.range(-120, 40)];
      drawThing(subject.at(far, high, scale * own.range(0.22, 0.4)), 'balloon', palette, own, false);
    }
  }
  if (placed === undefined && (theme.animal === undefined || pose !== 'portrait')) {
    drawForeground(pen.as('detail'), world, palette, theme, setting, (x) => ground(x) + 46);
  }
  if (mood === 'snow' || theme.snow) drawSnowfall(pen.as('air'), world);
  if (theme.rain) drawRain(pen.as('air'), world);
}

/** Draws land in front of a portrait, far below, where a wider view would show that the animal has no feet. */
function drawRidge(
  pen: Pen,
  world: World,
  palette: Palette,
  theme: Theme,
  setting: Setting,
  near: Colour,
): void {
  const ridge = groundOf(world, 'ridge', 870, 24, 380);
  drawGround(pen.as('land'), world, ridge, near, near);
  // The plants are as large as those in front of other poses.
  drawForeground(pen.as('detail'), world, palette, theme, setting, ridge, 9);
}

/** Composes only the placed subject, in the colours of its own words, for a picture whose land is an image. */
export function composePlaced(frame: Frame, placed: Placed): Scene {
  const world = new World(frame);
  const theme = themeOf(placed.text);
  const plain = paletteOf(theme.mood ?? 'day', world.random('palette'));
  const palette = theme.colour === undefined ? plain : { ...plain, subject: theme.colour };
  const pen = new Pen();
  drawPlaced(pen, world, theme, palette, placed);
  const { sky, land, accent } = palette;
  return { shapes: pen.shapes, mood: { light: sky[2], dark: land[3], accent } };
}

/** Returns the theme of a frame with another subject. Words of the new prompt about land and light replace the frame's. */
function placedTheme(frame: Frame, placed: Placed): Theme {
  const { animal, thing: _thing, colour, ...land } = themeOf(frame.text);
  const { style: _style, ...own } = themeOf(placed.text);
  // A new prompt changes the light, but not the landscape.
  const setting = land.setting ?? own.setting;
  return {
    ...land,
    ...own,
    // The same animal keeps its colour unless the new words name one.
    ...(colour === undefined || own.colour !== undefined || own.animal !== animal ? {} : { colour }),
    ...(setting === undefined ? {} : { setting }),
    moon: land.moon || own.moon,
    rain: land.rain || own.rain,
    snow: land.snow || own.snow,
    flowers: land.flowers || own.flowers,
  };
}

function settingOf(theme: Theme, mood: Mood, random: Random): Setting {
  if (theme.thing === 'boat' || theme.thing === 'lighthouse') return 'sea';
  if (theme.thing === 'mountain') return 'lake';
  if (theme.thing === 'flower') return 'meadow';
  if (mood === 'desert') return 'desert';
  return random.pick(openSettings);
}

function isSeen({ points }: Shape, box: Box): boolean {
  return (
    points.some(([x]) => x > box.left) &&
    points.some(([x]) => x < box.right) &&
    points.some(([, y]) => y > box.top) &&
    points.some(([, y]) => y < box.bottom)
  );
}
