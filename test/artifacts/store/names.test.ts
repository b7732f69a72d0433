import { describe, expect, it } from 'vitest';
import { checkName, imagePath, isArtifactName, videoPath } from '../../../src/artifacts/store/names.ts';

it('artifacts are named after their job, in folders of its first two characters', () => {
  expect([imagePath('ab12', 3), videoPath('ab12', 1)]).toEqual(['images/ab/ab12-3', 'video/ab/ab12-1']);
});

describe('the name of an artifact', () => {
  it.each(['images', 'video'])('begins with %s', (root) => {
    expect(isArtifactName(`${root}/ab/ab12-1.png`)).toBe(true);
  });

  it.each(['a/a', 'ab/a.b_c-D9', `ab/${'a'.repeat(251)}`])('may continue with %s', (rest) => {
    expect(isArtifactName(`images/${rest}`)).toBe(true);
  });

  it.each([
    'masks/ab/ab12.png',
    'Images/ab/ab12.png',
    './images/ab/ab12.png',
    '/images/ab/ab12.png',
    'images/abc/ab12.png',
    'images//ab12.png',
    'images/ab/',
    'images/ab',
    'images/../ab12.png',
    'images/.a/ab12.png',
    'images/ab/.hidden',
    'images/ab/-1.png',
    'images/ab/a b.png',
    'images/ab/a\\b.png',
    'images/ab/ab/12.png',
    'images/ab/ab12.png\n',
    `images/ab/${'a'.repeat(252)}`,
  ])('cannot be %j', (name) => {
    expect(isArtifactName(name)).toBe(false);
  });
});

describe('a key', () => {
  it.each([
    ['a', 1],
    ['A9._-', 1],
    ['ab12', Number.MAX_SAFE_INTEGER],
  ])('%s may have the output %i', (key, output) => {
    expect(() => checkName(key, output)).not.toThrow();
  });

  it.each([
    ['', 1],
    ['.a', 1],
    ['-a', 1],
    ['_a', 1],
    ['a/b', 1],
    ['a\n', 1],
    ['ab12', 0],
    ['ab12', -1],
    ['ab12', 1.5],
    ['ab12', Number.NaN],
    ['ab12', Number.MAX_SAFE_INTEGER + 1],
  ])('%j with the output %d is not one of ours', (key, output) => {
    expect(() => checkName(key, output)).toThrow(/^Internal error: /);
  });
});
