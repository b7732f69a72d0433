import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import type { Point } from '../../canvas/shape.ts';
import type { Coat } from '../coat.ts';
import type { EyeStyle } from '../head/eye.ts';
import { drawHead } from '../head/head.ts';

/** Head, neck and shoulders; the head's middle at the origin, the shoulders run out below. */
export function drawBust(pen: Pen, coat: Coat, random: Random, look: EyeStyle): void {
  const wide = coat.build === 'deer' ? 0.72 : 1;
  pen.symmetric(
    `0,40 ${70 * wide},60 ${112 * wide},120 ${150 * wide},190 ${196 * wide},280 ${230 * wide},420 ${236 * wide},620! 0,620!`,
    { colours: [darker(coat.main, 0.2), coat.main, darker(coat.main, 0.34)], start: [0, 60], end: [0, 520] },
  );
  const tufts: Point[] = [[0, 80]];
  const count = 9;
  for (let index = 0; index <= count; index += 1) {
    const share = index / count;
    const half = (88 - 30 * share) * wide;
    tufts.push([half * (index % 2 === 0 ? 1 : 0.8), 100 + share * 300, index % 2 === 0 ? 1 : 0]);
  }
  tufts.push([0, 470, 1]);
  pen.symmetric(tufts, { colours: [coat.pale, darker(coat.pale, 0.22)], start: [0, 90], end: [0, 460] });
  for (let index = 0; index < 22; index += 1) {
    const side = index % 2 === 0 ? 1 : -1;
    const x = side * random.range(70, 190) * wide;
    const y = random.range(170, 460);
    pen.line(
      `${x},${y} ${x + side * 8},${y + 22} ${x + side * 10},${y + 44}`,
      3,
      random.chance(0.5) ? lighter(coat.main, 0.2) : darker(coat.main, 0.35),
      0.5,
    );
  }
  drawHead(pen, coat, look);
}
