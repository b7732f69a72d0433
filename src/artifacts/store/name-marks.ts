/** 2 MB of bits: of a million names, one in seventeen that is not marked seems to be. */
const bits = 2 ** 24;

/**
 * Names that may be there: a set that never forgets a name, takes some names for others, and stays of one size however many there
 * are. What it does not have was never added.
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

/** FNV-1a, its 32 bits folded into as many as there are places (http://www.isthe.com/chongo/tech/comp/fnv/). */
function placeOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return ((hash >>> 24) ^ hash) & (bits - 1);
}
