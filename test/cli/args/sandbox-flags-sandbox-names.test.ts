import { describe, expect, it, test } from 'vitest';

import { sandboxNames } from '../../../src/app/service/sandbox.ts';
import { namesOf } from '../../../src/cli/args/sandbox-flags.ts';
import { midjourneyProxyNames, neutralNames } from '../../../src/sandbox/names.ts';
import { nameKeys, namePresets, resolveNames } from '../../../src/service/names.ts';

const presets = { neutral: neutralNames, 'midjourney-proxy': midjourneyProxyNames };

test.each(['neutral', 'midjourney-proxy'] as const)(
  'the sandbox of a pipeline with the names %s is the one of that preset',
  (preset) => {
    // A rehearsal has no client but promptpress.
    expect(sandboxNames(namePresets[preset])).toEqual({ ...presets[preset], familyClients: false });
    expect(namesOf(preset, '--names')).toEqual(presets[preset]);
  },
);

test('the sandbox of a pipeline uses its single names', () => {
  const names = resolveNames('neutral', { errorType: 'my_error', botType: 'MY_JOURNEY' });
  if (!names.ok) throw new Error('The names are right.');
  expect(sandboxNames(names.value)).toMatchObject({
    errorType: 'my_error',
    botTypes: ['MY_JOURNEY', 'NIJI_JOURNEY'],
  });
});

test.each([
  ['v1beta', ['v1beta', 'v1']],
  ['v1', ['v1beta', 'v1']],
  ['art/v2', ['art/v2']],
])('the sandbox of a pipeline whose native path is %s answers under %s', (nativePath, nativePaths) => {
  expect(namesOf(`neutral,nativePath=${nativePath}`, '--names').nativePaths).toEqual(nativePaths);
});

describe('the names of a flag', () => {
  it.each([
    ['midjourney-proxy,keyHeader=x-api-key', { ...midjourneyProxyNames, keyHeader: 'x-api-key' }],
    [' neutral , path = v9/art ', { ...neutralNames, path: 'v9/art' }],
    ['midjourney-proxy,path=art', { ...midjourneyProxyNames, path: 'art' }],
    ['path=art,errorType=a=b', { ...neutralNames, path: 'art', errorType: 'a=b' }],
  ])('%s', (text, expected) => {
    expect(namesOf(text, '--names')).toEqual(expected);
  });

  it('are the twelve names of a pipeline', () => {
    const own = Object.fromEntries(nameKeys.map((name, at) => [name, `w${at}`]));
    const text = Object.entries(own).map(([name, word]) => `${name}=${word}`);
    const asked = resolveNames('neutral', own);
    expect(nameKeys).toHaveLength(12);
    expect(asked.ok && sandboxNames(asked.value)).toEqual(namesOf(text.join(), '--names'));
  });

  it.each([
    ['midjourny-proxy', 'not "midjourny-proxy"', 'Did you mean midjourney-proxy?'],
    ['', 'neutral or midjourney-proxy', undefined],
    ['neutral,headerKey=x', `Its words: ${nameKeys.join(', ')}.`, 'Did you mean keyHeader?'],
    ['neutral,pth=art', 'no word "pth"', 'Did you mean path?'],
    ['neutral,path', 'path=VALUE', undefined],
    ['path=a,path=b', 'path twice', undefined],
    ['path=/art', 'expected a path segment such as img for "path"', undefined],
    ['keyHeader=', 'expected a header name', undefined],
    ['path=a,midjourney-proxy', 'no word "midjourney-proxy"', undefined],
  ])('%s is refused', (text, message, hint) => {
    expect(() => namesOf(text, '--names')).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(message), hint }),
    );
  });
});
