import { type ImageFormat, positiveSize, tail } from './format.ts';

/** GIF87a and GIF89a. */
export const gif: ImageFormat = {
  mime: 'image/gif',
  extension: 'gif',
  matches: (head) => /^GIF8[79]a/.test(head.toString('latin1', 0, 6)),
  measure: async (bytes) => {
    const head = await bytes.read(0, 10);
    if (head.length < 10) return undefined;
    // The last byte is the trailer `;`, except for zeros that some programs append.
    const last = (await tail(bytes, 10)).findLast((byte) => byte !== 0);
    return last === 0x3b ? positiveSize(head.readUInt16LE(6), head.readUInt16LE(8)) : undefined;
  },
};
