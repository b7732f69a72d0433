import type { ParsedPrompt } from '../prompt/flags.ts';
import { digestOf, unitOf } from '../seeded.ts';
import type { Drawing, Frame, Patch, Plate, Tint } from './canvas/drawing.ts';
import type { Film } from './film.ts';

const four = [0, 1, 2, 3] as const;

const gridOf = (frameOf: (index: number) => Frame): Drawing => ({ size: 'grid', frames: four.map(frameOf) });

/** The image prompts of an imagine. */
export interface ImagePrompts {
  /** The hashes of the images, in order. */
  readonly digests: readonly string[];
  readonly tint: Tint;
}

/** Returns the grid of an imagine: four compositions of one prompt. `again` distinguishes rerolls. */
export function imagineDrawing(prompt: ParsedPrompt, images?: ImagePrompts, again = ''): Drawing {
  const { flags, text } = prompt;
  const root = digestOf(
    JSON.stringify([text, flags.seed ?? '', flags.version ?? '', flags.weird, images?.digests ?? [], again]),
  );
  const first = Math.floor(unitOf(`${root} pose`) * four.length);
  return gridOf((index) => ({
    text,
    seed: digestOf(`${root} ${index}`),
    nudges: [],
    rings: [],
    pose: (first + index) % four.length,
    aspect: flags.aspect[0] / flags.aspect[1],
    stylize: flags.stylize,
    chaos: flags.chaos,
    view: { x: 0, y: 0, zoom: 1 },
    ...(images === undefined ? {} : { tint: images.tint }),
  }));
}

/** Returns a frame that shows images instead of a drawn world. `text`: the images in words. */
export function plateFrame(plate: Plate, text: string, seed: string, pose = 0): Frame {
  const view = { x: 0, y: 0, zoom: 1 };
  const plain = { nudges: [], rings: [], stylize: 100, chaos: 0, view };
  return { text, seed, pose, aspect: plate.aspect, plate, ...plain };
}

/** Returns the grid of a blend: four mixtures of the images. */
export function blendDrawing(plate: Plate, text: string): Drawing {
  const root = digestOf(JSON.stringify(['blend', plate]));
  return gridOf((index) => plateFrame(plate, text, digestOf(`${root} ${index}`), index));
}

/** U1 to U4: returns the chosen frame. */
export function upscaleDrawing(parent: Drawing, index: number): Drawing {
  return { size: 'whole', frames: [frameAt(parent, index)] };
}

/** Upscale (Subtle) and (2x) double the sides of a frame, (4x) quadruples them; Upscale (Creative) also changes details. */
export function enlargeDrawing(parent: Drawing, creative: boolean, times: 2 | 4 = 2): Drawing {
  const frame = frameAt(parent, 0);
  const nudges = creative ? [...frame.nudges, 'creative'] : frame.nudges;
  return { size: times === 2 ? 'large' : 'largest', frames: [{ ...frame, nudges }] };
}

/** Vary (Subtle): returns the same scene four times, with small changes. */
export function subtleDrawing(parent: Drawing): Drawing {
  const frame = frameAt(parent, 0);
  return gridOf((index) => ({ ...frame, nudges: [...frame.nudges, `subtle ${index}`] }));
}

/** Vary (Strong) and V1 to V4: composes the same theme again, a variation in the same pose. */
export function strongDrawing(parent: Drawing, index: number, manner: 'variation' | 'strong'): Drawing {
  const frame = frameAt(parent, index);
  return gridOf((number) => {
    const salt = `${frame.nudges.join()} ${manner} ${number}`;
    // A variation keeps the pose in all four frames, Vary (Strong) only in the first.
    const pose = manner === 'variation' ? frame.pose : (frame.pose + number) % four.length;
    return reseeded({ ...frame, nudges: [], pose }, salt);
  });
}

/** Rerolls a drawing with images or regions: mixes the images again, and paints the regions again. */
export function rerollDrawing(parent: Drawing): Drawing {
  const frames = parent.frames.length === four.length ? parent.frames : four.map(() => frameAt(parent, 0));
  return {
    size: 'grid',
    frames: frames.map((frame, number) => ({ ...reseeded(frame, `again ${number}`), nudges: [] })),
  };
}

/** Returns a drawing with the words of a remix. */
export function rewordedDrawing(parent: Drawing, text: string): Drawing {
  return { ...parent, frames: parent.frames.map((frame) => ({ ...frame, text })) };
}

/** Zoom Out: returns the same scene, smaller, with four different surroundings. */
export function zoomDrawing(parent: Drawing, factor: number): Drawing {
  return moved(parent, `zoom ${factor}`, (frame) => ({
    view: { ...frame.view, zoom: frame.view.zoom * factor },
  }));
}

/** Custom Zoom: zooms like {@link zoomDrawing}, also into another shape that holds the whole frame. */
export function customZoomDrawing(parent: Drawing, factor: number, text: string, aspect?: number): Drawing {
  return moved(parent, `zoom ${factor} ${text}`, (frame) => {
    const wanted = aspect ?? frame.aspect;
    const zoom = frame.view.zoom * factor * Math.max(1, frame.aspect / wanted);
    return { view: { ...frame.view, zoom }, aspect: wanted };
  });
}

/** The direction of a pan. */
export type PanDirection = 'left' | 'right' | 'up' | 'down';

/** Pan: moves the window by half of its size, into four different surroundings. */
export function panDrawing(parent: Drawing, direction: PanDirection, text = ''): Drawing {
  return moved(parent, `pan ${direction}${text === '' ? '' : ` ${text}`}`, ({ view, aspect }) => {
    const step = view.zoom / 2;
    switch (direction) {
      case 'left':
        return { view: { ...view, x: view.x - step * aspect } };
      case 'right':
        return { view: { ...view, x: view.x + step * aspect } };
      case 'up':
        return { view: { ...view, y: view.y - step } };
      case 'down':
        return { view: { ...view, y: view.y + step } };
    }
  });
}

/** A stored mask, and the room for subjects in its white parts. */
export type Region = Pick<Patch, 'bounds' | 'others'> & { readonly sha256: string };

/** Vary (Region) and edits: paints the white of a mask again in four ways. */
export function repaintDrawing(parent: Drawing, text: string, mask: Region): Drawing {
  const frame = frameAt(parent, 0);
  return gridOf((index) => {
    const patch: Patch = {
      mask: mask.sha256,
      bounds: mask.bounds,
      ...(mask.others === undefined ? {} : { others: mask.others }),
      view: frame.view,
      aspect: frame.aspect,
      text,
      seed: digestOf(JSON.stringify([frame.seed, frame.nudges, text, mask.sha256, index])),
      pose: (frame.pose + index) % four.length,
    };
    return { ...frame, patches: [...(frame.patches ?? []), patch] };
  });
}

function moved(
  parent: Drawing,
  how: string,
  change: (frame: Frame) => Pick<Frame, 'view'> & Partial<Pick<Frame, 'aspect'>>,
): Drawing {
  const frame = frameAt(parent, 0);
  const after = change(frame);
  const shape = after.aspect === undefined || after.aspect === frame.aspect ? {} : { aspect: frame.aspect };
  return gridOf((index) => ({
    ...frame,
    ...after,
    rings: [
      ...frame.rings.map((ring) => ('aspect' in shape ? { ...shape, ...ring } : ring)),
      { view: frame.view, ...shape, seed: digestOf(`${frame.seed} ${how} ${index}`) },
    ],
  }));
}

/** Composes a frame and its regions again. Images stay. */
function reseeded(frame: Frame, salt: string): Frame {
  const fresh = (seed: string): string => digestOf(`${seed} ${salt}`);
  return {
    ...frame,
    seed: fresh(frame.seed),
    ...(frame.patches && { patches: frame.patches.map((patch) => ({ ...patch, seed: fresh(patch.seed) })) }),
  };
}

/** Returns a frame of a drawing. @throws an internal error if there is no such frame */
export function frameAt(parent: Drawing, index: number): Frame {
  const frame = parent.frames[index];
  if (frame === undefined) throw new Error(`Internal error: a drawing without frame ${index}`);
  return frame;
}

interface Shooting {
  readonly motion: 'low' | 'high';
  /** Number of different films. */
  readonly count: number;
  /** The prompt, a part of the seed. */
  readonly words: string;
}

/** Returns films that begin with a frame. */
export function filmsOf(
  frame: Frame,
  shooting: Shooting & Pick<Film, 'loop' | 'lines'> & { readonly end?: Frame | undefined },
): readonly Film[] {
  const { motion, count, words, loop, lines, end } = shooting;
  const root = digestOf(JSON.stringify([frame, end ?? null, motion, words, loop]));
  return Array.from({ length: count }, (_, index) => ({
    frame,
    ...(end === undefined ? {} : { end }),
    shots: [{ motion, seed: digestOf(`${root} ${index}`) }],
    loop,
    lines,
  }));
}

/** Returns films that continue after the end of this one. An extended loop is not a loop any more. */
export function extendedFilms(film: Film | undefined, { motion, count, words }: Shooting): readonly Film[] {
  if (film === undefined) throw new Error('Internal error: there is no film to extend');
  const { end: _end, ...rest } = film;
  const root = digestOf(JSON.stringify([film, motion, words]));
  return Array.from({ length: count }, (_, index) => ({
    ...rest,
    loop: false,
    shots: [...film.shots, { motion, seed: digestOf(`${root} ${index}`) }],
  }));
}

/** Returns the first picture of each film, for imageUrl. */
export const posterOf = (films: readonly Film[]): Drawing => ({
  size: films.length === 1 ? 'whole' : 'grid',
  frames: films.map(({ frame }) => frame),
});
