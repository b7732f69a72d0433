import { dataMaskOf, formsInData, type Mask, secretMaskOf } from '../../service/http/secrets.ts';

/**
 * Takes secrets out of everything that leaves the process: all of them out of standard output and error and the log,
 * credentials alone out of data (`run.json`, manifest), where an ordinary word that is a variable's value must stay.
 * A secret is found as it is, and as it stands in JSON, in a URL and in CSV.
 */
export class Redactor {
  readonly #secrets = new Set<string>();
  readonly #credentials = new Set<string>();
  #mask: Mask = (text) => text;
  #dataMask: Mask = (text) => text;

  /** From now on this text is masked, but for data. */
  add(secret: string): void {
    this.#secrets.add(secret);
    this.#mask = secretMaskOf(this.#secrets);
  }

  /** From now on this text, which gives access to the service, is masked wherever it is found. */
  addCredential(secret: string): void {
    this.add(secret);
    this.#credentials.add(secret);
    this.#dataMask = dataMaskOf(this.#credentials);
  }

  /** All that is masked. */
  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  /** The secrets that are masked in data too, if they are long enough. */
  get credentials(): readonly string[] {
    return [...this.#credentials];
  }

  /** The texts that are taken out of data. */
  get formsInData(): readonly string[] {
    return formsInData(this.#credentials);
  }

  /** For messages. */
  readonly apply = (text: string): string => this.#mask(text);

  /** For data. */
  readonly applyToData = (text: string): string => this.#dataMask(text);
}
