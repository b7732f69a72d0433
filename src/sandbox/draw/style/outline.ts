import type { Random } from '../canvas/random.ts';
import type { Point, Shape } from '../canvas/shape.ts';
import { num } from './svg.ts';

/** Width and height of a shape's extent. */
export function extentOf(points: readonly Point[]): readonly [number, number] {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return [right - left, bottom - top];
}

/** How big a shape is along its longer side. */
export const longerSide = (shape: Shape): number => Math.max(...extentOf(shape.points));

/** The points, each moved by up to `reach`, as an unsteady hand would set them. */
export function unsteady(points: readonly Point[], reach: number, random: Random): Point[] {
  return points.map(([x, y, corner]) => [
    x + random.range(-reach, reach),
    y + random.range(-reach, reach),
    corner ?? 0,
  ]);
}

/** The bends of an outline followed in small steps of the Catmull-Rom curve. */
export function followed(points: readonly Point[], closed: boolean, steps: number): Point[] {
  const count = points.length;
  const at = (index: number): Point =>
    (closed ? points[(index + count) % count] : points[Math.max(0, Math.min(count - 1, index))]) ?? [0, 0];
  const path: Point[] = [];
  const last = closed ? count : count - 1;
  for (let index = 0; index < last; index += 1) {
    const [before, from, to, after] = [at(index - 1), at(index), at(index + 1), at(index + 2)];
    path.push(from);
    if (from[2] && to[2]) continue;
    const bend = (axis: 0 | 1, t: number): number => {
      const leave = from[2] ? 0 : (to[axis] - before[axis]) / 2;
      const arrive = to[2] ? 0 : (after[axis] - from[axis]) / 2;
      const [t2, t3] = [t * t, t * t * t];
      return (
        from[axis] * (2 * t3 - 3 * t2 + 1) +
        leave * (t3 - 2 * t2 + t) +
        to[axis] * (3 * t2 - 2 * t3) +
        arrive * (t3 - t2)
      );
    };
    for (let step = 1; step < steps; step += 1) path.push([bend(0, step / steps), bend(1, step / steps)]);
  }
  if (!closed) path.push(at(count - 1));
  return path;
}

/**
 * A brush stroke along a path: an outline that swells to `width` and thins again, `swells` times. Path data.
 */
export function brushed(path: readonly Point[], width: number, swells: number, phase: number): string {
  const count = path.length;
  if (count < 2) return '';
  let there = '';
  let back = '';
  for (let index = 0; index < count; index += 1) {
    const [x, y] = path[index] ?? [0, 0];
    const [ax, ay] = path[Math.max(0, index - 1)] ?? [x, y];
    const [bx, by] = path[Math.min(count - 1, index + 1)] ?? [x, y];
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const share = index / (count - 1);
    const swell = 0.18 + 0.82 * Math.abs(Math.sin(Math.PI * (share * swells + phase)));
    const half = (width / 2) * swell * Math.min(1, 6 * Math.min(share, 1 - share) + 0.25);
    const [nx, ny] = [(-(by - ay) / length) * half, ((bx - ax) / length) * half];
    there += `${index === 0 ? 'M' : 'L'}${num(x + nx)} ${num(y + ny)}`;
    back = `L${num(x - nx)} ${num(y - ny)}${back}`;
  }
  return `${there}${back}Z`;
}
