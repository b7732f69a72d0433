import { type ImageFormat, positiveSize, type Size } from './format.ts';

/** WebP (RFC 9649): lossy, lossless and extended. */
export const webp: ImageFormat = {
  mime: 'image/webp',
  extension: 'webp',
  matches: (head) => head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP',
  measure: async (bytes) => {
    const head = await bytes.read(0, 30);
    // The container states its length: 8 bytes less than the file, or 9 if a last padding byte was left out.
    if (head.length < 30 || bytes.size + 1 < head.readUInt32LE(4) + 8) return undefined;
    return measureChunk(head);
  },
};

function measureChunk(head: Buffer): Size | undefined {
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8 ':
      if (head.readUIntBE(23, 3) !== 0x9d012a) return undefined;
      return positiveSize(head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff);
    case 'VP8L': {
      if (head[20] !== 0x2f) return undefined;
      const packed = head.readUInt32LE(21);
      return positiveSize((packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1);
    }
    case 'VP8X':
      return positiveSize(head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1);
    default:
      return undefined;
  }
}
