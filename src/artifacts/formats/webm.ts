import { type Bytes, positiveSize, type Size, type VideoFormat } from './format.ts';

/** Element ids (RFC 9559; EBML: RFC 8794). */
const ids = {
  head: 0x1a45dfa3,
  segment: 0x18538067,
  cluster: 0x1f43b675,
  tracks: 0x1654ae6b,
  track: 0xae,
  video: 0xe0,
  width: 0xb0,
  height: 0xba,
} as const;

/** Most elements in one place before the pictures: real files have fewer. */
const maxElements = 256;

/** WebM. Any other Matroska file counts as WebM too, as in players. */
export const webm: VideoFormat = {
  mime: 'video/webm',
  extension: 'webm',
  matches: (head) =>
    head.length >= 4 &&
    head.readUInt32BE(0) === ids.head &&
    /webm|matroska/.test(head.toString('latin1', 4, 64)),
  measure: async (bytes) => {
    const head = await elementAt(bytes, 0);
    const segment = head === undefined ? undefined : await elementAt(bytes, head.to);
    // A segment that was written as a live stream does not state its length: a missing end cannot be noticed.
    if (segment?.id !== ids.segment || segment.to > bytes.size) return undefined;
    const tracks = await find(bytes, segment, ids.tracks);
    if (tracks === undefined) return {};
    let at = tracks.from;
    for (let count = 0; at < tracks.to && count < maxElements; count += 1) {
      const track = await elementAt(bytes, at);
      if (track === undefined) break;
      const size = track.id === ids.track ? await trackSize(bytes, track) : undefined;
      if (size !== undefined) return size;
      at = track.to;
    }
    return {};
  },
};

interface Element {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

async function trackSize(bytes: Bytes, track: Element): Promise<Size | undefined> {
  const video = await find(bytes, track, ids.video);
  if (video === undefined) return undefined;
  const width = await find(bytes, video, ids.width);
  const height = await find(bytes, video, ids.height);
  if (width === undefined || height === undefined) return undefined;
  return positiveSize(await numberIn(bytes, width), await numberIn(bytes, height));
}

/** Finds the first element with an id within another; pictures are not searched. */
async function find(bytes: Bytes, within: Element, id: number): Promise<Element | undefined> {
  let at = within.from;
  for (let count = 0; at < within.to && count < maxElements; count += 1) {
    const element = await elementAt(bytes, at);
    if (element === undefined || element.id === id) return element;
    if (element.id === ids.cluster) return undefined;
    at = element.to;
  }
  return undefined;
}

async function elementAt(bytes: Bytes, at: number): Promise<Element | undefined> {
  const head = await bytes.read(at, 12);
  const idLength = lengthOf(head[0]);
  if (idLength === undefined || idLength > 4) return undefined;
  const sizeLength = lengthOf(head[idLength]);
  if (sizeLength === undefined || head.length < idLength + sizeLength) return undefined;
  const from = at + idLength + sizeLength;
  const [first = 0, ...rest] = head.subarray(idLength, idLength + sizeLength);
  const value = first & (0xff >> sizeLength);
  // All ones: the size was not known when it was written.
  const isUnknown = value === 0xff >> sizeLength && rest.every((byte) => byte === 0xff);
  const size = rest.reduce((sum, byte) => sum * 256 + byte, value);
  return { id: head.readUIntBE(0, idLength), from, to: isUnknown ? bytes.size : from + size };
}

/** Returns the length of a variable-length number, given by the zeros before its first one bit. */
const lengthOf = (first: number | undefined): number | undefined =>
  first === undefined || first === 0 ? undefined : Math.clz32(first) - 23;

async function numberIn(bytes: Bytes, { from, to }: Element): Promise<number> {
  const length = to - from;
  if (length < 1 || length > 4) return 0;
  const value = await bytes.read(from, length);
  return value.length === length ? value.readUIntBE(0, length) : 0;
}
