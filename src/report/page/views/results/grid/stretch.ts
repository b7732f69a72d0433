/** Largest height of the page in pixels; browsers draw nothing below a limit (Firefox, the lowest: 17.9 million). */
const highest = 8_000_000;

/**
 * Scrolls a list that is higher than a page can be. The page is as high as possible and its scroll bar covers the whole list. Small
 * movements scroll the list by the same number of pixels, larger ones by the same share of the height.
 */
export class Stretch {
  total = 0;
  view = 0;
  /** Scroll offset of the page. */
  #real = 0;
  /** Scroll offset of the list. */
  #listed = 0;

  /** Height of the page, in pixels. */
  get height(): number {
    return Math.min(this.total, highest);
  }

  /** Pixels of the list for each pixel of the page. */
  get #ratio(): number {
    return this.height < this.total ? (this.total - this.view) / (this.height - this.view) : 1;
  }

  /** Handles a scroll of the page to this offset. @returns the offset in the list */
  scrolled(real: number): number {
    const moved = real - this.#real;
    const small = Math.abs(moved) <= 3 * this.view && real > 0 && real < this.height - this.view;
    this.#listed =
      this.#ratio === 1 ? real : small ? this.#bounded(this.#listed + moved) : real * this.#ratio;
    this.#real = real;
    return this.#listed;
  }

  /** Moves to an offset in the list. @returns the scroll offset of the page */
  jump(listed: number): number {
    this.#listed = this.#bounded(listed);
    this.#real = Math.round(this.#listed / this.#ratio);
    return this.#real;
  }

  /** Makes a part of the list visible. @returns the scroll offset of the page; undefined if the part is visible already */
  reveal(start: number, size: number, covered: number): number | undefined {
    if (start < this.#listed + covered) return this.jump(start - covered);
    if (start + size > this.#listed + this.view) return this.jump(start + size - this.view);
    return undefined;
  }

  /** Corrects the scroll offset after many small movements. @returns the offset of the page; undefined if it is right */
  settle(): number | undefined {
    if (this.#ratio === 1) return undefined;
    const real = Math.round(this.#listed / this.#ratio);
    return Math.abs(real - this.#real) < 2 || real < 0 ? undefined : this.jump(this.#listed);
  }

  /** Converts an offset in the list into an offset on the page. */
  shown(start: number): number {
    return start - this.#listed + this.#real;
  }

  #bounded(listed: number): number {
    return Math.max(-this.view, Math.min(listed, this.total));
  }
}
