import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { boxOf } from '../../../src/sandbox/draw/canvas/world.ts';
import {
  imagineDrawing,
  type Region,
  repaintDrawing,
  upscaleDrawing,
} from '../../../src/sandbox/draw/lineage.ts';
import { drawPicture } from '../../../src/sandbox/draw/picture.ts';
import { composeScene } from '../../../src/sandbox/draw/scene/compose.ts';
import { maskParts, readMask } from '../../../src/sandbox/images/mask.ts';
import { MemoryShelf } from '../../../src/sandbox/images/shelf.ts';
import { parsePrompt } from '../../../src/sandbox/prompt/flags.ts';
import { pipelineExamples, readDocuments } from '../../rig/documents.ts';
import { dataUri, differences, maskOf } from '../pixels.ts';

/** Where subjects find room among shapes, in a mask of 100 × 100, to whole hundredths: `x y width height`. */
async function roomIn(svg: string, width = 100, height = 100): Promise<readonly string[]> {
  const white = await sharp(
    await maskOf(`<g shape-rendering="crispEdges">${svg}</g>`, 'white', width, height),
  )
    .extractChannel(0)
    .raw()
    .toBuffer();
  return maskParts(white, width, height).map((part) =>
    [part.x, part.y, part.width, part.height].map((share) => Math.round(100 * share)).join(' '),
  );
}

const box = (x: number, y: number, width: number, height: number): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}"/>`;

describe('the rooms for subjects in a mask', () => {
  test.each([
    ['nothing', '', []],
    ['one', box(10, 20, 30, 40), ['10 20 30 40']],
    ['all', box(0, 0, 100, 100), ['0 0 100 100']],
    ['two, the larger first', box(5, 5, 20, 20) + box(60, 50, 30, 40), ['60 50 30 40', '5 5 20 20']],
    ['two that touch at a corner are one', box(10, 10, 30, 30) + box(40, 40, 30, 30), ['10 10 60 60']],
    ['a speck beside it', box(10, 10, 40, 40) + box(80, 80, 3, 3), ['10 10 40 40']],
    ['a hook: the largest square in it', box(0, 0, 100, 10) + box(80, 0, 20, 100), ['80 0 20 20']],
    ['a ring', '<path fill-rule="evenodd" d="M0 0H100V100H0Z M30 20V80H80V20Z"/>', ['0 0 30 30']],
    [
      'many: the largest six',
      Array.from({ length: 9 }, (_, at) => box(11 * at, 0, 10, 20 - at)).join(''),
      Array.from({ length: 6 }, (_, at) => `${11 * at} 0 10 ${20 - at}`),
    ],
  ])('%s', async (_name, svg, parts) => {
    expect(await roomIn(svg)).toEqual(parts);
  });

  test('are found in large masks and in flat ones', async () => {
    expect(await roomIn(box(0, 0, 300, 300) + box(1000, 500, 400, 400), 2000, 1000)).toEqual([
      '50 50 20 40',
      '0 0 15 30',
    ]);
    expect(await roomIn(box(0, 0, 300, 1) + box(500, 0, 400, 1), 1000, 1)).toEqual([
      '50 0 40 100',
      '0 0 30 100',
    ]);
  });
});

const side = 256;

/** A mask of shapes in fractions, kept. */
async function regionOf(shelf: MemoryShelf, svg: string): Promise<{ region: Region; mask: Buffer }> {
  const mask = await maskOf(`<g transform="scale(${side})">${svg}</g>`, 'white', side, side);
  const read = await readMask(dataUri(mask), 'white', { width: side, height: side }, shelf);
  if (!read.ok) throw new Error(read.error);
  return { region: read.value, mask };
}

test.each(['portrait of a fox in the snow', 'a zzz', 'a fox at dusk, oil on canvas'])(
  'each of two regions of %s gets a subject, whole',
  async (prompt) => {
    const shelf = new MemoryShelf(1e8);
    const imageOf = (sha256: string): Buffer => shelf.get(sha256) ?? Buffer.alloc(0);
    const parent = upscaleDrawing(imagineDrawing(parsePrompt(prompt)), 0);
    const before = await drawPicture(parent, side, imageOf);
    const shapes = [
      { left: 0.02, top: 0.05, width: 0.3, height: 0.3 },
      { left: 0.6, top: 0.55, width: 0.35, height: 0.4 },
    ];
    const { region, mask } = await regionOf(
      shelf,
      shapes.map(({ left, top, width, height }) => box(left, top, width, height)).join(''),
    );
    expect(region.others).toHaveLength(1);
    const painted = upscaleDrawing(repaintDrawing(parent, 'a bright magenta owl', region), 0);
    const after = await drawPicture(painted, side, imageOf);
    expect((await differences(before, after, mask, 'white')).changedOutside).toBe(0);
    for (const { left, top, width, height } of shapes) {
      // The middle half of each: where a subject that was laid between them would not be.
      const part = {
        left: Math.round(side * (left + width / 4)),
        top: Math.round(side * (top + height / 4)),
        width: Math.round((side * width) / 2),
        height: Math.round((side * height) / 2),
      };
      const [red, green, blue] = (
        await sharp(await sharp(after).extract(part).removeAlpha().toBuffer()).stats()
      ).channels;
      expect((red?.mean ?? 0) - (green?.mean ?? 0)).toBeGreaterThan(25);
      expect((blue?.mean ?? 0) - (green?.mean ?? 0)).toBeGreaterThan(5);
    }
  },
);

test('the mask of the documented scarf lies on its fox, the mask of the cabin beside the fox', () => {
  const example = pipelineExamples(readDocuments()).get('modals') ?? '';
  const { steps } = parse(example) as {
    steps: {
      portrait: { imagine: string };
      scarf: { mask: { shapes: { ellipse: number[] }[] } };
      wide: { path: [string, { mask: { shapes: { rectangle: number[] }[] } }] };
    };
  };
  const { frames } = upscaleDrawing(imagineDrawing(parsePrompt(steps.portrait.imagine)), 0);
  const [frame] = frames;
  if (frame === undefined) throw new Error('no frame');
  const points = composeScene(frame).shapes.flatMap(({ role, points: all }) =>
    role === 'subject' ? all : [],
  );
  const [left, right] = [Math.min(...points.map(([x]) => x)), Math.max(...points.map(([x]) => x))];
  const { left: edge, right: other } = boxOf(frame.aspect, frame.view);
  const share = (x: number): number => (x - edge) / (other - edge);

  const [x = 0, , width = 0] = steps.scarf.mask.shapes[0]?.ellipse ?? [];
  expect(x).toBeGreaterThan(share(left) - 0.01);
  expect(x + width).toBeLessThan(share(right));
  // Zoomed out by 2, the fox is half as far from the middle.
  const [beside = 0] = steps.wide.path[1].mask.shapes[0]?.rectangle ?? [];
  expect(beside).toBeGreaterThan(0.5 + (share(right) - 0.5) / 2);
});
