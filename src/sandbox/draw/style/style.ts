import type { Frame } from '../canvas/drawing.ts';
import type { Random } from '../canvas/random.ts';
import type { Scene } from '../canvas/shape.ts';
import type { Box } from '../canvas/world.ts';
import type { Tones } from './tones.ts';

/** What a painter works from. Everything is in the scene's units, so that a picture is the same at every size. */
export interface Sitting {
  readonly scene: Scene;
  readonly frame: Frame;
  /** What is seen. */
  readonly box: Box;
  /** The scene's colours place by place; drawn only for painters that ask for it. */
  readonly tones: Tones;
  /** Makes the ids of this panel differ from those of other panels. */
  readonly name: string;
  readonly random: Random;
}

/** A way to paint a scene: SVG elements for the box. */
export interface Painter {
  /** Rows of tones it needs; 0 for none. */
  readonly toneRows: number;
  paint(sitting: Sitting): string;
}
