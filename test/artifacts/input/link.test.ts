import { describe, expect, it } from 'vitest';
import { SaveError } from '../../../src/artifacts/failure.ts';
import { readDataUri } from '../../../src/artifacts/input/link.ts';
import { largestInput } from '../../../src/artifacts/inputs.ts';

const codeOf = (uri: string, maxBytes?: number): string | number => {
  try {
    return readDataUri(uri, maxBytes).length;
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
  ])('of %s are %s', (uri, hex) => {
    expect(readDataUri(uri).toString('hex')).toBe(hex);
  });

  it.each(['data:;base64,*', 'data:;base64,A', 'data:', 'data:;base64'])('are invalid in %s', (uri) => {
    expect(codeOf(uri)).toBe('input.not-image');
  });

  it('begin after a comma among the first 1024 characters', () => {
    expect(codeOf(`data:${'x'.repeat(1019)},a`)).toBe(1);
    expect(codeOf(`data:${'x'.repeat(1020)},a`)).toBe('input.not-image');
  });

  it('are limited in number', () => {
    const most = (uri: string) => codeOf(uri, 999);
    const base64 = (bytes: number): string => Buffer.alloc(bytes).toString('base64');
    expect([most(`data:,${'a'.repeat(999)}`), most(`data:,${'a'.repeat(1000)}`)]).toEqual([
      999,
      'input.too-large',
    ]);
    expect(most(`data:,${'%00'.repeat(999)}`)).toBe(999);
    expect(most(`data:,${'%00'.repeat(999)}a`)).toBe('input.too-large');
    expect(most(`data:,${'%00'.repeat(998)}aa`)).toBe('input.too-large');
    expect(most(`data:;base64,${base64(999)}`)).toBe(999);
    expect(most(`data:;base64,${base64(1000)}`)).toBe('input.too-large');
  });

  it('are by default as many as a request can show', () => {
    expect(largestInput).toBe(20 * 1024 * 1024);
    const base64 = (bytes: number): string => Buffer.alloc(bytes).toString('base64');
    expect(codeOf(`data:;base64,${base64(largestInput)}`)).toBe(largestInput);
    expect(codeOf(`data:;base64,${base64(largestInput + 1)}`)).toBe('input.too-large');
  });
});
