import type { SaveFailure } from '../../../artifacts/writer.ts';
import type { EndCode } from '../../../pipeline/diagnostics/run-codes.ts';

/** Number of failed files in a row after which no new task begins. */
export const filesInVain = 20;

/** Counts the files that cannot be downloaded, each once, until a download succeeds, so that a run stops paying for such files. */
export class FileTroubles {
  readonly #files = new Set<string>();
  #since = 0;
  #arePassing = false;
  #last = '';
  /** True while the store of files is unavailable: nothing paid begins. */
  isAway = false;

  /** True where a file has failed and no download has succeeded since. */
  get isInVain(): boolean {
    return this.#files.size > 0;
  }

  /** True while no new task begins. */
  get isShut(): boolean {
    return this.#files.size >= filesInVain;
  }

  saved(): void {
    this.#files.clear();
    this.#arePassing = false;
  }

  /** Notes that a file could not be downloaded. @param file identifies it within the run */
  failed(file: string, { class: kind, message }: SaveFailure, now: number): void {
    if (this.#files.size === 0) this.#since = now;
    if (this.#files.size < filesInVain) this.#files.add(file);
    if (kind === 'retry' || kind === 'throttle') this.#arePassing = true;
    this.#last = message;
  }

  /**
   * Returns why the run must end: the errors do not pass, or have lasted too long; undefined where it continues.
   *
   * @param patienceMs `retry.patience`
   */
  end(now: number, patienceMs: number): { readonly code: EndCode; readonly message: string } | undefined {
    if (!this.isShut || (this.#arePassing && now - this.#since < patienceMs)) return undefined;
    return {
      code: 'downloads.in-vain',
      message: `None of the last ${filesInVain} files could be downloaded, so nothing more is paid for. Finished results are kept, and the next run downloads them without paying again. The last error: ${this.#last}`,
    };
  }
}
