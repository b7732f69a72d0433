import { type Mask, maskOf } from '../service/secrets.ts';

/**
 * Takes secrets out of everything that leaves the process: standard output and error, log, `run.json`, manifest.
 * A secret is found as it is, and as it stands in JSON, in a URL and in CSV.
 */
export class Redactor {
  readonly #secrets = new Set<string>();
  #mask: Mask = (text) => text;

  /** From now on this text is masked. */
  add(secret: string): void {
    this.#secrets.add(secret);
    this.#mask = maskOf(this.#secrets);
  }

  /** All that is masked. */
  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  readonly apply = (text: string): string => this.#mask(text);
}
