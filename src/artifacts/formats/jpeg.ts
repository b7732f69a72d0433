import { type Bytes, type ImageFormat, positiveSize, type Size, tail } from './format.ts';

/** Most segments before the pixels: real files have fewer. */
const maxSegments = 2048;

const endOfImage = Buffer.from([0xff, 0xd9]);

/** JPEG (ITU-T T.81). */
export const jpeg: ImageFormat = {
  mime: 'image/jpeg',
  extension: 'jpg',
  matches: (head) => head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff,
  measure: async (bytes) => {
    const header = await readHeader(bytes);
    if (header?.size === undefined) return undefined;
    // The pixels contain no such marker; a thumbnail before them may.
    return (await tail(bytes, header.pixelsAt)).includes(endOfImage) ? header.size : undefined;
  },
};

/** Reads segment by segment until the pixels begin. */
async function readHeader(bytes: Bytes): Promise<{ size: Size | undefined; pixelsAt: number } | undefined> {
  let position = 2;
  let size: Size | undefined;
  for (let count = 0; count < maxSegments; count += 1) {
    const segment = await bytes.read(position, 9);
    const [mark, marker = 0] = segment;
    if (segment.length < 4 || mark !== 0xff) return undefined;
    if (marker === 0xff) {
      // A fill byte before a marker.
      position += 1;
      continue;
    }
    if (marker === 0xda) return { size, pixelsAt: position };
    if (isFrame(marker)) {
      if (segment.length < 9) return undefined;
      size = positiveSize(segment.readUInt16BE(7), segment.readUInt16BE(5));
    }
    position += 2 + segment.readUInt16BE(2);
  }
  return undefined;
}

/** Whether a marker is SOF0 to SOF15; three codes between them mean something else (DHT, JPG, DAC). */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
