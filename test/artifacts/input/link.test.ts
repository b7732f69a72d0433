import { describe, expect, it } from 'vitest';
import { SaveError } from '../../../src/artifacts/failure.ts';
import { readDataUri } from '../../../src/artifacts/input/link.ts';
import { largestInput } from '../../../src/artifacts/inputs.ts';

const codeOf = (uri: string): string | number => {
  try {
    return readDataUri(uri).length;
  } catch (error) {
    if (error instanceof SaveError) return error.failure.code;
    throw error;
  }
};

describe('the bytes of a data URI', () => {
  it.each([
    ['data:,', ''],
    ['data:,a%00b', '610062'],
    ['data:,%ff%FF%2c', 'ffff2c'],
    ['data:,%zz%4', '257a7a2534'],
    ['data:,%%41%4%41% 1%', '254125344125203125'],
    ['data:;base64,', ''],
    ['data:;base64,AAE', '0001'],
    ['data:;base64 ,AAE', '0001'],
    ['data:; BASE64,AAE', '0001'],
    ['data:;base64,AAE%3D', '0001'],
    ['data:base64,AAE', '414145'],
    ['data:;base64;x=1,AAE', '414145'],
    ['data:image/png,a,b', '612c62'],
  ])('%s are %s', (uri, hex) => {
    expect(readDataUri(uri).toString('hex')).toBe(hex);
  });

  it.each(['data:;base64,*', 'data:;base64,A', 'data:', 'data:;base64'])('are none of %s', (uri) => {
    expect(codeOf(uri)).toBe('input.not-image');
  });

  it('begin behind a comma among the first 1024 characters', () => {
    expect(codeOf(`data:${'x'.repeat(1019)},a`)).toBe(1);
    expect(codeOf(`data:${'x'.repeat(1020)},a`)).toBe('input.not-image');
  });

  it('are as many as a request can show, and no more', () => {
    expect(codeOf(`data:,${'a'.repeat(largestInput)}`)).toBe(largestInput);
    expect(codeOf(`data:,${'a'.repeat(largestInput + 1)}`)).toBe('input.too-large');
    const base64 = (bytes: number): string => Buffer.alloc(bytes).toString('base64');
    expect(codeOf(`data:,${'%00'.repeat(largestInput)}`)).toBe(largestInput);
    expect(codeOf(`data:,${'%00'.repeat(largestInput)}a`)).toBe('input.too-large');
    expect(codeOf(`data:;base64,${base64(largestInput)}`)).toBe(largestInput);
    expect(codeOf(`data:;base64,${base64(largestInput + 1)}`)).toBe('input.too-large');
  });
});
