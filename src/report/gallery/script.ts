/**
 * Returns JSON as a script that calls a function: `promptpress.results(0,JSON.parse('…'))`. `JSON.parse` keeps a member called
 * `__proto__` harmless; the text is escaped so that it cannot end the string, the script or its element.
 */
export const callOf = (name: string, pieces: { readonly index?: number; readonly json: string }): string =>
  `${callStart(name, pieces.index)}${scriptJson(pieces.json)}${callEnd}`;

/** Returns the text before the JSON. The JSON may follow in chunks ({@link scriptJson}); {@link callEnd} comes last. */
export const callStart = (name: string, index?: number): string =>
  `promptpress.${name}(${index === undefined ? '' : `${index},`}JSON.parse('`;

export const callEnd = `'));\n`;

/** Escapes a chunk of JSON for a string in single quotes. JSON itself already escapes lone surrogates. */
export const scriptJson = (json: string): string =>
  json.replaceAll(/[\\'<\u2028\u2029]/g, (character) => escapes[character] ?? '');

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  // Prevents `</script` and `<!--` in the output.
  '<': '\\x3c',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};
