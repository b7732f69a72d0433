import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';

import type { Coat } from '../coat.ts';
import { drawEye, type EyeStyle, sided } from './eye.ts';

/** A bear's, hare's or deer's head, 200 to 260 wide. */
export function drawBeastHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  const slim = coat.build === 'deer' ? 0.74 : coat.build === 'hare' ? 0.84 : 1;
  for (const side of [-1, 1]) {
    if (coat.build === 'bear') {
      pen.ellipse(side * 82, -78, 36, 36, darker(coat.main, 0.14));
      pen.ellipse(side * 82, -74, 21, 21, coat.ear);
    } else if (coat.build === 'hare') {
      pen.area(sided(side, '18,-60! 22,-150 46,-236 66,-200 58,-110 48,-50!'), darker(coat.main, 0.1));
      pen.area(sided(side, '28,-72! 34,-150 47,-210 55,-170 46,-70!'), coat.ear, 0.9);
    } else {
      pen.line(sided(side, '22,-84 44,-140 86,-182 92,-240'), 11, coat.antler ?? coat.dark);
      pen.line(sided(side, '60,-158 44,-206 48,-236'), 8, coat.antler ?? coat.dark);
      pen.line(sided(side, '84,-180 122,-196 136,-236'), 8, coat.antler ?? coat.dark);
      pen.area(sided(side, '50,-58! 96,-96 152,-92! 126,-52 66,-32!'), darker(coat.main, 0.14));
      pen.area(sided(side, '66,-56! 102,-80 138,-84! 112,-58'), coat.ear);
    }
  }
  pen.symmetric(
    `0,-88 ${48 * slim},-84 ${96 * slim},-48 ${108 * slim},0 ${98 * slim},44 ${66 * slim},92 34,116 0,122`,
    {
      colours: [lighter(coat.main, 0.08), coat.main, darker(coat.main, 0.16)],
      start: [0, -88],
      end: [0, 120],
    },
  );
  pen.symmetric(`0,18 ${34 * slim},26 ${56 * slim},62 ${42 * slim},100 0,116`, {
    colours: [coat.pale, darker(coat.pale, 0.12)],
    start: [0, 20],
    end: [0, 116],
  });
  for (const side of [-1, 1]) {
    if (!look.asleep && coat.build !== 'bear') pen.ellipse(side * 56 * slim, -4, 24, 24, coat.pale, 0.6);
    drawEye(pen, side, 54 * slim, -4, coat.build === 'bear' ? 13 : 18, coat, look, false);
  }
  pen.symmetric('0,44 20,46 22,58 8,72 0,74', coat.nose);
  pen.ellipse(-6, 51, 6, 3, '#ffffff', 0.4);
  pen.line('0,72 0,86', 3, coat.dark, 0.8);
  pen.line('-20,90 -9,94 0,86 9,94 20,90', 3, coat.dark, 0.8);
}
