import { type EyeStyle, sided } from '../head/eye.ts';
import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import type { Coat } from '../coat.ts';
import { drawBirdHead } from './bird-head.ts';
import { drawOwlHead } from './head.ts';

/** An owl or another bird perched and facing us, about 260 × 430; its feet at the origin. */
export function drawPerchedOwl(pen: Pen, coat: Coat, random: Random, look: EyeStyle): void {
  pen.symmetric('0,-40 30,-20 36,70 22,112! 0,104', {
    colours: [coat.main, darker(coat.main, 0.5)],
    start: [0, -40],
    end: [0, 110],
  });
  pen.symmetric('0,-290 84,-276 116,-190 118,-100 84,-20 34,8 0,10', {
    colours: [coat.main, darker(coat.main, 0.3)],
    start: [0, -290],
    end: [0, 0],
  });
  pen.symmetric('0,-260 56,-240 72,-160 62,-70 30,-10 0,0', {
    colours: [coat.pale, darker(coat.pale, 0.14)],
    start: [0, -260],
    end: [0, 0],
  });
  drawFeathers(
    pen,
    coat,
    random,
    -222,
    -30,
    (y) => 56 * Math.sqrt(Math.max(0.05, 1 - ((y + 140) / 135) ** 2)),
  );
  for (const side of [-1, 1]) {
    pen.area(sided(side, '78,-262 118,-220 134,-130 122,-40 92,34! 80,-30 70,-120 66,-210'), {
      colours: [darker(coat.main, 0.06), darker(coat.main, 0.42)],
      start: [0, -260],
      end: [0, 30],
    });
    for (let feather = 0; feather < 4; feather += 1) {
      const y = -150 + feather * 42;
      pen.line(sided(side, `78,${y} 104,${y + 20} 122,${y - 4}`), 4, lighter(coat.main, 0.24), 0.6);
    }
    for (const toe of [-11, 0, 11])
      pen.area(`${side * 34 + toe - 5},-4 ${side * 34 + toe},20! ${side * 34 + toe + 5},-4`, coat.nose);
  }
  drawHead(pen.at(0, -312, 1.06, random.range(-0.16, 0.16)), coat, look);
}

/** The head of an owl or another bird over its shoulders, the head's middle at the origin. */
export function drawOwlBust(pen: Pen, coat: Coat, random: Random, look: EyeStyle): void {
  pen.symmetric('0,40 110,70 176,170 206,320 210,620! 0,620!', {
    colours: [coat.main, darker(coat.main, 0.34)],
    start: [0, 60],
    end: [0, 500],
  });
  pen.symmetric('0,70 76,96 118,200 126,620! 0,620!', {
    colours: [coat.pale, darker(coat.pale, 0.2)],
    start: [0, 70],
    end: [0, 480],
  });
  drawFeathers(pen, coat, random, 116, 520, (y) => Math.min(108, 40 + (y - 100) * 0.6));
  drawHead(pen.at(0, 0, 1.12), coat, look);
}

function drawHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  if (coat.build === 'owl') drawOwlHead(pen, coat, look);
  else drawBirdHead(pen, coat, look);
}

/** Rows of small feathers between two heights; `half` is how far they reach to each side. */
function drawFeathers(
  pen: Pen,
  coat: Coat,
  random: Random,
  top: number,
  bottom: number,
  half: (y: number) => number,
): void {
  for (let y = top, row = 0; y < bottom; y += 24, row += 1) {
    const width = half(y);
    for (let x = -width + (row % 2) * 15; x <= width; x += 30) {
      const at = x + random.range(-3, 3);
      pen.area(
        `${at - 12},${y}! ${at},${y + 22} ${at + 12},${y}! ${at},${y + 9}`,
        darker(coat.main, 0.32),
        0.7,
      );
    }
  }
}
