import { darker, lighter, mix } from '../canvas/colour.ts';
import type { Palette } from '../canvas/palette.ts';
import { type Pen, type Point, vertical } from '../canvas/pen.ts';
import type { Theme } from '../canvas/theme.ts';
import type { World } from '../canvas/world.ts';

/** The place of the sun or moon. */
export interface Luminary {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** The height of the sky's first colour over the middle of the first frame. */
const skyTop = 520;

/** Draws the sky behind the whole scene, with its sun or moon, its stars and its clouds. */
export function drawSky(pen: Pen, world: World, palette: Palette, theme: Theme, horizon: number): Luminary {
  const { left, right, top, bottom } = world.box;
  const sky = pen.as('sky');
  sky.box(left, top, right, bottom, vertical(palette.sky, -skyTop, horizon));
  // The part that only a wider window shows: the sky becomes deeper.
  if (top < -skyTop) {
    const deep = vertical([darker(palette.sky[0], 0.45), palette.sky[0]], -3 * skyTop, -skyTop);
    sky.box(left, top, right, 2 - skyTop, deep);
    if (!palette.night && theme.mood === 'dusk') drawStars(sky.as('light'), world, -skyTop);
  }
  if (palette.night) drawStars(sky.as('light'), world, horizon);

  const random = world.random('luminary');
  const reach = 380 * Math.min(1.4, world.frame.aspect);
  const side = random.chance(0.5) ? 1 : -1;
  const luminary = {
    x: side * random.range(0.3, 0.85) * reach,
    y: palette.night || theme.moon ? random.range(-380, -220) : random.range(-300, horizon - 30),
    radius: theme.moon ? random.range(80, 150) : random.range(46, 84),
  };
  const light = pen.as('light');
  const { x, y, radius } = luminary;
  for (const [size, opacity] of [
    [3.4, 0.07],
    [2.3, 0.1],
    [1.55, 0.16],
  ] as const) {
    light.ellipse(x, y, radius * size, radius * size, palette.light, opacity);
  }
  light.ellipse(x, y, radius, radius, palette.light, palette.night ? 1 : 0.95);
  if (palette.night || theme.moon) {
    const crater = mix(palette.light, palette.sky[2], 0.22);
    for (let index = 0; index < 5; index += 1) {
      const angle = random.range(0, 2 * Math.PI);
      const far = random.range(0.1, 0.66) * radius;
      const size = random.range(0.07, 0.2) * radius;
      light.ellipse(x + Math.cos(angle) * far, y + Math.sin(angle) * far, size, size * 0.9, crater, 0.6);
    }
  }
  drawClouds(sky, world, palette, horizon);
  return luminary;
}

function drawStars(pen: Pen, world: World, horizon: number): void {
  for (let row = Math.floor(world.box.top / 80); row * 80 < horizon - 60; row += 1) {
    for (const { x, random } of world.places(`star ${row}`, 80)) {
      if (!random.chance(0.62)) continue;
      const size = random.chance(0.12) ? 4.4 : random.range(1.1, 2.6);
      const [at, y] = [x + random.range(-38, 38), row * 80 + random.range(0, 78)];
      pen.ellipse(at, y, size, size, '#fffbea', random.range(0.45, 1));
    }
  }
}

function drawClouds(pen: Pen, world: World, palette: Palette, horizon: number): void {
  const colour = lighter(mix(palette.sky[1], palette.light, 0.45), palette.night ? 0 : 0.2);
  for (let row = -2; row <= 1; row += 1) {
    const y = horizon - 190 + row * 150;
    if (y < world.box.top - 100) continue;
    for (const { x, random } of world.places(`cloud ${row}`, 620)) {
      if (!random.chance(0.5)) continue;
      const width = random.range(130, 300);
      const height = random.range(16, 40);
      const [cx, cy] = [x + random.range(-200, 200), y + random.range(-60, 60)];
      const bumps = random.int(3, 5);
      const points: Point[] = [[cx - width, cy + height * 0.3, 1]];
      for (let bump = 0; bump <= bumps; bump += 1) {
        const share = bump / bumps;
        points.push([
          cx - width * 0.8 + share * width * 1.6,
          cy - height * Math.sin(Math.PI * (0.12 + 0.76 * share)) * random.range(0.7, 1.7),
        ]);
      }
      points.push([cx + width, cy + height * 0.3, 1], [cx, cy + height * 0.55]);
      pen.area(points, colour, palette.night ? 0.2 : 0.55);
    }
  }
}

/** Draws snowflakes over the whole scene. */
export function drawSnowfall(pen: Pen, world: World): void {
  scatter(world, 'flake', 74, (x, y, random) => {
    const size = random.chance(0.1) ? random.range(7, 11) : random.range(2, 5);
    pen.ellipse(x, y, size, size, '#ffffff', random.range(0.5, 0.95));
  });
}

/** Draws slanting rain over the whole scene. */
export function drawRain(pen: Pen, world: World): void {
  scatter(world, 'drop', 62, (x, y, random) => {
    const length = random.range(26, 70);
    const drop = `${x},${y} ${x - length * 0.24},${y + length}`;
    pen.line(drop, random.range(1.2, 2.6), '#dfe9f2', random.range(0.25, 0.6));
  });
}

/** Draws a veil of mist around the height y. */
export function drawMist(pen: Pen, world: World, palette: Palette, y: number, name: string): void {
  const upper = world.noise(`${name} upper`, 300);
  const lower = world.noise(`${name} lower`, 240);
  const top: Point[] = [];
  const bottom: Point[] = [];
  for (let x = Math.floor(world.box.left / 50) * 50; x <= world.box.right + 50; x += 50) {
    top.push([x, y - 40 + upper(x) * 34]);
    bottom.push([x, y + 44 + lower(x) * 30]);
  }
  const veil = lighter(palette.sky[2], 0.25);
  for (const opacity of [0.26, 0.3]) {
    pen.area([...top, ...bottom.reverse()], vertical([veil, veil], y - 60, y + 60), opacity);
    bottom.reverse();
    for (const [index, [x, at]] of top.entries()) top[index] = [x, at + 26];
    for (const [index, [x, at]] of bottom.entries()) bottom[index] = [x, at - 22];
  }
}

function scatter(
  world: World,
  name: string,
  step: number,
  put: (x: number, y: number, random: ReturnType<World['randomAt']>) => void,
): void {
  const { top, bottom } = world.box;
  for (let row = Math.floor(top / step); row * step < bottom; row += 1) {
    for (const { x, random } of world.places(`${name} ${row}`, step)) {
      if (!random.chance(0.6)) continue;
      put(x + random.range(-step / 2, step / 2), row * step + random.range(0, step), random);
    }
  }
}
