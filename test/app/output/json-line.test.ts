import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonLine } from '../../../src/app/output/json-line.ts';

it('jsonLine returns one line without terminal control characters that parses to the same value', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(
        '\u009b',
        '\u0085',
        '\u007f',
        '\u202e',
        '\u2066',
        '\u200f',
        '\u061c',
        '\ufeff',
        '\u2028',
        '\n',
        '\\',
      ),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  });
  fc.assert(
    fc.property(fc.dictionary(text, text), (value) => {
      const line = jsonLine(value);
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u);
      expect(line.endsWith('\n')).toBe(true);
    }),
  );
});
