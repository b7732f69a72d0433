import { darker, lighter } from '../canvas/colour.ts';
import { between, type Outline, type Pen, type Point, pointsOf, vertical } from '../canvas/pen.ts';
import type { Coat } from './coat.ts';

/** The expression of a head. */
export interface EyeStyle {
  readonly asleep: boolean;
  /** -1 to 1: how far it glances to the side. */
  readonly glance: number;
}

/** Returns the points, mirrored if `side` is -1. */
export const sided = (side: number, outline: Outline): Point[] =>
  pointsOf(outline).map(([x, y, corner]) => [x * side, y, corner ?? 0]);

/** Draws an almond eye at (±x, y), or a curve for a closed one. */
function drawEye(
  pen: Pen,
  side: number,
  x: number,
  y: number,
  size: number,
  coat: Coat,
  look: EyeStyle,
  slit: boolean,
): void {
  if (look.asleep) {
    const lid = `${x - size},${y} ${x},${y + size * 0.45} ${x + size},${y - size * 0.2}`;
    pen.line(sided(side, lid), size * 0.28, coat.dark);
    return;
  }
  const almond = `${x - size * 1.25},${y + size * 0.55}! ${x - size * 0.2},${y - size * 0.72} ${x + size * 1.25},${y - size * 0.6}! ${x + size * 0.3},${y + size * 0.72}`;
  pen.area(sided(side, almond), coat.dark);
  const at = x * side + look.glance * size * 0.25;
  const iris = [darker(coat.eye, 0.35), coat.eye, lighter(coat.eye, 0.25)];
  const shade = between(iris, [at, y - size * 0.6], [at, y + size * 0.6]);
  pen.ellipse(at, y - size * 0.02, size * 0.66, size * 0.6, shade);
  pen.ellipse(at, y, size * (slit ? 0.17 : 0.32), size * (slit ? 0.52 : 0.36), '#120d12');
  pen.ellipse(at + size * 0.2, y - size * 0.24, size * 0.14, size * 0.14, '#ffffff', 0.95);
}

/** Draws a fox's or wolf's head from the front, about 250 × 290, its middle at the origin. */
function drawCanineHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  for (const side of [-1, 1]) {
    pen.area(
      sided(side, '22,-50! 36,-96 82,-164! 102,-104 104,-28!'),
      vertical([darker(coat.main, 0.08), darker(coat.main, 0.3)], -160, -40),
    );
    pen.area(sided(side, '44,-62! 56,-100 78,-140! 90,-96 90,-46!'), coat.ear);
    pen.area(sided(side, '54,-52! 52,-92 66,-104! 70,-84 82,-50!'), coat.pale, 0.85);
    pen.area(sided(side, '63,-136! 82,-164! 93,-128! 78,-122'), coat.dark);
  }
  pen.symmetric(
    '0,-70 40,-66 86,-44 104,-8 110,18 134,46! 112,48 114,70! 92,66 90,84! 60,90 28,122 0,132',
    vertical([coat.main, lighter(coat.main, 0.1), darker(coat.main, 0.12)], -70, 120),
  );
  pen.symmetric(
    '0,62 22,44 44,46 66,30 96,24 134,46! 112,48 114,70! 92,66 90,84! 60,90 28,122 0,132',
    vertical([coat.pale, coat.pale, darker(coat.pale, 0.16)], 20, 132),
  );
  pen.symmetric(
    '0,-46 14,-20 24,22 25,60 19,92 0,104',
    vertical([darker(coat.main, 0.1), lighter(coat.main, 0.14), coat.main], -46, 104),
  );
  for (const side of [-1, 1]) {
    pen.area(sided(side, '10,-58! 30,-46 58,-12 30,-18 14,-34'), darker(coat.main, 0.24), 0.45);
    pen.area(sided(side, '26,32! 32,46 30,74! 22,52'), coat.dark, 0.55);
    pen.area(sided(side, '24,-2! 44,-12 66,-8! 46,-4'), coat.pale, 0.5);
    drawEye(pen, side, 45, 16, 17, coat, look, true);
    for (const whisker of [0, 1, 2]) {
      const bend = `24,${92 + whisker * 5} 56,${88 + whisker * 10} 94,${88 + whisker * 18}`;
      pen.line(sided(side, bend), 1.5, lighter(coat.pale, 0.3), 0.7);
    }
  }
  pen.symmetric('0,88 15,90 18,99 8,110 0,114', coat.nose);
  pen.ellipse(-4, 94, 5, 2.4, '#ffffff', 0.4);
  pen.line('0,112 0,120', 3, coat.dark, 0.8);
  pen.line('-22,116 -8,123 0,120 8,123 22,116', 2.6, coat.dark, 0.7);
}

/** Draws a cat's, lynx's, tiger's or lion's head, about 240 × 260. */
function drawFelineHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  if (coat.mane !== undefined) {
    const points: Point[] = [];
    for (let index = 0; index < 44; index += 1) {
      const angle = (index / 44) * 2 * Math.PI;
      const reach = index % 2 === 0 ? 182 : 146;
      points.push([Math.sin(angle) * reach, 12 - Math.cos(angle) * reach * 1.02, index % 2 === 0 ? 1 : 0]);
    }
    pen.area(points, vertical([coat.mane, darker(coat.mane, 0.45)], -150, 190));
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
      pen.area(
        sided(side, '84,20! 124,44 140,92! 116,88 120,124! 92,104 84,136! 60,96'),
        vertical([coat.main, coat.pale], 20, 130),
      );
    }
  }
  pen.symmetric(
    '0,-82 44,-78 88,-54 112,-8 110,38 84,78 46,100 0,106',
    vertical([coat.main, lighter(coat.main, 0.1), darker(coat.main, 0.1)], -80, 104),
  );
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
      const bend = `34,${62 + whisker * 5} 84,${50 + whisker * 15} 136,${50 + whisker * 24}`;
      pen.line(sided(side, bend), 1.8, '#fffdf5', 0.85);
    }
  }
  pen.symmetric('0,78 20,84 14,100 0,104', coat.pale);
  pen.symmetric('0,40 16,40 10,52 0,58', coat.nose);
  pen.line('0,56 0,68', 2.6, coat.dark, 0.8);
  pen.line('-18,74 -9,78 0,68 9,78 18,74', 2.6, coat.dark, 0.8);
}

/** Draws a bear's, hare's or deer's head, 200 to 260 wide. */
function drawBeastHead(pen: Pen, coat: Coat, look: EyeStyle): void {
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
    vertical([lighter(coat.main, 0.08), coat.main, darker(coat.main, 0.16)], -88, 120),
  );
  pen.symmetric(
    `0,18 ${34 * slim},26 ${56 * slim},62 ${42 * slim},100 0,116`,
    vertical([coat.pale, darker(coat.pale, 0.12)], 20, 116),
  );
  for (const side of [-1, 1]) {
    if (!look.asleep && coat.build !== 'bear') pen.ellipse(side * 56 * slim, -4, 24, 24, coat.pale, 0.6);
    drawEye(pen, side, 54 * slim, -4, coat.build === 'bear' ? 13 : 18, coat, look, false);
  }
  pen.symmetric('0,44 20,46 22,58 8,72 0,74', coat.nose);
  pen.ellipse(-6, 51, 6, 3, '#ffffff', 0.4);
  pen.line('0,72 0,86', 3, coat.dark, 0.8);
  pen.line('-20,90 -9,94 0,86 9,94 20,90', 3, coat.dark, 0.8);
}

/** Draws the head of an animal, its middle at the origin. */
export function drawHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  if (coat.build === 'canine') drawCanineHead(pen, coat, look);
  else if (coat.build === 'feline') drawFelineHead(pen, coat, look);
  else drawBeastHead(pen, coat, look);
}
