import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const repository = new URL('../../', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, repository), 'utf8');
const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] };

/** `schemas/*.json` is all files of that name in the folder; a folder is all below it. */
const isPacked = (path: string): boolean =>
  files.some((entry) =>
    entry.includes('*')
      ? new RegExp(`^${entry.replaceAll('.', '\\.').replace('*', '[^/]+')}$`).test(path)
      : path === entry || path.startsWith(`${entry}/`),
  );

it('what the README links to comes with the package: its links have no other address to lead to', () => {
  const links = [...read('README.md').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const relative = links.filter((link) => !/^(https?:|#)/.test(link));
  expect(relative).toContain('.github/pictures/foxes.jpg');
  expect(relative.filter((link) => !isPacked(link))).toEqual([]);
  for (const link of relative) expect(readFileSync(new URL(link, repository)).length).toBeGreaterThan(0);
});
