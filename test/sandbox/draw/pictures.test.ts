import sharp, { type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
import type { Drawing } from '../../../src/sandbox/draw/canvas/drawing.ts';
import {
  enlargeDrawing,
  imagineDrawing,
  panDrawing,
  strongDrawing,
  subtleDrawing,
  upscaleDrawing,
  zoomDrawing,
} from '../../../src/sandbox/draw/lineage.ts';
import { drawPicture as draw } from '../../../src/sandbox/draw/picture.ts';
import { composeScene } from '../../../src/sandbox/draw/scene/compose.ts';
import { parsePrompt } from '../../../src/sandbox/prompt/flags.ts';

const side = 128;
const drawPicture = (drawing: Drawing, pixels: number): Promise<Buffer> =>
  draw(drawing, pixels, () => Buffer.alloc(0));
const grid = (prompt: string): Drawing => imagineDrawing(parsePrompt(prompt));

interface Raster {
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

async function raster(png: Buffer | Sharp): Promise<Raster> {
  const image = Buffer.isBuffer(png) ? sharp(png) : png;
  const { data, info } = await image.removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** The four quadrants of a grid. */
async function quadrants(drawing: Drawing): Promise<readonly Raster[]> {
  const half = side / 2;
  const png = await drawPicture(drawing, side);
  return Promise.all(
    [0, 1, 2, 3].map((index) =>
      raster(
        sharp(png).extract({
          left: (index % 2) * half,
          top: Math.floor(index / 2) * half,
          width: half,
          height: half,
        }),
      ),
    ),
  );
}

/** Mean difference of two pictures of one size, 0 to 255. */
function distance(a: Raster, b: Raster): number {
  expect([a.width, a.height]).toEqual([b.width, b.height]);
  let sum = 0;
  for (let index = 0; index < a.data.length; index += 1)
    sum += Math.abs((a.data[index] ?? 0) - (b.data[index] ?? 0));
  return sum / a.data.length;
}

const media = [
  '',
  'ink',
  'oil on canvas',
  'watercolour',
  'pixel art',
  'neon',
  'woodcut',
  'pencil',
  'paper cut',
];

describe.each(media)('a fox, %s', (medium) => {
  const drawing = grid(`a fox at dusk, ${medium} --seed 4`);

  test('has the same bytes every time', async () => {
    const one = upscaleDrawing(drawing, 1);
    const first = await drawPicture(one, 64);
    expect((await drawPicture(structuredClone(one), 64)).equals(first)).toBe(true);
  });

  test('shows the same in an upscale as in its quadrant', async () => {
    // Both are seen at one small size: what is left of a difference is not the rounding of thin lines.
    const seen = (png: Buffer, left: number, top: number, size: number): Promise<Raster> =>
      raster(
        sharp(png).extract({ left, top, width: size, height: size }).resize(64, 64, { kernel: 'mitchell' }),
      );
    const whole = await drawPicture(drawing, 2 * side);
    const large = await seen(await drawPicture(upscaleDrawing(drawing, 2), 2 * side), 0, 0, 2 * side);
    const chosen = distance(await seen(whole, 0, side, side), large);
    expect(chosen).toBeLessThan(3);
    expect(distance(await seen(whole, side, side, side), large)).toBeGreaterThan(5 * chosen);
  });
});

test('the four quadrants differ clearly, and so do seeds and prompts', async () => {
  const drawing = grid('a fox, in a birch forest --seed 1');
  const four = await quadrants(drawing);
  for (let a = 0; a < 4; a += 1) {
    for (let b = a + 1; b < 4; b += 1)
      expect(distance(four[a] as Raster, four[b] as Raster)).toBeGreaterThan(12);
  }
  const first = await raster(await drawPicture(drawing, side));
  for (const prompt of ['a fox, in a birch forest --seed 2', 'an owl, in a birch forest --seed 1']) {
    expect(distance(first, await raster(await drawPicture(grid(prompt), side)))).toBeGreaterThan(8);
  }
});

test('a subtle variation is nearer than a strong one', async () => {
  for (const prompt of ['an owl, ink', 'a cat in the city at night']) {
    const parent = upscaleDrawing(grid(prompt), 1);
    const before = await raster(sharp(await drawPicture(parent, side)).resize(side / 2));
    const mean = async (drawing: Drawing): Promise<number> => {
      const four = await quadrants(drawing);
      return four.reduce((sum, each) => sum + distance(before, each), 0) / 4;
    };
    const subtle = await mean(subtleDrawing(parent));
    expect(subtle).toBeGreaterThan(0.8);
    expect(subtle * 1.4).toBeLessThan(await mean(strongDrawing(parent, 0, 'strong')));
  }
});

test('the four results of a variation differ from each other', async () => {
  for (const make of [subtleDrawing, (parent: Drawing) => zoomDrawing(parent, 2)]) {
    const drawing = make(upscaleDrawing(grid('a fox in the mountains'), 0));
    const pictures = await quadrants(drawing);
    const bytes = new Set(pictures.map(({ data }) => data.toString('base64')));
    expect(bytes.size).toBe(4);
  }
});

test('a zoomed-out picture contains the earlier picture in its middle', async () => {
  const parent = upscaleDrawing(grid('a fox at dusk --seed 3'), 0);
  const zoomed = zoomDrawing(parent, 2);
  const before = await raster(sharp(await drawPicture(parent, 4 * side)).resize(side, side));
  const middle = sharp(
    await drawPicture({ size: 'whole', frames: [zoomed.frames[0] as Drawing['frames'][0]] }, 2 * side),
  ).extract({
    left: side / 2,
    top: side / 2,
    width: side,
    height: side,
  });
  expect(distance(before, await raster(middle))).toBeLessThan(9);
  const twice = zoomDrawing({ ...zoomed, frames: zoomed.frames.slice(1) }, 1.5);
  expect(twice.frames[0]?.view.zoom).toBe(3);
});

test('a panned picture contains the half that stayed in view', async () => {
  const parent = upscaleDrawing(grid('a fox at dusk --seed 3'), 0);
  const panned: Drawing = { size: 'whole', frames: panDrawing(parent, 'right').frames.slice(0, 1) };
  const half = { top: 0, width: side / 2, height: side };
  const stayed = await raster(sharp(await drawPicture(parent, side)).extract({ left: side / 2, ...half }));
  const moved = await raster(sharp(await drawPicture(panned, side)).extract({ left: 0, ...half }));
  expect(distance(stayed, moved)).toBeLessThan(6);
});

test.each(['a fox in the snow', 'an owl at night', 'a lion in the desert', 'a raven'])(
  'the portrait of %s ends in the ground where a wider view shows its end',
  (prompt) => {
    const portrait = grid(prompt).frames.find(({ pose }) => pose === 0) as Drawing['frames'][0];
    const shapesOf = (frame: Drawing['frames'][0]) => {
      const { shapes } = composeScene(frame);
      const last = shapes.findLastIndex(({ role }) => role === 'subject');
      return { over: shapes.slice(last + 1).filter(({ role, kind }) => role === 'land' && kind === 'area') };
    };
    expect(shapesOf(portrait).over).toEqual([]);
    const [wide] = zoomDrawing({ size: 'whole', frames: [portrait] }, 4).frames;
    const { over } = shapesOf(wide as Drawing['frames'][0]);
    expect(over).toHaveLength(1);
    const tops = over.map(({ points }) => Math.min(...points.map(([, y]) => y)));
    expect(tops[0]).toBeGreaterThan(800);
    expect(tops[0]).toBeLessThan(900);
  },
);

test('other birds do not have the face of an owl', () => {
  const [frame] = grid('a raven').frames;
  for (let pose = 0; pose < 4; pose += 1) {
    const rays = (text: string): number =>
      composeScene({ ...(frame as Drawing['frames'][0]), text, pose }).shapes.filter(
        ({ role, kind, points }) => role === 'subject' && kind === 'line' && points.length === 2,
      ).length;
    expect(rays('an owl')).toBeGreaterThanOrEqual(36);
    expect(rays('a raven')).toBe(0);
  }
});

test('the aspect ratio shapes the picture; Upscale (2x) doubles its sides, Upscale (4x) quadruples them', async () => {
  const size = async (drawing: Drawing): Promise<string> => {
    const { width, height } = await sharp(await drawPicture(drawing, 240)).metadata();
    return `${width}x${height}`;
  };
  const wide = grid('a fox --ar 16:9');
  expect(await size(grid('a fox'))).toBe('240x240');
  expect(await size(wide)).toBe('320x180');
  expect(await size(upscaleDrawing(wide, 2))).toBe('320x180');
  expect(await size(enlargeDrawing(upscaleDrawing(wide, 2), false))).toBe('640x360');
  expect(await size(enlargeDrawing(upscaleDrawing(wide, 2), false, 4))).toBe('1280x720');
  // Sides that are rounded are rounded before they are doubled.
  expect(await size(upscaleDrawing(grid('a fox --ar 2:3'), 0))).toBe('196x294');
  expect(await size(enlargeDrawing(upscaleDrawing(grid('a fox --ar 2:3'), 0), true))).toBe('392x588');
  expect(await size(grid('a fox --ar 2:3'))).toBe('196x294');
});

test('any zoom shows grass and flowers undistorted and down to the edge', () => {
  const parent = upscaleDrawing(grid('a fox in a meadow --seed 7'), 0);
  let drawing = parent;
  for (const zoom of [1, 2, 4, 8]) {
    const [frame] = drawing.frames;
    if (frame === undefined) throw new Error('no frame');
    const { shapes } = composeScene({ ...frame, pose: 1 });
    const bottom = 500 * zoom;
    const blades = shapes.flatMap(({ role, kind, points }) => {
      if (role !== 'detail' || kind !== 'area' || points.length !== 5 || points[0]?.[2] !== 1) return [];
      const [left, , tip, , right] = points;
      if (left === undefined || tip === undefined || right === undefined) return [];
      return [{ foot: left[1], width: right[0] - left[0], height: left[1] - tip[1] }];
    });
    expect(blades.length).toBeGreaterThan(10);
    expect(blades.length).toBeLessThan(6000);
    // A blade is at most 115 high and 5.2 wide at its foot in the first view: 22.2 times, and no blade of a wider view is more.
    for (const { width, height } of blades) expect(height / width).toBeLessThan(23);
    // The nearest row lies at the lower edge.
    expect(Math.max(...blades.map(({ foot }) => foot))).toBeGreaterThan(bottom * 0.9);
    drawing = zoomDrawing({ ...drawing, frames: [frame] }, 2);
  }
});

test('Upscale (Creative) changes details, Upscale (Subtle) none', () => {
  const parent = upscaleDrawing(grid('a fox'), 0);
  expect(enlargeDrawing(parent, false).frames).toEqual(parent.frames);
  expect(enlargeDrawing(parent, true).frames).not.toEqual(parent.frames);
});

test('every known subject, setting and mood can be drawn, and unknown words too', async () => {
  const subjects = [
    'fox',
    'wolf',
    'cat',
    'lynx',
    'tiger',
    'lion',
    'bear',
    'hare',
    'deer',
    'owl',
    'raven',
    'boat',
    'lighthouse',
    'cabin',
    'old oak tree',
    'rose',
    'castle',
    'hot air balloon',
    'mountain',
    'zzz',
    '<svg>&"',
  ];
  const places = [
    'at night',
    'in snow',
    'in the rain',
    'in mist',
    'in autumn',
    'in a desert',
    'by a lake',
    'in the city',
    'in a meadow',
    'at dawn',
    '',
  ];
  for (const [index, subject] of subjects.entries()) {
    const prompt = `${subject} ${places[index % places.length]} ${media[index % media.length]}`;
    const png = await drawPicture(upscaleDrawing(grid(prompt), index % 4), 64);
    expect((await sharp(png).stats()).channels.some(({ stdev }) => stdev > 4)).toBe(true);
  }
});

test.each(['a fox in a forest', 'a hare in a meadow', 'an owl in the hills'])(
  'a small picture of %s shows the same as a large one',
  async (prompt) => {
    const whole: Drawing = { frames: grid(prompt).frames.slice(0, 1), size: 'whole' };
    const small = await raster(await drawPicture(whole, 128));
    const large = await raster(sharp(await drawPicture(whole, 512)).resize(128, 128));
    expect(distance(small, large)).toBeLessThan(3);
  },
);
