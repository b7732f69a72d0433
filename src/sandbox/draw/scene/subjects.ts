import { type Colour, coloursNamed, darker, lighter, mix } from '../canvas/colour.ts';
import type { Palette } from '../canvas/palette.ts';
import { across, type Pen, type Point } from '../canvas/pen.ts';
import { Random } from '../canvas/random.ts';
import { type Animal, type Theme, themeOf } from '../canvas/theme.ts';
import { type Box, unit, type World } from '../canvas/world.ts';
import { drawFlyingOwl, drawOwlBust, drawPerchedOwl } from '../motif/birds.ts';
import { drawBust, drawCurled, drawSeated, drawWalking } from '../motif/bodies.ts';
import { coatOf } from '../motif/coat.ts';
import type { Ground } from '../motif/land.ts';
import { drawBranch } from '../motif/plants.ts';
import { drawThing } from '../motif/things.ts';

/** The four compositions of an animal. */
export const animalPoses = ['portrait', 'seated', 'wandering', 'resting'] as const;

type AnimalPose = (typeof animalPoses)[number];

/** Draws an animal in its scene. */
export function drawAnimal(
  pen: Pen,
  world: World,
  palette: Palette,
  animal: Animal,
  pose: AnimalPose,
  ground: Ground,
): void {
  const random = world.random(`animal ${pose}`);
  const coat = coatOf(animal, palette, world.random('coat'));
  const look = { asleep: false, glance: random.range(-1, 1) };
  const side = random.chance(0.5) ? 1 : -1;
  const flies = coat.build === 'owl' || coat.build === 'bird';
  const shadow = pen.as('land');
  switch (pose) {
    case 'portrait': {
      const [x, y] = [side * random.range(10, 90), random.range(-20, 50)];
      const place = pen.at(x, y, random.range(1.5, 1.75), 0, side < 0);
      if (flies) drawOwlBust(place, coat, random, look);
      else drawBust(place, coat, random, look);
      return;
    }
    case 'seated': {
      const x = side * random.range(40, 150);
      const scale = random.range(1.24, 1.4);
      if (flies) {
        const [bark, leaves] = [
          mix('#5b4335', palette.land[3], 0.4),
          mix(palette.accent, palette.land[1], 0.4),
        ];
        drawBranch(shadow.at(x, 230), random, bark, leaves, 900);
        drawPerchedOwl(pen.at(x, 236, scale), coat, random, look);
        return;
      }
      const y = ground(x) + 40;
      shadow.ellipse(x, y, 210, 24, darker(palette.land[3], 0.5), 0.4);
      drawSeated(pen.at(x, y, scale), coat, random, look);
      return;
    }
    case 'wandering': {
      const x = side * random.range(30, 130);
      if (flies) {
        const place = pen.at(x, random.range(-120, -20), random.range(0.8, 1.05), random.range(-0.16, 0.16));
        drawFlyingOwl(place, coat, random, coat.build === 'owl');
        return;
      }
      const y = ground(x) + 46;
      shadow.ellipse(x, y, 190, 15, darker(palette.land[3], 0.5), 0.4);
      drawWalking(pen.at(x, y, random.range(1.15, 1.4), 0, side < 0), coat);
      return;
    }
    case 'resting': {
      const x = side * random.range(20, 110);
      if (flies) {
        const y = ground(x) + 30;
        const bark = mix('#6b4f3c', palette.land[3], 0.35);
        const stump = shadow.at(x, y);
        const round = across([darker(bark, 0.3), bark, darker(bark, 0.45)], -90, 100);
        stump.area('-120,90! -86,0 -80,-130! 84,-122! 92,0 136,90!', round);
        stump.ellipse(2, -126, 82, 20, mix(bark, '#e8cfa8', 0.5));
        stump.ellipse(2, -126, 48, 11, mix(bark, '#e8cfa8', 0.3));
        drawPerchedOwl(pen.at(x, y - 132, random.range(1, 1.12)), coat, random, { asleep: true, glance: 0 });
        return;
      }
      const y = ground(x) + 66;
      shadow.ellipse(x, y + 6, 300, 30, darker(palette.land[3], 0.5), 0.45);
      drawCurled(pen.at(x, y, random.range(1.5, 1.75), 0, side < 0), coat, random);
      return;
    }
  }
}

/** A subject that replaces the scene's own in some regions. */
export interface Placed {
  readonly text: string;
  readonly seed: string;
  /** The composition, as of a frame. */
  readonly pose: number;
  /** The regions, in the scene's units; each gets one subject. */
  readonly boxes: readonly Box[];
}

/** Whether the words of a prompt describe the land or the light. */
export const saysOfLand = (theme: Theme): boolean =>
  theme.mood !== undefined ||
  theme.setting !== undefined ||
  theme.moon ||
  theme.rain ||
  theme.snow ||
  theme.flowers;

/** Draws the subject of a prompt so that it fills each box. */
export function drawPlaced(pen: Pen, world: World, theme: Theme, palette: Palette, placed: Placed): void {
  const own = colouredBy(placed, palette);
  drawLight(pen, placed.boxes, own);
  const words = themeOf(placed.text);
  const subject = pen.as('subject');
  for (const [index, box] of placed.boxes.entries()) {
    const { left, right, top, bottom } = box;
    const [width, height] = [right - left, bottom - top];
    const place = subject.at((left + right) / 2, (top + bottom) / 2, Math.min(width, height) / unit);
    if (theme.animal !== undefined) {
      // These two poses fill a small place best.
      const pose = (placed.pose + index) % 2 === 0 ? 'portrait' : 'seated';
      drawAnimal(place.at(0, -20, 1.05), world, own, theme.animal, pose, () => 270);
    } else if (theme.thing !== undefined) {
      drawThing(place.at(0, 430, 2), theme.thing, own, randomOf(placed, 'placed', index), theme.snow);
    } else if (!saysOfLand(words)) {
      drawCloth(subject, own, box, randomOf(placed, 'cloth', index));
    }
  }
}

/** Draws an addition to the present subject, such as the scarf of a fox: cloth of the colour that the prompt names. */
export function drawAdded(pen: Pen, palette: Palette, placed: Placed): void {
  const own = colouredBy(placed, palette);
  drawLight(pen, placed.boxes, own);
  for (const [index, box] of placed.boxes.entries())
    drawCloth(pen.as('subject'), own, box, randomOf(placed, 'cloth', index));
}

const randomOf = ({ seed }: Placed, name: string, index: number): Random =>
  new Random(`${seed}/${name}${index === 0 ? '' : ` ${index}`}`);

/** Whether a prompt gives its subject a colour and no addition, so that the subject itself is painted again. */
export const isRecoloured = ({ text }: Placed): boolean =>
  themeOf(text).colour !== undefined && !/\b(with|wear(s|ing)?)\b/i.test(text);

/** The palette with the colour that the words name; the second colour if the first is the subject's: a blue fox with a red scarf. */
function colouredBy({ text }: Placed, palette: Palette): Palette {
  const colours = coloursNamed(text);
  const colour = colours[themeOf(text).colour === undefined ? 0 : 1] ?? colours[0];
  return colour === undefined ? palette : { ...palette, accent: colour };
}

/** Tints the boxes, so that a changed region is visible even around a small subject. */
function drawLight(pen: Pen, boxes: readonly Box[], { accent }: Palette): void {
  const left = Math.min(...boxes.map((box) => box.left));
  const right = Math.max(...boxes.map((box) => box.right));
  const top = Math.min(...boxes.map((box) => box.top));
  const bottom = Math.max(...boxes.map((box) => box.bottom));
  const [width, height] = [right - left, bottom - top];
  pen.as('air').box(left - width, top - height, right + width, bottom + height, accent, 0.08);
}

function drawCloth(pen: Pen, { accent }: Palette, box: Box, random: Random): void {
  const { left, right, top, bottom } = box;
  const size = (Math.max(right - left, bottom - top) / unit) * 1.04;
  drawDrapery(pen.at((left + right) / 2, (top + bottom) / 2, size), accent, random);
}

/** Draws folded cloth of about 900 × 900 around the origin, for things that the sandbox knows no form of, such as a scarf. */
function drawDrapery(pen: Pen, colour: Colour, random: Random): void {
  const folds = 7;
  const sway = random.range(60, 130);
  const phase = random.range(0, 6);
  const edgeAt = (fold: number, share: number): number =>
    -450 +
    (900 * fold) / folds +
    Math.sin(share * 5 + phase + fold * 0.55) * sway * (0.35 + share * 0.65) * (fold === 0 ? 0.6 : 1);
  for (let fold = 0; fold < folds; fold += 1) {
    const shade = fold % 2 === 0 ? random.range(0.02, 0.12) : random.range(0.2, 0.38);
    const steps = [0, 0.2, 0.4, 0.6, 0.8, 1];
    const side = (edge: number): Point[] =>
      steps.map(
        (share): Point => [edgeAt(edge, share), -470 + 940 * share + (share === 1 ? (edge % 2) * 24 : 0)],
      );
    const points = [...side(fold), ...side(fold + 1).reverse()];
    const middle = -450 + (900 * (fold + 0.5)) / folds;
    const shades = [lighter(colour, 0.16 - shade / 3), darker(colour, shade), darker(colour, shade + 0.18)];
    pen.area(points, across(shades, middle - 80, middle + 80));
    pen.line(side(fold).slice(0, -1), 5, darker(colour, 0.45), 0.5);
  }
  for (const y of [-380, 360]) {
    const band = Array.from({ length: 9 }, (_, index): Point => {
      const fold = (folds * index) / 8;
      return [edgeAt(fold, (y + 470) / 940), y + Math.sin(index * 1.9 + phase) * 12];
    });
    pen.line(band, 16, lighter(colour, 0.55), 0.75);
  }
}
