import sharp from 'sharp';
import type { Drawing, Frame } from './drawing.ts';
import { composeScene } from './scene/compose.ts';
import { Random } from './scene/random.ts';
import { themeOf } from './scene/theme.ts';
import { boxOf } from './scene/world.ts';
import { painterOf } from './style/painters.ts';
import { panelAttributes, plainSvg } from './style/svg.ts';
import { tonesOf, viewBoxOf } from './style/tones.ts';

/** Where a frame lies in the picture, in pixels. */
interface Panel {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * The PNG of a drawing; the same drawing is the same bytes. `pixels` is the side of a square grid or image; other
 * shapes have the same area, an enlarged image more than twice as much.
 */
export async function drawPicture(drawing: Drawing, pixels: number): Promise<Buffer> {
  const grid = drawing.size === 'grid';
  const aspect = drawing.frames[0]?.aspect ?? 1;
  const side = pixels * (drawing.size === 'large' ? 1.5 : 1);
  // Even numbers, so that a grid falls into four equal panels.
  const width = Math.max(2, Math.round((side * Math.sqrt(aspect)) / 2) * 2);
  const height = Math.max(2, Math.round(side / Math.sqrt(aspect) / 2) * 2);
  const panel = grid ? { width: width / 2, height: height / 2 } : { width, height };
  const panels: string[] = [];
  for (const [index, frame] of drawing.frames.entries()) {
    const place = { ...panel, x: (index % 2) * panel.width, y: Math.floor(index / 2) * panel.height };
    panels.push(await paintPanel(frame, `p${index}_`, place));
  }
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${panels.join('')}</svg>`;
  return sharp(Buffer.from(svg), { unlimited: true }).flatten().png({ compressionLevel: 6 }).toBuffer();
}

/** One frame as a nested SVG. What is painted does not depend on the pixels: an upscale is its quadrant, larger. */
async function paintPanel(frame: Frame, name: string, { x, y, width, height }: Panel): Promise<string> {
  const box = boxOf(frame.aspect, frame.view);
  const scene = composeScene(frame);
  const painter = painterOf(themeOf(frame.text).style);
  const random = new Random(`${frame.seed}/painter`, frame.nudges);
  const tones = await tonesOf(painter.toneRows === 0 ? '' : plainSvg(scene, name), box, painter.toneRows);
  const elements = painter.paint({ scene, frame, box, tones, name, random });
  return (
    `<svg x="${x}" y="${y}" width="${width}" height="${height}" viewBox="${viewBoxOf(box)}" ` +
    `preserveAspectRatio="none" ${panelAttributes}>${elements}</svg>`
  );
}
