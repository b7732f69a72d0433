import { type Colour, darker, lighter, mix } from '../canvas/colour.ts';
import type { Palette } from '../canvas/palette.ts';
import type { Pen } from '../canvas/pen.ts';
import type { Setting, Theme } from '../canvas/theme.ts';
import type { World } from '../canvas/world.ts';
import { drawCity } from '../motif/landscape/city.ts';
import {
  drawDunes,
  drawGround,
  drawHills,
  drawPeaks,
  type Ground,
  groundOf,
} from '../motif/landscape/land.ts';
import { drawSky } from '../motif/landscape/sky.ts';
import { drawWater } from '../motif/landscape/water.ts';
import { drawMist } from '../motif/landscape/weather.ts';
import { drawBirch, drawFir, drawFlower, drawGrass, drawTree } from '../motif/plants.ts';

/** The land that a subject stands in. */
export interface Backdrop {
  /** The ground in the foreground. */
  readonly ground: Ground;
  /** What it is like nearest to us. */
  readonly near: Colour;
}

/** What the backdrop must leave free for the subject. */
export interface Clearing {
  readonly from: number;
  readonly to: number;
}

/** Draws sky and land up to the ground on which the subject stands. */
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
        pen.ellipse(
          x + random.range(-50, 50),
          y,
          11 + row * 3,
          7 + row * 2,
          random.chance(0.5) ? leaf : lighter(leaf, 0.25),
          0.75,
          random.range(0, 3),
        );
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

/** Grass, flowers or snowy tufts before the subject's feet. `from` is the row to begin with, where the ground itself is near. */
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
    // The first rows grow as they come nearer. Those that only a wider view shows grow in all directions alike, with the distance
    // between them: grass and flowers keep their form, and fill any view with a bounded number of rows.
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

/** Rows of grass that the first view shows, at most. */
const firstRows = 4;

/** By how much each row behind them is larger than the one before. */
const growth = 1.14;
