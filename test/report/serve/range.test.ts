import { describe, expect, it } from 'vitest';
import { rangeOf } from '../../../src/report/serve/http/artifact.ts';

describe('a range of bytes', () => {
  it.each([
    [undefined, undefined],
    ['bytes=0-9', { from: 0, to: 9 }],
    ['bytes=90-', { from: 90, to: 99 }],
    ['bytes=-10', { from: 90, to: 99 }],
    ['bytes=-1000', { from: 0, to: 99 }],
    ['bytes=50-1000', { from: 50, to: 99 }],
    ['bytes=100-', 'none'],
    ['bytes=-0', 'none'],
    ['bytes=9-3', undefined],
    ['bytes=0-1,5-6', undefined],
    ['bytes=-', undefined],
    ['lines=1-2', undefined],
  ] as const)('%s of 100 bytes', (header, range) => {
    expect(rangeOf(header, 100)).toEqual(range);
  });

  it('has no part of an empty file', () => {
    expect(rangeOf('bytes=0-', 0)).toBe('none');
    expect(rangeOf('bytes=-5', 0)).toBe('none');
  });
});
