import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';

import type { Coat } from '../coat.ts';
import { drawEye, type EyeStyle, sided } from './eye.ts';

/** A fox's or wolf's head seen from the front, about 250 × 290, its middle at the origin. */
export function drawCanineHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  for (const side of [-1, 1]) {
    pen.area(sided(side, '22,-50! 36,-96 82,-164! 102,-104 104,-28!'), {
      colours: [darker(coat.main, 0.08), darker(coat.main, 0.3)],
      start: [0, -160],
      end: [0, -40],
    });
    pen.area(sided(side, '44,-62! 56,-100 78,-140! 90,-96 90,-46!'), coat.ear);
    pen.area(sided(side, '54,-52! 52,-92 66,-104! 70,-84 82,-50!'), coat.pale, 0.85);
    pen.area(sided(side, '63,-136! 82,-164! 93,-128! 78,-122'), coat.dark);
  }
  pen.symmetric('0,-70 40,-66 86,-44 104,-8 110,18 134,46! 112,48 114,70! 92,66 90,84! 60,90 28,122 0,132', {
    colours: [coat.main, lighter(coat.main, 0.1), darker(coat.main, 0.12)],
    start: [0, -70],
    end: [0, 120],
  });
  pen.symmetric('0,62 22,44 44,46 66,30 96,24 134,46! 112,48 114,70! 92,66 90,84! 60,90 28,122 0,132', {
    colours: [coat.pale, coat.pale, darker(coat.pale, 0.16)],
    start: [0, 20],
    end: [0, 132],
  });
  pen.symmetric('0,-46 14,-20 24,22 25,60 19,92 0,104', {
    colours: [darker(coat.main, 0.1), lighter(coat.main, 0.14), coat.main],
    start: [0, -46],
    end: [0, 104],
  });
  for (const side of [-1, 1]) {
    pen.area(sided(side, '10,-58! 30,-46 58,-12 30,-18 14,-34'), darker(coat.main, 0.24), 0.45);
    pen.area(sided(side, '26,32! 32,46 30,74! 22,52'), coat.dark, 0.55);
    pen.area(sided(side, '24,-2! 44,-12 66,-8! 46,-4'), coat.pale, 0.5);
    drawEye(pen, side, 45, 16, 17, coat, look, true);
    for (const whisker of [0, 1, 2]) {
      pen.line(
        sided(side, `24,${92 + whisker * 5} 56,${88 + whisker * 10} 94,${88 + whisker * 18}`),
        1.5,
        lighter(coat.pale, 0.3),
        0.7,
      );
    }
  }
  pen.symmetric('0,88 15,90 18,99 8,110 0,114', coat.nose);
  pen.ellipse(-4, 94, 5, 2.4, '#ffffff', 0.4);
  pen.line('0,112 0,120', 3, coat.dark, 0.8);
  pen.line('-22,116 -8,123 0,120 8,123 22,116', 2.6, coat.dark, 0.7);
}
