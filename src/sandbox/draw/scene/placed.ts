import { coloursNamed } from '../canvas/colour-words.ts';
import type { Palette } from '../canvas/palette.ts';
import type { Pen } from '../canvas/pen.ts';
import { Random } from '../canvas/random.ts';
import { type Theme, themeOf } from '../canvas/theme.ts';
import { type Box, unit, type World } from '../canvas/world.ts';
import { drawDrapery } from '../motif/drapery.ts';
import { drawThing } from '../motif/thing/thing.ts';
import { drawAnimal } from './subject.ts';

/** What is put into a region of a scene, in place of the scene's own subject. */
export interface Placed {
  readonly text: string;
  readonly seed: string;
  /** As of a frame. */
  readonly pose: number;
  /** Where, in the scene's units: each box is filled with one. */
  readonly boxes: readonly Box[];
}

/** Whether words are about the land or the light, so that these are what is new. */
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
      // The two that fill a small place best.
      const pose = (placed.pose + index) % 2 === 0 ? 'portrait' : 'seated';
      drawAnimal(place.at(0, -20, 1.05), world, own, theme.animal, pose, () => 270);
    } else if (theme.thing !== undefined) {
      drawThing(place.at(0, 430, 2), theme.thing, own, randomOf(placed, 'placed', index), theme.snow);
    } else if (!saysOfLand(words)) {
      drawCloth(subject, own, box, randomOf(placed, 'cloth', index));
    }
  }
}

/** What a prompt adds to a subject that is there already, such as the scarf of a fox: cloth of the colour it names. */
export function drawAdded(pen: Pen, palette: Palette, placed: Placed): void {
  const own = colouredBy(placed, palette);
  drawLight(pen, placed.boxes, own);
  for (const [index, box] of placed.boxes.entries())
    drawCloth(pen.as('subject'), own, box, randomOf(placed, 'cloth', index));
}

const randomOf = ({ seed }: Placed, name: string, index: number): Random =>
  new Random(`${seed}/${name}${index === 0 ? '' : ` ${index}`}`);

/** Whether a prompt gives its subject a colour and adds nothing to it: then the subject itself is what is new. */
export const isRecoloured = ({ text }: Placed): boolean =>
  themeOf(text).colour !== undefined && !/\b(with|wear(s|ing)?)\b/i.test(text);

/** In the colour that the words name, the second where the first is the subject's: a blue fox with a red scarf. */
function colouredBy({ text }: Placed, palette: Palette): Palette {
  const colours = coloursNamed(text);
  const colour = colours[themeOf(text).colour === undefined ? 0 : 1] ?? colours[0];
  return colour === undefined ? palette : { ...palette, accent: colour };
}

/** Something new lies in this light everywhere in the boxes, however small the subjects in them are. */
function drawLight(pen: Pen, boxes: readonly Box[], { accent }: Palette): void {
  const [left, right] = [
    Math.min(...boxes.map((box) => box.left)),
    Math.max(...boxes.map((box) => box.right)),
  ];
  const [top, bottom] = [
    Math.min(...boxes.map((box) => box.top)),
    Math.max(...boxes.map((box) => box.bottom)),
  ];
  const [width, height] = [right - left, bottom - top];
  pen
    .as('air')
    .area(
      `${left - width},${top - height}! ${right + width},${top - height}! ${right + width},${bottom + height}! ${left - width},${bottom + height}!`,
      accent,
      0.08,
    );
}

function drawCloth(pen: Pen, { accent }: Palette, box: Box, random: Random): void {
  const { left, right, top, bottom } = box;
  const size = (Math.max(right - left, bottom - top) / unit) * 1.04;
  drawDrapery(pen.at((left + right) / 2, (top + bottom) / 2, size), accent, random);
}
