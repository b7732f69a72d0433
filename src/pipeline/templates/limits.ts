import { TemplateError } from './template.ts';

/**
 * Bounds of templates. They are counts, never times, so that a template that renders on one machine renders on
 * all. Lengths are in UTF-16 units.
 */
export const templateLimits = {
  /** Text without any tag. */
  literal: 1_000_000,
  /** Text with tags. */
  source: 100_000,
  /** Tags inside tags, and brackets inside brackets. */
  depth: 64,
  /** Errors reported of one template. */
  diagnostics: 20,
  /** Rendered text. */
  output: 1_000_000,
  /** Members of one range `(1..n)`. */
  range: 10_000,
  /**
   * Nodes rendered, filters and comparisons (`node` for each), list members (`member` for each) and characters that these handle, and
   * characters written, together. The most takes well below a second: nothing else has a turn while a template renders.
   */
  work: 2_000_000,
  /** Each takes the time of many characters: also one body of a loop, and one member of a list that is searched by what it holds. */
  node: 25,
  member: 8,
} as const;

/**
 * Counts the work of one rendering; takes the place of liquidjs' memory limiter, so that its filters charge it.
 *
 * @throws TemplateError `template.limit`
 */
export class WorkMeter {
  #used = 0;

  use(count: number): void {
    // A count that is not a number (from values that are not) costs nothing, as in liquidjs.
    if (!(count > 0)) return;
    this.#used += count;
    if (this.#used > templateLimits.work) {
      throw new TemplateError(
        'template.limit',
        'The template does too much work: its loops or texts are too large.',
      );
    }
  }

  check(count: number): void {
    if (count > templateLimits.work) this.use(count);
  }
}
