import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Point } from '../../canvas/shape.ts';
import type { Coat } from '../coat.ts';
import { drawEye, type EyeStyle, sided } from './eye.ts';

/** A cat's, lynx's, tiger's or lion's head, about 240 × 260. */
export function drawFelineHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  if (coat.mane !== undefined) {
    const points: Point[] = [];
    for (let index = 0; index < 44; index += 1) {
      const angle = (index / 44) * 2 * Math.PI;
      const reach = index % 2 === 0 ? 182 : 146;
      points.push([Math.sin(angle) * reach, 12 - Math.cos(angle) * reach * 1.02, index % 2 === 0 ? 1 : 0]);
    }
    pen.area(points, { colours: [coat.mane, darker(coat.mane, 0.45)], start: [0, -150], end: [0, 190] });
    pen.ellipse(0, 12, 132, 132, lighter(coat.mane, 0.16), 0.6);
  }
  for (const side of [-1, 1]) {
    if (coat.roundEars) {
      pen.ellipse(side * 78, -70, 32, 32, darker(coat.main, 0.15));
      pen.ellipse(side * 78, -68, 19, 19, coat.ear);
    } else {
      pen.area(sided(side, '24,-62! 46,-112 88,-152! 104,-92 106,-22!'), darker(coat.main, 0.12));
      pen.area(sided(side, '46,-66! 60,-104 84,-132! 92,-88 90,-42!'), coat.ear);
    }
    if (coat.tufts) {
      pen.area(sided(side, '82,-146! 98,-208! 94,-142!'), coat.dark);
      pen.area(sided(side, '84,20! 124,44 140,92! 116,88 120,124! 92,104 84,136! 60,96'), {
        colours: [coat.main, coat.pale],
        start: [0, 20],
        end: [0, 130],
      });
    }
  }
  pen.symmetric('0,-82 44,-78 88,-54 112,-8 110,38 84,78 46,100 0,106', {
    colours: [coat.main, lighter(coat.main, 0.1), darker(coat.main, 0.1)],
    start: [0, -80],
    end: [0, 104],
  });
  if (coat.stripes) {
    for (const side of [-1, 1]) {
      pen.area(sided(side, '6,-80! 14,-78! 11,-30!'), coat.dark, 0.9);
      pen.area(sided(side, '28,-78! 40,-74! 26,-36!'), coat.dark, 0.9);
      pen.area(sided(side, '110,2! 111,14! 74,24!'), coat.dark, 0.85);
      pen.area(sided(side, '108,30! 104,42! 72,42!'), coat.dark, 0.85);
      pen.area(sided(side, '92,58! 86,68! 62,58!'), coat.dark, 0.8);
    }
  }
  pen.symmetric('0,-40 13,-14 17,22 22,44 0,52', lighter(coat.main, 0.16), 0.8);
  for (const side of [-1, 1]) {
    pen.area(sided(side, '24,-20! 52,-34 80,-18! 52,-22'), coat.pale, 0.75);
    drawEye(pen, side, 48, 4, 22, coat, look, true);
    pen.ellipse(side * 23, 64, 29, 23, coat.pale);
    for (const whisker of [0, 1, 2]) {
      pen.ellipse(side * (20 + whisker * 8), 62 + whisker * 4, 1.8, 1.8, coat.dark, 0.7);
      pen.line(
        sided(side, `34,${62 + whisker * 5} 84,${50 + whisker * 15} 136,${50 + whisker * 24}`),
        1.8,
        '#fffdf5',
        0.85,
      );
    }
  }
  pen.symmetric('0,78 20,84 14,100 0,104', coat.pale);
  pen.symmetric('0,40 16,40 10,52 0,58', coat.nose);
  pen.line('0,56 0,68', 2.6, coat.dark, 0.8);
  pen.line('-18,74 -9,78 0,68 9,78 18,74', 2.6, coat.dark, 0.8);
}
