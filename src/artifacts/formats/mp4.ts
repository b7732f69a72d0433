import { boxesIn, brandsOf } from './box.ts';
import { type Bytes, positiveSize, type Size, type VideoFormat } from './format.ts';

/** MP4 and related formats, also fragmented (ISO/IEC 14496-12 and -14). */
export const mp4: VideoFormat = {
  mime: 'video/mp4',
  extension: 'mp4',
  matches: (head) =>
    brandsOf(head).some((brand) => /^(iso[m2-9]|mp4[12]|avc1|hvc1|M4V|dash|cmf[c2]|MSNV|3g[p2])/.test(brand)),
  measure,
};

/** QuickTime, the format that MP4 is based on. */
export const mov: VideoFormat = {
  mime: 'video/quicktime',
  extension: 'mov',
  matches: (head) => brandsOf(head)[0] === 'qt  ',
  measure,
};

/** Returns the size of the largest picture among the tracks. A file that breaks off lacks its last box, or half of it. */
async function measure(bytes: Bytes): Promise<Partial<Size> | undefined> {
  const boxes = await boxesIn(bytes, 0, bytes.size);
  const movie = boxes?.find(({ name }) => name === 'moov');
  if (movie === undefined || !boxes?.some(({ name }) => name === 'mdat')) return undefined;
  let largest: Size | undefined;
  for (const track of (await boxesIn(bytes, movie.from, movie.to)) ?? []) {
    if (track.name !== 'trak') continue;
    const header = (await boxesIn(bytes, track.from, track.to))?.find(({ name }) => name === 'tkhd');
    const size = header === undefined ? undefined : await trackSize(bytes, header.to);
    if (size !== undefined && size.width * size.height > (largest?.width ?? 0) * (largest?.height ?? 0)) {
      largest = size;
    }
  }
  return largest ?? {};
}

/** Reads the size of a track. Its header ends with the rotation matrix and the size, in 65536ths of a pixel. */
async function trackSize(bytes: Bytes, end: number): Promise<Size | undefined> {
  const last = await bytes.read(end - 44, 44);
  if (last.length < 44) return undefined;
  const width = Math.round(last.readUInt32BE(36) / 65_536);
  const height = Math.round(last.readUInt32BE(40) / 65_536);
  // A video that is stored sideways is turned by a quarter when it is shown.
  const isTurned = last.readInt32BE(0) === 0 && last.readInt32BE(4) !== 0;
  return isTurned ? positiveSize(height, width) : positiveSize(width, height);
}
