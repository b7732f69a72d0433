import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manifestColumns } from '../../src/manifest/columns.ts';
import { sheetBounds, spreadsheetFields } from '../../src/manifest/spreadsheet.ts';
import { writeManifest } from '../../src/manifest/write.ts';
import { readManifest } from '../rig/manifest.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { planOf } from '../rig/pipeline-builder.ts';

const inColumn = (column: string, field: string): string => spreadsheetFields([column], [field])[0] ?? '';
const inText = (field: string): string => inColumn('text', field);

describe('a field of the copy for spreadsheets', () => {
  it.each(['=1+1', '+1 fox', '-a', '@x', '\tx', '\rx', '\nx', ' =1', '\u200b=1', '＝1', '＋a', '－a', '＠x'])(
    'is text if it would be a formula: %j',
    (field) => {
      expect(inText(field)).toBe(`'${field}`);
      expect(inColumn('task_id', field)).toBe(`'${field}`);
    },
  );

  it.each([
    '007',
    '6.0',
    '1.50',
    '12345678901234567890',
    '0.1234567890123456',
    '+49 30 1234',
    '1e5',
    '3E10',
    '1-2',
    '3/4',
    '1 1/2',
    '2026-11-22',
    '22.11.2026',
    '12:30',
    '50%',
    '$5',
    '5 €',
    '(5)',
    '1,000',
    '1,5',
    "1'000",
    'MARCH1',
    'Sept2',
    '1-Dec',
    'Dec 5, 2026 3:30 pm',
    '5 p',
    'true',
    'FALSE',
    ' 12',
    '１２',
    '.5',
    '5.',
    '-0',
  ])('is text where it would be another number, a date or a truth value: %j', (field) => {
    expect(inText(field)).toBe(`'${field}`);
    expect(inColumn('var.x', field)).toBe(`'${field}`);
  });

  it.each(['0', '12', '-1', '0.25', '-0.5', '123456789012345', '1.23456789012345'])(
    'stays a number if none of its digits is lost: %j',
    (field) => {
      expect(inText(field)).toBe(field);
      expect(inColumn('cost', field)).toBe(field);
    },
  );

  it.each(['task_id', 'parent_task_id', 'custom_id', 'request_id', 'sha256', 'job'])(
    'is text in the id column %s, even with few digits',
    (column) => {
      expect(inColumn(column, '12')).toBe("'12");
      expect(inColumn(column, '1763849999123456')).toBe("'1763849999123456");
      expect(inColumn(column, '12345678901234567890123456789e12')).toBe("'12345678901234567890123456789e12");
      expect(inColumn(column, '3f9c21d0')).toBe('3f9c21d0');
    },
  );

  it.each([
    '',
    'fox',
    'U1',
    'U2/Vary (Strong)',
    '🔄',
    'a fox, 3 owls',
    'images/3f/3f9c-1.png',
    'v6.1',
    '5 foxes',
  ])('is as it was where a spreadsheet reads it so: %j', (field) => {
    expect(inText(field)).toBe(field);
  });

  it('keeps a time of the manifest unchanged', () => {
    expect(inColumn('submitted_at', '2026-11-22T21:36:00.123Z')).toBe('2026-11-22T21:36:00.123Z');
  });

  it('is cut to the limit of a cell, with a note', () => {
    const fits = 'a'.repeat(sheetBounds.characters);
    expect(inText(fits)).toBe(fits);
    const cut = inText('🦊'.repeat(20_000));
    expect(cut.length).toBeLessThanOrEqual(sheetBounds.characters);
    expect(cut).toMatch(/^(?:🦊)+… \[cut here: manifest\.csv has the whole text\]$/u);
    expect(inText(`=${fits}`)).toHaveLength(sheetBounds.characters);
  });

  it('can be restored by removing one leading apostrophe, whatever it contains', () => {
    const field = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.stringMatching(/^[\s0-9'=+\-@.,:/e%$]*$/),
      fc.float().map(String),
    );
    fc.assert(
      fc.property(fc.constantFrom(...manifestColumns), field, (column, text) => {
        expect(inColumn(column, text).replace(/^'/, '')).toBe(text);
      }),
    );
  });
});

it('the copy has a byte order mark and the manifest none; columns and rows are the same', async () => {
  const plan = await planOf(`
    matrix: { word: [füchse, "=1+1", "0012"], n: [-5] }
    steps: { grid: { imagine: "{{ word }}" } }
  `);
  const folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
  try {
    const shared = { plan, selection: {}, reader: memoryStore().reader };
    const [exact, copy] = [join(folder, 'manifest.csv'), join(folder, 'sheet.csv')];
    const totals = await writeManifest({ ...shared, file: exact });
    expect(
      await writeManifest({ ...shared, file: copy, forSpreadsheet: true, escapeFormulas: true }),
    ).toEqual(totals);
    expect((await readFile(copy)).subarray(0, 12).toString('hex')).toBe(
      `efbbbf${Buffer.from('file_name').toString('hex')}`,
    );
    expect((await readFile(exact)).subarray(0, 9).toString()).toBe('file_name');
    const rows = await readManifest(copy);
    expect(rows.map((row) => row['prompt'])).toEqual(['füchse', "'=1+1", "'0012"]);
    // A number to count with.
    expect(rows.map((row) => row['var.n'])).toEqual(['-5', '-5', '-5']);
    const restored = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, field]) => [name, field.replace(/^'/, '')])),
    );
    expect(restored).toEqual(await readManifest(exact));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('a secret at the cut is not in the copy', async () => {
  const secret = 'sk-0123456789abcdef';
  const plan = await planOf('steps: { grid: { imagine: fox } }');
  const folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
  try {
    const file = join(folder, 'sheet.csv');
    for (const before of [32_700, 32_710, 32_715]) {
      const text = `${'a'.repeat(before)} ${secret} ${'b'.repeat(99)}`;
      const long = {
        ...plan,
        resolve: (...given: Parameters<typeof plan.resolve>) =>
          [...plan.resolve(...given)].map((slot) => ({ ...slot, prompt: text })),
      };
      await writeManifest({
        plan: long,
        selection: {},
        reader: memoryStore().reader,
        file,
        forSpreadsheet: true,
        redact: (field) => field.replaceAll(secret, '[secret]'),
      });
      const written = await readFile(file, 'utf8');
      expect(written).toContain('[cut here');
      expect(written).not.toContain('sk-0');
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
