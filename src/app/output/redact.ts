import { dataMaskOf, formsInData, type Mask, secretMaskOf } from '../../service/http/secrets.ts';

/**
 * Masks secrets in everything that leaves the process: all secrets in standard output, standard error and the log; only credentials in data
 * (`run.json`, manifest), where a variable's value that is an ordinary word must stay. Each secret is found in plain form and as written in
 * JSON, a URL and CSV.
 */
export class Redactor {
  readonly #secrets = new Set<string>();
  readonly #credentials = new Set<string>();
  #mask: Mask = (text) => text;
  #dataMask: Mask = (text) => text;

  /** Masks this text from now on, except in data. */
  add(secret: string): void {
    this.#secrets.add(secret);
    this.#mask = secretMaskOf(this.#secrets);
  }

  /** Masks this text, which gives access to the service, from now on everywhere. */
  addCredential(secret: string): void {
    this.add(secret);
    this.#credentials.add(secret);
    this.#dataMask = dataMaskOf(this.#credentials);
  }

  /** All masked texts. */
  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  /** Credentials: secrets that are masked in data too, if they are long enough. */
  get credentials(): readonly string[] {
    return [...this.#credentials];
  }

  /** The forms of the credentials that are masked in data. */
  get formsInData(): readonly string[] {
    return formsInData(this.#credentials);
  }

  /** Masks all secrets, for messages. */
  readonly apply = (text: string): string => this.#mask(text);

  /** Masks credentials, for data. */
  readonly applyToData = (text: string): string => this.#dataMask(text);
}
