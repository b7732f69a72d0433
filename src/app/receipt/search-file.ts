import { readWhole } from './seen-file.ts';

/** Bytes that are looked at together. */
const gram = 4;

/** In a file of shorter texts too many places would have to be looked at. */
const leastSought = 2 * gram;

/**
 * Whether a file holds none of these texts; false where that cannot be known, because it cannot be read or a text is very short.
 *
 * Of places that lie so close together that each text covers one of them with four bytes of its own, only those are searched
 * around where four bytes of some text may be.
 */
export function holdsNone(path: string, texts: readonly string[]): boolean {
  if (texts.length === 0) return true;
  const sought = texts.map((text) => Buffer.from(text));
  const lengths = sought.map(({ length }) => length);
  const least = Math.min(...lengths);
  if (least < leastSought) return false;
  const stride = least - gram + 1;
  const reach = Math.max(...lengths);
  const table = new Uint8Array(65_536);
  for (const text of sought) for (let at = 0; at + gram <= text.length; at += 1) table[placeOf(text, at)] = 1;
  const isIn = (bytes: Buffer): boolean => {
    for (let at = 0; at + gram <= bytes.length; at += stride) {
      if (table[placeOf(bytes, at)] === 0) continue;
      const around = bytes.subarray(Math.max(0, at - reach), at + reach);
      if (sought.some((text) => around.includes(text))) return true;
    }
    return false;
  };

  let before = Buffer.alloc(0);
  return readWhole(path, (piece) => {
    // What begins in one piece may end in the next.
    const joint = Buffer.concat([before, piece.subarray(0, reach)]);
    if (isIn(joint) || isIn(piece)) return false;
    const end = piece.length < reach ? joint : piece;
    before = Buffer.from(end.subarray(Math.max(0, end.length - reach)));
    return true;
  });
}

/** The place in the table of the four bytes from here on. */
const placeOf = (bytes: Buffer, at: number): number =>
  Math.imul(
    (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24),
    0x9e3779b1,
  ) >>> 16;
