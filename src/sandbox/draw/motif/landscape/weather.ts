import { lighter } from '../../canvas/colour.ts';
import type { Palette } from '../../canvas/palette.ts';
import type { Pen } from '../../canvas/pen.ts';
import { type Point, vertical } from '../../canvas/shape.ts';
import type { World } from '../../canvas/world.ts';

/** Flakes over everything, the nearer the larger. */
export function drawSnowfall(pen: Pen, world: World): void {
  scatter(world, 'flake', 74, (x, y, random) => {
    const size = random.chance(0.1) ? random.range(7, 11) : random.range(2, 5);
    pen.ellipse(x, y, size, size, '#ffffff', random.range(0.5, 0.95));
  });
}

/** Slanting rain. */
export function drawRain(pen: Pen, world: World): void {
  scatter(world, 'drop', 62, (x, y, random) => {
    const length = random.range(26, 70);
    pen.line(
      `${x},${y} ${x - length * 0.24},${y + length}`,
      random.range(1.2, 2.6),
      '#dfe9f2',
      random.range(0.25, 0.6),
    );
  });
}

/** A veil of mist that lies around y. */
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
