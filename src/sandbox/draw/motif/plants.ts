import { type Colour, darker, lighter } from '../canvas/colour.ts';
import { across, between, type Pen, type Point, vertical } from '../canvas/pen.ts';
import type { Random } from '../canvas/random.ts';

/** Draws a fir of about 100 × 240 with its foot at the origin. */
export function drawFir(pen: Pen, random: Random, colour: Colour, snow: boolean): void {
  pen.area('-5,4! 5,4! 4,-60! -4,-60!', darker(colour, 0.4));
  const tiers = random.int(4, 6);
  const right: Point[] = [];
  const left: Point[] = [];
  const snowy: Point[][] = [];
  for (let tier = 0; tier < tiers; tier += 1) {
    const top = -240 + (tier / tiers) * 210;
    const bottom = top + (210 / tiers) * 1.35;
    const reach = 12 + ((tier + 1) / tiers) * 42 + random.range(-4, 4);
    const inner = reach * 0.45;
    right.push([tier === 0 ? 0 : inner * 0.8, top, 1], [reach, bottom - 4, 1], [inner, bottom - 12, 1]);
    left.push([tier === 0 ? 0 : -inner * 0.8, top, 1], [-reach, bottom - 4, 1], [-inner, bottom - 12, 1]);
    snowy.push([
      [tier === 0 ? 0 : -inner * 0.7, top, 1],
      [-reach, bottom - 4, 1],
      [-reach * 0.35, bottom - 20],
      [reach * 0.1, top + 18],
    ]);
  }
  const shade = between([lighter(colour, 0.08), darker(colour, 0.22)], [-40, -120], [44, -110]);
  pen.area([...right, ...left.reverse()], shade);
  if (snow) for (const points of snowy) pen.area(points, '#f7fafc', 0.85);
}

/** Draws a leafy tree of about 180 × 230 with its foot at the origin. */
export function drawTree(pen: Pen, random: Random, colour: Colour, bark: Colour): void {
  const lean = random.range(-14, 14);
  pen.area(`-12,4! -6,-50 ${lean - 5},-120 ${lean + 5},-120 8,-50 16,4!`, bark);
  pen.line(`0,-80 ${lean + 30},-135 ${lean + 46},-160`, 6, bark);
  pen.line(`0,-70 ${lean - 28},-125 ${lean - 44},-150`, 5, bark);
  const clumps = random.int(6, 8);
  for (let layer = 0; layer < 3; layer += 1) {
    const shade = layer === 0 ? darker(colour, 0.28) : layer === 1 ? colour : lighter(colour, 0.18);
    for (let clump = 0; clump < clumps; clump += 1) {
      const angle = (clump / clumps) * 2 * Math.PI + random.range(-0.3, 0.3);
      const reach = layer === 2 ? 34 : 52;
      pen.ellipse(
        lean + Math.cos(angle) * reach - layer * 7,
        -158 + Math.sin(angle) * reach * 0.72 - layer * 9,
        (layer === 2 ? 17 : 38) + random.range(-6, 8),
        (layer === 2 ? 12 : 31) + random.range(-5, 6),
        shade,
        layer === 2 ? 0.7 : 1,
        angle,
      );
    }
  }
}

/** Draws a birch trunk from `top` (negative) down to the origin. */
export function drawBirch(
  pen: Pen,
  random: Random,
  top: number,
  width: number,
  shade: Colour,
  light: Colour,
): void {
  const lean = random.range(-0.06, 0.06) * top;
  pen.area(
    `${-width},6! ${lean / 2 - width * 0.75},${top / 2} ${lean - width * 0.55},${top}! ${lean + width * 0.55},${top}! ${lean / 2 + width * 0.75},${top / 2} ${width},6!`,
    across([shade, light, light, shade], -width, width),
  );
  const marks = Math.round(-top / 46);
  for (let mark = 0; mark < marks; mark += 1) {
    const y = top + ((mark + random.range(0.2, 0.8)) / marks) * -top;
    const x = (lean * y) / top;
    const side = random.chance(0.5) ? 1 : -1;
    const length = width * random.range(0.35, 1.1);
    pen.area(
      `${x + side * width * 0.78},${y - 5}! ${x + side * (width * 0.78 - length)},${y + 1} ${x + side * width * 0.78},${y + 6}!`,
      '#2b2a30',
      0.85,
    );
  }
  for (let branch = 0; branch < 2; branch += 1) {
    const y = top * random.range(0.45, 0.9);
    const side = random.chance(0.5) ? 1 : -1;
    const x = (lean * y) / top;
    pen.line(`${x},${y} ${x + side * 34},${y - 46} ${x + side * 52},${y - 92}`, width * 0.22, shade);
  }
}

/** Draws a tuft of grass at the origin. */
export function drawGrass(pen: Pen, random: Random, colour: Colour, height: number): void {
  const blades = random.int(3, 6);
  for (let blade = 0; blade < blades; blade += 1) {
    const x = random.range(-16, 16);
    const bend = random.range(-22, 22);
    const tall = height * random.range(0.55, 1.1);
    const middle = x + bend * 0.35;
    pen.area(
      [
        [x - 2.6, 3, 1],
        [middle - 1.5, -tall * 0.6],
        [x + bend, -tall, 1],
        [middle + 2.2, -tall * 0.55],
        [x + 2.6, 3, 1],
      ],
      blade % 2 === 0 ? colour : lighter(colour, 0.12),
    );
  }
}

/** Draws a flower about 30 wide on a stem with its foot at the origin. */
export function drawFlower(pen: Pen, random: Random, petal: Colour, stem: Colour, height: number): void {
  const bend = random.range(-12, 12);
  pen.line(`0,2 ${bend * 0.3},${-height * 0.5} ${bend},${-height}`, 3, stem);
  const petals = random.int(5, 6);
  const size = random.range(9, 13);
  for (let index = 0; index < petals; index += 1) {
    const angle = (index / petals) * 2 * Math.PI + 0.4;
    pen.ellipse(
      bend + Math.cos(angle) * size * 0.8,
      -height + Math.sin(angle) * size * 0.6,
      size * 0.75,
      size * 0.48,
      index % 2 === 0 ? petal : lighter(petal, 0.18),
      1,
      angle,
    );
  }
  pen.ellipse(bend, -height, size * 0.38, size * 0.32, '#f6d15a');
}

/** Draws the branch of a perched bird, `reach` to each side. */
export function drawBranch(pen: Pen, random: Random, colour: string, leaves: string, reach: number): void {
  const sag = random.range(-24, 24);
  pen.area(
    `${-reach},${40 + sag}! ${-reach * 0.4},12 0,8 ${reach * 0.5},${4 - sag} ${reach},${-30 - sag}! ${reach},${-10 - sag}! ${reach * 0.5},${26 - sag} 0,40 ${-reach * 0.4},46 ${-reach},${86 + sag}!`,
    vertical([lighter(colour, 0.18), darker(colour, 0.3)], 0, 60),
  );
  for (let twig = 0; twig < 5; twig += 1) {
    const side = twig % 2 === 0 ? 1 : -1;
    const x = side * random.range(150, reach * 0.9);
    const up = random.chance(0.5) ? -1 : 1;
    const [ex, ey] = [x + side * random.range(50, 120), 20 + up * random.range(50, 120)];
    pen.line(`${x},20 ${(x + ex) / 2},${20 + (ey - 20) * 0.3} ${ex},${ey}`, 9, colour);
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
