import { darker, lighter, mix } from '../canvas/colour.ts';
import type { Palette } from '../canvas/palette.ts';
import type { Pen } from '../canvas/pen.ts';
import { type Point, vertical } from '../canvas/shape.ts';
import type { World } from '../canvas/world.ts';

/** A composition of plain forms, for prompts whose words the sandbox cannot draw. */
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
  pen
    .as('sky')
    .area(
      `${left},${top}! ${right},${top}! ${right},${bottom}! ${left},${bottom}!`,
      vertical([mix(palette.sky[2], '#fff8ec', 0.4), mix(palette.sky[2], palette.sky[1], 0.35)], -500, 500),
    );
  if (pose === 0) {
    for (let ring = 9; ring >= 1; ring -= 1) {
      const [x, y] = [random.range(-30, 30) + (ring - 5) * 16, random.range(-26, 26)];
      pen.ellipse(
        x,
        y,
        ring * 46,
        ring * 46 * random.range(0.9, 1),
        colours[ring % colours.length] ?? palette.accent,
        0.92,
      );
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
      pen.area(
        points,
        vertical([band % 4 === 2 ? palette.accent : lighter(colour, 0.12), colour], y - 60, y + 120),
        0.94,
      );
    }
    pen.as('light').ellipse(random.range(-230, 230), -290, 88, 88, palette.light);
  } else if (pose === 2) {
    for (const { x, random: own } of world.places('tower', 128)) {
      for (let y = -1000; y < 1000; y += 128) {
        if (y < top - 130 || y > bottom) continue;
        const colour = own.pick(colours);
        const form = own.int(0, 4);
        const [a, b] = [x - 64, x + 64];
        pen.area(
          `${a},${y}! ${b},${y}! ${b},${y + 128}! ${a},${y + 128}!`,
          mix(own.pick(colours), palette.sky[2], 0.55),
        );
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
      pen.ellipse(
        x,
        y,
        size,
        size,
        {
          colours: [lighter(colour, 0.25), darker(colour, 0.2)],
          start: [x - size, y - size],
          end: [x + size, y + size],
        },
        0.88,
      );
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
