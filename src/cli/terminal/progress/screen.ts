/** Lines at the bottom of a terminal that can be redrawn. */
export class Screen {
  readonly #draw: (frame: string) => void;
  readonly #say: (text: string) => void;
  #drawn = 0;
  #last = '';

  /**
   * @param draw writes to the terminal, with cursor movements
   * @param say prints a text on the same terminal
   */
  constructor(draw: (frame: string) => void, say: (text: string) => void) {
    this.#draw = draw;
    this.#say = say;
  }

  /** Replaces the lines; each must fit the width. */
  draw(lines: readonly string[]): void {
    const text = lines.join('\n');
    if (text === this.#last) return;
    // One write per frame, and each line is cleared after its text, which avoids flicker.
    const frame = lines.map((line) => `${line}${clearRight}\n`).join('');
    this.#draw(`${this.#home()}${frame}${clearBelow}`);
    this.#drawn = lines.length;
    this.#last = text;
  }

  /** Prints a text above the lines, which return with the next draw. */
  print(text: string): void {
    this.clear();
    this.#say(text);
  }

  /** Removes the lines. */
  clear(): void {
    if (this.#drawn === 0) return;
    this.#draw(`${this.#home()}${clearBelow}`);
    this.#drawn = 0;
    this.#last = '';
  }

  /** Leaves the lines; later output appears below them. */
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
