import { type Automaton, automatonOf, type Position } from './automaton.ts';

/** How the work of a match grows with the text: `linear` is proven, of anything else nothing is known but why. */
export type Growth = { readonly linear: true } | { readonly linear: false; readonly why: string };

/**
 * Proves that a regular expression takes linear time, by the criterion of Weber and Seidl (1991): the number of attempts
 * that read a text is bounded unless a loop can be left and entered again while another one, over the same characters, goes
 * on. Attempts begin at every place of a text, so the search itself is the first such loop. Conditions (`\b`, look-around)
 * are taken to hold always, and failing to be possible always: what is linear is truly so, what is not may yet be.
 */
export function growthOf(source: string, flags: string): Growth {
  let automaton: Automaton;
  try {
    automaton = automatonOf(source, flags);
  } catch (error) {
    return { linear: false, why: String(error) };
  }
  const why = new Search(automaton, flags).ambiguity();
  return why === undefined ? { linear: true } : { linear: false, why };
}

class Search {
  readonly #positions: readonly Position[];
  readonly #begin: ReadonlyMap<number, number>;
  readonly #repeats: boolean;
  /** For each position the loop it is on: positions of one loop reach each other. */
  readonly #loops: readonly (ReadonlySet<number> | undefined)[];

  constructor({ positions, later }: Automaton, flags: string) {
    this.#positions = positions;
    this.#begin = flags.includes('y') ? new Map<number, number>() : later;
    this.#repeats = flags.includes('g');
    const reached = positions.map((_, from) => this.#reachedFrom(from));
    this.#loops = positions.map((_, one) => {
      const loop = new Set([...(reached[one] ?? [])].filter((other) => reached[other]?.has(one)));
      return loop.has(one) ? loop : undefined;
    });
  }

  /** Why the work may grow faster than the text; undefined where it cannot. */
  ambiguity(): string | undefined {
    for (const [one, loop] of this.#loops.entries()) {
      if (loop === undefined) continue;
      if (this.#hasTwoWays(one, loop)) return `${this.#name(one)} can be repeated in two ways`;
      if (this.#isOpenLoop(one) && this.#meetsSearch(one, loop))
        return `each place of a run of ${this.#name(one)} begins an attempt that reads the rest of it`;
      for (const other of this.#reachedFrom(one))
        if (other !== one && this.#isOpenLoop(other) && this.#canMoveOver(one, other))
          return `${this.#name(one)} and ${this.#name(other)} can share a run in many ways`;
    }
    return undefined;
  }

  /** A match that may end here does end: what it has read is not read again. */
  #isOpenLoop(position: number): boolean {
    return this.#loops[position] !== undefined && this.#positions[position]?.ends !== true;
  }

  #name(position: number): string {
    return `[${String(this.#positions[position]?.characters)}]`;
  }

  #next(position: number): ReadonlyMap<number, number> {
    return this.#positions[position]?.next ?? new Map<number, number>();
  }

  #share(...positions: readonly number[]): boolean {
    const [first, ...others] = positions.map((position) => this.#positions[position]?.characters);
    if (first === undefined) return false;
    let shared = first;
    for (const characters of others) if (characters !== undefined) shared = shared.intersect(characters);
    return !shared.isEmpty;
  }

  #reachedFrom(from: number): ReadonlySet<number> {
    const seen = new Set<number>();
    const open = [from];
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const [next] of this.#next(at)) {
        if (seen.has(next) || this.#positions[next]?.characters.isEmpty === true) continue;
        seen.add(next);
        open.push(next);
      }
    return seen;
  }

  /** Two different ways from a position back to itself over one text: the work doubles with each round. */
  #hasTwoWays(one: number, loop: ReadonlySet<number>): boolean {
    const inLoop = (position: number): readonly (readonly [number, number])[] =>
      [...this.#next(position)].filter(([next]) => loop.has(next));
    if ([...loop].some((position) => inLoop(position).some(([, ways]) => ways > 1))) return true;
    return walk([[one, one, 0]], ([a, b, parted], go) => {
      for (const [nextA] of inLoop(a))
        for (const [nextB] of inLoop(b)) {
          if (!this.#share(nextA, nextB)) continue;
          const apart = parted === 1 || nextA !== nextB ? 1 : 0;
          if (apart === 1 && nextA === one && nextB === one) return true;
          go([nextA, nextB, apart]);
        }
      return false;
    });
  }

  /** An attempt that begins later can come to the loop while an earlier one goes round in it, over the same text. */
  #meetsSearch(one: number, loop: ReadonlySet<number>): boolean {
    const searching = -1;
    return walk([[searching, one, 0]], ([x, b], go) => {
      const nextOfX = x === searching ? [...this.#begin.keys(), searching] : [...this.#next(x).keys()];
      for (const nextB of this.#next(b).keys()) {
        if (!loop.has(nextB)) continue;
        for (const nextX of nextOfX) {
          if (nextX !== searching && (this.#isOver(nextX) || !this.#share(nextX, nextB))) continue;
          if (nextX === one && nextB === one) return true;
          go([nextX, nextB, 0]);
        }
      }
      return false;
    });
  }

  /** Attempts that came here have matched: unless matches are repeated, nothing begins after them. */
  #isOver(position: number): boolean {
    return !this.#repeats && this.#positions[position]?.ends === true;
  }

  /** While one attempt stays in the first loop and one in the second, a third goes from the first to the second. */
  #canMoveOver(one: number, other: number): boolean {
    const [loopOfOne, loopOfOther] = [this.#loops[one], this.#loops[other]];
    return walk([[one, one, other]], ([a, x, b], go) => {
      for (const nextA of this.#next(a).keys()) {
        if (loopOfOne?.has(nextA) !== true) continue;
        for (const nextB of this.#next(b).keys()) {
          if (loopOfOther?.has(nextB) !== true || !this.#share(nextA, nextB)) continue;
          for (const nextX of this.#next(x).keys()) {
            if (!this.#share(nextA, nextB, nextX)) continue;
            if (nextA === one && nextX === other && nextB === other) return true;
            go([nextA, nextX, nextB]);
          }
        }
      }
      return false;
    });
  }
}

type State = readonly [number, number, number];

/** Walks all states that can be reached; true as soon as a step says so. */
function walk(from: readonly State[], step: (state: State, go: (next: State) => void) => boolean): boolean {
  const seen = new Set<string>();
  const open: State[] = [...from];
  const go = (next: State): void => {
    const key = next.join();
    if (seen.has(key)) return;
    seen.add(key);
    open.push(next);
  };
  for (let state = open.pop(); state !== undefined; state = open.pop()) if (step(state, go)) return true;
  return false;
}
