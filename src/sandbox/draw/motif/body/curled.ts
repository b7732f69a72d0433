import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import type { Coat } from '../coat.ts';
import { drawHead } from '../head/head.ts';

/** An animal rolled up asleep, about 340 × 190; the ground under it is y 0. */
export function drawCurled(pen: Pen, coat: Coat, random: Random): void {
  pen.area('-168,-30 -158,-96 -104,-150 -20,-172 74,-160 142,-116 168,-52 148,2 60,16 -60,14 -140,8', {
    colours: [lighter(coat.main, 0.12), coat.main, darker(coat.main, 0.36)],
    start: [0, -175],
    end: [0, 15],
  });
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
    pen.area('166,-60 172,-14 130,20 50,30 -40,26 -120,6! -96,-14 -50,-34 20,-36 90,-44 130,-74', {
      colours: [coat.main, lighter(coat.main, 0.06), darker(coat.main, 0.16)],
      start: [150, -60],
      end: [-60, 26],
    });
    pen.area('-56,22 -90,16 -124,6! -96,-16 -60,-32 -46,-20! -56,-10 -42,2! -54,8', coat.pale);
  } else {
    pen.line('150,-30 110,8 20,18 -60,8', 24, darker(coat.main, 0.16));
  }
  drawHead(pen.at(-78, -74, 0.64, -0.2), coat, { asleep: true, glance: 0 });
}
