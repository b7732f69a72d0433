/** What stands between labels. A `/` separates in addresses only. */
export type Separator = 'arrow' | 'comma' | 'pipe' | 'slash';

/** One label, quoted text or `/pattern/`, without the blanks around it. */
export interface Atom {
  readonly kind: 'atom';
  readonly form: 'plain' | 'quoted' | 'pattern';
  /** What is meant: without quotes, escapes and the `?` after it. */
  readonly text: string;
  /** Where the text stands, quotes and slashes left out. */
  readonly offset: number;
  /** Indexes in `text` of the characters that stood behind a backslash, in order. */
  readonly escapes: readonly number[];
  /** Where the whole atom stands, `?` included. */
  readonly span: { readonly offset: number; readonly length: number };
  /** A `{{ … }}` or `{% … %}` is in it. */
  readonly template: boolean;
  readonly optional: boolean;
  /** A mistake was found in it; what it says is not to be trusted. */
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

/** The source offset of an index in an atom's text. */
export function sourceOffset(atom: Atom, index: number): number {
  let behind = 0;
  while (behind < atom.escapes.length && (atom.escapes[behind] as number) < index) behind += 1;
  return atom.offset + index + behind;
}
