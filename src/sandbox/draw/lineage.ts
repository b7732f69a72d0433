import type { ParsedPrompt } from '../prompt/flags.ts';
import { digestOf, unitOf } from '../seeded.ts';
import type { Drawing, Frame } from './drawing.ts';

const four = [0, 1, 2, 3] as const;

/**
 * The grid of an imagine: four compositions of one prompt. `images` are the content hashes of image prompts.
 * `again` tells rerolls apart from the first roll.
 */
export function imagineDrawing(prompt: ParsedPrompt, images: readonly string[] = [], again = ''): Drawing {
  const { flags, text } = prompt;
  const root = digestOf(
    JSON.stringify([text, flags.seed ?? '', flags.version ?? '', flags.weird, images, again]),
  );
  const first = Math.floor(unitOf(`${root} pose`) * four.length);
  return {
    size: 'grid',
    frames: four.map((index) => ({
      text,
      seed: digestOf(`${root} ${index}`),
      nudges: [],
      rings: [],
      pose: (first + index) % four.length,
      aspect: flags.aspect[0] / flags.aspect[1],
      stylize: flags.stylize,
      chaos: flags.chaos,
      view: { x: 0, y: 0, zoom: 1 },
    })),
  };
}

/** U1 to U4: the chosen frame and nothing else. */
export function upscaleDrawing(parent: Drawing, index: number): Drawing {
  return { size: 'whole', frames: [frameAt(parent, index)] };
}

/** Upscale (Subtle), (2x), (4x): the same frame, larger; Upscale (Creative) changes details. */
export function enlargeDrawing(parent: Drawing, creative: boolean): Drawing {
  const frame = frameAt(parent, 0);
  const nudges = creative ? [...frame.nudges, 'creative'] : frame.nudges;
  return { size: 'large', frames: [{ ...frame, nudges }] };
}

/** Vary (Subtle): four times the same scene with small changes. */
export function subtleDrawing(parent: Drawing): Drawing {
  const frame = frameAt(parent, 0);
  return {
    size: 'grid',
    frames: four.map((index) => ({ ...frame, nudges: [...frame.nudges, `subtle ${index}`] })),
  };
}

/** Vary (Strong) and V1 to V4: the same theme and pose, everything else composed anew. */
export function strongDrawing(parent: Drawing, index: number, manner: 'variation' | 'strong'): Drawing {
  const frame = frameAt(parent, index);
  return {
    size: 'grid',
    frames: four.map((number) => ({
      ...frame,
      seed: digestOf(`${frame.seed} ${frame.nudges.join()} ${manner} ${number}`),
      nudges: [],
      // A variation keeps its frame's pose; a strong one keeps it once and leaves it in the other three.
      pose: manner === 'variation' ? frame.pose : (frame.pose + number) % four.length,
    })),
  };
}

/** Zoom Out: the same scene, smaller, with four different surroundings. */
export function zoomDrawing(parent: Drawing, factor: number): Drawing {
  return moved(parent, `zoom ${factor}`, (frame) => ({ ...frame.view, zoom: frame.view.zoom * factor }));
}

/** Which way a pan goes. */
export type PanDirection = 'left' | 'right' | 'up' | 'down';

/** Pan: the window moves by half of what it shows, over four different surroundings. */
export function panDrawing(parent: Drawing, direction: PanDirection): Drawing {
  return moved(parent, `pan ${direction}`, ({ view, aspect }) => {
    const step = view.zoom / 2;
    switch (direction) {
      case 'left':
        return { ...view, x: view.x - step * aspect };
      case 'right':
        return { ...view, x: view.x + step * aspect };
      case 'up':
        return { ...view, y: view.y - step };
      case 'down':
        return { ...view, y: view.y + step };
    }
  });
}

function moved(parent: Drawing, how: string, view: (frame: Frame) => Frame['view']): Drawing {
  const frame = frameAt(parent, 0);
  return {
    size: 'grid',
    frames: four.map((index) => ({
      ...frame,
      view: view(frame),
      rings: [...frame.rings, { view: frame.view, seed: digestOf(`${frame.seed} ${how} ${index}`) }],
    })),
  };
}

function frameAt(parent: Drawing, index: number): Frame {
  const frame = parent.frames[index];
  if (frame === undefined) throw new Error(`Internal error: a drawing without frame ${index}`);
  return frame;
}
