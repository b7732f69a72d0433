import { sharp } from '../../../artifacts/formats/image-library.ts';
import type { Frame, Patch } from '../canvas/drawing.ts';
import { Random } from '../canvas/random.ts';
import { themeOf } from '../canvas/theme.ts';
import { type Box, boxOf } from '../canvas/world.ts';
import { type ImageOf, paintPlate } from '../plate.ts';
import { composePlaced, composeScene } from '../scene/compose.ts';
import { type Placed, saysOfLand } from '../scene/placed.ts';
import { painterOf } from '../style/painters.ts';
import { panelAttributes, plainSvg } from '../style/svg.ts';
import { tonesOf, viewBoxOf } from '../style/tones.ts';
import { filledIn } from './fill.ts';
import { maskOpacity } from './mask.ts';

/** Where a frame lies in the picture, in pixels. */
export interface Panel {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Whether a frame is drawn from its words alone, so that it is nothing but SVG. */
export const isDrawn = (frame: Frame): boolean =>
  frame.plate === undefined && (frame.patches ?? []).length === 0;

/** One frame as a nested SVG. What is painted does not depend on the pixels: an upscale is its quadrant, larger. */
export async function svgPanel(frame: Frame, name: string, panel: Panel, placed?: Placed): Promise<string> {
  const { x, y, width, height } = panel;
  const box = boxOf(frame.aspect, frame.view);
  const scene = composeScene(frame, placed);
  const painter = painterOf(themeOf(frame.text).style);
  const random = new Random(`${frame.seed}/painter`, frame.nudges);
  const tones = await tonesOf(painter.toneRows === 0 ? '' : plainSvg(scene, name), box, painter.toneRows);
  const elements = painter.paint({ scene, frame, box, tones, name, random });
  return (
    `<svg x="${x}" y="${y}" width="${width}" height="${height}" viewBox="${viewBoxOf(box)}" ` +
    `preserveAspectRatio="none" ${panelAttributes}>${elements}</svg>`
  );
}

/** Panels on one sheet with this number of pixels. */
export const sheetOf = (panels: readonly string[], width: number, height: number): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${panels.join('')}</svg>`,
  );

/** One frame as raw RGB: its plate or its scene, and over it the regions that were painted again. */
export async function paintFrame(
  frame: Frame,
  width: number,
  height: number,
  imageOf: ImageOf,
): Promise<Buffer> {
  const picture =
    frame.plate === undefined
      ? await paintScene(frame, width, height)
      : await paintPlate(frame, frame.plate, width, height, imageOf);
  for (const patch of frame.patches ?? []) {
    const opacity = await maskOpacity(patch, imageOf(patch.mask), {
      width,
      height,
      view: frame.view,
      aspect: frame.aspect,
    });
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

async function paintScene(frame: Frame, width: number, height: number, placed?: Placed): Promise<Buffer> {
  const panel = await svgPanel(frame, 'p0_', { x: 0, y: 0, width, height }, placed);
  return sharp(sheetOf([panel], width, height), { unlimited: true })
    .flatten()
    .removeAlpha()
    .raw()
    .toBuffer();
}

/** What is new in a patch: its thing in the land that was there, or a land of its own where its words are about that. */
async function paintPatch(
  frame: Frame,
  patch: Patch,
  { picture, opacity, width, height }: Under,
): Promise<Buffer> {
  const placed = placedIn(patch);
  const { plate, patches: _patches, ...land } = frame;
  if (plate === undefined) {
    const nudged = { ...land, nudges: [...land.nudges, patch.seed] };
    return paintScene(nudged, width, height, placed);
  }
  const own = { ...land, text: patch.text, seed: patch.seed, pose: patch.pose };
  const theme = themeOf(patch.text);
  const isThing = theme.animal !== undefined || theme.thing !== undefined || !saysOfLand(theme);
  const filled = isThing ? await filledIn(picture, opacity, width, height) : undefined;
  if (filled === undefined) return paintScene(own, width, height, placed);
  const svg =
    `<svg width="${width}" height="${height}" viewBox="${viewBoxOf(boxOf(frame.aspect, frame.view))}" ` +
    `preserveAspectRatio="none" ${panelAttributes}>${plainSvg(composePlaced(own, placed), 'p0_')}</svg>`;
  return sharp(filled, { raw: { width, height, channels: 3 } })
    .composite([{ input: sheetOf([svg], width, height) }])
    .removeAlpha()
    .raw()
    .toBuffer();
}

/** A picture before it is painted over. */
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
