import { type Colour, darker, lighter, mix } from '../canvas/colour.ts';
import type { Palette } from '../canvas/palette.ts';
import { type Pen, type Point, vertical } from '../canvas/pen.ts';
import type { World } from '../canvas/world.ts';
import type { Luminary } from './sky.ts';

/** The height of the ground at x. */
export type Ground = (x: number) => number;

/** Returns a hill line around `y`, with bumps of about `length`, up to `height` up and down. */
export function groundOf(world: World, name: string, y: number, height: number, length: number): Ground {
  const broad = world.noise(`${name} broad`, length);
  const fine = world.noise(`${name} fine`, length / 3.1);
  return (x) => y + height * (0.75 * broad(x) + 0.25 * fine(x));
}

/** Fills everything below a ground. */
export function drawGround(pen: Pen, world: World, ground: Ground, colour: Colour, below: Colour): void {
  const { left, right, bottom } = world.box;
  const step = 25;
  const points: Point[] = [];
  let top = Number.POSITIVE_INFINITY;
  for (let x = Math.floor(left / step) * step; x <= right + step; x += step) {
    const y = ground(x);
    top = Math.min(top, y);
    points.push([x, y]);
  }
  const low = Math.max(bottom, top + 10);
  points.push([right + step, low, 1], [left - step, low, 1]);
  pen.area(points, vertical([colour, below], top, top + 420));
}

/** Draws three rows of hills, the nearer the darker. */
export function drawHills(pen: Pen, world: World, palette: Palette, horizon: number): void {
  for (let layer = 0; layer < 3; layer += 1) {
    const colour = palette.land[layer] ?? palette.land[0];
    const y = horizon - 40 + layer * 62;
    const ground = groundOf(world, `hill ${layer}`, y, 70 - layer * 8, 340 - layer * 40);
    drawGround(pen, world, ground, lighter(colour, 0.07), mix(colour, palette.land[3], 0.25));
  }
}

/** Draws two chains of peaks with a bright and a dark side and snow on top. */
export function drawPeaks(pen: Pen, world: World, palette: Palette, horizon: number): void {
  for (let layer = 0; layer < 2; layer += 1) {
    const colour = mix(palette.land[layer] ?? palette.land[0], palette.sky[2], layer === 0 ? 0.35 : 0.08);
    for (const { x, random } of world.places(`peak ${layer}`, layer === 0 ? 230 : 330)) {
      const height = layer === 0 ? random.range(190, 380) : random.range(110, 270);
      const half = height * random.range(0.75, 1.05);
      const [px, py] = [x + random.range(-60, 60), horizon + 40 - height];
      const foot = horizon + 70;
      const bend = random.range(-24, 24);
      pen.area(
        `${px - half},${foot}! ${px - half * 0.5},${py + height * 0.52}! ${px},${py}! ${px + half * 0.45},${py + height * 0.4}! ${px + half},${foot}!`,
        vertical([colour, mix(colour, palette.sky[2], 0.4)], py, foot),
      );
      pen.area(
        `${px},${py}! ${px + half * 0.45},${py + height * 0.4}! ${px + half},${foot}! ${px + bend},${foot}! ${px + bend * 0.4 + 14},${py + height * 0.5}! ${px - 8},${py + height * 0.25}!`,
        darker(colour, 0.3),
        0.5,
      );
      const snow = height * random.range(0.2, 0.34);
      pen.area(
        `${px},${py}! ${px + snow * 0.95},${py + snow * 0.85}! ${px + snow * 0.42},${py + snow * 0.72}! ${px + snow * 0.18},${py + snow * 1.15}! ${px - snow * 0.22},${py + snow * 0.76}! ${px - snow * 0.52},${py + snow * 1.12}! ${px - snow * 0.88},${py + snow * 0.92}!`,
        mix('#ffffff', palette.light, 0.35),
        0.88,
      );
    }
  }
  const ground = groundOf(world, 'peak foot', horizon + 42, 26, 260);
  drawGround(pen, world, ground, palette.land[1], palette.land[2]);
}

/** Draws long dunes with a lit and a shaded side. */
export function drawDunes(pen: Pen, world: World, palette: Palette, horizon: number): void {
  for (let layer = 0; layer < 4; layer += 1) {
    const colour = palette.land[Math.min(layer, 2)] ?? palette.land[0];
    const y = horizon - 20 + layer * 70;
    const ground = groundOf(world, `dune ${layer}`, y, 60, 420);
    drawGround(pen, world, ground, lighter(colour, 0.14), mix(colour, palette.land[3], 0.3));
    for (const { x, random } of world.places(`dune shade ${layer}`, 520)) {
      const crest = x + random.range(-160, 160);
      const width = random.range(160, 300);
      const points: Point[] = [];
      for (let index = 0; index <= 6; index += 1) {
        const at = crest + (index / 6) * width;
        points.push([at, ground(at), index === 0 ? 1 : 0]);
      }
      points.push([crest + width * 0.8, ground(crest) + 120, 1], [crest + width * 0.25, ground(crest) + 60]);
      pen.area(points, darker(colour, 0.35), 0.35);
    }
  }
}

/** Draws water from the horizon down, with the reflected light of the sun or moon. */
export function drawWater(
  pen: Pen,
  world: World,
  palette: Palette,
  horizon: number,
  luminary: Luminary,
): void {
  const { left, right, bottom } = world.box;
  const near = mix(palette.land[2], palette.sky[0], 0.55);
  const colours = [
    mix(palette.sky[2], palette.sky[1], 0.3),
    mix(palette.sky[1], near, 0.55),
    darker(near, 0.25),
  ];
  const low = Math.max(bottom, horizon + 10);
  pen.box(left, horizon, right, low, vertical(colours, horizon, horizon + 420));
  for (let row = 0; row < 26; row += 1) {
    const depth = row / 26;
    const y = horizon + 6 + depth ** 1.5 * 420;
    if (y > bottom) break;
    const step = 90 + depth * 190;
    for (const { x, random } of world.places(`wave ${row}`, step)) {
      const at = x + random.range(-step / 2, step / 2);
      const onPath = Math.abs(at - luminary.x) < luminary.radius * (1 + depth * 1.6);
      if (!onPath && !random.chance(0.55)) continue;
      const length = (14 + depth * 70) * random.range(0.5, 1.3);
      const wave = `${at - length},${y}! ${at},${y - 1.5 - depth * 4} ${at + length},${y}! ${at},${y + 1.5 + depth * 5}`;
      if (onPath) pen.as('light').area(wave, palette.light, 0.75);
      else
        pen
          .as('land')
          .area(wave, random.chance(0.5) ? lighter(palette.sky[1], 0.25) : darker(near, 0.2), 0.4);
    }
  }
}

/** Draws three rows of houses, with lit windows at night. */
export function drawCity(pen: Pen, world: World, palette: Palette, horizon: number): void {
  for (let row = 0; row < 3; row += 1) {
    const base = mix(palette.land[row] ?? palette.land[0], palette.sky[2], 0.28 - row * 0.14);
    const step = 62 + row * 26;
    for (const { x, random } of world.places(`house ${row}`, step)) {
      const width = step * random.range(0.5, 0.72);
      const height = random.range(120, 330) * (1 - row * 0.18) + (random.chance(0.12) ? 150 : 0);
      const top = horizon + 60 + row * 60 - height;
      const colour = random.chance(0.5) ? base : darker(base, 0.12);
      const walls = [lighter(colour, 0.06), mix(colour, palette.sky[2], row === 0 ? 0.3 : 0.1)];
      const [left, right, foot] = [x - width, x + width, horizon + 500];
      const house = `${left},${foot}! ${left},${top}! ${right},${top}! ${right},${foot}!`;
      pen.area(house, vertical(walls, top, horizon + 200));
      const roof = random.int(0, 3);
      if (roof === 0) {
        const gable = `${x - width},${top + 1}! ${x},${top - width * 0.9}! ${x + width},${top + 1}!`;
        pen.area(gable, darker(colour, 0.15));
      } else if (roof === 1) {
        pen.line(`${x},${top} ${x},${top - 56}`, 3, darker(colour, 0.2));
      } else if (roof === 2) {
        const [a, b] = [x - width * 0.5, x + width * 0.3];
        pen.area(
          `${a},${top + 1}! ${a},${top - 26}! ${b},${top - 26}! ${b},${top + 1}!`,
          darker(colour, 0.1),
        );
      }
      if (row === 0) continue;
      const lit = palette.night ? '#ffd98a' : mix(palette.light, palette.sky[1], 0.4);
      for (let floor = top + 18; floor < horizon + 160; floor += 27) {
        for (let window = -1; window <= 1; window += 1) {
          if (!random.chance(palette.night ? 0.5 : 0.4)) continue;
          const wx = x + window * width * 0.56;
          pen.as('light').box(wx - 6, floor, wx + 6, floor + 13, lit, palette.night ? 0.9 : 0.5);
        }
      }
    }
  }
}
