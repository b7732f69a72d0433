import type { SaveFailure } from '../../../artifacts/writer.ts';

/** After this many files in a row of which none could be had, no new task is begun. */
export const filesInVain = 20;

/**
 * Counts the files that cannot be downloaded, each once, until one can. A run whose files nobody can have would pay for more of them.
 */
export class FileTroubles {
  readonly #files = new Set<string>();
  #since = 0;
  #arePassing = false;
  #last = '';
  /** The store that files go to is away: nothing paid is begun. */
  isAway = false;

  /** No file was had since the first one that failed. */
  get isInVain(): boolean {
    return this.#files.size > 0;
  }

  /** No new task is begun. */
  get isShut(): boolean {
    return this.#files.size >= filesInVain;
  }

  saved(): void {
    this.#files.clear();
    this.#arePassing = false;
  }

  /** Notes that a file could not be had. @param file names it within the run */
  failed(file: string, { class: kind, message }: SaveFailure, now: number): void {
    if (this.#files.size === 0) this.#since = now;
    if (this.#files.size < filesInVain) this.#files.add(file);
    if (kind === 'retry' || kind === 'throttle') this.#arePassing = true;
    this.#last = message;
  }

  /**
   * Why the run must end: the reasons do not pass, or have lasted for too long; undefined: it goes on.
   *
   * @param patienceMs `retry.patience`
   */
  end(now: number, patienceMs: number): { readonly code: string; readonly message: string } | undefined {
    if (!this.isShut || (this.#arePassing && now - this.#since < patienceMs)) return undefined;
    return {
      code: 'downloads.in-vain',
      message: `Not one of the last ${filesInVain} files could be downloaded, so nothing more is paid for. What is made is kept, and the next run downloads it without paying again. The last one: ${this.#last}`,
    };
  }
}
