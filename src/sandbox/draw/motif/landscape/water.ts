import { darker, lighter, mix } from '../../canvas/colour.ts';
import type { Palette } from '../../canvas/palette.ts';
import type { Pen } from '../../canvas/pen.ts';
import { vertical } from '../../canvas/shape.ts';
import type { World } from '../../canvas/world.ts';
import type { Luminary } from './sky.ts';

/** Water from the horizon down, with the light's path on it. */
export function drawWater(
  pen: Pen,
  world: World,
  palette: Palette,
  horizon: number,
  luminary: Luminary,
): void {
  const { left, right, bottom } = world.box;
  const near = mix(palette.land[2], palette.sky[0], 0.55);
  pen.area(
    `${left},${horizon}! ${right},${horizon}! ${right},${Math.max(bottom, horizon + 10)}! ${left},${Math.max(bottom, horizon + 10)}!`,
    vertical(
      [mix(palette.sky[2], palette.sky[1], 0.3), mix(palette.sky[1], near, 0.55), darker(near, 0.25)],
      horizon,
      horizon + 420,
    ),
  );
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
      const colour = onPath
        ? palette.light
        : random.chance(0.5)
          ? lighter(palette.sky[1], 0.25)
          : darker(near, 0.2);
      pen
        .as(onPath ? 'light' : 'land')
        .area(
          `${at - length},${y}! ${at},${y - 1.5 - depth * 4} ${at + length},${y}! ${at},${y + 1.5 + depth * 5}`,
          colour,
          onPath ? 0.75 : 0.4,
        );
    }
  }
}
