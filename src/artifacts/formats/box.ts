import type { Bytes } from './format.ts';

/** A box of an ISO base media file (ISO/IEC 14496-12). */
export interface IsoBox {
  readonly name: string;
  /** Where its content begins and ends in the file. */
  readonly from: number;
  readonly to: number;
}

/** Most boxes in one place: real files have fewer. */
const maxBoxes = 512;

/** Returns the length of a box with its header; undefined if it is impossible. */
export function boxLength(head: Buffer, rest: number): number | undefined {
  if (head.length < 8) return undefined;
  const short = head.readUInt32BE(0);
  if (short === 0) return rest;
  if (short !== 1) return short >= 8 ? short : undefined;
  if (head.length < 16) return undefined;
  const long = Number(head.readBigUInt64BE(8));
  return long >= 16 ? long : undefined;
}

/** Lists the boxes between two positions; undefined if they do not fill it, or are too many. */
export async function boxesIn(
  bytes: Bytes,
  from: number,
  to: number,
): Promise<readonly IsoBox[] | undefined> {
  const boxes: IsoBox[] = [];
  for (let at = from; at < to; ) {
    const head = await bytes.read(at, 16);
    const length = boxLength(head, to - at);
    if (boxes.length === maxBoxes || length === undefined || at + length > to) return undefined;
    const header = head.readUInt32BE(0) === 1 ? 16 : 8;
    boxes.push({ name: head.toString('latin1', 4, 8), from: at + header, to: at + length });
    at += length;
  }
  return boxes;
}

/** Lists the brands that a file declares, its own first; empty for any other kind of file. */
export function brandsOf(head: Buffer): readonly string[] {
  if (head.length < 16 || head.toString('latin1', 4, 8) !== 'ftyp') return [];
  const text = head.toString('latin1', 8, Math.min(head.length, Math.max(16, head.readUInt32BE(0))));
  // Four bytes of version stand between the first brand and the others.
  return [text.slice(0, 4), ...(text.slice(8).match(/.{4}/gs) ?? [])];
}
