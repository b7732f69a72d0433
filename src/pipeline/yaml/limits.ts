/** Limits of a pipeline file, which bound time and memory. Larger data belongs into a table. */
export const yamlLimits = {
  /** Length of the text in UTF-16 units. */
  characters: 1024 * 1024,
  /** Depth of nested mappings and lists. */
  depth: 64,
  /** Values in the whole file; an aliased value counts each time it is used. */
  values: 200_000,
  /** Syntax errors shown. Each one causes further messages that are not real errors. */
  syntaxErrors: 10,
} as const;

/** Message for a file that exceeds {@link yamlLimits.depth}. */
export const tooDeep = `Mappings and lists are nested more than ${yamlLimits.depth} levels deep.`;
