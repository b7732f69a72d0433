import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compilePattern,
  patternDiagnostic,
  patternSubject,
  patternWork,
} from '../../../src/pipeline/selectors/pattern.ts';
import { growthOf } from '../../expressions/growth.ts';

describe('a pattern', () => {
  test.each([
    'upsample::2::',
    '^MJ::JOB::upsample_v\\d.*_2x::1',
    'pan_(left|right)',
    '(?:low|high)_variation',
    'a?b?c{2}[^\\]x-z]+\\.\\/$',
    '\\bJOB\\b',
    '.*?x',
    'a{2,5}b{3,}',
  ])('%s is accepted', (source) => {
    expect(patternDiagnostic(source)).toBeUndefined();
    expect(compilePattern(source)).toBeInstanceOf(RegExp);
  });

  test.each([
    ['', 'path.empty', ''],
    ['(a+)+', 'path.unsafe-pattern', '+'],
    ['(a|b)*', 'path.unsafe-pattern', '*'],
    ['(?:ab){2}', 'path.unsafe-pattern', '{2}'],
    ['a**', 'path.unsafe-pattern', '*'],
    ['*a', 'path.unsafe-pattern', '*'],
    ['^+', 'path.unsafe-pattern', '+'],
    ['\\b*', 'path.unsafe-pattern', '*'],
    ['a*b*c*', 'path.unsafe-pattern', '*'],
    ['a?b?c?d?e?', 'path.unsafe-pattern', '?'],
    ['a|b|c|d|e|f', 'path.unsafe-pattern', '|'],
    ['(a)\\1', 'path.unsafe-pattern', '\\1'],
    ['\\p{L}', 'path.unsafe-pattern', '\\p'],
    ['(?=a)', 'path.unsafe-pattern', '(?='],
    ['(?<n>a)', 'path.unsafe-pattern', '(?<'],
    ['a{101}', 'path.unsafe-pattern', '{101}'],
    ['a{1,101}', 'path.unsafe-pattern', '{1,101}'],
    ['a{', 'path.bad-pattern', '{'],
    ['a{{2}', 'path.bad-pattern', '{'],
    ['[a', 'path.bad-pattern', '['],
    ['(a', 'path.bad-pattern', '(a'],
    ['a)', 'path.bad-pattern', 'a)'],
    ['a\\', 'path.bad-pattern', '\\'],
    ['a{3,2}', 'path.bad-pattern', 'a{3,2}'],
    ['x'.repeat(201), 'path.too-long', 'x'.repeat(201)],
  ])('%s is refused', (source, code, at) => {
    const diagnostic = patternDiagnostic(source);
    expect(diagnostic?.code).toBe(code);
    expect(diagnostic && source.slice(diagnostic.offset, diagnostic.offset + diagnostic.length)).toBe(at);
  });

  test('compiles if it is accepted, and its work is bounded', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '*',
      '+',
      '?',
      '|',
      '(',
      ')',
      '(?:',
      '[ab]',
      '{2}',
      '{1,3}',
      '\\w',
      '^',
      '$',
      '\\',
      '{',
      '[',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 16 }).map((parts) => parts.join('')),
        (source) => {
          if (patternDiagnostic(source) !== undefined) return;
          expect(compilePattern(source).source).toBe(source);
          // Four choices double the work, two open repeats and the search itself multiply it by the length.
          expect(patternWork(source)(patternSubject)).toBeLessThanOrEqual(16 * (patternSubject + 1) ** 3);
          const growth = growthOf(source, 'u');
          expect(growth.linear ? '' : growth.why).not.toContain('in two ways');
        },
      ),
      { seed: 20_261_121, numRuns: 2000 },
    );
  });
});
