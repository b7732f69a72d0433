import { type Draft, draft, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { odd } from './oddity.ts';

/** What `.git` is; see `check/git.ts`, which makes it. */
export const repositories = [
  'file',
  'folder',
  'config',
  'head',
  'index',
  'attributes',
  'work-tree-config',
  'included',
  'bare',
  'link-loop',
  'link-dangling',
  'pipe',
  'head-pipe',
] as const;

/** A `.git` that no git made, and what its file holds. */
export function hostileGit(random: Random): Draft {
  const form = random.pick(repositories);
  const text = random.pick([
    '',
    'gitdir: .',
    'gitdir: .git',
    'gitdir: /dev/zero',
    'gitdir: ../../../../..',
    'ref: refs/heads/../../../../etc/passwd',
    'ref: ref: ref: HEAD',
    '0'.repeat(40),
    '[core]\n\tfsmonitor = "touch pwned"\n\tpager = "touch pwned"\n\tsshCommand = "touch pwned"\n\thooksPath = .\n',
    '[filter "x"]\n\tclean = "touch pwned; cat"\n\tsmudge = "touch pwned; cat"\n\tprocess = "touch pwned"\n',
    '[filter "x"]\n\tclean = "touch pwned; cat"\n\trequired\n[core]\n\tworktree = .\n',
    '[include]\n\tpath = config\n',
    '[remote "origin"]\n\tpromisor = true\n\turl = ext::touch pwned\n[protocol "ext"]\n\tallow = always\n',
    '[diff]\n\texternal = "touch pwned"\n[core]\n\tworktree = /\n',
    '[alias]\n\tstatus = "!touch pwned"\n\trev-parse = "!touch pwned"\n',
  ]);
  return draft(form, text, piece(random.happens(0.2) ? odd(random) : '', random.size(10_000)));
}
