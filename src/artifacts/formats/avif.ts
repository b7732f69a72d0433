import { boxesIn, boxLength, brandsOf, type IsoBox } from './box.ts';
import { type Bytes, type ImageFormat, positiveSize, type Size } from './format.ts';

/** Most boxes that are read: real files have fewer. */
const maxBoxes = 512;
const maxMetaBytes = 1_048_576;

/** AVIF, still and animated: an ISO base media file (ISO/IEC 14496-12, 23008-12). */
export const avif: ImageFormat = {
  mime: 'image/avif',
  extension: 'avif',
  matches: (head) => brandsOf(head).some((brand) => /^avi[fs]$/.test(brand)),
  measure: async (bytes) => {
    const meta = (await boxesIn(bytes, 0, bytes.size))?.findLast(({ name }) => name === 'meta');
    return meta === undefined ? undefined : await measureMeta(bytes, meta);
  },
};

/** Returns the largest size of the file's items: thumbnails and tiles are smaller than the image. */
async function measureMeta(bytes: Bytes, { from, to }: IsoBox): Promise<Size | undefined> {
  if (to - from > maxMetaBytes) return undefined;
  const meta = await bytes.read(from, to - from);
  let largest: Size | undefined;
  let left = maxBoxes;
  const visit = (from: number, to: number): void => {
    for (let at = from; at + 8 <= to && left > 0; left -= 1) {
      const box = boxLength(meta.subarray(at, at + 16), to - at);
      if (box === undefined || at + box > to) return;
      const name = meta.toString('latin1', at + 4, at + 8);
      if (name === 'iprp' || name === 'ipco') visit(at + 8, at + box);
      if (name === 'ispe' && box >= 20) {
        const size = positiveSize(meta.readUInt32BE(at + 12), meta.readUInt32BE(at + 16));
        if (size !== undefined && size.width * size.height > (largest?.width ?? 0) * (largest?.height ?? 0)) {
          largest = size;
        }
      }
      at += box;
    }
  };
  // `meta` has four bytes of version and flags before the boxes in it.
  visit(4, meta.length);
  return largest;
}
