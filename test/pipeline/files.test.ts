import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isGitName, isWithin, placeOf } from '../../src/pipeline/files.ts';

describe('the place of a file', () => {
  it.each([
    ['/root', 'inside'],
    ['/root/a.csv', 'inside'],
    ['/root/..a/b.csv', 'inside'],
    ['/root/.github/a.csv', 'inside'],
    ['/root/.gitignore', 'inside'],
    ['/root/my.git/a.csv', 'inside'],
    ['/root/git~10/a.csv', 'inside'],
    ['/root/.git', 'git'],
    ['/root/.git/config', 'git'],
    ['/root/a/.git/modules/b/config', 'git'],
    ['/root/.GIT/config', 'git'],
    ['/root/.git. /config', 'git'],
    ['/root/GIT~1/config', 'git'],
    ['/root/.git::$INDEX_ALLOCATION/config', 'git'],
    ['/root/.g\u200cit/config', 'git'],
    ['/', 'outside'],
    ['/rooted/a.csv', 'outside'],
    ['/other/.git/config', 'outside'],
  ])('%s is %s', (file, place) => {
    expect(placeOf(path.resolve('/root'), path.resolve(file))).toBe(place);
  });

  it('is inside if the user has placed the root in a folder of git', () => {
    expect(placeOf(path.resolve('/a/.git/b'), path.resolve('/a/.git/b/c.csv'))).toBe('inside');
  });

  it('is determined in linear time for long names', () => {
    expect(isGitName(`.git${' .'.repeat(100_000)}x`)).toBe(false);
  });
});

it('a folder contains itself and everything below, even names that begin with two dots', () => {
  for (const file of ['/a/b', '/a/b/c', '/a/b/..c', '/a/b/..'])
    expect(isWithin('/a/b', file)).toBe(file !== '/a/b/..');
  for (const file of ['/a', '/a/bc', '/', '/c/b']) expect(isWithin('/a/b', file)).toBe(false);
  expect(placeOf('/a/b', '/a/b/..c')).toBe('inside');
});
