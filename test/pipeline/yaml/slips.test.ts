import { describe, expect, it } from 'vitest';
import { parse, placed } from '../diagnose.ts';

describe('a typing error in YAML is reported where it was made', () => {
  it.each([
    [
      'a key below a value',
      'steps:\n  grid:\n    imagine: a fox\n     path: U1\n',
      'yaml.syntax 5:6',
      'Is "path" meant to stand beside "imagine"? Indent both alike.',
    ],
    [
      'a key between two columns',
      'steps:\n  grid:\n    imagine: a fox\n   path: U1\n',
      'yaml.syntax 5:4',
      'Indent it like "imagine" (4 spaces), or like "grid" (2). Is it meant to be inside "grid"?',
    ],
    [
      'a list that is not closed',
      'matrix:\n  animal: [fox, owl\nsteps:\n  grid:\n    imagine: a\n',
      'yaml.syntax 3:11',
      'End the list with ].',
    ],
    [
      'a mapping that is not closed',
      'matrix:\n  seed: { from: 1, to: 4\nsteps:\n  grid:\n    imagine: a\n',
      'yaml.syntax 3:9',
      'End the mapping with }.',
    ],
    [
      'a text with a colon',
      'steps:\n  grid:\n    imagine: portrait: a fox\n',
      'yaml.syntax 4:14',
      'Put a text with ": " in quotes. Write "portrait: a fox".',
    ],
    [
      'a key without its colon',
      'steps:\n  grid:\n    imagine: a fox\n    path U1\n  b: { from: grid, click: U1 }\n',
      'yaml.syntax 5:5',
      'Put a colon and a space after "path": path: U1.',
    ],
    ['tabs', 'steps:\n\tgrid: { imagine: a }\n', 'yaml.tab 3:1', 'Use spaces, two for each level.'],
  ])('%s', async (_what, text, place, hint) => {
    const { diagnostics } = await parse(`name: t\n${text}`);
    expect(diagnostics.map(placed)).toEqual([place]);
    expect(diagnostics[0]?.hint).toBe(hint);
  });
});
