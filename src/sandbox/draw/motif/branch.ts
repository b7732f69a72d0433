import { darker, lighter } from '../canvas/colour.ts';
import type { Pen } from '../canvas/pen.ts';
import type { Random } from '../canvas/random.ts';

/** A branch under a perched bird, from beyond the left to beyond the right. */
export function drawBranch(pen: Pen, random: Random, colour: string, leaves: string, reach: number): void {
  const sag = random.range(-24, 24);
  pen.area(
    `${-reach},${40 + sag}! ${-reach * 0.4},12 0,8 ${reach * 0.5},${4 - sag} ${reach},${-30 - sag}! ${reach},${-10 - sag}! ${reach * 0.5},${26 - sag} 0,40 ${-reach * 0.4},46 ${-reach},${86 + sag}!`,
    { colours: [lighter(colour, 0.18), darker(colour, 0.3)], start: [0, 0], end: [0, 60] },
  );
  for (let twig = 0; twig < 5; twig += 1) {
    const side = twig % 2 === 0 ? 1 : -1;
    const x = side * random.range(150, reach * 0.9);
    const up = random.chance(0.5) ? -1 : 1;
    const [ex, ey] = [x + side * random.range(50, 120), 20 + up * random.range(50, 120)];
    pen.line(`${x},20 ${(x + ex) / 2},${20 + (ey - 20) * 0.3} ${ex},${ey}`, 9, colour);
    for (let leaf = 0; leaf < 5; leaf += 1) {
      const share = 0.4 + leaf * 0.15;
      pen.ellipse(
        x + (ex - x) * share + random.range(-14, 14),
        20 + (ey - 20) * share + random.range(-14, 14),
        17,
        8,
        leaf % 2 === 0 ? leaves : lighter(leaves, 0.18),
        1,
        random.range(0, 3),
      );
    }
  }
}
