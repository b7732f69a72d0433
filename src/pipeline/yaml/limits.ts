/** What a pipeline file may be at most. They bound time and memory: what breaks one belongs into a table. */
export const yamlLimits = {
  /** UTF-16 units of text. */
  characters: 1024 * 1024,
  /** Mappings and lists inside each other. */
  depth: 64,
  /** Values in the whole file, counted again each time an alias repeats them. */
  values: 200_000,
  /** Syntax errors shown. Each one causes further messages that are no errors. */
  syntaxErrors: 10,
} as const;

/** The message for a file that breaks {@link yamlLimits.depth}. */
export const tooDeep = `Mappings and lists lie more than ${yamlLimits.depth} deep in each other.`;
