import { drawDrapery } from '../motif/drapery.ts';
import { drawThing } from '../motif/thing/thing.ts';
import { colourNamed } from './colour-words.ts';
import type { Palette } from './palette.ts';
import type { Pen } from './pen.ts';
import { Random } from './random.ts';
import { drawAnimal } from './subject.ts';
import { type Theme, themeOf } from './theme.ts';
import { type Box, unit, type World } from './world.ts';

/** What is put into a region of a scene, in place of the scene's own subject. */
export interface Placed {
  readonly text: string;
  readonly seed: string;
  /** As of a frame. */
  readonly pose: number;
  /** Where, in the scene's units. */
  readonly box: Box;
}

/** Whether words are about the land or the light, so that these are what is new. */
export const saysOfLand = (theme: Theme): boolean =>
  theme.mood !== undefined ||
  theme.setting !== undefined ||
  theme.moon ||
  theme.rain ||
  theme.snow ||
  theme.flowers;

/** Draws the subject of a prompt so that it fills its box. */
export function drawPlaced(pen: Pen, world: World, theme: Theme, palette: Palette, placed: Placed): void {
  const words = themeOf(placed.text);
  const { left, right, top, bottom } = placed.box;
  const random = new Random(`${placed.seed}/placed`);
  const colour = colourNamed(placed.text);
  const own: Palette = colour === undefined ? palette : { ...palette, accent: colour };
  const [width, height] = [right - left, bottom - top];
  // Something new lies in this light everywhere, however small the subject in it is.
  pen.as('air').area(
    [
      [left - width, top - height, 1],
      [right + width, top - height, 1],
      [right + width, bottom + height, 1],
      [left - width, bottom + height, 1],
    ],
    own.accent,
    0.14,
  );
  const subject = pen.as('subject');
  const place = subject.at((left + right) / 2, (top + bottom) / 2, Math.min(width, height) / unit);
  if (theme.animal !== undefined) {
    // The two that fill a small place best.
    const pose = placed.pose % 2 === 0 ? 'portrait' : 'seated';
    drawAnimal(place.at(0, -20, 1.05), world, own, theme.animal, pose, () => 270);
  } else if (theme.thing !== undefined) {
    drawThing(place.at(0, 430, 2), theme.thing, own, random, theme.snow);
  } else if (!saysOfLand(words)) {
    const [x, y] = [width / Math.min(width, height), height / Math.min(width, height)];
    drawDrapery(place.at(0, 0, Math.max(x, y) * 1.04), own.accent, random);
  }
}
