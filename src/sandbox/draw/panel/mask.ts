import { sharp } from '../../../artifacts/formats/image-library.ts';
import type { Patch, View } from '../canvas/drawing.ts';
import { boxOf } from '../canvas/world.ts';

/** Width of the soft edge within a mask, as a share of the panel's smaller side. */
const edge = 0.012;

/** How much of the new is seen at the very edge of a mask. */
const least = 0.2;

/**
 * How much of a patch is seen at each pixel of a panel, 0 to 255: nothing outside of the mask, and within it softly from
 * its edge. The panel shows `view` of the world; the mask lies where it was laid.
 */
export async function maskOpacity(
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
