import { describe, expect, it } from 'vitest';
import { suggestion } from '../../../src/pipeline/diagnostics/did-you-mean.ts';

describe('a hint for an unknown word', () => {
  it.each([
    ['vars', ['var'], 'variables', 'Did you mean "var"?'],
    ['animal', [], 'variables', 'There are no variables.'],
    ['animal', ['repeat'], 'variables', 'The only variable is "repeat".'],
    ['a', ['repeat'], 'variables of the matrix', 'The only variable of the matrix is "repeat".'],
    ['V1', ['Zoom'], 'branches there', 'The only branch there is "Zoom".'],
    ['pick', ['grid'], 'other steps', 'The only other step is "grid".'],
    ['animal', ['repeat', 'seed'], 'variables', 'The variables are "repeat", "seed".'],
  ])('%s of %j', (word, candidates, what, hint) => {
    expect(suggestion(word, candidates, what)).toBe(hint);
  });
});
