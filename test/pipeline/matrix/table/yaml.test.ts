import { describe, expect, it } from 'vitest';
import { renderValue } from '../../../../src/pipeline/values/value.ts';
import { rowsOf, tableErrorIn } from '../../table-rig.ts';

describe('a YAML table', () => {
  it('reads a list of mappings, with numbers as they are written', async () => {
    const rows = await rowsOf(
      'yaml',
      '# scenes\n- scene: dusk\n  weight: 6.0\n\n- { weight: 0x10, scene: yes }\n',
    );
    expect(rows.map(({ line }) => line)).toEqual([2, 5]);
    expect(rows.map(({ values }) => [values['scene'], renderValue(values['weight'] ?? null)])).toEqual([
      ['dusk', '6.0'],
      ['yes', '0x10'],
    ]);
  });

  it('expands aliases', async () => {
    const rows = await rowsOf('yaml', '- &first { medium: &ink { name: ink } }\n- medium: *ink\n- *first\n');
    expect(rows.map(({ values }) => values)).toEqual(
      Array.from({ length: 3 }, () => ({ medium: { name: 'ink' } })),
    );
  });

  it('merges the mappings after <<, and reads null for a member that a row lacks', async () => {
    const rows = await rowsOf(
      'yaml',
      '- &a { x: 1, y: 2 }\n- { <<: *a, y: 3 }\n- { y: 4 }\n- { y: 5, <<: [*a] }\n',
    );
    expect(rows.map(({ values }) => values)).toEqual([
      { x: 1, y: 2 },
      { x: 1, y: 3 },
      { x: null, y: 4 },
      { x: 1, y: 5 },
    ]);
  });

  const tenTimes = (item: string) => Array.from({ length: 10 }, () => item).join(', ');
  const bomb = [
    `- a: &a0 [${tenTimes('x')}]`,
    ...Array.from({ length: 7 }, (_, level) => `- a: &a${level + 1} [${tenTimes(`*a${level}`)}]`),
  ].join('\n');

  it.each([
    ['a mapping', 'a: 1\n', 'table.not-object', 1, 1],
    ['an item that is no mapping', '- a: 1\n- 2\n', 'table.not-object', 2, 3],
    ['a mistake in the YAML', '- a: [1\n', 'table.syntax', 2, 1],
    ['a tag of its own', '- a: !fetch x\n', 'table.syntax', 1, 13],
    ['a second document', '- a: 1\n---\n- a: 2\n', 'table.syntax', 2, 1],
    ['a member twice', '- a: 1\n  a: 2\n', 'table.duplicate-column', 2, 3],
    ['a member that would be a prototype', '- a: { __proto__: 1 }\n', 'table.column-name', 1, 8],
    ['a member whose name is a list', '- ? [a]\n  : 1\n', 'table.column-name', 1, 5],
    ['an alias inside what it repeats', '- a: &a [*a]\n', 'table.syntax', 1, 9],
    ['a merge of what is no mapping', '- { <<: 1 }\n', 'table.syntax', 1, 5],
    ['a row with another member', '- a: 1\n- b: 1\n', 'table.columns', 2, 1],
    ['an alias bomb', bomb, 'table.too-many', 1, 35],
    ['too many rows', '- a: 1\n'.repeat(10_001), 'table.too-many', 10_001, 3],
    ['too many bytes', `- a: ${'x'.repeat(5_000_000)}\n`, 'table.too-long', 1, 1],
    ['bytes that are not UTF-8', Buffer.from('- a: \xff\n', 'latin1'), 'table.encoding', 1, 1],
    ['nothing', '# nothing\n', 'table.empty', 1, 1],
    ['an empty list', '[]\n', 'table.empty', 1, 1],
  ])('refuses %s', async (_, text, code, line, column) => {
    expect(await tableErrorIn('yaml', text)).toMatchObject({ code, line, column });
  });
});
