import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Coat } from '../coat.ts';

/** An animal walking to the right, about 460 × 200; the ground under it is y 0. */
export function drawWalking(pen: Pen, coat: Coat): void {
  const high = coat.build === 'deer' ? 1.5 : coat.build === 'bear' ? 0.9 : 1;
  const legs = pen;
  const far = darker(coat.main, 0.4);
  legs.area(
    `-78,${-84 * high} -50,${-70 * high} -58,${-40 * high} -40,-6 -34,0! -56,0! -76,${-34 * high} -96,${-66 * high}`,
    { colours: [far, coat.dark], start: [0, -70], end: [0, -6] },
  );
  legs.area(`62,${-84 * high} 92,${-76 * high} 96,${-44 * high} 114,-4 118,0! 98,0! 76,${-40 * high}`, {
    colours: [far, coat.dark],
    start: [0, -70],
    end: [0, -6],
  });
  const lift = -(high - 1) * 80;
  const up = pen.at(0, lift);
  drawWalkingTail(up, coat);
  const deep = coat.build === 'bear' ? 26 : 0;
  up.area(
    `-118,-104 -104,-134 -60,${-144 - deep} -8,${-138 - deep} 40,${-144 - deep} 78,-158 112,-150 124,-112 104,-82 60,${-72 + deep / 3} 0,${-74 + deep / 2} -60,${-70 + deep / 3} -100,-76`,
    {
      colours: [lighter(coat.main, 0.1), coat.main, darker(coat.main, 0.3)],
      start: [0, -155],
      end: [0, -60],
    },
  );
  up.area('116,-126 108,-96 84,-76 50,-72 70,-88 84,-108! 92,-104 96,-122!', coat.pale, 0.95);
  legs.area(
    `-112,${-100 * high} -66,${-104 * high} -62,${-70 * high} -88,${-44 * high} -92,-6 -86,0! -110,0! -114,${-40 * high} -104,${-62 * high}`,
    { colours: [coat.main, darker(coat.main, 0.2), coat.dark], start: [0, -100], end: [0, 0] },
  );
  legs.area(
    `36,${-96 * high} 80,${-100 * high} 76,${-60 * high} 62,${-36 * high} 58,-4 64,0! 40,0! 42,${-40 * high}`,
    { colours: [coat.main, darker(coat.main, 0.2), coat.dark], start: [0, -100], end: [0, 0] },
  );
  drawProfileHead(
    up.at(coat.build === 'deer' ? 138 : 126, coat.build === 'deer' ? -206 : -160),
    coat,
    up,
    high,
  );
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
    {
      colours: [lighter(coat.main, 0.08), coat.main, darker(coat.main, 0.12)],
      start: [0, -30],
      end: [0, 36],
    },
  );
  pen.area(`${72 * snout},12 ${58 * snout},21 26,26 4,36 -20,34 -8,18! 14,14 ${40 * snout},10`, coat.pale);
  pen.ellipse(74 * snout, 6, 6, 5.5, coat.nose);
  pen.area('8,-6! 16,-12 25,-5! 16,-3', coat.dark);
  pen.ellipse(17, -7.5, 2.2, 2.4, coat.eye);
  if (coat.mane !== undefined) pen.ellipse(-24, 6, 44, 54, coat.mane, 0.95);
}

function drawWalkingTail(pen: Pen, coat: Coat): void {
  if (coat.tail === 'bushy') {
    pen.area('-98,-128 -140,-134 -190,-118 -240,-84 -282,-44! -236,-50 -186,-62 -140,-84 -104,-98', {
      colours: [coat.main, darker(coat.main, 0.16)],
      start: [-100, 0],
      end: [-280, 0],
    });
    pen.area('-236,-88 -260,-66 -284,-42! -238,-50 -230,-60! -240,-66 -228,-74!', coat.pale);
  } else if (coat.tail === 'long') {
    pen.line('-106,-120 -160,-110 -204,-124 -226,-168 -212,-196', 15, darker(coat.main, 0.12));
  } else {
    pen.ellipse(-118, -122, 17, 14, coat.pale);
  }
}
