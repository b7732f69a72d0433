/** A set of callbacks for changes. */
export class Listeners {
  readonly #all = new Set<() => void>();

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#all.add(changed);
    return () => this.#all.delete(changed);
  };

  call(): void {
    for (const changed of this.#all) changed();
  }
}
