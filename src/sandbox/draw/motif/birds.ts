import { darker, lighter } from '../canvas/colour.ts';
import { between, type Pen, type Point, vertical } from '../canvas/pen.ts';
import type { Random } from '../canvas/random.ts';
import type { Coat } from './coat.ts';
import { type EyeStyle, sided } from './heads.ts';

/** Draws an owl's head from the front, about 220 × 200, its middle at the origin. */
function drawOwlHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  pen.symmetric(
    '0,-74 34,-80 70,-92 104,-134! 112,-70 118,-8 104,50 64,88 0,98',
    vertical([darker(coat.main, 0.12), coat.main, darker(coat.main, 0.18)], -120, 96),
  );
  for (const side of [-1, 1]) {
    pen.ellipse(side * 48, 4, 60, 64, darker(coat.main, 0.35), 1, side * 0.2);
    pen.ellipse(side * 47, 5, 54, 58, coat.pale, 1, side * 0.2);
    for (let ray = 0; ray < 18; ray += 1) {
      const angle = (ray / 18) * 2 * Math.PI;
      const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
      const ends = `${side * 47 + dx * 30},${4 + dy * 30} ${side * 47 + dx * 50},${4 + dy * 53}`;
      pen.line(ends, 2.4, coat.main, 0.45);
    }
    if (look.asleep) {
      pen.line(sided(side, '22,4 46,16 70,4'), 6, coat.dark);
    } else {
      pen.ellipse(side * 46, 4, 31, 31, coat.dark);
      const glance = look.glance * 5;
      const iris = vertical([darker(coat.eye, 0.3), coat.eye, lighter(coat.eye, 0.3)], -23, 31);
      pen.ellipse(side * 46, 4, 27, 27, iris);
      pen.ellipse(side * 46 + glance, 4, 14, 15, '#100c10');
      pen.ellipse(side * 46 + 7 + glance, -4, 5, 5, '#ffffff', 0.95);
    }
    pen.area(sided(side, '6,-44! 44,-64 98,-122! 82,-66 40,-46 10,-10!'), coat.dark, 0.75);
  }
  pen.symmetric('0,-56 9,-30 11,10 0,22', lighter(coat.main, 0.1));
  pen.symmetric('0,8 13,18 11,38 0,56!', vertical([lighter(coat.nose, 0.2), darker(coat.nose, 0.3)], 8, 56));
}

/** Draws the head of any other bird from the front, about 190 × 210, its middle at the origin. */
function drawBirdHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  pen.symmetric(
    '0,-104 48,-94 86,-54 96,0 92,54 74,92 0,104',
    vertical([lighter(coat.main, 0.1), coat.main, darker(coat.main, 0.2)], -104, 100),
  );
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
  pen.symmetric(
    '0,-22 22,-4 25,18 13,56 0,88!',
    vertical([lighter(coat.nose, 0.2), coat.nose, darker(coat.nose, 0.35)], -22, 88),
  );
  pen.line('-24,16 0,30 24,16', 4, darker(coat.nose, 0.5), 0.7);
}

/** Half the width of a perched bird's breast at a height. */
const breastAt = (y: number): number => 56 * Math.sqrt(Math.max(0.05, 1 - ((y + 140) / 135) ** 2));

/** Draws a perched bird from the front, about 260 × 430, its feet at the origin. */
export function drawPerchedOwl(pen: Pen, coat: Coat, random: Random, look: EyeStyle): void {
  pen.symmetric('0,-40 30,-20 36,70 22,112! 0,104', vertical([coat.main, darker(coat.main, 0.5)], -40, 110));
  pen.symmetric(
    '0,-290 84,-276 116,-190 118,-100 84,-20 34,8 0,10',
    vertical([coat.main, darker(coat.main, 0.3)], -290, 0),
  );
  pen.symmetric(
    '0,-260 56,-240 72,-160 62,-70 30,-10 0,0',
    vertical([coat.pale, darker(coat.pale, 0.14)], -260, 0),
  );
  drawFeathers(pen, coat, random, -222, -30, breastAt);
  for (const side of [-1, 1]) {
    pen.area(
      sided(side, '78,-262 118,-220 134,-130 122,-40 92,34! 80,-30 70,-120 66,-210'),
      vertical([darker(coat.main, 0.06), darker(coat.main, 0.42)], -260, 30),
    );
    for (let feather = 0; feather < 4; feather += 1) {
      const y = -150 + feather * 42;
      pen.line(sided(side, `78,${y} 104,${y + 20} 122,${y - 4}`), 4, lighter(coat.main, 0.24), 0.6);
    }
    for (const toe of [-11, 0, 11])
      pen.area(`${side * 34 + toe - 5},-4 ${side * 34 + toe},20! ${side * 34 + toe + 5},-4`, coat.nose);
  }
  drawHead(pen.at(0, -312, 1.06, random.range(-0.16, 0.16)), coat, look);
}

/** Draws the head and the shoulders of a bird, the middle of the head at the origin. */
export function drawOwlBust(pen: Pen, coat: Coat, random: Random, look: EyeStyle): void {
  pen.symmetric(
    '0,40 110,70 176,170 206,320 210,620! 0,620!',
    vertical([coat.main, darker(coat.main, 0.34)], 60, 500),
  );
  pen.symmetric('0,70 76,96 118,200 126,620! 0,620!', vertical([coat.pale, darker(coat.pale, 0.2)], 70, 480));
  drawFeathers(pen, coat, random, 116, 520, (y) => Math.min(108, 40 + (y - 100) * 0.6));
  drawHead(pen.at(0, 0, 1.12), coat, look);
}

function drawHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  if (coat.build === 'owl') drawOwlHead(pen, coat, look);
  else drawBirdHead(pen, coat, look);
}

/** Draws rows of small feathers between two heights. `half`: half the width of a row. */
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
      const feather = `${at - 12},${y}! ${at},${y + 22} ${at + 12},${y}! ${at},${y + 9}`;
      pen.area(feather, darker(coat.main, 0.32), 0.7);
    }
  }
}

/** Draws a flying bird from the front, about 620 wide, its middle at the origin. */
export function drawFlyingOwl(pen: Pen, coat: Coat, random: Random, head: boolean): void {
  const rise = random.range(0.75, 1.15);
  const shades = [darker(coat.main, 0.05), lighter(coat.main, 0.1), darker(coat.main, 0.3)];
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
      between(shades, [0, -60], [side * 300, 0]),
    );
    const inner = `30,-30 110,${-72 * rise} 206,${-112 * rise} 268,${-98 * rise}! 190,${-46 * rise} 110,0 40,26`;
    pen.area(sided(side, inner), coat.pale, 0.75);
    for (let bar = 0; bar < 4; bar += 1) {
      const x = side * (110 + bar * 48);
      const bend = `${x},${-66 * rise - bar * 8} ${x + side * 12},${-20 * rise} ${x + side * 4},${26 - bar * 12}`;
      pen.line(bend, 4, coat.dark, 0.45);
    }
  }
  pen.symmetric('0,40 22,70 46,132! 22,128 0,140', vertical([coat.main, coat.dark], 40, 140));
  pen.symmetric('0,-60 44,-34 46,30 26,82 0,96', vertical([coat.main, coat.pale], -60, 90));
  if (head) drawOwlHead(pen.at(0, -62, 0.5), coat, { asleep: false, glance: 0 });
  else {
    pen.ellipse(0, -66, 24, 26, coat.main);
    pen.area('-7,-62! 0,-38! 7,-62!', coat.nose);
  }
}
