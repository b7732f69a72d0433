import type { Colour } from './colour.ts';

/**
 * What a picture is made of, small enough to be stored with its task: no pixels, no randomness left open. The same
 * drawing is the same picture.
 */
export interface Drawing {
  /** Four frames are a grid, one is an image. */
  readonly frames: readonly Frame[];
  /** How many pixels: a grid, one image, or one that is enlarged, `large` with twice its sides and `largest` with four times. */
  readonly size: 'grid' | 'whole' | 'large' | 'largest';
}

/** One of the pictures of a grid (four, or two of a video), or the one that was chosen. */
export interface Frame {
  /** The prompt without its flags. */
  readonly text: string;
  /** Decides composition, palette and every detail. */
  readonly seed: string;
  /** Small changes laid over the seed's decisions, one per Vary (Subtle) or Upscale (Creative). */
  readonly nudges: readonly string[];
  /** What was known of the world before each zoom and pan, and what fills it beyond; innermost first. */
  readonly rings: readonly Ring[];
  /** Which of the compositions of the subject to use, 0 to 3. */
  readonly pose: number;
  /** Width over height. */
  readonly aspect: number;
  /** 0 to 1000 (the prompt's --stylize). */
  readonly stylize: number;
  /** 0 to 100 (the prompt's --chaos). */
  readonly chaos: number;
  /** The visible part of the world; the first frame is x 0, y 0, zoom 1. */
  readonly view: View;
  /** Colours that image prompts lend to the scene. */
  readonly tint?: Tint;
  /** What is shown in place of a drawn world. */
  readonly plate?: Plate;
  /** Regions that were painted again, the oldest first. */
  readonly patches?: readonly Patch[];
}

/** The prevailing colours of images: what is at their top, at their bottom, and what stands out. */
export interface Tint {
  readonly sky: Colour;
  readonly land: Colour;
  readonly accent: Colour;
}

/** Images that a frame begins with: one, as it is, or several, mixed as the frame's seed and pose decide. */
export interface Plate {
  readonly photos: readonly Photo[];
  /** Width over height of what the first view shows. */
  readonly aspect: number;
}

/** An image that was sent to the service. */
export interface Photo {
  /** By which the store knows its bytes. */
  readonly sha256: string;
  /** Pixels, as it stands upright. */
  readonly width: number;
  readonly height: number;
}

/** A region that is painted again from its own words; outside of it nothing changes. */
export interface Patch {
  /** The store's name of a mask, white where it is painted, that lies over the window `view` with this aspect. */
  readonly mask: string;
  readonly view: View;
  readonly aspect: number;
  /** Where its subject finds room, in fractions of the window: what the mask's white is within, or the largest part of it. */
  readonly bounds: Bounds;
  /** The same of the mask's other parts, the larger first: each has a subject of its own. */
  readonly others?: readonly Bounds[];
  /** The prompt without its flags. */
  readonly text: string;
  readonly seed: string;
  /** As of a frame. */
  readonly pose: number;
}

/** A rectangle, in fractions of its frame. */
export interface Bounds {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** In units of the first frame's height, from its centre; zoom 2 shows twice as much each way. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** The world beyond `view` is drawn from `seed`, so that the four results of a zoom differ where they are new. */
export interface Ring {
  readonly view: View;
  /** Of the window at that time, where it was another than the frame's. */
  readonly aspect?: number;
  readonly seed: string;
}
