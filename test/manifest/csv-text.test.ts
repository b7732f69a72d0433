import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvText } from '../../src/manifest/row-text.ts';

it('rows become the same bytes as from the CSV library, with and without escaped formulas', () => {
  const field = fc.oneof(
    fc.string(),
    fc
      .array(fc.constantFrom('a', ',', '"', '\r', '\n', '\r\n', ' ', '=', "'", 'ä'), { maxLength: 6 })
      .map((parts) => parts.join('')),
  );
  const records = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 4 });
  fc.assert(
    fc.property(records, fc.boolean(), (rows, escapeFormulas) => {
      const expected = stringify(rows, {
        record_delimiter: '\r\n',
        quote_record_delimiter: true,
        escape_formulas: escapeFormulas,
      });
      expect(csvText(rows, escapeFormulas)).toBe(expected);
    }),
    { numRuns: 1000 },
  );
});
