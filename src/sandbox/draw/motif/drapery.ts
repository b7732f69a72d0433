import { type Colour, darker, lighter } from '../canvas/colour.ts';
import type { Pen } from '../canvas/pen.ts';
import type { Random } from '../canvas/random.ts';
import type { Point } from '../canvas/shape.ts';

/**
 * Folded cloth of about 900 × 900 around the origin: what stands for a thing that has a colour and no form the sandbox
 * knows, such as a scarf.
 */
export function drawDrapery(pen: Pen, colour: Colour, random: Random): void {
  const folds = 7;
  const sway = random.range(60, 130);
  const phase = random.range(0, 6);
  const edgeAt = (fold: number, share: number): number =>
    -450 +
    (900 * fold) / folds +
    Math.sin(share * 5 + phase + fold * 0.55) * sway * (0.35 + share * 0.65) * (fold === 0 ? 0.6 : 1);
  for (let fold = 0; fold < folds; fold += 1) {
    const shade = fold % 2 === 0 ? random.range(0.02, 0.12) : random.range(0.2, 0.38);
    const steps = [0, 0.2, 0.4, 0.6, 0.8, 1];
    const side = (edge: number): Point[] =>
      steps.map(
        (share): Point => [edgeAt(edge, share), -470 + 940 * share + (share === 1 ? (edge % 2) * 24 : 0)],
      );
    const points = [...side(fold), ...side(fold + 1).reverse()];
    const middle = -450 + (900 * (fold + 0.5)) / folds;
    pen.area(points, {
      colours: [lighter(colour, 0.16 - shade / 3), darker(colour, shade), darker(colour, shade + 0.18)],
      start: [middle - 80, 0],
      end: [middle + 80, 0],
    });
    pen.line(side(fold).slice(0, -1), 5, darker(colour, 0.45), 0.5);
  }
  for (const y of [-380, 360]) {
    const band = Array.from({ length: 9 }, (_, index): Point => {
      const fold = (folds * index) / 8;
      return [edgeAt(fold, (y + 470) / 940), y + Math.sin(index * 1.9 + phase) * 12];
    });
    pen.line(band, 16, lighter(colour, 0.55), 0.75);
  }
}
