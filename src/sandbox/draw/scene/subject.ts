import { darker, mix } from '../canvas/colour.ts';
import type { Palette } from '../canvas/palette.ts';
import type { Pen } from '../canvas/pen.ts';
import type { Animal } from '../canvas/theme.ts';
import { type World } from '../canvas/world.ts';
import { drawBust } from '../motif/body/bust.ts';
import { drawCurled } from '../motif/body/curled.ts';
import { drawSeated } from '../motif/body/seated.ts';
import { drawWalking } from '../motif/body/walking.ts';
import { drawBranch } from '../motif/branch.ts';
import { coatOf } from '../motif/coat.ts';
import type { Ground } from '../motif/landscape/land.ts';
import { drawFlyingOwl } from '../motif/owl/flying.ts';
import { drawOwlBust, drawPerchedOwl } from '../motif/owl/perched.ts';

/** How the four compositions of an animal frame it. */
export const animalPoses = ['portrait', 'seated', 'wandering', 'resting'] as const;

/** One of the four. */
export type AnimalPose = (typeof animalPoses)[number];

/** Puts an animal into its scene. */
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
      const place = pen.at(
        side * random.range(10, 90),
        random.range(-20, 50),
        random.range(1.5, 1.75),
        0,
        side < 0,
      );
      if (flies) drawOwlBust(place, coat, random, look);
      else drawBust(place, coat, random, look);
      return;
    }
    case 'seated': {
      const x = side * random.range(40, 150);
      const scale = random.range(1.24, 1.4);
      if (flies) {
        drawBranch(
          pen.as('land').at(x, 230),
          random,
          mix('#5b4335', palette.land[3], 0.4),
          mix(palette.accent, palette.land[1], 0.4),
          900,
        );
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
        drawFlyingOwl(
          pen.at(x, random.range(-120, -20), random.range(0.8, 1.05), random.range(-0.16, 0.16)),
          coat,
          random,
          coat.build === 'owl',
        );
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
        const stump = pen.as('land').at(x, y);
        stump.area('-120,90! -86,0 -80,-130! 84,-122! 92,0 136,90!', {
          colours: [darker(bark, 0.3), bark, darker(bark, 0.45)],
          start: [-90, 0],
          end: [100, 0],
        });
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
