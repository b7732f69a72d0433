import { type Assertion, type CharSet, type Concatenation, type Element, JS, type NoParent } from 'refa';

/** A step of a match that reads one character. */
export interface Position {
  readonly characters: CharSet;
  /** Positions that may read the next character, and by how many ways: two ways of the same step are two attempts. */
  readonly next: ReadonlyMap<number, number>;
  /** The match may end behind it without another condition. */
  readonly ends: boolean;
}

/** The positions of a regular expression (Glushkov's automaton), and where a match may begin. */
export interface Automaton {
  readonly positions: readonly Position[];
  /** Where a match at the very beginning of a text may read its first character, and by how many ways. */
  readonly atStart: ReadonlyMap<number, number>;
  /** The same at any later place: nothing where the expression begins with `^`. */
  readonly later: ReadonlyMap<number, number>;
}

/** Ways beyond this are not told apart. */
const manyWays = 2;
const maxPositions = 5_000;

/** `start`: passed only before the first character; `assertion`: passed always, as what holds is not known. */
type Silent = { readonly to: number; readonly kind: 'plain' | 'start' | 'assertion' };

class Builder {
  readonly #silent: Silent[][] = [];
  readonly #reads: { readonly from: number; readonly to: number; readonly characters: CharSet }[] = [];
  readonly #start = this.#node();
  readonly #end = this.#node();

  constructor(alternatives: readonly NoParent<Concatenation>[]) {
    this.#alternatives(alternatives, this.#start, this.#end);
  }

  automaton(): Automaton {
    const readers = new Map<number, number[]>();
    for (const [index, { from }] of this.#reads.entries())
      readers.set(from, [...(readers.get(from) ?? []), index]);
    const after = (node: number, isStart: boolean): Map<number, number> => {
      const ways = new Map<number, number>();
      for (const [reached, count] of this.#reach(node, isStart))
        for (const position of readers.get(reached) ?? [])
          ways.set(position, Math.min(manyWays, (ways.get(position) ?? 0) + count));
      return ways;
    };
    return {
      atStart: after(this.#start, true),
      later: after(this.#start, false),
      positions: this.#reads.map(({ to, characters }) => ({
        characters,
        next: after(to, false),
        ends: this.#endsPlainly(to, new Set()),
      })),
    };
  }

  #node(): number {
    return this.#silent.push([]) - 1;
  }

  #pass(from: number, to: number, kind: Silent['kind'] = 'plain'): void {
    this.#silent[from]?.push({ to, kind });
  }

  #alternatives(alternatives: readonly NoParent<Concatenation>[], from: number, to: number): void {
    for (const { elements } of alternatives) {
      let at = from;
      for (const element of elements) {
        const next = this.#node();
        this.#element(element, at, next);
        at = next;
      }
      this.#pass(at, to);
    }
  }

  #element(element: NoParent<Element>, from: number, to: number): void {
    if (this.#reads.length > maxPositions) throw new Error('The expression has too many positions.');
    switch (element.type) {
      case 'CharacterClass':
        this.#reads.push({ from, to, characters: element.characters });
        return;
      case 'Alternation':
        this.#alternatives(element.alternatives, from, to);
        return;
      case 'Quantifier': {
        const { alternatives, min, max } = element;
        let at = from;
        for (let count = 0; count < min; count += 1) at = this.#once(alternatives, at);
        if (max === Number.POSITIVE_INFINITY) {
          const loop = this.#node();
          this.#pass(at, loop);
          this.#alternatives(alternatives, loop, loop);
          this.#pass(loop, to);
          return;
        }
        for (let count = min; count < max; count += 1) {
          this.#pass(at, to);
          at = this.#once(alternatives, at);
        }
        this.#pass(at, to);
        return;
      }
      case 'Assertion':
        this.#assertion(element, from, to);
        return;
      case 'Unknown':
        throw new Error('A back reference is not understood.');
    }
  }

  #once(alternatives: readonly NoParent<Concatenation>[], from: number): number {
    const to = this.#node();
    this.#alternatives(alternatives, from, to);
    return to;
  }

  /** What an assertion reads is work too: its positions lead nowhere, and what follows is read after it. */
  #assertion({ kind, negate, alternatives }: NoParent<Assertion>, from: number, to: number): void {
    if (kind === 'behind') {
      const isStart = negate && alternatives.some(readsAnyCharacter);
      if (alternatives.some(hasLoop)) throw new Error('A look-behind repeats without a bound.');
      this.#pass(from, to, isStart ? 'start' : 'assertion');
      return;
    }
    const inside = this.#node();
    this.#pass(from, inside, 'assertion');
    this.#alternatives(alternatives, inside, this.#node());
    this.#pass(from, to, 'assertion');
  }

  /** Nodes that are reached without reading, and by how many ways; a way may come by a node again, on its next round. */
  #reach(from: number, isStart: boolean): ReadonlyMap<number, number> {
    const ways = new Map<number, number>();
    const visit = (node: number): void => {
      const count = ways.get(node) ?? 0;
      if (count >= manyWays) return;
      ways.set(node, count + 1);
      for (const { to, kind } of this.#silent[node] ?? []) if (kind !== 'start' || isStart) visit(to);
    };
    visit(from);
    return ways;
  }

  #endsPlainly(node: number, seen: Set<number>): boolean {
    if (node === this.#end) return true;
    if (seen.has(node)) return false;
    seen.add(node);
    return (this.#silent[node] ?? []).some(({ to, kind }) => kind === 'plain' && this.#endsPlainly(to, seen));
  }
}

const readsAnyCharacter = ({ elements }: NoParent<Concatenation>): boolean =>
  elements.length === 1 && elements[0]?.type === 'CharacterClass' && elements[0].characters.isAll;

const hasLoop = ({ elements }: NoParent<Concatenation>): boolean =>
  elements.some((element) => {
    if (element.type === 'Quantifier' && element.max === Number.POSITIVE_INFINITY) return true;
    return 'alternatives' in element && element.alternatives.some(hasLoop);
  });

/** @throws Error for what the automaton cannot say: back references, look-behind without a bound */
export function automatonOf(source: string, flags: string): Automaton {
  const { expression } = JS.Parser.fromLiteral({ source, flags }).parse({
    backreferences: 'unknown',
    maxBackreferenceWords: 0,
    // What it would simplify, JavaScript carries out.
    simplify: false,
  });
  return new Builder(expression.alternatives).automaton();
}
