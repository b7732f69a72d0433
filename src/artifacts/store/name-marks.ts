/** Bits of the set, 2 MB. With a million names, one in seventeen absent names seems to be present. */
const bits = 2 ** 24;

/**
 * A set of names that may be present, of constant size. It never forgets a name, but takes some names for others; a name that it does
 * not have was never added.
 */
export class NameMarks {
  #marks: Uint8Array | undefined;

  add(name: string): void {
    this.#marks ??= new Uint8Array(bits / 8);
    const at = placeOf(name);
    this.#marks[at >>> 3] = (this.#marks[at >>> 3] ?? 0) | (1 << (at & 7));
  }

  mayHave(name: string): boolean {
    const at = placeOf(name);
    return (((this.#marks?.[at >>> 3] ?? 0) >>> (at & 7)) & 1) === 1;
  }
}

/** Returns the place of a name: FNV-1a, its 32 bits folded to the number of places (http://www.isthe.com/chongo/tech/comp/fnv/). */
function placeOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return ((hash >>> 24) ^ hash) & (bits - 1);
}
