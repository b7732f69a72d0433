import { TemplateError } from './template.ts';

/**
 * Limits of templates. They are counts, never times, so that a template that renders on one machine renders on every machine. Lengths are
 * in UTF-16 units.
 */
export const templateLimits = {
  /** Length of a text without tags. */
  literal: 1_000_000,
  /** Length of a text with tags. */
  source: 100_000,
  /** Depth of nested tags, and of nested brackets. */
  depth: 64,
  /** Errors reported per template. */
  diagnostics: 20,
  /** Length of rendered text. */
  output: 1_000_000,
  /** Members of one range `(1..n)`. */
  range: 10_000,
  /**
   * Total work of a rendering: rendered nodes, filters and comparisons (`node` each), list members (`member` each), characters that these
   * handle, and written characters. The maximum takes well below a second, in which nothing else can run.
   */
  work: 2_000_000,
  /** Work of a node, a loop body, or a member of a searched list: each takes as long as many characters. */
  node: 25,
  member: 8,
} as const;

/**
 * Counts the work of one rendering. Replaces liquidjs' memory limiter, so that its filters are charged too.
 *
 * @throws TemplateError `template.limit`
 */
export class WorkMeter {
  /** See `TemplateScope.isExact`. */
  readonly isExact: boolean;
  #used = 0;

  constructor(isExact = false) {
    this.isExact = isExact;
  }

  use(count: number): void {
    // A count that is not a number (made from other values) costs nothing, as in liquidjs.
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
