import sharp from 'sharp';
import type { Drawing, Frame } from './drawing.ts';
import { composeScene } from './scene/compose.ts';
import { boxOf } from './scene/world.ts';
import { plainSvg } from './style/svg.ts';

/** The PNG of a drawing. `pixels` is the side of a square grid or image; other shapes have the same area. */
export async function drawPicture(drawing: Drawing, pixels: number): Promise<Buffer> {
  const grid = drawing.size === 'grid';
  const aspect = drawing.frames[0]?.aspect ?? 1;
  const side = pixels * (drawing.size === 'large' ? 1.5 : 1);
  // Even numbers, so that a grid falls into four equal panels.
  const width = Math.max(2, Math.round((side * Math.sqrt(aspect)) / 2) * 2);
  const height = Math.max(2, Math.round(side / Math.sqrt(aspect) / 2) * 2);
  const [across, down] = grid ? [width / 2, height / 2] : [width, height];
  const panels = drawing.frames.map((frame, index) =>
    panel(frame, `p${index}_`, (index % 2) * across, Math.floor(index / 2) * down, across, down),
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${panels.join('')}</svg>`;
  return sharp(Buffer.from(svg)).removeAlpha().png({ compressionLevel: 6 }).toBuffer();
}

function panel(frame: Frame, name: string, x: number, y: number, width: number, height: number): string {
  const { left, top, right, bottom } = boxOf(frame.aspect, frame.view);
  const scene = composeScene(frame);
  return (
    `<svg x="${x}" y="${y}" width="${width}" height="${height}" viewBox="${left} ${top} ${right - left} ${bottom - top}" ` +
    `preserveAspectRatio="none">${plainSvg(scene, name)}</svg>`
  );
}
