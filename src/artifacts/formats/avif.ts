import { type Bytes, type ImageFormat, type Size, sizeOf } from './format.ts';

/** More than real files have. */
const mostBoxes = 512;
const mostMetaBytes = 1_048_576;

/** AVIF, still and animated: an ISO base media file (ISO/IEC 14496-12, 23008-12). */
export const avif: ImageFormat = {
  mime: 'image/avif',
  extension: 'avif',
  matches: (head) => {
    if (head.toString('latin1', 4, 8) !== 'ftyp' || head.length < 16) return false;
    const brands = head.toString('latin1', 8, Math.min(head.length, head.readUInt32BE(0)));
    return /^(?:.{4})*?avi[fs]/s.test(brands);
  },
  measure: async (bytes) => {
    let position = 0;
    let size: Size | undefined;
    for (let count = 0; position < bytes.size; count += 1) {
      const head = await bytes.read(position, 16);
      const length = boxLength(head, bytes.size - position);
      if (count === mostBoxes || length === undefined || position + length > bytes.size) return undefined;
      if (head.toString('latin1', 4, 8) === 'meta') size = await measureMeta(bytes, position, length);
      position += length;
    }
    return size;
  },
};

/** Length of a box with its header; undefined where it makes no sense. */
function boxLength(head: Buffer, rest: number): number | undefined {
  if (head.length < 8) return undefined;
  const short = head.readUInt32BE(0);
  if (short === 0) return rest;
  if (short !== 1) return short >= 8 ? short : undefined;
  if (head.length < 16) return undefined;
  const long = Number(head.readBigUInt64BE(8));
  return long >= 16 ? long : undefined;
}

/** The largest of the sizes that the file's items have: a thumbnail or a tile is smaller than the image. */
async function measureMeta(bytes: Bytes, position: number, length: number): Promise<Size | undefined> {
  if (length > mostMetaBytes) return undefined;
  const meta = await bytes.read(position, length);
  let largest: Size | undefined;
  let left = mostBoxes;
  const visit = (from: number, to: number): void => {
    for (let at = from; at + 8 <= to && left > 0; left -= 1) {
      const box = boxLength(meta.subarray(at, at + 16), to - at);
      if (box === undefined || at + box > to) return;
      const name = meta.toString('latin1', at + 4, at + 8);
      if (name === 'iprp' || name === 'ipco') visit(at + 8, at + box);
      if (name === 'ispe' && box >= 20) {
        const size = sizeOf(meta.readUInt32BE(at + 12), meta.readUInt32BE(at + 16));
        if (size !== undefined && size.width * size.height > (largest?.width ?? 0) * (largest?.height ?? 0)) {
          largest = size;
        }
      }
      at += box;
    }
  };
  // `meta` has four bytes of version and flags before the boxes in it.
  visit(12, meta.length);
  return largest;
}
