import { mix } from '../../canvas/colour.ts';
import type { Palette } from '../../canvas/palette.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import type { Thing } from '../../canvas/theme.ts';
import { drawTree } from '../plants.ts';
import { drawBalloon } from './balloon.ts';
import { drawCabin, drawCastle } from './house.ts';
import { drawBouquet, drawMountain } from './nature.ts';
import { drawBoat, drawLighthouse } from './sea.ts';

/** A thing of about 300 × 400 that stands on the origin, in the subject's own colour where it has one. */
export function drawThing(pen: Pen, thing: Thing, scene: Palette, random: Random, snow: boolean): void {
  const palette = scene.subject === undefined ? scene : { ...scene, accent: scene.subject };
  switch (thing) {
    case 'boat':
      return drawBoat(pen, palette, random);
    case 'lighthouse':
      return drawLighthouse(pen, palette);
    case 'cabin':
      return drawCabin(pen, palette, random, snow);
    case 'castle':
      return drawCastle(pen, palette, random);
    case 'balloon':
      return drawBalloon(pen, palette, random);
    case 'flower':
      return drawBouquet(pen, palette, random);
    case 'mountain':
      return drawMountain(pen, palette, random);
    case 'tree':
      return drawTree(
        pen.at(0, 0, 2.1),
        random,
        palette.subject !== undefined
          ? mix(palette.subject, palette.land[2], 0.2)
          : palette.night
            ? palette.land[1]
            : mix(palette.land[2], palette.accent, 0.25),
        '#4a3630',
      );
  }
}
