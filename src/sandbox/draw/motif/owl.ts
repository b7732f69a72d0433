import { darker, lighter } from '../scene/colour.ts';
import type { Pen } from '../scene/pen.ts';
import type { Random } from '../scene/random.ts';
import type { Point } from '../scene/shape.ts';
import type { Coat } from './coat.ts';
import type { Look } from './head.ts';

/** An owl's head from the front, about 220 × 200, its middle at the origin. */
export function drawOwlHead(pen: Pen, coat: Coat, look: Look): void {
  pen.symmetric(
    [
      [0, -74],
      [34, -80],
      [70, -92],
      [104, -134, 1],
      [112, -70],
      [118, -8],
      [104, 50],
      [64, 88],
      [0, 98],
    ],
    {
      colours: [darker(coat.main, 0.12), coat.main, darker(coat.main, 0.18)],
      start: [0, -120],
      end: [0, 96],
    },
  );
  for (const side of [-1, 1]) {
    pen.ellipse(side * 48, 4, 60, 64, darker(coat.main, 0.35), 1, side * 0.2);
    pen.ellipse(side * 47, 5, 54, 58, coat.pale, 1, side * 0.2);
    for (let ray = 0; ray < 18; ray += 1) {
      const angle = (ray / 18) * 2 * Math.PI;
      const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
      pen.line(
        [
          [side * 47 + dx * 30, 4 + dy * 30],
          [side * 47 + dx * 50, 4 + dy * 53],
        ],
        2.4,
        coat.main,
        0.45,
      );
    }
    if (look.asleep) {
      pen.line(
        [
          [side * 22, 4],
          [side * 46, 16],
          [side * 70, 4],
        ],
        6,
        coat.dark,
      );
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
    pen.area(
      [
        [side * 6, -44, 1],
        [side * 44, -64],
        [side * 98, -122, 1],
        [side * 82, -66],
        [side * 40, -46],
        [side * 10, -10, 1],
      ],
      coat.dark,
      0.75,
    );
  }
  pen.symmetric(
    [
      [0, -56],
      [9, -30],
      [11, 10],
      [0, 22],
    ],
    lighter(coat.main, 0.1),
  );
  pen.symmetric(
    [
      [0, 8],
      [13, 18],
      [11, 38],
      [0, 56, 1],
    ],
    { colours: [lighter(coat.nose, 0.2), darker(coat.nose, 0.3)], start: [0, 8], end: [0, 56] },
  );
}

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
        [
          [at - 12, y, 1],
          [at, y + 22],
          [at + 12, y, 1],
          [at, y + 9],
        ],
        darker(coat.main, 0.32),
        0.7,
      );
    }
  }
}

/** An owl perched and facing us, about 260 × 430; its feet at the origin. */
export function drawPerchedOwl(pen: Pen, coat: Coat, random: Random, look: Look): void {
  pen.symmetric(
    [
      [0, -40],
      [30, -20],
      [36, 70],
      [22, 112, 1],
      [0, 104],
    ],
    { colours: [coat.main, darker(coat.main, 0.5)], start: [0, -40], end: [0, 110] },
  );
  pen.symmetric(
    [
      [0, -290],
      [84, -276],
      [116, -190],
      [118, -100],
      [84, -20],
      [34, 8],
      [0, 10],
    ],
    { colours: [coat.main, darker(coat.main, 0.3)], start: [0, -290], end: [0, 0] },
  );
  pen.symmetric(
    [
      [0, -260],
      [56, -240],
      [72, -160],
      [62, -70],
      [30, -10],
      [0, 0],
    ],
    { colours: [coat.pale, darker(coat.pale, 0.14)], start: [0, -260], end: [0, 0] },
  );
  drawFeathers(
    pen,
    coat,
    random,
    -222,
    -30,
    (y) => 56 * Math.sqrt(Math.max(0.05, 1 - ((y + 140) / 135) ** 2)),
  );
  for (const side of [-1, 1]) {
    pen.area(
      [
        [side * 78, -262],
        [side * 118, -220],
        [side * 134, -130],
        [side * 122, -40],
        [side * 92, 34, 1],
        [side * 80, -30],
        [side * 70, -120],
        [side * 66, -210],
      ],
      { colours: [darker(coat.main, 0.06), darker(coat.main, 0.42)], start: [0, -260], end: [0, 30] },
    );
    for (let feather = 0; feather < 4; feather += 1) {
      const y = -150 + feather * 42;
      pen.line(
        [
          [side * 78, y],
          [side * 104, y + 20],
          [side * 122, y - 4],
        ],
        4,
        lighter(coat.main, 0.24),
        0.6,
      );
    }
    for (const toe of [-11, 0, 11])
      pen.area(
        [
          [side * 34 + toe - 5, -4],
          [side * 34 + toe, 20, 1],
          [side * 34 + toe + 5, -4],
        ],
        coat.nose,
      );
  }
  drawOwlHead(pen.at(0, -312, 1.06, random.range(-0.16, 0.16)), coat, look);
}

/** An owl's head over its shoulders, the head's middle at the origin. */
export function drawOwlBust(pen: Pen, coat: Coat, random: Random, look: Look): void {
  pen.symmetric(
    [
      [0, 40],
      [110, 70],
      [176, 170],
      [206, 320],
      [210, 620, 1],
      [0, 620, 1],
    ],
    { colours: [coat.main, darker(coat.main, 0.34)], start: [0, 60], end: [0, 500] },
  );
  pen.symmetric(
    [
      [0, 70],
      [76, 96],
      [118, 200],
      [126, 620, 1],
      [0, 620, 1],
    ],
    { colours: [coat.pale, darker(coat.pale, 0.2)], start: [0, 70], end: [0, 480] },
  );
  drawFeathers(pen, coat, random, 116, 520, (y) => Math.min(108, 40 + (y - 100) * 0.6));
  drawOwlHead(pen.at(0, 0, 1.12), coat, look);
}

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
      [
        [side * 30, -30],
        [side * 110, -72 * rise],
        [side * 206, -112 * rise],
        [side * 268, -98 * rise, 1],
        [side * 190, -46 * rise],
        [side * 110, 0],
        [side * 40, 26],
      ],
      coat.pale,
      0.75,
    );
    for (let bar = 0; bar < 4; bar += 1) {
      const x = side * (110 + bar * 48);
      pen.line(
        [
          [x, -66 * rise - bar * 8],
          [x + side * 12, -20 * rise],
          [x + side * 4, 26 - bar * 12],
        ],
        4,
        coat.dark,
        0.45,
      );
    }
  }
  pen.symmetric(
    [
      [0, 40],
      [22, 70],
      [46, 132, 1],
      [22, 128],
      [0, 140],
    ],
    { colours: [coat.main, coat.dark], start: [0, 40], end: [0, 140] },
  );
  pen.symmetric(
    [
      [0, -60],
      [44, -34],
      [46, 30],
      [26, 82],
      [0, 96],
    ],
    { colours: [coat.main, coat.pale], start: [0, -60], end: [0, 90] },
  );
  if (head) drawOwlHead(pen.at(0, -62, 0.5), coat, { asleep: false, glance: 0 });
  else {
    pen.ellipse(0, -66, 24, 26, coat.main);
    pen.area(
      [
        [-7, -62, 1],
        [0, -38, 1],
        [7, -62, 1],
      ],
      coat.nose,
    );
  }
}

/** A branch under a perched bird, from beyond the left to beyond the right. */
export function drawBranch(pen: Pen, random: Random, colour: string, leaves: string, reach: number): void {
  const sag = random.range(-24, 24);
  pen.area(
    [
      [-reach, 40 + sag, 1],
      [-reach * 0.4, 12],
      [0, 8],
      [reach * 0.5, 4 - sag],
      [reach, -30 - sag, 1],
      [reach, -10 - sag, 1],
      [reach * 0.5, 26 - sag],
      [0, 40],
      [-reach * 0.4, 46],
      [-reach, 86 + sag, 1],
    ],
    { colours: [lighter(colour, 0.18), darker(colour, 0.3)], start: [0, 0], end: [0, 60] },
  );
  for (let twig = 0; twig < 5; twig += 1) {
    const side = twig % 2 === 0 ? 1 : -1;
    const x = side * random.range(150, reach * 0.9);
    const up = random.chance(0.5) ? -1 : 1;
    const [ex, ey] = [x + side * random.range(50, 120), 20 + up * random.range(50, 120)];
    pen.line(
      [
        [x, 20],
        [(x + ex) / 2, 20 + (ey - 20) * 0.3],
        [ex, ey],
      ],
      9,
      colour,
    );
    for (let leaf = 0; leaf < 5; leaf += 1) {
      const share = 0.4 + leaf * 0.15;
      pen.ellipse(
        x + (ex - x) * share + random.range(-14, 14),
        20 + (ey - 20) * share + random.range(-14, 14),
        17,
        8,
        leaf % 2 === 0 ? leaves : lighter(leaves, 0.18),
        1,
        random.range(0, 3),
      );
    }
  }
}
