import sharp from 'sharp';
import type { Drawing } from './drawing.ts';

/** The PNG of a drawing. `pixels` is the side of a square grid or image; other shapes have the same area. */
export async function drawPicture(drawing: Drawing, pixels: number): Promise<Buffer> {
  const c = drawing.frames[0]?.seed.slice(0, 6) ?? '000000';
  return sharp({ create: { width: pixels, height: pixels, channels: 3, background: `#${c}` } })
    .png()
    .toBuffer();
}
