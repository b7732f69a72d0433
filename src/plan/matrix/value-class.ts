import { leavesOf, type PartialLeaf } from '../../pipeline/values/path.ts';
import type { Value } from '../../pipeline/values/value.ts';

/**
 * The classes of one axis with respect to excludes and includes. Values of the axis that satisfy the same partials form one class. The
 * rest of the matrix is computed on classes, of which there are few, not on values.
 *
 * A partial matches deeply, as in GitHub Actions: each of its scalars must render like the value's scalar at the same path, a missing
 * member counts as null, and members that the partial does not name are ignored.
 */
export class AxisClasses {
  /** Members of the axis that some partial names. */
  readonly probes: readonly AxisProbe[];
  /** Indexes of the partials that each class satisfies; class 0 satisfies only those that do not name this axis. */
  readonly #classes: number[][] = [[]];
  readonly #bySatisfied = new Map<string, number>([['', 0]]);
  readonly #byPartial = new Map<number, number[]>();
  readonly #needed = new Map<number, number>();

  constructor(variables: readonly string[], partials: readonly Readonly<Record<string, Value>>[]) {
    const probes = new Map<string, AxisProbe>();
    for (const [partial, values] of partials.entries()) {
      for (const variable of variables) {
        if (!Object.hasOwn(values, variable)) continue;
        for (const leaf of leavesOf(values[variable] as Value)) {
          this.#needed.set(partial, (this.#needed.get(partial) ?? 0) + 1);
          addCondition(probes, variable, leaf, partial);
        }
      }
    }
    this.probes = [...probes.values()];
  }

  /** Returns the class of a value; `read` returns the text at each probe, undefined for a text that no partial can name. */
  classOf(read: (probe: AxisProbe) => string | undefined): number {
    if (this.probes.length === 0) return 0;
    const met = new Map<number, number>();
    for (const probe of this.probes) {
      const text = read(probe);
      for (const partial of (text === undefined ? undefined : probe.partials.get(text)) ?? []) {
        met.set(partial, (met.get(partial) ?? 0) + 1);
      }
    }
    const satisfied: number[] = [];
    for (const [partial, count] of met) if (count === this.#needed.get(partial)) satisfied.push(partial);
    return this.#intern(satisfied.sort((a, b) => a - b));
  }

  get count(): number {
    return this.#classes.length;
  }

  /** Returns the partials that a value of each class does not contradict, as bits. */
  masks(partials: number): bigint[] {
    let free = 0n;
    for (let partial = 0; partial < partials; partial++) {
      if (!this.#needed.has(partial)) free |= 1n << BigInt(partial);
    }
    return this.#classes.map((satisfied) =>
      satisfied.reduce((mask, partial) => mask | (1n << BigInt(partial)), free),
    );
  }

  /** Returns the classes that a partial does not contradict; undefined means all, if the partial does not name this axis. */
  classesFor(partial: number): readonly number[] | undefined {
    return this.#needed.has(partial) ? (this.#byPartial.get(partial) ?? []) : undefined;
  }

  #intern(partials: number[]): number {
    const key = partials.join();
    let id = this.#bySatisfied.get(key);
    if (id === undefined) {
      id = this.#classes.length;
      this.#classes.push(partials);
      this.#bySatisfied.set(key, id);
      for (const partial of partials) {
        const ids = this.#byPartial.get(partial);
        if (ids === undefined) this.#byPartial.set(partial, [id]);
        else ids.push(id);
      }
    }
    return id;
  }
}

/** A member of a variable that partials name, with the text that each of them requires. */
export interface AxisProbe {
  readonly variable: string;
  readonly path: readonly string[];
  readonly partials: ReadonlyMap<string, readonly number[]>;
}

function addCondition(
  probes: Map<string, AxisProbe>,
  variable: string,
  { path, text }: PartialLeaf,
  partial: number,
): void {
  const key = JSON.stringify([variable, ...path]);
  let probe = probes.get(key);
  if (probe === undefined) {
    probe = { variable, path, partials: new Map() };
    probes.set(key, probe);
  }
  const wanting = probe.partials.get(text);
  if (wanting === undefined) (probe.partials as Map<string, number[]>).set(text, [partial]);
  else (wanting as number[]).push(partial);
}

/** The class of each index of an axis, in one to four bytes each. */
export class ClassList {
  #ids: Uint8Array | Uint16Array | Uint32Array = new Uint8Array(64);
  #length = 0;

  push(id: number): void {
    const room = this.#length < this.#ids.length ? this.#ids.length : this.#ids.length * 2;
    if (room > this.#ids.length || id > largest(this.#ids)) {
      const wide = id > 0xffff || this.#ids instanceof Uint32Array;
      const middle = id > 0xff || this.#ids instanceof Uint16Array;
      const grown = wide ? new Uint32Array(room) : middle ? new Uint16Array(room) : new Uint8Array(room);
      grown.set(this.#ids);
      this.#ids = grown;
    }
    this.#ids[this.#length++] = id;
  }

  get(index: number): number {
    return this.#ids[index] as number;
  }

  get length(): number {
    return this.#length;
  }
}

function largest(ids: Uint8Array | Uint16Array | Uint32Array): number {
  return 2 ** (8 * ids.BYTES_PER_ELEMENT) - 1;
}
