import { type ImageFormat, positiveSize, tail } from './format.ts';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
/** The closing chunk: length 0, its name, its checksum. */
const end = Buffer.from('0000000049454e44ae426082', 'hex');

/** PNG (W3C Portable Network Graphics, third edition). */
export const png: ImageFormat = {
  mime: 'image/png',
  extension: 'png',
  matches: (head) => head.subarray(0, 8).equals(signature),
  measure: async (bytes) => {
    const head = await bytes.read(0, 24);
    if (head.length < 24 || head.toString('latin1', 12, 16) !== 'IHDR') return undefined;
    if (!(await tail(bytes, 24)).includes(end)) return undefined;
    return positiveSize(head.readUInt32BE(16), head.readUInt32BE(20));
  },
};
