import { KeySet } from '../../../manifest/key-set.ts';
import { countedValues, listedValues, type PageVariable } from '../wire.ts';

/** Counts the values of one variable in bounded memory. */
export class VariableCounter {
  readonly #name: string;
  readonly #listed = new Map<string, number>();
  readonly #others = new KeySet();

  constructor(name: string) {
    this.#name = name;
  }

  /** Adds the value of one result, as shown on the page. */
  add(value: string): void {
    const before = this.#listed.get(value);
    if (before !== undefined || this.#listed.size < listedValues) this.#listed.set(value, (before ?? 0) + 1);
    else if (this.#others.size < countedValues - listedValues) this.#others.add(value);
  }

  variable(): PageVariable {
    return {
      name: this.#name,
      distinct: this.#listed.size + this.#others.size,
      values: [...this.#listed],
    };
  }
}
