import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { bytesOf, readCut, recorded } from '../streams.ts';

const lineEnds = ['\n', '\r\n', '\r'];

/** Comparable: of what broke, how it broke is not told by the cause. */
const plain = (end: ReturnType<typeof readCut>): unknown =>
  JSON.parse(JSON.stringify({ ...end, cause: undefined }));

// Lines of base64, JSON and pages hold no line break of their own, but for whole bodies, where they are white space.
const withLineEnds = (text: string, lineEnd: string): string => text.replaceAll('\n', lineEnd);

test.each(recorded)('reads "$what" to its end: $ends', ({ kind, text, ends }) => {
  expect(readCut(kind, bytesOf(text)).kind).toBe(ends);
});

describe('a stream that is cut into chunks', () => {
  const perStream = Math.ceil(3000 / recorded.length);
  test.each(recorded)('reads "$what" as it does unchunked, with each kind of line end', ({ kind, text }) => {
    const given = lineEnds.map((lineEnd) => bytesOf(withLineEnds(text, lineEnd)));
    const expected = given.map((bytes) => plain(readCut(kind, bytes)));
    const cutsOf = fc.oneof(
      fc.array(fc.nat({ max: 100_000 }), { maxLength: 12 }),
      // Every byte by itself.
      fc.constant('all' as const),
    );
    fc.assert(
      fc.property(fc.nat({ max: 2 }), cutsOf, (which, chosen) => {
        const bytes = given[which] ?? new Uint8Array();
        const cuts =
          chosen === 'all'
            ? Array.from(bytes, (_byte, i) => i)
            : chosen.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
        expect(plain(readCut(kind, bytes, cuts))).toEqual(expected[which]);
      }),
      { seed: 20_261_121, numRuns: perStream },
    );
  });

  test('gives the same reply with any line ends', () => {
    for (const { kind, text, ends } of recorded.filter((stream) => stream.ends === 'answer')) {
      const [lf, ...others] = lineEnds.map((lineEnd) =>
        plain(readCut(kind, bytesOf(withLineEnds(text, lineEnd)))),
      );
      expect(ends).toBe('answer');
      for (const other of others) expect(other).toEqual(lf);
    }
  });
});

test.each(lineEnds)(
  'a broken event is noticed at its empty line, in whatever chunks it comes, with %j',
  (lineEnd) => {
    const bytes = bytesOf(withLineEnds('data: {"broken\n\ndata', lineEnd));
    const oneByOne = Array.from(bytes, (_byte, at) => at);
    for (const cuts of [[], oneByOne, ...oneByOne.map((at) => [at])])
      expect(plain(readCut('generate', bytes, cuts))).toMatchObject({ kind: 'unusable' });
  },
);
