import path from 'node:path';
import { globMatches } from '../../selectors/glob.ts';

/**
 * Globs for files. In a name, `*` matches any characters and `{png,jpg}` one of these texts; a name `**` matches any number of folders,
 * even zero. Names that begin with a dot match only globs that begin with one. A file's ending matches in any case.
 */

/** One folder or file name in a glob. */
export type GlobPart =
  /** Any number of folders, even zero. */
  | { readonly kind: 'folders' }
  /** A name that matches one of these globs, which may contain `*`. */
  | { readonly kind: 'names'; readonly globs: readonly string[] };

export interface FileGlob {
  /** Leading folders without wildcards, joined by `/`: the start of the search. May be empty. */
  readonly base: string;
  /** The rest of the glob; the last part matches files. Never empty. */
  readonly parts: readonly GlobPart[];
}

const limits = { length: 1000, parts: 32, names: 32 } as const;

/** An error in a glob, as words for a message. */
export interface GlobDiagnosticDraft {
  readonly message: string;
  readonly hint: string;
}

const diagnostic = (message: string, hint: string): { readonly diagnostic: GlobDiagnosticDraft } => ({
  diagnostic: { message, hint },
});

/** Parses a glob; returns an error if it is wrong. */
export function readGlob(
  glob: string,
): { readonly glob: FileGlob } | { readonly diagnostic: GlobDiagnosticDraft } {
  if (glob.length > limits.length) {
    return diagnostic(`A glob may have at most ${limits.length} characters.`, 'Name a closer folder.');
  }
  const strange = /[\\?[\]\0]/.exec(glob)?.[0];
  if (strange !== undefined) {
    const what = strange === '\\' ? 'Write "/" between folders.' : 'Globs have *, ** and {png,jpg}.';
    return diagnostic(`"${strange === '\0' ? 'NUL' : strange}" has no meaning in a glob.`, what);
  }
  const absolute = glob.startsWith('/');
  const names = (absolute ? glob.slice(1) : glob).split('/').filter((name) => name !== '.');
  if (names.length === 0 || names.includes('')) {
    return diagnostic('A glob names files, but this one has an empty name.', 'For example images/*.png');
  }
  if (names.length > limits.parts) {
    return diagnostic(`A glob may have at most ${limits.parts} names.`, 'Use ** for many folders.');
  }
  const first = names.findIndex((name) => /[*{}]/.test(name));
  const head = first === -1 ? names.length - 1 : first;
  const parts: GlobPart[] = [];
  for (const name of names.slice(head)) {
    if (name === '..')
      return diagnostic('A ".." is possible only at the beginning of a glob.', 'Write it first.');
    const part = readPart(name);
    if ('diagnostic' in part) return part;
    const isRepeated = part.kind === 'folders' && parts.at(-1)?.kind === 'folders';
    if (!isRepeated) parts.push(part);
  }
  if (parts.at(-1)?.kind === 'folders') {
    return diagnostic(
      '"**" matches folders, but a glob must end in files.',
      'Write **/* for all files below.',
    );
  }
  return { glob: { base: (absolute ? '/' : '') + names.slice(0, head).join('/'), parts } };
}

function readPart(name: string): GlobPart | { readonly diagnostic: GlobDiagnosticDraft } {
  if (name === '**') return { kind: 'folders' };
  if (name.includes('**')) {
    return diagnostic(
      '"**" must be alone between slashes.',
      'Within a name, a single * matches any characters.',
    );
  }
  const globs = choices(name);
  if (globs === undefined) {
    return diagnostic('Braces contain texts between commas, and no other braces.', 'For example *.{png,jpg}');
  }
  if (globs.length > limits.names) {
    return diagnostic(
      `Braces may make at most ${limits.names} names, not ${globs.length}.`,
      'Use * for part of them.',
    );
  }
  return { kind: 'names', globs };
}

/** Expands braces: `a.{b,c}` to `a.b` and `a.c`; undefined if the braces do not match. */
function choices(name: string): readonly string[] | undefined {
  const groups = name.split(/(\{[^{}]*\})/);
  if (groups.some((text, index) => index % 2 === 0 && /[{}]/.test(text))) return undefined;
  let made = [''];
  for (const [index, text] of groups.entries()) {
    const options = index % 2 === 0 ? [text] : text.slice(1, -1).split(',');
    made = made.flatMap((before) => options.map((option) => before + option));
    // Sixteen groups of two make 65,536 names.
    if (made.length > limits.length) break;
  }
  return [...new Set(made)];
}

/** Whether a name matches a part of a glob. @param isFile for file names: endings match in any case, as cameras write `.JPG` */
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

/** Separator between a folder and a glob relative to it. */
const cut = '/./';

/** Returns the name of a listing, as `FilePort.list` takes it: the pipeline's folder and its glob, with `/./` between them, as in rsync. */
export const listingName = (folder: string, glob: string): string => `${folder}${cut}${glob}`;

/** Splits the name of a listing into folder and glob. */
export function listingParts(name: string): { readonly folder: string; readonly glob: string } {
  const at = name.indexOf(cut);
  if (at === -1) throw new Error(`Internal error: ${name} is no listing`);
  return { folder: name.slice(0, at), glob: name.slice(at + cut.length) };
}

/** The variables that a listing defines for each of its files. */
export const listingColumns = ['file', 'name'] as const;

/**
 * Formats a listing as a table of JSON Lines with {@link listingColumns}, so that it is read, hashed and kept like any other table.
 *
 * @param files paths relative to the pipeline, with `/`, in order
 */
export const listingText = (files: readonly string[]): string =>
  files.map((file) => `${JSON.stringify({ file, name: path.posix.parse(file).name })}\n`).join('');
