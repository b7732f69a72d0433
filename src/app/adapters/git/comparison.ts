import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFlags } from '../../../state/files/plain-file.ts';
import type { GitProcess } from './process.ts';

/** Paths of a repository that a comparison needs, all absolute. */
export interface Repository {
  readonly workTree: string;
  readonly objects: string;
  readonly index: string;
  readonly attributes: string;
  readonly objectFormat: string;
  readonly commit: string;
}

const largestAttributes = 1024 * 1024;

/** Configuration keys that affect how work tree files are compared. None of them names a command or a file. */
const comparisonKeys =
  'autocrlf checkstat eol filemode ignorecase precomposeunicode symlinks trustctime'.split(' ');

/**
 * Whether tracked files differ from the commit. Undefined where a filter of the repository's own configuration may affect the result, as
 * filters are not run.
 *
 * A work tree from an archive brings a configuration along, and a configuration names commands in more ways than can be listed: filters,
 * hooks, monitors, remotes for missing objects. So git compares with a temporary repository that has only the objects, the index and the
 * attributes of theirs.
 */
export async function differsFromCommit(
  repository: Repository,
  git: GitProcess,
): Promise<boolean | undefined> {
  const settings = await comparisonSettings(git);
  if (settings === undefined) return undefined;
  const ours = await mkdtemp(join(tmpdir(), 'promptpress-git-'));
  try {
    await makeRepository(ours, repository, settings);
    const changes = await git(
      ['status', '--porcelain', '--untracked-files=no', '--ignore-submodules=all', '--no-renames'],
      {
        GIT_DIR: ours,
        GIT_WORK_TREE: repository.workTree,
        GIT_INDEX_FILE: repository.index,
        GIT_OBJECT_DIRECTORY: repository.objects,
      },
    );
    return changes === undefined ? undefined : changes !== '';
  } catch {
    // The temporary repository could not be made, or the attributes could not be read.
    return undefined;
  } finally {
    await rm(ours, { recursive: true, force: true });
  }
}

/** Returns the user's settings as configuration lines; undefined where the repository configures a filter or an attributes file. */
async function comparisonSettings(git: GitProcess): Promise<readonly string[] | undefined> {
  // A key that always exists, so that a failure differs from an empty result.
  const keys = `(${comparisonKeys.join('|')}|attributesfile|repositoryformatversion)`;
  const pattern = `^(core\\.${keys}|filter\\..*)$`;
  const listing = await git(['config', '--show-scope', '--null', '--get-regexp', pattern]);
  if (listing === undefined) return undefined;
  const fields = listing.split('\0');
  const lines: string[] = [];
  // Each setting is two fields: its scope, and its key (with a line break and the value, if it has one).
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope, setting = ''] = fields.slice(at);
    const end = setting.indexOf('\n');
    const key = end < 0 ? setting : setting.slice(0, end);
    const value = end < 0 ? 'true' : setting.slice(end + 1);
    const isTheUsers = scope === 'system' || scope === 'global';
    if (!isTheUsers && (key.startsWith('filter.') || key === 'core.attributesfile')) return undefined;
    const name = key.slice('core.'.length);
    if (!key.startsWith('core.') || !comparisonKeys.includes(name)) continue;
    // Only letters and digits: nothing that has a special meaning in a configuration file.
    if (!/^[A-Za-z0-9]*$/.test(value)) return undefined;
    lines.push(`\t${name} = ${value}`);
  }
  return lines;
}

async function makeRepository(
  folder: string,
  { commit, objectFormat, attributes }: Repository,
  settings: readonly string[],
): Promise<void> {
  const format =
    objectFormat === 'sha256'
      ? ['\trepositoryformatversion = 1', '[extensions]', '\tobjectFormat = sha256']
      : ['\trepositoryformatversion = 0'];
  await mkdir(join(folder, 'refs'));
  await mkdir(join(folder, 'objects'));
  await mkdir(join(folder, 'info'));
  await writeFile(join(folder, 'HEAD'), `${commit}\n`);
  await writeFile(join(folder, 'config'), `${['[core]', ...settings, '[core]', ...format].join('\n')}\n`);
  const rules = await readAttributes(attributes);
  if (rules !== undefined) await writeFile(join(folder, 'info', 'attributes'), rules);
}

/** @throws Error if the path is not a regular file of ordinary size */
async function readAttributes(file: string): Promise<Buffer | undefined> {
  const handle = await open(file, readFlags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > largestAttributes)
      throw new Error(`${file} is not a file of attributes.`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
