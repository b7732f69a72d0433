import { expect, it } from 'vitest';
import { variableKinds } from '../../../src/report/exports/variable-kinds.ts';
import { planOf } from '../../rig/pipeline-builder.ts';

it('a variable has the kind that holds each of its values exactly, else it is text', async () => {
  const kinds = {
    'whole: [1, -2, 9007199254740991]': 'integer',
    'parts: [1, 2.5]': 'number',
    'written: [1.50, 2]': 'number',
    'long: [1, 12345678901234567890]': 'text',
    'flags: [true, false]': 'boolean',
    'both: [true, 1]': 'text',
    'words: [a, 1]': 'text',
    'lists: [[1], { a: 2 }]': 'json',
    'mixed: [[1], 2]': 'text',
    'nothing: [null]': 'text',
    'some: [null, 7]': 'integer',
    'range: { from: 1, to: 2, step: 0.5 }': 'number',
  };
  for (const [axis, kind] of Object.entries(kinds)) {
    const [name = ''] = axis.split(':');
    const plan = await planOf(`
      matrix: { ${axis} }
      steps: { grid: { imagine: "a fox {{ ${name} | json }}" } }
    `);
    expect(await variableKinds(plan, {})).toEqual([[name, kind]]);
  }
});
