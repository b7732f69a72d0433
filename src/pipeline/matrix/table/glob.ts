import path from 'node:path';
import { globMatches } from '../../selectors/glob.ts';

/**
 * Globs for files. In a name `*` is any run of characters and `{png,jpg}` one of these texts; a `**` that is all of a name
 * is any folders, none included. What begins with a dot is only found by a name that does. A file's ending matches in any case.
 */

/** One folder or file on the way that a glob describes. */
export type GlobPart =
  /** Any folders, none included. */
  | { readonly kind: 'folders' }
  /** A name that one of these fits, with `*` in it. */
  | { readonly kind: 'names'; readonly globs: readonly string[] };

export interface FileGlob {
  /** Folders without any wildcard that the glob begins with, joined by `/`: where a search begins. Empty for none. */
  readonly base: string;
  /** What follows; the last one is the files'. Never empty. */
  readonly parts: readonly GlobPart[];
}

/** Bounds of globs in a pipeline. */
const limits = { length: 1000, parts: 32, names: 32 } as const;

/** What is wrong with a glob, in words for a message. */
export interface GlobDiagnosticDraft {
  readonly message: string;
  readonly hint: string;
}

const diagnostic = (message: string, hint: string): { readonly diagnostic: GlobDiagnosticDraft } => ({
  diagnostic: { message, hint },
});

/** Reads a glob, or says what is wrong with it. */
export function readGlob(
  glob: string,
): { readonly glob: FileGlob } | { readonly diagnostic: GlobDiagnosticDraft } {
  if (glob.length > limits.length) {
    return diagnostic(`A glob may have ${limits.length} characters, not more.`, 'Name a folder nearer by.');
  }
  const strange = /[\\?[\]\0]/.exec(glob)?.[0];
  if (strange !== undefined) {
    const what = strange === '\\' ? 'Between folders stands "/".' : 'There are *, ** and {png,jpg}.';
    return diagnostic(`"${strange === '\0' ? 'NUL' : strange}" has no meaning in a glob.`, what);
  }
  const absolute = glob.startsWith('/');
  const names = (absolute ? glob.slice(1) : glob).split('/').filter((name) => name !== '.');
  if (names.length === 0 || names.includes('')) {
    return diagnostic('A glob names files, and this has an empty name.', 'For example images/*.png');
  }
  if (names.length > limits.parts) {
    return diagnostic(`A glob may have ${limits.parts} names, not more.`, 'Use ** for many folders.');
  }
  const first = names.findIndex((name) => /[*{}]/.test(name));
  const head = first === -1 ? names.length - 1 : first;
  const parts: GlobPart[] = [];
  for (const name of names.slice(head)) {
    if (name === '..')
      return diagnostic('A ".." stands at the beginning of a glob or nowhere.', 'Write it first.');
    const part = readPart(name);
    if ('diagnostic' in part) return part;
    const isRepeated = part.kind === 'folders' && parts.at(-1)?.kind === 'folders';
    if (!isRepeated) parts.push(part);
  }
  if (parts.at(-1)?.kind === 'folders') {
    return diagnostic(
      '"**" stands for folders, and a glob ends in files.',
      'Write **/* for all files below.',
    );
  }
  return { glob: { base: (absolute ? '/' : '') + names.slice(0, head).join('/'), parts } };
}

function readPart(name: string): GlobPart | { readonly diagnostic: GlobDiagnosticDraft } {
  if (name === '**') return { kind: 'folders' };
  if (name.includes('**')) {
    return diagnostic(
      '"**" stands alone between slashes.',
      'Within a name a single * is any run of characters.',
    );
  }
  const globs = choices(name);
  if (globs === undefined) {
    return diagnostic('Braces hold texts between commas, and not other braces.', 'For example *.{png,jpg}');
  }
  if (globs.length > limits.names) {
    return diagnostic(
      `Braces may make ${limits.names} names, not ${globs.length}.`,
      'Use * for part of them.',
    );
  }
  return { kind: 'names', globs };
}

/** `a.{b,c}` is `a.b` and `a.c`; undefined where braces do not pair. */
function choices(name: string): readonly string[] | undefined {
  const groups = name.split(/(\{[^{}]*\})/);
  if (groups.some((text, index) => index % 2 === 0 && /[{}]/.test(text))) return undefined;
  let made = [''];
  for (const [index, text] of groups.entries()) {
    const options = index % 2 === 0 ? [text] : text.slice(1, -1).split(',');
    made = made.flatMap((before) => options.map((option) => before + option));
    // Sixteen groups of two are 65,536 names.
    if (made.length > limits.length) break;
  }
  return [...new Set(made)];
}

/** True for a name that fits a part. @param isFile of a file's name: endings match in any case, as cameras write `.JPG` */
export const partMatches = (
  { globs }: Extract<GlobPart, { kind: 'names' }>,
  name: string,
  isFile: boolean,
): boolean =>
  globs.some(
    (glob) =>
      (!name.startsWith('.') || glob.startsWith('.')) &&
      (globMatches(glob, name) || (isFile && globMatches(lowerEnding(glob), lowerEnding(name)))),
  );

function lowerEnding(name: string): string {
  const at = name.lastIndexOf('.');
  return at === -1 ? name : name.slice(0, at) + name.slice(at).toLowerCase();
}

/** A folder and a glob relative to it, in one text. */
const cut = '/./';

/**
 * The name of a listing, by which `FilePort.list` and copies of it know it: the pipeline's folder and its glob, with `/./`
 * between them as rsync marks where relative paths begin.
 */
export const listingName = (folder: string, glob: string): string => `${folder}${cut}${glob}`;

/** What {@link listingName} was made of. */
export function listingParts(name: string): { readonly folder: string; readonly glob: string } {
  const at = name.indexOf(cut);
  if (at === -1) throw new Error(`Internal error: ${name} is no listing`);
  return { folder: name.slice(0, at), glob: name.slice(at + cut.length) };
}

/** The variables that each file of a listing gives its cells. */
export const listingColumns = ['file', 'name'] as const;

/**
 * A listing as a table of JSON Lines with {@link listingColumns}, so that it is read, hashed and kept as any other table.
 *
 * @param files paths relative to the pipeline, with `/`; in their order
 */
export const listingText = (files: readonly string[]): string =>
  files.map((file) => `${JSON.stringify({ file, name: path.posix.parse(file).name })}\n`).join('');
