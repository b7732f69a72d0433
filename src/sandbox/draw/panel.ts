import { sharp } from '../../artifacts/formats/image-library.ts';
import { Canvas } from './canvas/canvas.ts';
import type { Frame, Patch, View } from './canvas/drawing.ts';
import { Random } from './canvas/random.ts';
import { themeOf } from './canvas/theme.ts';
import { type Box, boxOf } from './canvas/world.ts';
import { type ImageOf, paintPlate } from './plate.ts';
import { composePlaced, composeScene } from './scene/compose.ts';
import { type Placed, saysOfLand } from './scene/subjects.ts';
import { paintPlain } from './style/marks.ts';
import { tonesOf } from './style/painter.ts';
import { painterOf } from './style/painters.ts';

/** Draws a frame from its words, as raw RGB: what it shows does not depend on the number of pixels. */
function drawScene(frame: Frame, width: number, height: number, placed?: Placed): Buffer {
  const box = boxOf(frame.aspect, frame.view);
  const scene = composeScene(frame, placed);
  const painter = painterOf(themeOf(frame.text).style);
  const canvas = new Canvas(box, width, height);
  const random = new Random(`${frame.seed}/painter`, frame.nudges);
  painter.paint({ scene, frame, canvas, tones: tonesOf(scene, box, painter.toneRows), random });
  return canvas.pixels;
}

/** Paints a frame as raw RGB: its images or its scene, then the regions that were painted again. */
export async function paintFrame(
  frame: Frame,
  width: number,
  height: number,
  imageOf: ImageOf,
): Promise<Buffer> {
  const picture =
    frame.plate === undefined
      ? drawScene(frame, width, height)
      : await paintPlate(frame, frame.plate, width, height, imageOf);
  for (const patch of frame.patches ?? []) {
    const { view, aspect } = frame;
    const opacity = await maskOpacity(patch, imageOf(patch.mask), { width, height, view, aspect });
    const fresh = await paintPatch(frame, patch, { picture, opacity, width, height });
    for (let at = 0; at < opacity.length; at += 1) {
      const share = (opacity[at] ?? 0) / 255;
      if (share === 0) continue;
      for (let channel = 3 * at; channel < 3 * at + 3; channel += 1) {
        const old = picture[channel] ?? 0;
        picture[channel] = Math.round(old + ((fresh[channel] ?? 0) - old) * share);
      }
    }
  }
  return picture;
}

/** Paints the new content of a region: its subject in the present land, or a new land if its words describe one. */
async function paintPatch(
  frame: Frame,
  patch: Patch,
  { picture, opacity, width, height }: Under,
): Promise<Buffer> {
  const placed = placedIn(patch);
  const { plate, patches: _patches, ...land } = frame;
  if (plate === undefined) {
    const nudged = { ...land, nudges: [...land.nudges, patch.seed] };
    return drawScene(nudged, width, height, placed);
  }
  const own = { ...land, text: patch.text, seed: patch.seed, pose: patch.pose };
  const theme = themeOf(patch.text);
  const isThing = theme.animal !== undefined || theme.thing !== undefined || !saysOfLand(theme);
  const filled = isThing ? await filledIn(picture, opacity, width, height) : undefined;
  if (filled === undefined) return drawScene(own, width, height, placed);
  const canvas = new Canvas(boxOf(frame.aspect, frame.view), width, height, filled);
  paintPlain(canvas, composePlaced(own, placed));
  return canvas.pixels;
}

interface Under {
  readonly picture: Buffer;
  readonly opacity: Uint8Array;
  readonly width: number;
  readonly height: number;
}

function placedIn({ text, seed, pose, bounds, others = [], view, aspect }: Patch): Placed {
  const { left, right, top, bottom } = boxOf(aspect, view);
  const [across, down] = [right - left, bottom - top];
  const boxes = [bounds, ...others].map(
    ({ x, y, width, height }): Box => ({
      left: left + x * across,
      right: left + (x + width) * across,
      top: top + y * down,
      bottom: top + (y + height) * down,
    }),
  );
  return { text, seed, pose, boxes };
}

/** Width of the soft edge inside a mask, as a share of the panel's smaller side. */
const edge = 0.012;

/** Opacity of a region at the edge of its mask. */
const least = 0.2;

/** Returns the opacity of a region at each pixel of a panel, 0 to 255: 0 outside of the mask, rising softly from its edge. */
async function maskOpacity(
  patch: Patch,
  mask: Buffer,
  panel: { readonly width: number; readonly height: number; readonly view: View; readonly aspect: number },
): Promise<Uint8Array> {
  const { width, height } = panel;
  const laid = boxOf(patch.aspect, patch.view);
  const seen = boxOf(panel.aspect, panel.view);
  const scale = height / (seen.bottom - seen.top);
  const left = Math.round((laid.left - seen.left) * scale);
  const top = Math.round((laid.top - seen.top) * scale);
  const [across, down] = [
    Math.max(1, Math.round((laid.right - laid.left) * scale)),
    Math.max(1, Math.round((laid.bottom - laid.top) * scale)),
  ];
  const { data } = await sharp(mask)
    .extractChannel(0)
    .resize(across, down, { fit: 'fill', kernel: 'nearest' })
    .raw()
    .toBuffer({ resolveWithObject: true });

  const opacity = Buffer.alloc(width * height);
  for (let y = Math.max(0, top); y < Math.min(height, top + down); y += 1) {
    for (let x = Math.max(0, left); x < Math.min(width, left + across); x += 1) {
      if ((data[(y - top) * across + (x - left)] ?? 0) > 127) opacity[y * width + x] = 255;
    }
  }
  const sigma = Math.max(0.5, Math.min(width, height) * edge);
  const soft = await sharp(opacity, { raw: { width, height, channels: 1 } })
    .blur(sigma)
    .extractChannel(0)
    .raw()
    .toBuffer();
  for (let at = 0; at < opacity.length; at += 1) {
    if (opacity[at] === 0) continue;
    const depth = Math.max(0, Math.min(1, ((soft[at] ?? 0) / 255 - 0.5) * 2));
    opacity[at] = Math.round(255 * (least + (1 - least) * depth));
  }
  return opacity;
}

/** Columns and rows of the grid in which colours spread into a hole. A fine grid is not needed, because the filling is soft. */
const cells = 48;
const rounds = 400;

/**
 * Fills the masked part of a picture with the colours around it, as raw RGB. Returns undefined if the mask leaves too little of the
 * picture. `opacity` is more than 0 in the masked part.
 */
async function filledIn(
  picture: Buffer,
  opacity: Uint8Array,
  width: number,
  height: number,
): Promise<Buffer | undefined> {
  const sums = new Float64Array(cells * cells * 3);
  const counts = new Float64Array(cells * cells);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      if ((opacity[at] ?? 0) > 0) continue;
      const cell = Math.floor((y * cells) / height) * cells + Math.floor((x * cells) / width);
      counts[cell] = (counts[cell] ?? 0) + 1;
      for (let channel = 0; channel < 3; channel += 1) {
        sums[3 * cell + channel] = (sums[3 * cell + channel] ?? 0) + (picture[3 * at + channel] ?? 0);
      }
    }
  }
  const known = counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0);
  if (known < cells) return undefined;

  const small = new Float64Array(cells * cells * 3);
  for (let channel = 0; channel < 3; channel += 1) {
    let mean = 0;
    for (let cell = 0; cell < counts.length; cell += 1) {
      if ((counts[cell] ?? 0) > 0) mean += (sums[3 * cell + channel] ?? 0) / (counts[cell] ?? 1) / known;
    }
    for (let cell = 0; cell < counts.length; cell += 1) {
      const count = counts[cell] ?? 0;
      small[3 * cell + channel] = count > 0 ? (sums[3 * cell + channel] ?? 0) / count : mean;
    }
  }
  for (let round = 0; round < rounds; round += 1) spread(small, counts);
  const raw = { width: cells, height: cells, channels: 3 as const };
  return sharp(Buffer.from(Uint8Array.from(small, Math.round)), { raw })
    .resize(width, height, { fit: 'fill', kernel: 'cubic' })
    .removeAlpha()
    .raw()
    .toBuffer();
}

function spread(small: Float64Array, counts: Float64Array): void {
  for (let row = 0; row < cells; row += 1) {
    for (let column = 0; column < cells; column += 1) {
      const cell = row * cells + column;
      if ((counts[cell] ?? 0) > 0) continue;
      const around = [
        row * cells + Math.max(0, column - 1),
        row * cells + Math.min(cells - 1, column + 1),
        Math.max(0, row - 1) * cells + column,
        Math.min(cells - 1, row + 1) * cells + column,
      ];
      for (let channel = 0; channel < 3; channel += 1) {
        let sum = 0;
        for (const other of around) sum += small[3 * other + channel] ?? 0;
        small[3 * cell + channel] = sum / around.length;
      }
    }
  }
}
