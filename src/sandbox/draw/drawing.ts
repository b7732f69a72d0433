/**
 * What a picture is made of, small enough to be stored with its task: no pixels, no randomness left open. The same
 * drawing is the same picture.
 */
export interface Drawing {
  /** Four frames are a grid, one is an image. */
  readonly frames: readonly Frame[];
  /** How many pixels: a grid, one image, or an enlarged one. */
  readonly size: 'grid' | 'whole' | 'large';
}

/** One of the four pictures of a grid, or the one that was chosen. */
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
  readonly seed: string;
}
