import { crc32, deflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/**
 * A real RGB PNG, the same bytes for the same arguments, other bytes for another `seed` (up to 2^32): four quadrants
 * of four colours, so that a quarter of it can be told from the others, with the seed in the first pixels.
 */
export function makePng(seed: number, width = 8, height = 8): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits, RGB, deflate, no filter, not interlaced
  const stride = 1 + width * 3;
  const rows = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const quadrant = (y * 2 >= height ? 2 : 0) + (x * 2 >= width ? 1 : 0);
      const shade = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(quadrant + 1, 0x85ebca6b);
      const at = y * stride + 1 + x * 3;
      rows[at] = shade & 0xff;
      rows[at + 1] = (shade >>> 8) & 0xff;
      rows[at + 2] = (shade >>> 16) & 0xff;
    }
  }
  if (rows.length >= 5) rows.writeUInt32BE(seed >>> 0, 1 + Math.max(0, Math.min(2, stride - 5)));
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', new Uint8Array(0)),
  ]);
}
