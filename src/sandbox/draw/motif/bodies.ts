import { darker, lighter } from '../canvas/colour.ts';
import { across, between, type Pen, type Point, vertical } from '../canvas/pen.ts';
import type { Random } from '../canvas/random.ts';
import type { Coat } from './coat.ts';
import { drawHead, type EyeStyle, sided } from './heads.ts';

/** Draws head, neck and shoulders, the middle of the head at the origin. */
export function drawBust(pen: Pen, coat: Coat, random: Random, look: EyeStyle): void {
  const wide = coat.build === 'deer' ? 0.72 : 1;
  pen.symmetric(
    `0,40 ${70 * wide},60 ${112 * wide},120 ${150 * wide},190 ${196 * wide},280 ${230 * wide},420 ${236 * wide},620! 0,620!`,
    vertical([darker(coat.main, 0.2), coat.main, darker(coat.main, 0.34)], 60, 520),
  );
  const tufts: Point[] = [[0, 80]];
  const count = 9;
  for (let index = 0; index <= count; index += 1) {
    const share = index / count;
    const half = (88 - 30 * share) * wide;
    tufts.push([half * (index % 2 === 0 ? 1 : 0.8), 100 + share * 300, index % 2 === 0 ? 1 : 0]);
  }
  tufts.push([0, 470, 1]);
  pen.symmetric(tufts, vertical([coat.pale, darker(coat.pale, 0.22)], 90, 460));
  for (let index = 0; index < 22; index += 1) {
    const side = index % 2 === 0 ? 1 : -1;
    const x = side * random.range(70, 190) * wide;
    const y = random.range(170, 460);
    const colour = random.chance(0.5) ? lighter(coat.main, 0.2) : darker(coat.main, 0.35);
    pen.line(`${x},${y} ${x + side * 8},${y + 22} ${x + side * 10},${y + 44}`, 3, colour, 0.5);
  }
  drawHead(pen, coat, look);
}

/** Draws a seated animal from the front, about 300 × 480, its feet at the origin. */
export function drawSeated(pen: Pen, coat: Coat, random: Random, look: EyeStyle): void {
  const tall = coat.build === 'deer' ? 1.15 : 1;
  drawSeatedTail(pen, coat, random);
  const dress = vertical([lighter(coat.main, 0.05), coat.main, darker(coat.main, 0.3)], -300, 0);
  for (const side of [-1, 1]) {
    pen.ellipse(side * 74, -50, 52, 56, darker(coat.main, 0.16), 1, side * 0.3);
    pen.ellipse(side * 84, -5, 38, 12, darker(coat.main, 0.3));
  }
  pen.symmetric(`0,${-312 * tall} 54,${-288 * tall} 76,-220 92,-140 96,-64 70,-4 0,-2`, dress);
  pen.symmetric(
    '0,-300 46,-268 60,-232! 46,-218 50,-182! 34,-172 34,-134! 18,-126 0,-92!',
    vertical([coat.pale, darker(coat.pale, 0.18)], -300, -90),
  );
  for (const side of [-1, 1]) {
    pen.area(
      sided(side, '8,-170 50,-150 46,-60 44,-8 52,2! 10,3! 10,-60'),
      vertical([coat.main, darker(coat.main, 0.1), coat.dark], -170, 0),
      0.96,
    );
    for (const toe of [20, 30, 40])
      pen.line(`${side * toe},-8 ${side * toe},1`, 2, darker(coat.dark, 0.3), 0.7);
  }
  pen.line('0,-110 0,0', 2.5, darker(coat.main, 0.5), 0.55);
  drawHead(pen.at(0, -352 * tall, 0.94, random.range(-0.09, 0.09)), coat, look);
}

function drawSeatedTail(pen: Pen, coat: Coat, random: Random): void {
  const side = random.chance(0.5) ? 1 : -1;
  const tail = pen.at(0, 0, 1, 0, side < 0);
  if (coat.tail === 'bushy') {
    const shades = [darker(coat.main, 0.25), coat.main, lighter(coat.main, 0.08)];
    const brush = '60,-6 120,4 184,-18 232,-76 236,-142 214,-196! 192,-150 160,-104 110,-74 70,-60';
    tail.area(brush, between(shades, [60, 0], [236, -150]));
    tail.area('234,-128 238,-160 214,-200! 190,-152 200,-140! 208,-146 216,-132! 224,-138', coat.pale);
  } else if (coat.tail === 'long') {
    tail.line('70,-14 150,-6 206,-40 214,-96 184,-128', 24, darker(coat.main, 0.14));
    if (coat.stripes) {
      for (const [x, y] of [
        [146, -6],
        [186, -22],
        [210, -58],
        [212, -96],
      ] as const)
        tail.ellipse(x, y, 5, 13, coat.dark, 0.9);
    }
  } else {
    tail.ellipse(96, -34, 24, 20, coat.pale);
  }
}

/** Draws an animal that walks to the right, about 460 × 200, on the ground at y 0. */
export function drawWalking(pen: Pen, coat: Coat): void {
  const high = coat.build === 'deer' ? 1.5 : coat.build === 'bear' ? 0.9 : 1;
  const legs = pen;
  const far = darker(coat.main, 0.4);
  legs.area(
    `-78,${-84 * high} -50,${-70 * high} -58,${-40 * high} -40,-6 -34,0! -56,0! -76,${-34 * high} -96,${-66 * high}`,
    vertical([far, coat.dark], -70, -6),
  );
  legs.area(
    `62,${-84 * high} 92,${-76 * high} 96,${-44 * high} 114,-4 118,0! 98,0! 76,${-40 * high}`,
    vertical([far, coat.dark], -70, -6),
  );
  const lift = -(high - 1) * 80;
  const up = pen.at(0, lift);
  drawWalkingTail(up, coat);
  const deep = coat.build === 'bear' ? 26 : 0;
  up.area(
    `-118,-104 -104,-134 -60,${-144 - deep} -8,${-138 - deep} 40,${-144 - deep} 78,-158 112,-150 124,-112 104,-82 60,${-72 + deep / 3} 0,${-74 + deep / 2} -60,${-70 + deep / 3} -100,-76`,
    vertical([lighter(coat.main, 0.1), coat.main, darker(coat.main, 0.3)], -155, -60),
  );
  up.area('116,-126 108,-96 84,-76 50,-72 70,-88 84,-108! 92,-104 96,-122!', coat.pale, 0.95);
  legs.area(
    `-112,${-100 * high} -66,${-104 * high} -62,${-70 * high} -88,${-44 * high} -92,-6 -86,0! -110,0! -114,${-40 * high} -104,${-62 * high}`,
    vertical([coat.main, darker(coat.main, 0.2), coat.dark], -100, 0),
  );
  legs.area(
    `36,${-96 * high} 80,${-100 * high} 76,${-60 * high} 62,${-36 * high} 58,-4 64,0! 40,0! 42,${-40 * high}`,
    vertical([coat.main, darker(coat.main, 0.2), coat.dark], -100, 0),
  );
  const [x, y] = coat.build === 'deer' ? [138, -206] : [126, -160];
  drawProfileHead(up.at(x, y), coat, up, high);
}

function drawProfileHead(pen: Pen, coat: Coat, body: Pen, high: number): void {
  if (high > 1) body.area('70,-140 104,-160 120,-214 146,-208 136,-150 116,-100 90,-96', coat.main);
  if (coat.build === 'deer') {
    pen.line('2,-30 -14,-66 -8,-104 -26,-130', 6, coat.antler ?? coat.dark);
    pen.line('-10,-88 14,-108 18,-128', 5, coat.antler ?? coat.dark);
  }
  const snout = coat.build === 'feline' ? 0.62 : coat.build === 'bear' || coat.build === 'hare' ? 0.74 : 1;
  if (coat.build === 'hare') {
    pen.area('-12,-26! -40,-84 -24,-98 2,-30!', coat.main);
  } else if (coat.roundEars || coat.build === 'bear') {
    pen.ellipse(-8, -30, 13, 13, darker(coat.main, 0.2));
  } else if (coat.build !== 'deer') {
    pen.area('-22,-16! -20,-46 -4,-66! 12,-30 14,-18!', darker(coat.main, 0.2));
    pen.area('-11,-44! -4,-66! 5,-44!', coat.dark);
  }
  pen.area(
    `-36,0 -26,-26 2,-32 24,-22 ${40 * snout + 6},-6 ${72 * snout},4 ${76 * snout},14 ${58 * snout},21 26,26 0,36 -26,34`,
    vertical([lighter(coat.main, 0.08), coat.main, darker(coat.main, 0.12)], -30, 36),
  );
  pen.area(`${72 * snout},12 ${58 * snout},21 26,26 4,36 -20,34 -8,18! 14,14 ${40 * snout},10`, coat.pale);
  pen.ellipse(74 * snout, 6, 6, 5.5, coat.nose);
  pen.area('8,-6! 16,-12 25,-5! 16,-3', coat.dark);
  pen.ellipse(17, -7.5, 2.2, 2.4, coat.eye);
  if (coat.mane !== undefined) pen.ellipse(-24, 6, 44, 54, coat.mane, 0.95);
}

function drawWalkingTail(pen: Pen, coat: Coat): void {
  if (coat.tail === 'bushy') {
    pen.area(
      '-98,-128 -140,-134 -190,-118 -240,-84 -282,-44! -236,-50 -186,-62 -140,-84 -104,-98',
      across([coat.main, darker(coat.main, 0.16)], -100, -280),
    );
    pen.area('-236,-88 -260,-66 -284,-42! -238,-50 -230,-60! -240,-66 -228,-74!', coat.pale);
  } else if (coat.tail === 'long') {
    pen.line('-106,-120 -160,-110 -204,-124 -226,-168 -212,-196', 15, darker(coat.main, 0.12));
  } else {
    pen.ellipse(-118, -122, 17, 14, coat.pale);
  }
}

/** Draws a curled-up animal asleep, about 340 × 190, on the ground at y 0. */
export function drawCurled(pen: Pen, coat: Coat, random: Random): void {
  pen.area(
    '-168,-30 -158,-96 -104,-150 -20,-172 74,-160 142,-116 168,-52 148,2 60,16 -60,14 -140,8',
    vertical([lighter(coat.main, 0.12), coat.main, darker(coat.main, 0.36)], -175, 15),
  );
  for (let index = 0; index < 18; index += 1) {
    const share = index / 18;
    const angle = Math.PI * (1.08 + 0.84 * share);
    const [x, y] = [Math.cos(angle) * random.range(96, 148), -20 + Math.sin(angle) * random.range(70, 130)];
    pen.line(`${x},${y} ${x + 12},${y + 10} ${x + 18},${y + 26}`, 3, darker(coat.main, 0.3), 0.35);
  }
  if (coat.build === 'hare' || coat.build === 'bear' || coat.build === 'deer') {
    drawHead(pen.at(-62, -62, 0.62, -0.16), coat, { asleep: true, glance: 0 });
    return;
  }
  if (coat.tail === 'bushy') {
    const shades = [coat.main, lighter(coat.main, 0.06), darker(coat.main, 0.16)];
    const brush = '166,-60 172,-14 130,20 50,30 -40,26 -120,6! -96,-14 -50,-34 20,-36 90,-44 130,-74';
    pen.area(brush, between(shades, [150, -60], [-60, 26]));
    pen.area('-56,22 -90,16 -124,6! -96,-16 -60,-32 -46,-20! -56,-10 -42,2! -54,8', coat.pale);
  } else {
    pen.line('150,-30 110,8 20,18 -60,8', 24, darker(coat.main, 0.16));
  }
  drawHead(pen.at(-78, -74, 0.64, -0.2), coat, { asleep: true, glance: 0 });
}
