/** Bounds of paths, selectors and addresses. Lengths are in UTF-16 units. */
export const selectorLimits = {
  /** A whole path or address. */
  text: 8_192,
  /** One label; Discord's own limit is 80. */
  label: 1_000,
  /** One pattern. */
  pattern: 200,
  /** Segments of a path or an address. */
  segments: 32,
  /** Selectors in one fan-out. */
  selectors: 100,
  /** Alternatives of one selector. */
  alternatives: 16,
  /** Branches that a path can lead to, wildcards counted once. */
  branches: 10_000,
  /** Mistakes reported of one text. */
  mistakes: 20,
} as const;
