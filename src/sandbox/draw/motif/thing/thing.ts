import { darker, lighter, mix } from '../../canvas/colour.ts';
import type { Palette } from '../../canvas/palette.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import type { Thing } from '../../canvas/theme.ts';
import { drawTree } from '../plants.ts';
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

/** A striped hot-air balloon. */
function drawBalloon(pen: Pen, palette: Palette, random: Random): void {
  const colours = [palette.accent, lighter(palette.light, 0.1), mix(palette.accent, palette.sky[0], 0.6)];
  const first = random.int(0, 2);
  for (let gore = 0; gore < 7; gore += 1) {
    const [a, b] = [edgeOf(gore), edgeOf(gore + 1)];
    const colour = colours[(gore + first) % 3] ?? palette.accent;
    pen.area(
      `${a * 0.12},-420! ${a * 0.8},-380 ${a},-270 ${a * 0.72},-160 ${a * 0.24},-70! ${b * 0.24},-70! ${b * 0.72},-160 ${b},-270 ${b * 0.8},-380 ${b * 0.12},-420!`,
      darker(colour, Math.abs(gore - 2) * 0.07),
    );
  }
  for (const x of [-24, -8, 8, 24]) pen.line(`${x * 1.4},-72 ${x},-16`, 2.5, '#4a3428');
  pen.area('-28,-18! 28,-18! 23,26 -23,26', {
    colours: ['#a9743f', '#5d3c22'],
    start: [0, -18],
    end: [0, 26],
  });
}

/** Where the edge between two of the seven gores runs, seen from the front. */
const edgeOf = (index: number): number => Math.cos(Math.PI * (1 - index / 7)) * 150;
