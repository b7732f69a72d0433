/** The index after the template tag that opens at `at`, or -1 when it does not close. */
export function endOfTag(text: string, at: number): number {
  // As liquidjs reads them: quotes hide the end of an output, not that of a tag.
  const close = text.startsWith('{{', at) ? '}}' : '%}';
  let quote: string | undefined;
  for (let i = at + 2; i < text.length; i += 1) {
    const char = text[i] as string;
    if (quote !== undefined) {
      if (char === '\\') i += 1;
      else if (char === quote) quote = undefined;
    } else if (text.startsWith(close, i)) return i + 2;
    else if (close === '}}' && (char === '"' || char === "'")) quote = char;
  }
  return -1;
}

export const opensTag = (text: string, at: number): boolean =>
  text.startsWith('{{', at) || text.startsWith('{%', at);

/** Text as it stands between double quotes; templates in it stay as they are. */
export function escapeQuoted(text: string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const end = opensTag(text, at) ? endOfTag(text, at) : -1;
    const part = text.slice(at, end === -1 ? at + 1 : end);
    parts.push(end === -1 && (part === '\\' || part === '"') ? `\\${part}` : part);
    at += part.length;
  }
  return parts.join('');
}
