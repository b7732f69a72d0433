/** Lines at the bottom of a terminal that are drawn over again. */
export class Screen {
  readonly #draw: (frame: string) => void;
  readonly #say: (text: string) => void;
  #drawn = 0;
  #last = '';

  /**
   * @param draw writes to the terminal, cursor movements too
   * @param say writes a text to the same terminal
   */
  constructor(draw: (frame: string) => void, say: (text: string) => void) {
    this.#draw = draw;
    this.#say = say;
  }

  /** Shows these lines in place of the ones before; each must fit the width. */
  draw(lines: readonly string[]): void {
    const text = lines.join('\n');
    if (text === this.#last && this.#drawn > 0) return;
    // One write per frame, each line cleared behind its text and not before it: nothing flickers.
    const frame = lines.map((line) => `${line}${clearRight}\n`).join('');
    this.#draw(`${this.#home()}${frame}${clearBelow}`);
    this.#drawn = lines.length;
    this.#last = text;
  }

  /** Prints above the lines, which come again with the next draw. */
  print(text: string): void {
    this.clear();
    this.#say(text);
  }

  /** Leaves the terminal as if nothing had been drawn. */
  clear(): void {
    if (this.#drawn === 0) return;
    this.#draw(`${this.#home()}${clearBelow}`);
    this.#drawn = 0;
    this.#last = '';
  }

  /** Leaves the last frame where it is; what is written now comes below it. */
  release(): void {
    this.#drawn = 0;
    this.#last = '';
  }

  #home(): string {
    return this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\r`;
  }
}

const clearRight = '\u001b[K';
const clearBelow = '\u001b[J';
