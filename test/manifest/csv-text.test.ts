import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvText, RowText } from '../../src/manifest/row-text.ts';
import { manifestRows } from '../../src/manifest/rows.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { planOf } from '../rig/pipeline-builder.ts';

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

it('the text of a manifest is masked where any of its parts was', async () => {
  const plan = await planOf(
    '{ matrix: { word: [secret, fox] }, steps: { grid: { imagine: "{{ word }}" } } }',
  );
  const text = new RowText(plan.matrix.variables, {
    redact: (part) => part.replaceAll('secret', '[secret]'),
  });
  const seen: boolean[] = [];
  for await (const row of manifestRows(plan, {}, memoryStore().reader)) {
    text.add(row);
    expect(text.take()).not.toMatch(/,secret/);
    seen.push(text.result().isMasked);
  }
  expect(seen).toEqual([true, true]);
  expect(text.take()).toBe('');
});
