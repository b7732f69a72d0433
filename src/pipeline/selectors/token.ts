/** A separator between labels. A `/` separates in addresses only. */
export type Separator = 'arrow' | 'comma' | 'pipe' | 'slash';

/** A label, quoted text or `/pattern/`, without surrounding blanks. */
export interface Atom {
  readonly kind: 'atom';
  readonly form: 'plain' | 'quoted' | 'pattern';
  /** Text without quotes, escapes and the `?` after it. */
  readonly text: string;
  /** Offset of the text, after an opening quote or slash. */
  readonly offset: number;
  /** Indexes in `text` of the characters that were escaped by a backslash, in order. */
  readonly escapes: readonly number[];
  /** Position of the whole atom, including `?`. */
  readonly span: { readonly offset: number; readonly length: number };
  /** Whether the text contains a `{{ … }}` or `{% … %}`. */
  readonly template: boolean;
  readonly optional: boolean;
  /** Whether the token has an error, so that its text cannot be used. */
  readonly broken: boolean;
  /** Offset of the first `..` outside templates, in plain text. */
  readonly dots?: number;
  /** Offset of the first `*` outside templates, in plain text. */
  readonly star?: number;
}

export interface Mark {
  readonly kind: Separator;
  readonly offset: number;
  readonly length: number;
}

export type SelectorToken = Atom | Mark;

/** Converts an index in an atom's text to an offset in the source. */
export function sourceOffset(atom: Atom, index: number): number {
  let behind = 0;
  while (behind < atom.escapes.length && (atom.escapes[behind] as number) < index) behind += 1;
  return atom.offset + index + behind;
}

/** Returns the index after the template tag that opens at `at`, or -1 if the tag does not close. */
export function endOfTag(text: string, at: number): number {
  // Like liquidjs: quotes hide the end of an output, but not the end of a tag.
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

/** Escapes a text for double quotes; templates in it are kept. */
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
