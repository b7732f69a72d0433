import type { Frame } from './drawing.ts';
import { Random } from './random.ts';

/** A rectangle in the scene's units. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Units of length of a scene in the first frame's height. */
export const unit = 1000;

/** Returns the part of the world that a frame shows. */
export function boxOf(aspect: number, view: Frame['view']): Box {
  const halfHeight = (unit / 2) * view.zoom;
  const halfWidth = halfHeight * aspect;
  const [x, y] = [view.x * unit, view.y * unit];
  return { left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
}

/**
 * The endless world that a frame shows a part of. Each thing is drawn from a seed of its place, so that a wider window shows the same
 * things and more. Things outside an earlier window come from that ring's seed.
 */
export class World {
  readonly frame: Frame;
  /** The visible part and a margin, so that no edge shows. */
  readonly box: Box;
  readonly #rings: readonly { readonly box: Box; readonly seed: string }[];

  constructor(frame: Frame) {
    this.frame = frame;
    const { left, right, top, bottom } = boxOf(frame.aspect, frame.view);
    this.box = { left: left - 40, right: right + 40, top: top - 40, bottom: bottom + 40 };
    this.#rings = frame.rings.map((ring) => ({
      box: boxOf(ring.aspect ?? frame.aspect, ring.view),
      seed: ring.seed,
    }));
  }

  /** Returns choices for the whole scene. */
  random(name: string): Random {
    return new Random(`${this.frame.seed}/${name}`, this.frame.nudges);
  }

  /** Returns choices for a thing at x. */
  randomAt(name: string, x: number): Random {
    let seed = this.frame.seed;
    for (const ring of this.#rings) {
      if (x >= ring.box.left && x <= ring.box.right) break;
      seed = ring.seed;
    }
    return new Random(`${seed}/${name}/${Math.round(x)}`, this.frame.nudges);
  }

  /** Yields the visible places, `step` apart. */
  *places(name: string, step: number): Generator<{ readonly x: number; readonly random: Random }> {
    const last = Math.ceil((this.box.right + step) / step);
    for (let index = Math.floor((this.box.left - step) / step); index <= last; index += 1) {
      const x = (index + 0.5) * step;
      yield { x, random: this.randomAt(name, x) };
    }
  }

  /** Returns smooth noise along x, -1 to 1, with bumps of about `length`. */
  noise(name: string, length: number): (x: number) => number {
    const known = new Map<number, number>();
    const at = (index: number): number => {
      let value = known.get(index);
      if (value === undefined) {
        value = this.randomAt(name, index * length).range(-1, 1);
        known.set(index, value);
      }
      return value;
    };
    return (x) => {
      const index = Math.floor(x / length);
      const share = x / length - index;
      const smooth = share * share * (3 - 2 * share);
      return at(index) * (1 - smooth) + at(index + 1) * smooth;
    };
  }
}
