import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { selectorLimits } from '../../../src/pipeline/selectors/limits.ts';
import {
  formatAddress,
  formatBranch,
  parseAddress,
  parsePath,
} from '../../../src/pipeline/selectors/parse.ts';
import { good, inText, marked, marksParts } from '../liquid-rig.ts';

const read = (text: string): readonly string[] => {
  const { step, segments } = good(parseAddress(text, inText));
  return [step, ...segments];
};

describe('an address', () => {
  test.each([
    ['grid', ['grid']],
    [' grid / U1 ', ['grid', 'U1']],
    ['grid/U1/Vary (Strong)', ['grid', 'U1', 'Vary (Strong)']],
    ['grid/*', ['grid', '*']],
    ['grid/U1/**', ['grid', 'U1', '**']],
    ['best/Upscale (Subtle)  |  "Upscale (2x)"', ['best', 'Upscale (Subtle) | Upscale (2x)']],
    ['grid//upsample::2::/', ['grid', '/upsample::2::/']],
    ['grid//a\\/b/ | U1/x', ['grid', '/a\\/b/ | U1', 'x']],
    ['grid/"Zoom 1/2"/\'V\'', ['grid', 'Zoom 1/2', 'V']],
    ['grid/pan  left', ['grid', 'pan left']],
    ['words/prompt 2/🔄', ['words', 'prompt 2', '🔄']],
    ['grid/"a -> b"', ['grid', 'a → b']],
    ['grid/U{{ a/b }}/{{ "x/*" }}', ['grid', 'U{{ a/b }}', '{{ "x/*" }}']],
    ['"my step"/U1', ['my step', 'U1']],
  ])('%s', (text, parts) => {
    expect(read(text)).toEqual(parts);
  });

  test('keeps its text and its place', () => {
    expect(good(parseAddress(' grid/U1', inText))).toMatchObject({
      source: ' grid/U1',
      position: { column: 1, length: 8 },
    });
  });

  test.each([
    ['', [['address.step', '']]],
    ['/U1', [['path.unclosed-pattern', '/']]],
    ['a | b/c', [['address.step', 'a | b']]],
    ['a?/c', [['address.step', 'a?']]],
    ['grid/', [['path.empty', '']]],
    ['grid/A |', [['path.empty', '']]],
    ['grid//U1', [['path.unclosed-pattern', '/']]],
    ['grid/*/U1', [['address.star', '*']]],
    ['grid/* | U1', [['address.star', '*']]],
    ['grid/U*', [['address.several', '*']]],
    ['grid/U1..U2', [['address.several', 'U1..U2']]],
    ['grid/U1, U2', [['address.several', ',']]],
    ['grid/U1?', [['address.optional', 'U1?']]],
    ['grid/U1 → V', [['address.separator', '→']]],
    ['grid/"*"', [['path.reserved', '"*"']]],
    ['grid/"U1', [['path.unclosed-quote', '"']]],
    ['grid/{{ a', [['path.unclosed-template', '{{']]],
    [
      `grid${'/x'.repeat(selectorLimits.segments + 1)}`,
      [['path.too-many', `grid${'/x'.repeat(selectorLimits.segments + 1)}`]],
    ],
    ['x'.repeat(selectorLimits.text + 1), [['path.too-long', 'x'.repeat(selectorLimits.text + 1)]]],
  ])('%s is an error', (text, diagnostics) => {
    expect(marked(text, parseAddress(text, inText))).toEqual(diagnostics);
  });
});

const piece = fc.constantFrom(
  'U1',
  'Vary',
  '/',
  '→',
  ',',
  '|',
  '..',
  '*',
  '**',
  '?',
  '"',
  "'",
  '\\',
  '{{ n }}',
  '{{',
  ' ',
  'grid',
  '🔄',
  '/x/',
);
const text = fc.oneof(
  fc.array(piece, { maxLength: 12 }).map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
);

test('any text is an address that formats and parses back, or has errors within the text', () => {
  fc.assert(
    fc.property(text, (source) => {
      const result = parseAddress(source, inText);
      const names = (read: typeof result) => read.ok && [read.value.step, ...read.value.segments];
      const again = result.ok ? parseAddress(formatAddress(result.value), inText) : result;
      expect(names(again)).toEqual(names(result));
      expect(result.ok || marksParts(source, result.error)).toBe(true);
    }),
    { seed: 20_261_121, numRuns: 5000 },
  );
});

test('every branch of a path has its own address', () => {
  fc.assert(
    fc.property(text, (source) => {
      const path = parsePath(source, inText);
      if (!path.ok) return;
      for (const { selectors } of path.value) {
        for (const { name, alternatives } of selectors) {
          if (alternatives[0]?.kind === 'wildcard') continue;
          expect(read(`grid/${formatBranch([name, name])}`)).toEqual(['grid', name, name]);
        }
      }
    }),
    { seed: 20_261_121, numRuns: 5000 },
  );
});

test('different branches have different texts', () => {
  expect(formatBranch([])).toBe('');
  expect(formatBranch(['U2', 'Vary (Strong)'])).toBe('U2/Vary (Strong)');
  expect(formatBranch(['a/b'])).toBe('"a/b"');
  expect(formatBranch(['a', 'b'])).toBe('a/b');
  expect(formatBranch(['/upsample::2::/'])).toBe('/upsample::2::/');
});
