import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern, patternMistake, patternSubject } from '../../src/pipeline/selector-pattern.ts';

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
    expect(patternMistake(source)).toBeUndefined();
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
    const mistake = patternMistake(source);
    expect(mistake?.code).toBe(code);
    expect(mistake && source.slice(mistake.offset, mistake.offset + mistake.length)).toBe(at);
  });

  test('that is accepted compiles, and matches the worst text soon', () => {
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
    const worst = ['a', 'ab', 'b'].map(
      (part) => `${part.repeat(patternSubject).slice(0, patternSubject - 1)}!`,
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 16 }).map((parts) => parts.join('')),
        (source) => {
          if (patternMistake(source) !== undefined) return;
          const pattern = compilePattern(source);
          const begun = performance.now();
          for (const subject of worst) pattern.test(subject);
          // The bound allows some hundred million steps; an exponential pattern would need more than there is time.
          expect(performance.now() - begun).toBeLessThan(5000);
        },
      ),
      { seed: 20_261_121, numRuns: 2000 },
    );
  });
});
