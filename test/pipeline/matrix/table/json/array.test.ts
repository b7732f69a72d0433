import { describe, expect, it } from 'vitest';
import { tableLimits } from '../../../../../src/pipeline/matrix/table/error.ts';
import { renderValue } from '../../../../../src/pipeline/values/value.ts';
import { parse } from '../../../diagnose.ts';
import { rowsOf, tableErrorIn } from '../../../table-rig.ts';

const list = `[
  { "scene": "dusk, \\"late\\" [1]", "size": { "w": 6.0, "tags": ["a", "]"] } },
  { "size": null,
    "scene": "dawn {" }, {"scene": "ö \\\\"}
]
`;

describe('a JSON table', () => {
  it.each([1, 2, 3, 7, 64, 100_000])('reads a list of objects, in chunks of %i bytes', async (chunk) => {
    const rows = await rowsOf('json', list, chunk);
    expect(rows.map(({ line }) => line)).toEqual([2, 3, 4]);
    expect(rows.map(({ values }) => [values['scene'], renderValue(values['size'] ?? null)])).toEqual([
      ['dusk, "late" [1]', '{"tags":["a","]"],"w":6.0}'],
      ['dawn {', ''],
      ['ö \\', ''],
    ]);
  });

  it('gives the same rows as the same objects on lines', async () => {
    const lines = ['{"id":9007199254740993,"x":{"y":[1,[]]}}', '{"x":"a\\\\"}', '{"id":-1.50}'];
    const asLines = await rowsOf('jsonl', lines.join('\n'));
    const asList = await rowsOf('json', `[${lines.join(' ,\r\n')}]`, 5);
    expect(asList).toEqual(asLines);
  });

  it.each([
    ['an object', '{"a":1}', 'table.not-object', 1, 1],
    ['lines of objects', '{"a":1}\n{"a":2}\n', 'table.not-object', 1, 1],
    ['an item that is no object', '[{"a":1},\n  2]', 'table.not-object', 2, 3],
    ['an item that is not JSON, where it stands', '[\n  {"a":1},\n  {"a":1,}\n]', 'table.syntax', 3, 10],
    ['a mistake on a later line of an item', '[{"a":1,\n  b: 2}]', 'table.syntax', 2, 3],
    ['a comma behind the last', '[{"a":1},\n]', 'table.syntax', 2, 1],
    ['a comma before the first', '[,{"a":1}]', 'table.syntax', 1, 2],
    ['a list that is never closed', '[{"a":1}', 'table.syntax', 1, 9],
    ['something behind the list', '[{"a":1}]\n[]', 'table.syntax', 2, 1],
    ['a member twice', '[{"a":1,\n"a":2}]', 'table.duplicate-column', 2, 1],
    ['a member that would be a prototype', '[{"__proto__":1}]', 'table.column-name', 1, 2],
    ['bytes that are not UTF-8', Buffer.from('[\n{"a":"\xff"}]', 'latin1'), 'table.encoding', 2, 1],
    ['an object without end', `[{"a":"${'x'.repeat(tableLimits.recordBytes)}"}]`, 'table.too-long', 1, 1],
    ['brackets without end', `[${'['.repeat(200_000)}`, 'table.syntax', 1, 200_002],
    ['an empty list', '[ ]', 'table.empty', 1, 1],
    ['nothing', ' \n', 'table.empty', 1, 1],
  ])('refuses %s', async (_, text, code, line, column) => {
    expect(await tableErrorIn('json', text)).toMatchObject({ code, line, column });
  });

  it('provides the rows of a pipeline, recognised by its ending', async () => {
    const text = 'name: t\nmatrix: { rows: t.json }\nsteps: { grid: { imagine: "{{ scene }}" } }\n';
    const { pipeline } = await parse(text, { 't.json': list });
    expect(pipeline?.matrix.axes[0]).toMatchObject({ format: 'json', columns: ['scene', 'size'] });
  });
});
