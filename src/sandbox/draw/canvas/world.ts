import type { Frame } from './drawing.ts';
import { Random } from './random.ts';

/** A rectangle in the scene's units. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Thousandths of the first frame's height: the scene's unit of length. */
export const unit = 1000;

/** What a frame shows of its world. */
export function boxOf(aspect: number, view: Frame['view']): Box {
  const halfHeight = (unit / 2) * view.zoom;
  const halfWidth = halfHeight * aspect;
  const [x, y] = [view.x * unit, view.y * unit];
  return { left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
}

/**
 * The endless place that a frame is a window onto. Everything in it is drawn from the place where it stands, so a
 * wider window shows the same things and more; what lies beyond an earlier window comes from that ring's seed.
 */
export class World {
  readonly frame: Frame;
  /** What is to be drawn, and a little more so that no edge shows. */
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

  /** Choices for the scene as a whole. */
  random(name: string): Random {
    return new Random(`${this.frame.seed}/${name}`, this.frame.nudges);
  }

  /** Choices for what stands at x. */
  randomAt(name: string, x: number): Random {
    let seed = this.frame.seed;
    for (const ring of this.#rings) {
      if (x >= ring.box.left && x <= ring.box.right) break;
      seed = ring.seed;
    }
    return new Random(`${seed}/${name}/${Math.round(x)}`, this.frame.nudges);
  }

  /** Visits the places, `step` apart, that can be seen. */
  *places(name: string, step: number): Generator<{ readonly x: number; readonly random: Random }> {
    const last = Math.ceil((this.box.right + step) / step);
    for (let index = Math.floor((this.box.left - step) / step); index <= last; index += 1) {
      const x = (index + 0.5) * step;
      yield { x, random: this.randomAt(name, x) };
    }
  }

  /** Smooth noise along x, -1 to 1, with bumps of about `length`. */
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
