import { type EyeStyle, sided } from '../head/eye.ts';
import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Coat } from '../coat.ts';

/** The head of a bird that is no owl, from the front, about 190 × 210, its middle at the origin. */
export function drawBirdHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  pen.symmetric('0,-104 48,-94 86,-54 96,0 92,54 74,92 0,104', {
    colours: [lighter(coat.main, 0.1), coat.main, darker(coat.main, 0.2)],
    start: [0, -104],
    end: [0, 100],
  });
  const glance = look.glance * 4;
  for (const side of [-1, 1]) {
    pen.ellipse(side * 52, -14, 27, 27, lighter(coat.main, 0.18), 0.8);
    if (look.asleep) {
      pen.line(sided(side, '34,-14 52,-4 70,-14'), 6, lighter(coat.main, 0.5));
    } else {
      pen.ellipse(side * 52, -14, 19, 19, coat.eye);
      pen.ellipse(side * 52 + glance, -14, 12, 13, '#100c10');
      pen.ellipse(side * 52 + 5 + glance, -19, 4, 4, '#ffffff', 0.95);
    }
  }
  pen.symmetric('0,-22 22,-4 25,18 13,56 0,88!', {
    colours: [lighter(coat.nose, 0.2), coat.nose, darker(coat.nose, 0.35)],
    start: [0, -22],
    end: [0, 88],
  });
  pen.line('-24,16 0,30 24,16', 4, darker(coat.nose, 0.5), 0.7);
}
