import { type EyeStyle, sided } from '../head/eye.ts';
import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Coat } from '../coat.ts';

/** An owl's head from the front, about 220 × 200, its middle at the origin. */
export function drawOwlHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  pen.symmetric('0,-74 34,-80 70,-92 104,-134! 112,-70 118,-8 104,50 64,88 0,98', {
    colours: [darker(coat.main, 0.12), coat.main, darker(coat.main, 0.18)],
    start: [0, -120],
    end: [0, 96],
  });
  for (const side of [-1, 1]) {
    pen.ellipse(side * 48, 4, 60, 64, darker(coat.main, 0.35), 1, side * 0.2);
    pen.ellipse(side * 47, 5, 54, 58, coat.pale, 1, side * 0.2);
    for (let ray = 0; ray < 18; ray += 1) {
      const angle = (ray / 18) * 2 * Math.PI;
      const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
      pen.line(
        `${side * 47 + dx * 30},${4 + dy * 30} ${side * 47 + dx * 50},${4 + dy * 53}`,
        2.4,
        coat.main,
        0.45,
      );
    }
    if (look.asleep) {
      pen.line(sided(side, '22,4 46,16 70,4'), 6, coat.dark);
    } else {
      pen.ellipse(side * 46, 4, 31, 31, coat.dark);
      const glance = look.glance * 5;
      pen.ellipse(side * 46, 4, 27, 27, {
        colours: [darker(coat.eye, 0.3), coat.eye, lighter(coat.eye, 0.3)],
        start: [0, -23],
        end: [0, 31],
      });
      pen.ellipse(side * 46 + glance, 4, 14, 15, '#100c10');
      pen.ellipse(side * 46 + 7 + glance, -4, 5, 5, '#ffffff', 0.95);
    }
    pen.area(sided(side, '6,-44! 44,-64 98,-122! 82,-66 40,-46 10,-10!'), coat.dark, 0.75);
  }
  pen.symmetric('0,-56 9,-30 11,10 0,22', lighter(coat.main, 0.1));
  pen.symmetric('0,8 13,18 11,38 0,56!', {
    colours: [lighter(coat.nose, 0.2), darker(coat.nose, 0.3)],
    start: [0, 8],
    end: [0, 56],
  });
}
