/** The only form in which a key may stand in a pipeline: the name of an environment variable. */
export const variableOnly = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

/** Matches the value after a key that names a secret, unless it is a variable. Works on text, so that broken YAML is covered too. */
const namedSecret =
  /((?:api[-_ ]?key|secret|password|passwd|authorization)[\w-]{0,32}["']?\s{0,32}[:=]\s{0,32})(?!["']?\$\{[A-Za-z_][A-Za-z0-9_]{0,64}\}["']?\s{0,32}(?:[,}#]|$))((?:(?:bearer|basic)\s{1,8})?(?:"[^"]*"?|'[^']*'?|[^\s,}]+))/gi;

/** Matches keys of the usual form anywhere but within words such as `desk-`, and user and password of an address. */
const shapedKey = /(?:\b|_)sk-[A-Za-z0-9_-]{12,}/g;
const userOfAddress = /(:\/\/)([^/\s@"'{}]+)(?=@)/g;

const stars = (text: string): string => text.replace(/\S/g, '*');

/** Replaces everything that looks like a secret by stars, without changing the length of the text. */
export function maskSecrets(text: string): string {
  const starred = (_all: string, before: string, secret: string): string => before + stars(secret);
  return text.replace(namedSecret, starred).replace(shapedKey, stars).replace(userOfAddress, starred);
}

/** Replaces one part of a text by stars. */
export function maskStretch(text: string, start: number, end: number): string {
  if (end <= start) return text;
  return text.slice(0, start) + stars(text.slice(start, end)) + text.slice(end);
}
