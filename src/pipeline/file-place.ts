import path from 'node:path';

/**
 * Where a file lies that a pipeline names: `git` is inside the root, but where git keeps what is its own. There lie
 * addresses with passwords in them and what nobody committed; no pipeline has any business there.
 */
export type FilePlace = 'inside' | 'outside' | 'git';

/** @param root the folder that a pipeline's files must lie in. Both are absolute, their links resolved. */
export function placeOf(root: string, file: string): FilePlace {
  const relative = path.relative(root, file);
  const names = relative.split(path.sep);
  if (names[0] === '..' || path.isAbsolute(relative)) return 'outside';
  return names.some((name) => isGitName(name)) ? 'git' : 'inside';
}

/**
 * True for each spelling by which a file system finds `.git`: in any case, with dots, blanks or a stream's name behind it
 * and by its short name (Windows), with characters that are not seen (macOS). As git's own `is_ntfs_dotgit` and
 * `is_hfs_dotgit` (path.c, utf8.c) have it.
 */
export function isGitName(name: string): boolean {
  const seen = name.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').toLowerCase();
  const start = ['.git', 'git~1'].find((spelling) => seen.startsWith(spelling));
  return start !== undefined && /^[. ]*(?::|$)/.test(seen.slice(start.length));
}
