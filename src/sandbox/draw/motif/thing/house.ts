import { darker, lighter, mix } from '../../canvas/colour.ts';
import type { Palette } from '../../canvas/palette.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import { drawFir } from '../plants.ts';
import { boxPoints } from './box.ts';

/** A log cabin between two firs, smoke over it. */
export function drawCabin(pen: Pen, palette: Palette, random: Random, snow: boolean): void {
  drawFir(pen.at(-190, 10, 1.5), random, darker(palette.land[2], 0.1), snow);
  drawFir(pen.at(176, 16, 1.15), random, darker(palette.land[2], 0.2), snow);
  const wall = mix(palette.subject ?? '#8a5a3c', palette.sky[1], palette.night ? 0.35 : 0.08);
  pen.area(boxPoints(-130, -150, 130, 20), {
    colours: [wall, darker(wall, 0.3)],
    start: [-130, 0],
    end: [130, 0],
  });
  for (let y = -130; y < 16; y += 22) pen.line(`-130,${y} 130,${y}`, 2.5, darker(wall, 0.4), 0.6);
  pen.area(
    '-176,-138! -30,-262! 40,-262! 176,-138!',
    snow
      ? '#f6f8fb'
      : { colours: [mix(palette.accent, '#3a2a2a', 0.4), '#2d2228'], start: [0, -262], end: [0, -138] },
  );
  pen.area(boxPoints(70, -300, 102, -216), '#5d4a48');
  pen.as('light').area(boxPoints(-92, -98, -34, -38), '#ffd88a');
  pen.line('-63,-98 -63,-38', 4, '#4a3326');
  pen.line('-92,-68 -34,-68', 4, '#4a3326');
  pen.area(boxPoints(30, -92, 88, 20), '#4b2f24');
  for (let puff = 0; puff < 4; puff += 1)
    pen
      .as('air')
      .ellipse(
        90 + puff * 18,
        -322 - puff * 46,
        18 + puff * 9,
        14 + puff * 7,
        lighter(palette.sky[2], 0.3),
        0.45 - puff * 0.08,
      );
}

/** A castle on its hill. */
export function drawCastle(pen: Pen, palette: Palette, random: Random): void {
  pen.area('-330,60! -220,-10 -120,-50 0,-66 140,-44 240,0 340,60!', {
    colours: [palette.land[1], palette.land[2]],
    start: [0, -66],
    end: [0, 60],
  });
  const stone = mix(palette.subject ?? '#9a90a0', palette.sky[1], 0.35);
  for (const [x, width, top] of [
    [-120, 40, -230],
    [110, 46, -260],
    [-40, 52, -330],
    [48, 34, -290],
    [-180, 26, -160],
    [176, 28, -170],
  ] as const) {
    pen.area(boxPoints(x - width, top, x + width, -20), {
      colours: [lighter(stone, 0.12), darker(stone, 0.36)],
      start: [x - width, 0],
      end: [x + width, 0],
    });
    pen.area(`${x - width - 8},${top + 2}! ${x},${top - width * 2.1}! ${x + width + 8},${top + 2}!`, {
      colours: [lighter(palette.accent, 0.1), darker(palette.accent, 0.5)],
      start: [x - width, 0],
      end: [x + width, 0],
    });
    for (let y = top + 34; y < -50; y += 60)
      if (random.chance(0.8))
        pen
          .as('light')
          .area(
            `${x - 7},${y + 24}! ${x - 7},${y + 6} ${x},${y} ${x + 7},${y + 6} ${x + 7},${y + 24}!`,
            palette.night ? '#ffd98a' : darker(stone, 0.6),
          );
    pen.line(`${x},${top - width * 2.1} ${x},${top - width * 2.1 - 26}`, 3, '#3a3038');
  }
  pen.area(boxPoints(-210, -120, 206, -8), {
    colours: [stone, darker(stone, 0.3)],
    start: [0, -120],
    end: [0, 0],
  });
  for (let x = -206; x < 200; x += 30) pen.area(boxPoints(x, -134, x + 16, -119), stone);
  pen.area('-26,-8! -26,-50 0,-74 26,-50 26,-8!', '#2b2028');
}
