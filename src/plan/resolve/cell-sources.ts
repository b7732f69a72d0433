/**
 * The sources of the jobs of one cell. Equal requests are one job, so a template can name a step whose job comes from the
 * very job that is resolved: a text that is corrected twice and was right at once, a word that is translated there and
 * back. Such a job does not depend on that step, and does not come from it: otherwise it would come from itself, and each
 * new result of it would ask for another one.
 */
export class CellSources {
  readonly #of = new Map<string, readonly string[]>();

  /** A job that several slots ask for may come from something else in each. */
  add(key: string, sources: readonly string[]): void {
    const known = this.#of.get(key);
    this.#of.set(key, known === undefined ? sources : [...known, ...sources]);
  }

  /** Of the jobs that a request's templates name, those that do not come from the job itself. */
  before(key: string, reads: readonly string[]): readonly string[] {
    return reads.filter((read) => !this.#comesFrom(read, key));
  }

  #comesFrom(key: string, source: string): boolean {
    const seen = new Set([key]);
    for (const one of seen) {
      if (one === source) return true;
      for (const next of this.#of.get(one) ?? []) seen.add(next);
    }
    return false;
  }
}
