import sharp, { type Sharp } from 'sharp';

/** A box of an ISO base media file. */
export const box = (name: string, ...content: readonly (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(
    content.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
  );
  const head = Buffer.alloc(8, name, 'latin1');
  head.copy(head, 4, 0, 4);
  head.writeUInt32BE(body.length + 8, 0);
  return Buffer.concat([head, body]);
};

/** A track's header, whose last 44 bytes are its matrix and its size. */
function trackHeader(width: number, height: number, turned: boolean): Buffer {
  const body = Buffer.alloc(84);
  const one = 0x1_0000;
  const matrix = turned
    ? [0, one, 0, -one, 0, 0, 0, 0, 0x4000_0000]
    : [one, 0, 0, 0, one, 0, 0, 0, 0x4000_0000];
  for (const [at, value] of matrix.entries()) body.writeInt32BE(value, 40 + 4 * at);
  body.writeUInt32BE(width * one, 76);
  body.writeUInt32BE(height * one, 80);
  return box('tkhd', body);
}

/** An MP4 whose pictures are noise: nothing here is ever shown. */
export function mp4File(
  width: number,
  height: number,
  { brand = 'isom', turned = false, mediaFirst = false } = {},
): Buffer {
  const head = box('ftyp', brand, '\0\0\0\0', brand, 'mp42');
  const sound = box('trak', trackHeader(0, 0, false));
  const movie = box(
    'moov',
    box('mvhd', Buffer.alloc(100)),
    sound,
    box('trak', trackHeader(width, height, turned)),
  );
  const media = box('mdat', Buffer.alloc(3000, 5));
  return Buffer.concat(mediaFirst ? [head, media, movie] : [head, movie, media]);
}

/** An EBML element; a size of 8 bytes, as muxers leave room for. */
const element = (id: string, content: Buffer, size = content.length): Buffer => {
  const head = Buffer.alloc(8);
  head.writeBigUInt64BE(BigInt(size));
  head.writeUInt8(1, 0);
  return Buffer.concat([Buffer.from(id, 'hex'), head, content]);
};

export function webmFile(
  width: number,
  height: number,
  { documentType = 'webm', sizeKnown = true } = {},
): Buffer {
  const number = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
  const video = element('e0', Buffer.concat([element('b0', number(width)), element('ba', number(height))]));
  const sound = element('ae', element('d7', Buffer.from([1])));
  const tracks = element('1654ae6b', Buffer.concat([sound, element('ae', video)]));
  const pictures = element('1f43b675', Buffer.alloc(2000, 7));
  const segment = element(
    '18538067',
    Buffer.concat([element('114d9b74', Buffer.alloc(40)), tracks, pictures]),
  );
  if (!sizeKnown) segment.fill(0xff, 5, 12);
  return Buffer.concat([element('1a45dfa3', element('4282', Buffer.from(documentType))), segment]);
}

/** Two frames. */
const moving = (width: number, height: number): Sharp => {
  const bytes = Buffer.alloc(width * height * 2 * 3);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * 37 + (at >> 7)) & 0xfe;
  return sharp(bytes, { raw: { width, height: height * 2, channels: 3, pageHeight: height } });
};

/** Films of every format that is accepted, by the extension and type they are saved under. */
export const films: Readonly<
  Record<string, readonly [string, string, (width: number, height: number) => Promise<Buffer>]>
> = {
  mp4: ['mp4', 'video/mp4', async (width, height) => mp4File(width, height)],
  'mp4 for the web': ['mp4', 'video/mp4', async (width, height) => mp4File(width, height, { brand: 'mp42' })],
  'mp4 that was not': [
    'mp4',
    'video/mp4',
    async (width, height) => mp4File(width, height, { mediaFirst: true }),
  ],
  'mp4, turned': ['mp4', 'video/mp4', async (width, height) => mp4File(height, width, { turned: true })],
  'quick time': [
    'mov',
    'video/quicktime',
    async (width, height) => {
      const file = mp4File(width, height);
      file.write('qt  \0\0\0\0qt  qt  ', 8, 'latin1');
      return file;
    },
  ],
  webm: ['webm', 'video/webm', async (width, height) => webmFile(width, height)],
  matroska: [
    'webm',
    'video/webm',
    async (width, height) => webmFile(width, height, { documentType: 'matroska' }),
  ],
  'animated webp': ['webp', 'image/webp', (width, height) => moving(width, height).webp().toBuffer()],
  'animated gif': ['gif', 'image/gif', (width, height) => moving(width, height).gif().toBuffer()],
};
