/**
 * Formats JSON with one member per line. It is not parsed, because numbers of more than 15 digits would be rounded.
 * Other texts are returned unchanged.
 */
export function indentJson(json: string): string {
  try {
    JSON.parse(json);
  } catch {
    return json;
  }
  let out = '';
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(Math.min(depth, deepest))}`;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at] as string;
    if (sign === '"') {
      const end = endOfString(json, at);
      out += json.slice(at, end);
      at = end - 1;
    } else if (sign === '{' || sign === '[') {
      const next = skipBlanks(json, at + 1);
      if (json[next] === '}' || json[next] === ']') {
        out += sign + json[next];
        at = next;
      } else {
        depth += 1;
        out += sign + line();
      }
    } else if (sign === '}' || sign === ']') {
      depth -= 1;
      out += line() + sign;
    } else if (sign === ',') out += sign + line();
    else if (sign === ':') out += ': ';
    else if (!blank(sign)) out += sign;
  }
  return out;
}

/** Deeper members are not indented further, so that nesting cannot fill the memory with blanks. */
const deepest = 40;

const blank = (sign: string | undefined): boolean =>
  sign === ' ' || sign === '\n' || sign === '\r' || sign === '\t';

function skipBlanks(json: string, from: number): number {
  let at = from;
  while (blank(json[at])) at += 1;
  return at;
}

function endOfString(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}
