import { type Colour, darker, lighter } from '../canvas/colour.ts';
import type { Random } from '../canvas/random.ts';
import type { Box } from '../canvas/world.ts';
import { num, type SvgWriter } from './svg.ts';

/** Covers the box with paper: its colour and some fibres. */
export function layPaper(writer: SvgWriter, box: Box, colour: Colour, random: Random): void {
  fillBox(writer, box, colour);
  const height = box.bottom - box.top;
  for (let fibre = 0; fibre < 90; fibre += 1) {
    const x = random.range(box.left, box.right);
    const y = random.range(box.top, box.bottom);
    const [dx, dy] = [random.range(-1, 1) * 0.03 * height, random.range(-1, 1) * 0.014 * height];
    const data = `M${num(x)} ${num(y)}q${num(dx)} ${num(dy)} ${num(dx * 2)} ${num(dy * 0.4)}`;
    writer.stroke(
      data,
      0.0014 * height,
      random.chance(0.5) ? darker(colour, 0.2) : lighter(colour, 0.5),
      0.35,
    );
  }
}

/** Covers the box with one colour. */
export function fillBox(writer: SvgWriter, box: Box, colour: Colour, opacity = 1): void {
  const { left, right, top, bottom } = box;
  writer.fill(
    `M${num(left)} ${num(top)}L${num(right)} ${num(top)}L${num(right)} ${num(bottom)}L${num(left)} ${num(bottom)}Z`,
    colour,
    opacity,
  );
}

/** A ragged border of bare paper around the picture. */
export function leaveMargin(writer: SvgWriter, box: Box, colour: Colour, random: Random): void {
  const height = box.bottom - box.top;
  const { left, right, top, bottom } = box;
  const margin = 0.018 * height;
  const edge: string[] = [];
  const count = 60;
  const along = (fromX: number, fromY: number, toX: number, toY: number): void => {
    for (let index = 0; index < count; index += 1) {
      const share = index / count;
      const [jx, jy] = [random.range(-0.2, 0.45) * margin, random.range(-0.2, 0.45) * margin];
      const x = fromX + (toX - fromX) * share;
      const y = fromY + (toY - fromY) * share;
      const inX = x < (left + right) / 2 ? 1 : -1;
      const inY = y < (top + bottom) / 2 ? 1 : -1;
      edge.push(`${num(x + inX * (fromX === toX ? jx : 0))} ${num(y + inY * (fromY === toY ? jy : 0))}`);
    }
  };
  const [l, r, t, b] = [left + margin, right - margin, top + margin, bottom - margin];
  along(l, t, r, t);
  along(r, t, r, b);
  along(r, b, l, b);
  along(l, b, l, t);
  const outer = `M${num(left)} ${num(top)}L${num(left)} ${num(bottom)}L${num(right)} ${num(bottom)}L${num(right)} ${num(top)}Z`;
  writer.fill(`${outer}M${edge.join('L')}Z`, colour);
}
