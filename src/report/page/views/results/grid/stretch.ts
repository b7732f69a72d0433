/** Browsers draw nothing below some tens of millions of pixels; the lowest such bound is that of Firefox, 17.9 million. */
const highest = 8_000_000;

/**
 * Scrolls lists that are higher than a browser's page may be. The page is as high as it may, and stands for all of the list; small
 * movements are taken as they are, so that the wheel moves rows by as much as anywhere, and larger ones as shares of the whole.
 */
export class Stretch {
  /** Height of the list. */
  total = 0;
  /** Height of the window. */
  view = 0;
  /** Where the page is scrolled to. */
  #real = 0;
  /** What that stands for in the list. */
  #listed = 0;

  /** Height of the page. */
  get height(): number {
    return Math.min(this.total, highest);
  }

  /** Pixels of the list for each pixel of the page. */
  get #ratio(): number {
    return this.height < this.total ? (this.total - this.view) / (this.height - this.view) : 1;
  }

  /** The page was scrolled; returns where in the list that is. */
  scrolled(real: number): number {
    const moved = real - this.#real;
    const small = Math.abs(moved) <= 3 * this.view && real > 0 && real < this.height - this.view;
    this.#listed =
      this.#ratio === 1 ? real : small ? this.#bounded(this.#listed + moved) : real * this.#ratio;
    this.#real = real;
    return this.#listed;
  }

  /** Goes to a place of the list; returns where the page is to be scrolled to. */
  jump(listed: number): number {
    this.#listed = this.#bounded(listed);
    this.#real = Math.round(this.#listed / this.#ratio);
    return this.#real;
  }

  /** Where the page is to be scrolled to so that something of the list is seen; nothing where it is. */
  reveal(start: number, size: number, covered: number): number | undefined {
    if (start < this.#listed + covered) return this.jump(start - covered);
    if (start + size > this.#listed + this.view) return this.jump(start + size - this.view);
    return undefined;
  }

  /** After many small movements: where the page is to be scrolled to, so that its share of the whole is right again. */
  settle(): number | undefined {
    if (this.#ratio === 1) return undefined;
    const real = Math.round(this.#listed / this.#ratio);
    return Math.abs(real - this.#real) < 2 || real < 0 ? undefined : this.jump(this.#listed);
  }

  /** Where something of the list stands on the page. */
  shown(start: number): number {
    return start - this.#listed + this.#real;
  }

  #bounded(listed: number): number {
    return Math.max(-this.view, Math.min(listed, this.total));
  }
}
