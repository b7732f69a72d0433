/**
 * JSON as the text of a script: `promptpress.results(0,JSON.parse('…'))`. Parsed as JSON, a member called `__proto__` is a member like
 * any other; and nothing in the text can end the string, the script or the element that it stands in.
 */
export const callOf = (name: string, pieces: { readonly index?: number; readonly json: string }): string =>
  `${callStart(name, pieces.index)}${scriptJson(pieces.json)}${callEnd}`;

/** What stands before the JSON, which may follow in pieces ({@link scriptJson}); {@link callEnd} stands behind it. */
export const callStart = (name: string, index?: number): string =>
  `promptpress.${name}(${index === undefined ? '' : `${index},`}JSON.parse('`;

export const callEnd = `'));\n`;

/** A piece of JSON within a string in single quotes. A lone half of a character is an escape sequence in JSON already. */
export const scriptJson = (json: string): string =>
  json.replaceAll(/[\\'<\u2028\u2029]/g, (character) => escapes[character] ?? '');

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  // No `</script` and no `<!--`, wherever the text is put.
  '<': '\\x3c',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};
