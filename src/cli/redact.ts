/** What stands in the place of a secret. */
const mask = '[secret]';

/** Shorter texts are found everywhere: masking them would hide everything but the secret. */
const leastLength = 4;

/**
 * Takes secrets out of everything that leaves the process: standard output and error, log, `run.json`, manifest.
 * A secret is found as it is, and as it stands in JSON, in a URL and in CSV.
 */
export class Redactor {
  #forms: readonly string[] = [];

  /** From now on this text is masked. */
  add(secret: string): void {
    if (secret.length < leastLength) return;
    const forms = new Set([
      ...this.#forms,
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret.toWellFormed()),
      secret.replaceAll('"', '""'),
    ]);
    // Longest first: a secret that holds another one goes as a whole.
    this.#forms = [...forms].sort((a, b) => b.length - a.length);
  }

  readonly apply = (text: string): string =>
    this.#forms.reduce((result, form) => result.replaceAll(form, mask), text);
}
