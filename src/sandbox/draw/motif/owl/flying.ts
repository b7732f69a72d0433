import { sided } from '../head/eye.ts';
import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import type { Point } from '../../canvas/shape.ts';
import type { Coat } from '../coat.ts';
import { drawOwlHead } from './head.ts';

/** An owl or another bird gliding towards us, wings spread over about 620; its middle at the origin. */
export function drawFlyingOwl(pen: Pen, coat: Coat, random: Random, head: boolean): void {
  const rise = random.range(0.75, 1.15);
  for (const side of [-1, 1]) {
    const tips: Point[] = [];
    for (let feather = 0; feather < 7; feather += 1) {
      const share = feather / 6;
      const x = 318 - share * 232;
      const y = -118 * rise + share * 128 * rise + Math.sin(share * Math.PI) * 66;
      tips.push([side * x, y + 34, 1], [side * (x - 20), y + 4]);
    }
    pen.area(
      [
        [side * 20, -44],
        [side * 110, -98 * rise],
        [side * 214, -150 * rise],
        [side * 322, -128 * rise, 1],
        ...tips,
        [side * 40, 48],
      ],
      {
        colours: [darker(coat.main, 0.05), lighter(coat.main, 0.1), darker(coat.main, 0.3)],
        start: [0, -60],
        end: [side * 300, 0],
      },
    );
    pen.area(
      sided(
        side,
        `30,-30 110,${-72 * rise} 206,${-112 * rise} 268,${-98 * rise}! 190,${-46 * rise} 110,0 40,26`,
      ),
      coat.pale,
      0.75,
    );
    for (let bar = 0; bar < 4; bar += 1) {
      const x = side * (110 + bar * 48);
      pen.line(
        `${x},${-66 * rise - bar * 8} ${x + side * 12},${-20 * rise} ${x + side * 4},${26 - bar * 12}`,
        4,
        coat.dark,
        0.45,
      );
    }
  }
  pen.symmetric('0,40 22,70 46,132! 22,128 0,140', {
    colours: [coat.main, coat.dark],
    start: [0, 40],
    end: [0, 140],
  });
  pen.symmetric('0,-60 44,-34 46,30 26,82 0,96', {
    colours: [coat.main, coat.pale],
    start: [0, -60],
    end: [0, 90],
  });
  if (head) drawOwlHead(pen.at(0, -62, 0.5), coat, { asleep: false, glance: 0 });
  else {
    pen.ellipse(0, -66, 24, 26, coat.main);
    pen.area('-7,-62! 0,-38! 7,-62!', coat.nose);
  }
}
