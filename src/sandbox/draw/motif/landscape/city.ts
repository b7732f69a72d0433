import { darker, lighter, mix } from '../../canvas/colour.ts';
import type { Palette } from '../../canvas/palette.ts';
import type { Pen } from '../../canvas/pen.ts';
import { vertical } from '../../canvas/shape.ts';
import type { World } from '../../canvas/world.ts';

/** Three rows of houses; at night their windows are lit. */
export function drawCity(pen: Pen, world: World, palette: Palette, horizon: number): void {
  for (let row = 0; row < 3; row += 1) {
    const base = mix(palette.land[row] ?? palette.land[0], palette.sky[2], 0.28 - row * 0.14);
    const step = 62 + row * 26;
    for (const { x, random } of world.places(`house ${row}`, step)) {
      const width = step * random.range(0.5, 0.72);
      const height = random.range(120, 330) * (1 - row * 0.18) + (random.chance(0.12) ? 150 : 0);
      const top = horizon + 60 + row * 60 - height;
      const colour = random.chance(0.5) ? base : darker(base, 0.12);
      pen.area(
        `${x - width},${horizon + 500}! ${x - width},${top}! ${x + width},${top}! ${x + width},${horizon + 500}!`,
        vertical(
          [lighter(colour, 0.06), mix(colour, palette.sky[2], row === 0 ? 0.3 : 0.1)],
          top,
          horizon + 200,
        ),
      );
      const roof = random.int(0, 3);
      if (roof === 0) {
        pen.area(
          `${x - width},${top + 1}! ${x},${top - width * 0.9}! ${x + width},${top + 1}!`,
          darker(colour, 0.15),
        );
      } else if (roof === 1) {
        pen.line(`${x},${top} ${x},${top - 56}`, 3, darker(colour, 0.2));
      } else if (roof === 2) {
        pen.area(
          `${x - width * 0.5},${top + 1}! ${x - width * 0.5},${top - 26}! ${x + width * 0.3},${top - 26}! ${x + width * 0.3},${top + 1}!`,
          darker(colour, 0.1),
        );
      }
      if (row === 0) continue;
      const lit = palette.night ? '#ffd98a' : mix(palette.light, palette.sky[1], 0.4);
      for (let floor = top + 18; floor < horizon + 160; floor += 27) {
        for (let window = -1; window <= 1; window += 1) {
          if (!random.chance(palette.night ? 0.5 : 0.4)) continue;
          const wx = x + window * width * 0.56;
          pen
            .as('light')
            .area(
              `${wx - 6},${floor}! ${wx + 6},${floor}! ${wx + 6},${floor + 13}! ${wx - 6},${floor + 13}!`,
              lit,
              palette.night ? 0.9 : 0.5,
            );
        }
      }
    }
  }
}
