import { boxesIn, brandsOf } from './box.ts';
import { type Bytes, positiveSize, type Size, type VideoFormat } from './format.ts';

/** MP4 and its kin, also in pieces (ISO/IEC 14496-12 and -14). */
export const mp4: VideoFormat = {
  mime: 'video/mp4',
  extension: 'mp4',
  matches: (head) =>
    brandsOf(head).some((brand) => /^(iso[m2-9]|mp4[12]|avc1|hvc1|M4V|dash|cmf[c2]|MSNV|3g[p2])/.test(brand)),
  measure,
};

/** QuickTime, which MP4 was made from. */
export const mov: VideoFormat = {
  mime: 'video/quicktime',
  extension: 'mov',
  matches: (head) => brandsOf(head)[0] === 'qt  ',
  measure,
};

/** The size of the largest picture among the tracks. What breaks off lacks the last box, or half of it. */
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

/** A track's header ends with the matrix that turns it and with its size, in 65536ths of a pixel. */
async function trackSize(bytes: Bytes, end: number): Promise<Size | undefined> {
  const last = await bytes.read(end - 44, 44);
  if (last.length < 44) return undefined;
  const width = Math.round(last.readUInt32BE(36) / 65_536);
  const height = Math.round(last.readUInt32BE(40) / 65_536);
  // A film that is stored lying is turned by a quarter when it is shown.
  const isTurned = last.readInt32BE(0) === 0 && last.readInt32BE(4) !== 0;
  return isTurned ? positiveSize(height, width) : positiveSize(width, height);
}
