import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import lock from '../../package-lock.json' with { type: 'json' };
import { repository } from '../rig/documents.ts';

/** What a reader copies commands from: documents, workflows, pipelines. */
const files = ['.', '.github', 'pipelines', 'schemas', 'src', 'test']
  .flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: folder !== '.', encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  )
  .filter((path) => /\.(?:md|ya?ml)$/.test(path) && !path.split('/').includes('runs'));

const command = /\b(?:npx|bunx|(?:npm|pnpm|yarn|bun) (?:install|i|add|exec|x|dlx|create))\b([^`;&|\n]*)/g;

/** The package that each command of a text has fetched from the registry, where there is none on the disk. */
function fetched(text: string): readonly string[] {
  return [...text.matchAll(command)].flatMap(([, rest = '']) => {
    const words = rest.split(/[\s,'"[\]()]+/).filter((word) => word !== '');
    const name = words.find((word) => !word.startsWith('-'))?.replace(/[.:]$/, '') ?? '';
    const isLocal = /^\.{0,2}\//.test(name) || words.includes('--no');
    return name === '' || isLocal ? [] : [name];
  });
}

/** Packages that are published: those that the lock has from the registry, and the commands of these. */
const published = new Set(
  Object.entries(lock.packages).flatMap(([path, one]) =>
    'resolved' in one
      ? [path.replace(/^.*node_modules\//, ''), ...Object.keys('bin' in one ? one.bin : {})]
      : [],
  ),
);

describe('commands that fetch packages', () => {
  it('name published packages, or files', () => {
    const found = files.flatMap((path) =>
      fetched(readFileSync(join(repository, path), 'utf8')).map((name) => ({ path, name })),
    );
    // A rule that finds nothing would prove nothing.
    expect(found.map(({ name }) => name)).toContain('vitest');
    expect(found.filter(({ name }) => !published.has(name))).toEqual([]);
  });

  it.each([
    ['npm install -g promptpress', ['promptpress']],
    ['command: [npx, --yes, promptpress@0.1.0, worker]', ['promptpress@0.1.0']],
    ['`npx promptpress run`, `npm i promptpress`', ['promptpress', 'promptpress']],
    ['npm install -g ./promptpress-0.1.0.tgz && npm ci', []],
    ['npx --no promptpress run', []],
  ])('%s', (text, names) => {
    expect(fetched(text)).toEqual(names);
  });
});
