import { darker, lighter, mix } from '../canvas/colour.ts';
import type { Palette } from '../canvas/palette.ts';
import { across, between, type Pen, vertical } from '../canvas/pen.ts';
import type { Random } from '../canvas/random.ts';
import type { Thing } from '../canvas/theme.ts';
import { drawFir, drawFlower, drawTree } from './plants.ts';

/** Draws a thing of about 300 × 400 on the origin, in the subject's own colour if the prompt gives one. */
export function drawThing(pen: Pen, thing: Thing, scene: Palette, random: Random, snow: boolean): void {
  const palette = scene.subject === undefined ? scene : { ...scene, accent: scene.subject };
  switch (thing) {
    case 'boat':
      return drawBoat(pen, palette, random);
    case 'lighthouse':
      return drawLighthouse(pen, palette);
    case 'cabin':
      return drawCabin(pen, palette, random, snow);
    case 'castle':
      return drawCastle(pen, palette, random);
    case 'balloon':
      return drawBalloon(pen, palette, random);
    case 'flower':
      return drawBouquet(pen, palette, random);
    case 'mountain':
      return drawMountain(pen, palette, random);
    case 'tree':
      return drawTree(
        pen.at(0, 0, 2.1),
        random,
        palette.subject !== undefined
          ? mix(palette.subject, palette.land[2], 0.2)
          : palette.night
            ? palette.land[1]
            : mix(palette.land[2], palette.accent, 0.25),
        '#4a3630',
      );
  }
}

function drawBalloon(pen: Pen, palette: Palette, random: Random): void {
  const colours = [palette.accent, lighter(palette.light, 0.1), mix(palette.accent, palette.sky[0], 0.6)];
  const first = random.int(0, 2);
  for (let gore = 0; gore < 7; gore += 1) {
    const [a, b] = [edgeOf(gore), edgeOf(gore + 1)];
    const colour = colours[(gore + first) % 3] ?? palette.accent;
    pen.area(
      `${a * 0.12},-420! ${a * 0.8},-380 ${a},-270 ${a * 0.72},-160 ${a * 0.24},-70! ${b * 0.24},-70! ${b * 0.72},-160 ${b},-270 ${b * 0.8},-380 ${b * 0.12},-420!`,
      darker(colour, Math.abs(gore - 2) * 0.07),
    );
  }
  for (const x of [-24, -8, 8, 24]) pen.line(`${x * 1.4},-72 ${x},-16`, 2.5, '#4a3428');
  pen.area('-28,-18! 28,-18! 23,26 -23,26', vertical(['#a9743f', '#5d3c22'], -18, 26));
}

/** The x of the edge between two of the balloon's seven gores. */
const edgeOf = (index: number): number => Math.cos(Math.PI * (1 - index / 7)) * 150;

function drawCabin(pen: Pen, palette: Palette, random: Random, snow: boolean): void {
  drawFir(pen.at(-190, 10, 1.5), random, darker(palette.land[2], 0.1), snow);
  drawFir(pen.at(176, 16, 1.15), random, darker(palette.land[2], 0.2), snow);
  const wall = mix(palette.subject ?? '#8a5a3c', palette.sky[1], palette.night ? 0.35 : 0.08);
  pen.box(-130, -150, 130, 20, across([wall, darker(wall, 0.3)], -130, 130));
  for (let y = -130; y < 16; y += 22) pen.line(`-130,${y} 130,${y}`, 2.5, darker(wall, 0.4), 0.6);
  pen.area(
    '-176,-138! -30,-262! 40,-262! 176,-138!',
    snow ? '#f6f8fb' : vertical([mix(palette.accent, '#3a2a2a', 0.4), '#2d2228'], -262, -138),
  );
  pen.box(70, -300, 102, -216, '#5d4a48');
  pen.as('light').box(-92, -98, -34, -38, '#ffd88a');
  pen.line('-63,-98 -63,-38', 4, '#4a3326');
  pen.line('-92,-68 -34,-68', 4, '#4a3326');
  pen.box(30, -92, 88, 20, '#4b2f24');
  const [air, smoke] = [pen.as('air'), lighter(palette.sky[2], 0.3)];
  for (let puff = 0; puff < 4; puff += 1) {
    const [x, y] = [90 + puff * 18, -322 - puff * 46];
    air.ellipse(x, y, 18 + puff * 9, 14 + puff * 7, smoke, 0.45 - puff * 0.08);
  }
}

function drawCastle(pen: Pen, palette: Palette, random: Random): void {
  pen.area(
    '-330,60! -220,-10 -120,-50 0,-66 140,-44 240,0 340,60!',
    vertical([palette.land[1], palette.land[2]], -66, 60),
  );
  const stone = mix(palette.subject ?? '#9a90a0', palette.sky[1], 0.35);
  for (const [x, width, top] of [
    [-120, 40, -230],
    [110, 46, -260],
    [-40, 52, -330],
    [48, 34, -290],
    [-180, 26, -160],
    [176, 28, -170],
  ] as const) {
    const shade = across([lighter(stone, 0.12), darker(stone, 0.36)], x - width, x + width);
    pen.box(x - width, top, x + width, -20, shade);
    pen.area(
      `${x - width - 8},${top + 2}! ${x},${top - width * 2.1}! ${x + width + 8},${top + 2}!`,
      across([lighter(palette.accent, 0.1), darker(palette.accent, 0.5)], x - width, x + width),
    );
    for (let y = top + 34; y < -50; y += 60) {
      if (!random.chance(0.8)) continue;
      const window = `${x - 7},${y + 24}! ${x - 7},${y + 6} ${x},${y} ${x + 7},${y + 6} ${x + 7},${y + 24}!`;
      pen.as('light').area(window, palette.night ? '#ffd98a' : darker(stone, 0.6));
    }
    pen.line(`${x},${top - width * 2.1} ${x},${top - width * 2.1 - 26}`, 3, '#3a3038');
  }
  pen.box(-210, -120, 206, -8, vertical([stone, darker(stone, 0.3)], -120, 0));
  for (let x = -206; x < 200; x += 30) pen.box(x, -134, x + 16, -119, stone);
  pen.area('-26,-8! -26,-50 0,-74 26,-50 26,-8!', '#2b2028');
}

/** Draws a sailing boat whose water line is y 0. */
function drawBoat(pen: Pen, palette: Palette, random: Random): void {
  const sail = mix('#fff6e6', palette.accent, random.chance(0.5) ? 0 : 0.8);
  pen.line('0,-30 0,-330', 6, '#4a3428');
  const front = between([lighter(sail, 0.2), darker(sail, 0.16)], [0, -320], [130, -60]);
  pen.area('8,-320! 120,-150 132,-62! 8,-58!', front);
  const back = between([sail, darker(sail, 0.26)], [0, -280], [-90, -66]);
  pen.area('-8,-280! -84,-140 -96,-66! -8,-62!', back);
  const hull = mix(palette.accent, '#5a2f26', palette.subject === undefined ? 0.5 : 0.12);
  pen.area('-150,-44! 150,-50! 112,10 -100,12', vertical([hull, '#2a1c1e'], -50, 12));
  pen.box(-150, -50, 150, -40, '#f3e2c4');
  for (const [width, y] of [
    [150, 22],
    [110, 36],
    [70, 50],
  ] as const)
    pen.area(`${-width},${y}! 0,${y - 4} ${width},${y}! 0,${y + 5}`, lighter(palette.sky[2], 0.1), 0.5);
}

function drawLighthouse(pen: Pen, palette: Palette): void {
  pen.as('light').area('0,-420! 620,-560! 620,-330!', palette.light, 0.3);
  pen.as('light').area('0,-420! -620,-500! -620,-340!', palette.light, 0.2);
  pen.area(
    '-170,30 -110,-22 -40,-34 60,-30 130,-6 190,40! -190,40!',
    vertical(['#6d6470', '#2c2933'], -34, 40),
  );
  const stripes = 5;
  for (let stripe = 0; stripe < stripes; stripe += 1) {
    const [top, bottom] = [-380 + (stripe / stripes) * 360, -380 + ((stripe + 1) / stripes) * 360];
    const colour = stripe % 2 === 0 ? '#f7efe4' : palette.accent;
    pen.area(
      `${-halfAt(top)},${top}! ${halfAt(top)},${top}! ${halfAt(bottom)},${bottom}! ${-halfAt(bottom)},${bottom}!`,
      across([lighter(colour, 0.1), darker(colour, 0.4)], -50, 60),
    );
  }
  pen.box(-46, -388, 46, -376, '#33303a');
  pen.box(-26, -446, 26, -388, lighter(palette.light, 0.3));
  pen.line('0,-446 0,-388', 4, '#33303a');
  pen.area('-36,-444! 0,-490! 36,-444!', darker(palette.accent, 0.3));
}

/** Half the width of the lighthouse at a height. */
const halfAt = (y: number): number => 34 + ((y + 380) / 360) * 26;

function drawBouquet(pen: Pen, palette: Palette, random: Random): void {
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
    const place = pen.at(lean * 26, -170, 1.75, lean * 0.75);
    drawFlower(place, random, random.pick(petals), '#4f7a4a', height / 1.75);
    pen.ellipse(lean * 110, -230 - random.range(0, 90), 34, 12, '#5c8a55', 1, lean + 1.2);
  }
  pen.symmetric(
    '0,-196 44,-194 38,-160 80,-100 84,-40 56,2! 0,8',
    across([lighter(glaze, 0.35), glaze, darker(glaze, 0.45)], -80, 84),
  );
  pen.area('-52,-120 -38,-126 -44,-50 -56,-40', '#ffffff', 0.35);
}

function drawMountain(pen: Pen, palette: Palette, random: Random): void {
  const stone = mix(palette.subject ?? palette.land[1], palette.sky[1], 0.18);
  const tilt = random.range(-60, 60);
  pen.area(
    `-620,90! -380,-120! -270,-150! ${tilt},-470! 190,-240! 280,-200! 640,90!`,
    vertical([lighter(stone, 0.06), mix(stone, palette.sky[2], 0.5)], -470, 90),
  );
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
