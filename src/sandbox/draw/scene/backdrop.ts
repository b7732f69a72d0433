import { type Colour, darker, lighter, mix } from '../canvas/colour.ts';
import type { Palette } from '../canvas/palette.ts';
import { between, type Pen, type Point, vertical } from '../canvas/pen.ts';
import type { Setting, Theme } from '../canvas/theme.ts';
import type { World } from '../canvas/world.ts';
import {
  drawCity,
  drawDunes,
  drawGround,
  drawHills,
  drawPeaks,
  drawWater,
  type Ground,
  groundOf,
} from '../motif/land.ts';
import { drawBirch, drawFir, drawFlower, drawGrass, drawTree } from '../motif/plants.ts';
import { drawMist, drawSky } from '../motif/sky.ts';

interface Backdrop {
  /** The ground in the foreground. */
  readonly ground: Ground;
  /** The colour of its nearest part. */
  readonly near: Colour;
}

/** The range of x that the backdrop leaves free for the subject. */
interface Clearing {
  readonly from: number;
  readonly to: number;
}

/** Draws the sky and the land, up to the ground on which the subject stands. */
export function drawBackdrop(
  pen: Pen,
  world: World,
  palette: Palette,
  theme: Theme,
  setting: Setting,
  horizon: number,
  floor: number,
  clearing: Clearing,
): Backdrop {
  const luminary = drawSky(pen, world, palette, theme, horizon);
  const land = pen.as('land');
  const snowy = theme.mood === 'snow' || theme.snow;
  switch (setting) {
    case 'mountains':
      drawPeaks(land, world, palette, horizon);
      drawFirs(land, world, palette, 'far firs', horizon + 84, 0.34, 46, snowy, undefined);
      break;
    case 'forest':
      drawHills(land, world, palette, horizon);
      drawFirs(land, world, palette, 'far firs', horizon + 70, 0.9, 74, snowy, undefined);
      drawMist(pen.as('air'), world, palette, horizon + 70, 'forest mist');
      drawFirs(land, world, palette, 'mid firs', horizon + 150, 1.7, 150, snowy, clearing);
      break;
    case 'birches':
      drawHills(land, world, palette, horizon);
      drawBirches(land, world, palette, horizon, clearing);
      break;
    case 'sea':
      drawWater(land, world, palette, horizon, luminary);
      break;
    case 'lake':
      drawPeaks(land, world, palette, horizon - 10);
      drawFirs(land, world, palette, 'shore firs', horizon + 52, 0.36, 40, snowy, undefined);
      drawWater(land, world, palette, horizon + 50, luminary);
      break;
    case 'city':
      drawCity(land, world, palette, horizon);
      break;
    case 'desert':
      drawDunes(land, world, palette, horizon);
      break;
    case 'meadow':
    case 'hills':
      drawHills(land, world, palette, horizon);
      drawTrees(land, world, palette, horizon, snowy);
      break;
  }
  if (theme.mood === 'mist') drawMist(pen.as('air'), world, palette, horizon + 40, 'mist');

  const ground = groundOf(world, 'floor', floor, setting === 'city' ? 0 : 26, 420);
  const near = snowy ? mix('#f6f8fb', palette.sky[1], palette.night ? 0.6 : 0.12) : palette.land[3];
  const lit = snowy ? near : mix(palette.land[2], near, 0.55);
  const nearest = snowy ? mix(near, palette.sky[0], 0.35) : darker(near, 0.3);
  drawGround(land, world, ground, lighter(lit, 0.08), nearest);
  return { ground, near: nearest };
}

function drawFirs(
  pen: Pen,
  world: World,
  palette: Palette,
  name: string,
  foot: number,
  scale: number,
  step: number,
  snow: boolean,
  clearing: Clearing | undefined,
): void {
  const share = Math.min(1, scale / 1.7);
  const colour = mix(mix(palette.land[0], palette.sky[2], 0.15), darker(palette.land[2], 0.15), share);
  for (const { x, random } of world.places(name, step)) {
    const at = x + random.range(-step * 0.35, step * 0.35);
    const size = scale * random.range(0.75, 1.35);
    if (clearing !== undefined && at > clearing.from && at < clearing.to) continue;
    if (!random.chance(0.88)) continue;
    drawFir(pen.at(at, foot + random.range(-8, 22) * scale, size), random, colour, snow);
  }
}

function drawBirches(pen: Pen, world: World, palette: Palette, horizon: number, clearing: Clearing): void {
  for (let row = 0; row < 3; row += 1) {
    const step = 62 + row * 66;
    const light = mix('#f5f1ea', palette.sky[1], 0.5 - row * 0.2 + (palette.night ? 0.2 : 0));
    for (const { x, random } of world.places(`birch ${row}`, step)) {
      const at = x + random.range(-step * 0.4, step * 0.4);
      if (row === 2 && at > clearing.from && at < clearing.to) continue;
      if (!random.chance(0.85)) continue;
      const width = (6 + row * 8) * random.range(0.75, 1.25);
      const foot = horizon + 70 + row * 62;
      drawBirch(pen.at(at, foot), random, -1300, width, mix(light, palette.land[2], 0.5), light);
    }
    const leaf = mix(palette.accent, palette.land[1], 0.45);
    for (const { x, random } of world.places(`birch leaves ${row}`, 54)) {
      for (let leaves = 0; leaves < 3; leaves += 1) {
        const y = random.range(world.frame.view.zoom > 1 ? -900 : -520, horizon - 210 + row * 20);
        const at = x + random.range(-50, 50);
        const colour = random.chance(0.5) ? leaf : lighter(leaf, 0.25);
        pen.ellipse(at, y, 11 + row * 3, 7 + row * 2, colour, 0.75, random.range(0, 3));
      }
    }
  }
}

function drawTrees(pen: Pen, world: World, palette: Palette, horizon: number, snowy: boolean): void {
  for (const { x, random } of world.places('tree', 210)) {
    if (!random.chance(0.55)) continue;
    const at = x + random.range(-80, 80);
    const place = pen.at(at, horizon + random.range(40, 96), random.range(0.4, 0.72));
    const colour = mix(palette.land[2], random.chance(0.3) ? palette.accent : palette.land[1], 0.4);
    if (snowy || random.chance(0.3)) drawFir(place, random, darker(palette.land[2], 0.1), snowy);
    else drawTree(place, random, colour, darker(palette.land[3], 0.2));
  }
}

/** Draws grass, flowers or snowy tufts before the subject. `from`: the first row, larger for a near ground. */
export function drawForeground(
  pen: Pen,
  world: World,
  palette: Palette,
  theme: Theme,
  setting: Setting,
  ground: Ground,
  from = 0,
): void {
  if (setting === 'city' || setting === 'desert') return;
  const snowy = theme.mood === 'snow' || theme.snow;
  const grass = snowy ? mix('#8a7f6a', palette.land[2], 0.4) : mix(palette.land[2], palette.land[3], 0.35);
  const flowers = theme.flowers || setting === 'meadow' || theme.mood === 'spring';
  const { bottom } = world.box;
  let depth = 14;
  for (let row = from; row < from + 4 || depth < bottom - 180; row += 1) {
    // The first rows grow as they come nearer. Later rows, which only a wider view shows, are scaled together with their distance, so
    // that a bounded number of rows fills any view.
    const near = Math.min(row, firstRows);
    const scale = growth ** Math.max(0, row - firstRows);
    const step = (60 + near * 12) * scale;
    for (const { x, random } of world.places(`${from === 0 ? '' : 'near '}grass ${row}`, step)) {
      const at = x + random.range(-step / 2, step / 2);
      const y = ground(at) + depth;
      if (y > bottom + 60 * scale || random.chance(snowy ? 0.72 : 0.22)) continue;
      const colour = row % 2 === 0 ? grass : darker(grass, 0.18);
      drawGrass(pen.at(at, y, scale), random, colour, 40 + near * 16);
      if (flowers && random.chance(0.5)) {
        const petal = random.pick([palette.accent, lighter(palette.accent, 0.35), '#f7f3ea', '#f2c84b']);
        const x = at + random.range(-20, 20) * scale;
        drawFlower(pen.at(x, y + 6 * scale, (0.8 + near * 0.24) * scale), random, petal, grass, 62);
      }
    }
    depth += 58 * scale;
  }
}

const firstRows = 4;

/** Factor by which each later row is larger than the one before. */
const growth = 1.14;

/** Draws plain forms, for prompts whose words the sandbox cannot draw. */
export function drawAbstract(pen: Pen, world: World, palette: Palette, pose: number): void {
  const { left, right, top, bottom } = world.box;
  const random = world.random('abstract');
  const colours = [
    palette.accent,
    palette.light,
    palette.sky[0],
    palette.land[1],
    palette.land[3],
    palette.sky[1],
  ];
  const ground = [mix(palette.sky[2], '#fff8ec', 0.4), mix(palette.sky[2], palette.sky[1], 0.35)];
  pen.as('sky').box(left, top, right, bottom, vertical(ground, -500, 500));
  if (pose === 0) {
    for (let ring = 9; ring >= 1; ring -= 1) {
      const [x, y] = [random.range(-30, 30) + (ring - 5) * 16, random.range(-26, 26)];
      const colour = colours[ring % colours.length] ?? palette.accent;
      pen.ellipse(x, y, ring * 46, ring * 46 * random.range(0.9, 1), colour, 0.92);
    }
    pen.as('subject').ellipse(random.range(90, 200), random.range(-190, -90), 62, 62, palette.accent);
  } else if (pose === 1) {
    for (let band = 0; band < 11; band += 1) {
      const y = -380 + band * 82;
      const wave = world.noise(`band ${band}`, 260);
      const points: Point[] = [];
      for (let x = Math.floor(left / 40) * 40; x <= right + 40; x += 40) points.push([x, y + wave(x) * 80]);
      points.push([right + 40, bottom + 400, 1], [left - 40, bottom + 400, 1]);
      const colour = mix(palette.sky[1], palette.land[3], band / 11);
      const upper = band % 4 === 2 ? palette.accent : lighter(colour, 0.12);
      pen.area(points, vertical([upper, colour], y - 60, y + 120), 0.94);
    }
    pen.as('light').ellipse(random.range(-230, 230), -290, 88, 88, palette.light);
  } else if (pose === 2) {
    for (const { x, random: own } of world.places('tower', 128)) {
      for (let y = -1000; y < 1000; y += 128) {
        if (y < top - 130 || y > bottom) continue;
        const colour = own.pick(colours);
        const form = own.int(0, 4);
        const [a, b] = [x - 64, x + 64];
        pen.box(a, y, b, y + 128, mix(own.pick(colours), palette.sky[2], 0.55));
        if (form === 0) pen.ellipse(x, y + 64, 56, 56, colour);
        else if (form === 1) pen.area(`${a},${y + 128}! ${a},${y}! ${b},${y + 128}!`, colour);
        else if (form === 2)
          pen.area(
            `${a},${y}! ${x - 19},${y + 5} ${x + 26},${y + 38} ${b - 5},${y + 83} ${b},${y + 128}! ${a},${y + 128}!`,
            colour,
          );
        else if (form === 3) pen.ellipse(x, y + 64, 54, 26, darker(colour, 0.1), 1, own.range(-0.8, 0.8));
        else pen.area(`${x},${y + 8}! ${b - 8},${y + 64}! ${x},${y + 120}! ${a + 8},${y + 64}!`, colour);
      }
    }
  } else {
    for (let arc = 0; arc < 26; arc += 1) {
      const angle = arc * 2.399;
      const far = 26 * Math.sqrt(arc) * 3.1;
      const size = random.range(30, 112) * (1 - arc / 52);
      const [x, y] = [Math.cos(angle) * far, Math.sin(angle) * far];
      const colour = colours[arc % colours.length] ?? palette.accent;
      const shade = [lighter(colour, 0.25), darker(colour, 0.2)];
      pen.ellipse(x, y, size, size, between(shade, [x - size, y - size], [x + size, y + size]), 0.88);
    }
    for (let spoke = 0; spoke < 9; spoke += 1) {
      const angle = random.range(0, 2 * Math.PI);
      pen.line(
        `0,0 ${Math.cos(angle) * 300},${Math.sin(angle) * 260} ${Math.cos(angle + 0.4) * 620},${Math.sin(angle + 0.4) * 560}`,
        random.range(2, 7),
        palette.land[3],
        0.8,
      );
    }
  }
}
