import { sided } from '../head/eye.ts';
import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import type { Point } from '../../canvas/shape.ts';
import type { Coat } from '../coat.ts';
import type { EyeStyle } from '../head/eye.ts';
import { drawHead } from '../head/head.ts';

/** An animal sitting and facing us, about 300 × 480; its feet at the origin. */
export function drawSeated(pen: Pen, coat: Coat, random: Random, look: EyeStyle): void {
  const tall = coat.build === 'deer' ? 1.15 : 1;
  drawSeatedTail(pen, coat, random);
  const dress = {
    colours: [lighter(coat.main, 0.05), coat.main, darker(coat.main, 0.3)],
    start: [0, -300] as Point,
    end: [0, 0] as Point,
  };
  for (const side of [-1, 1]) {
    pen.ellipse(side * 74, -50, 52, 56, darker(coat.main, 0.16), 1, side * 0.3);
    pen.ellipse(side * 84, -5, 38, 12, darker(coat.main, 0.3));
  }
  pen.symmetric(`0,${-312 * tall} 54,${-288 * tall} 76,-220 92,-140 96,-64 70,-4 0,-2`, dress);
  pen.symmetric('0,-300 46,-268 60,-232! 46,-218 50,-182! 34,-172 34,-134! 18,-126 0,-92!', {
    colours: [coat.pale, darker(coat.pale, 0.18)],
    start: [0, -300],
    end: [0, -90],
  });
  for (const side of [-1, 1]) {
    pen.area(
      sided(side, '8,-170 50,-150 46,-60 44,-8 52,2! 10,3! 10,-60'),
      { colours: [coat.main, darker(coat.main, 0.1), coat.dark], start: [0, -170], end: [0, 0] },
      0.96,
    );
    for (const toe of [20, 30, 40])
      pen.line(`${side * toe},-8 ${side * toe},1`, 2, darker(coat.dark, 0.3), 0.7);
  }
  pen.line('0,-110 0,0', 2.5, darker(coat.main, 0.5), 0.55);
  drawHead(pen.at(0, -352 * tall, 0.94, random.range(-0.09, 0.09)), coat, look);
}

function drawSeatedTail(pen: Pen, coat: Coat, random: Random): void {
  const side = random.chance(0.5) ? 1 : -1;
  const tail = pen.at(0, 0, 1, 0, side < 0);
  if (coat.tail === 'bushy') {
    tail.area('60,-6 120,4 184,-18 232,-76 236,-142 214,-196! 192,-150 160,-104 110,-74 70,-60', {
      colours: [darker(coat.main, 0.25), coat.main, lighter(coat.main, 0.08)],
      start: [60, 0],
      end: [236, -150],
    });
    tail.area('234,-128 238,-160 214,-200! 190,-152 200,-140! 208,-146 216,-132! 224,-138', coat.pale);
  } else if (coat.tail === 'long') {
    tail.line('70,-14 150,-6 206,-40 214,-96 184,-128', 24, darker(coat.main, 0.14));
    if (coat.stripes) {
      for (const [x, y] of [
        [146, -6],
        [186, -22],
        [210, -58],
        [212, -96],
      ] as const)
        tail.ellipse(x, y, 5, 13, coat.dark, 0.9);
    }
  } else {
    tail.ellipse(96, -34, 24, 20, coat.pale);
  }
}
