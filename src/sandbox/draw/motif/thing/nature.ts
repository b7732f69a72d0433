import { darker, lighter, mix } from '../../canvas/colour.ts';
import type { Palette } from '../../canvas/palette.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import { drawFlower } from '../plants.ts';

/** Flowers in a glazed vase. */
export function drawBouquet(pen: Pen, palette: Palette, random: Random): void {
  const glaze = mix(palette.accent, palette.sky[0], 0.55);
  const petals = [
    palette.accent,
    lighter(palette.accent, 0.4),
    ...(palette.subject === undefined
      ? ['#f3c54b', '#f7f0e4', mix(palette.accent, '#8a4fa0', 0.6)]
      : [0.1, 0.2, 0.3].map((share) => darker(palette.accent, share))),
  ];
  for (let stem = 0; stem < 17; stem += 1) {
    const lean = -0.95 + (stem / 16) * 1.9 + random.range(-0.06, 0.06);
    const height = random.range(170, 330) * (1 - Math.abs(lean) * 0.25);
    drawFlower(
      pen.at(lean * 26, -170, 1.75, lean * 0.75),
      random,
      random.pick(petals),
      '#4f7a4a',
      height / 1.75,
    );
    pen.ellipse(lean * 110, -230 - random.range(0, 90), 34, 12, '#5c8a55', 1, lean + 1.2);
  }
  pen.symmetric('0,-196 44,-194 38,-160 80,-100 84,-40 56,2! 0,8', {
    colours: [lighter(glaze, 0.35), glaze, darker(glaze, 0.45)],
    start: [-80, 0],
    end: [84, 0],
  });
  pen.area('-52,-120 -38,-126 -44,-50 -56,-40', '#ffffff', 0.35);
}

/** One great peak. */
export function drawMountain(pen: Pen, palette: Palette, random: Random): void {
  const stone = mix(palette.subject ?? palette.land[1], palette.sky[1], 0.18);
  const tilt = random.range(-60, 60);
  pen.area(`-620,90! -380,-120! -270,-150! ${tilt},-470! 190,-240! 280,-200! 640,90!`, {
    colours: [lighter(stone, 0.06), mix(stone, palette.sky[2], 0.5)],
    start: [0, -470],
    end: [0, 90],
  });
  pen.area(
    `${tilt},-470! 190,-240! 280,-200! 640,90! 150,90! 60,-60! 100,-170! 10,-280! ${tilt + 26},-380!`,
    darker(stone, 0.38),
    0.7,
  );
  pen.area(
    `${tilt},-470! 120,-326! 84,-300! 60,-240! 20,-300! -30,-230! -60,-310! -120,-250! -130,-316!`,
    mix('#ffffff', palette.light, 0.3),
  );
  pen.area(
    `${tilt},-470! 120,-326! 84,-300! 60,-240! 16,-330! ${tilt + 20},-400!`,
    mix('#ffffff', palette.sky[0], 0.4),
    0.7,
  );
}
