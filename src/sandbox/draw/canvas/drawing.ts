import type { Colour } from './colour.ts';

/** The description of a picture, which is stored with its task: equal drawings give equal pictures. */
export interface Drawing {
  /** Four frames of a grid, or one of an image. */
  readonly frames: readonly Frame[];
  /** A grid, an image, or an image that is enlarged to twice (`large`) or four times (`largest`) its sides. */
  readonly size: 'grid' | 'whole' | 'large' | 'largest';
}

/** One picture of a grid, or a single picture. */
export interface Frame {
  /** The prompt without its flags. */
  readonly text: string;
  /** Seed of the composition, the palette and every detail. */
  readonly seed: string;
  /** Seeds of small changes, one for each Vary (Subtle) or Upscale (Creative). */
  readonly nudges: readonly string[];
  /** The windows before each zoom and pan, with the seeds of their surroundings, innermost first. */
  readonly rings: readonly Ring[];
  /** Number of the subject's composition, 0 to 3. */
  readonly pose: number;
  /** Width over height. */
  readonly aspect: number;
  /** 0 to 1000 (the prompt's --stylize). */
  readonly stylize: number;
  /** 0 to 100 (the prompt's --chaos). */
  readonly chaos: number;
  /** The visible part of the world; that of the first frame is x 0, y 0, zoom 1. */
  readonly view: View;
  /** The colours of image prompts. */
  readonly tint?: Tint;
  /** Images that replace the drawn world. */
  readonly plate?: Plate;
  /** Regions that were painted again, the oldest first. */
  readonly patches?: readonly Patch[];
}

/** The prevailing colours of images: at their top, at their bottom, and the liveliest. */
export interface Tint {
  readonly sky: Colour;
  readonly land: Colour;
  readonly accent: Colour;
}

/** The images that a frame shows: one, or several that are mixed by the frame's seed and pose. */
export interface Plate {
  readonly photos: readonly Photo[];
  /** Width over height of the first view. */
  readonly aspect: number;
}

/** An image of a request. */
export interface Photo {
  /** The hash of its bytes, their key in the store. */
  readonly sha256: string;
  /** Width and height of the upright image, in pixels. */
  readonly width: number;
  readonly height: number;
}

/** A region that is painted again from words of its own. Nothing changes outside. */
export interface Patch {
  /** Key of the mask in the store. It is white where the region is painted, and covers `view` with `aspect`. */
  readonly mask: string;
  readonly view: View;
  readonly aspect: number;
  /** The room for the subject, in fractions of the window: the bounds of the mask's largest white part. */
  readonly bounds: Bounds;
  /** The bounds of the mask's other parts, the larger first; each gets a subject of its own. */
  readonly others?: readonly Bounds[];
  /** The prompt without its flags. */
  readonly text: string;
  readonly seed: string;
  /** The composition, as of a frame. */
  readonly pose: number;
}

/** A rectangle, in fractions of its frame. */
export interface Bounds {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A window onto the world, in heights of the first frame, from its centre. Zoom 2 shows twice as much each way. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** An earlier window. The world outside `view` is drawn from `seed`, so that the four results of a zoom have different surroundings. */
export interface Ring {
  readonly view: View;
  /** The aspect of that window, if it differs from the frame's. */
  readonly aspect?: number;
  readonly seed: string;
}
