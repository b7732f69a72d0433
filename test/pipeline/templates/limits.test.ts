import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileCondition, compileTemplate } from '../../../src/pipeline/templates/compile.ts';
import { templateLimits } from '../../../src/pipeline/templates/limits.ts';
import { comesTo, inText, marked, marksParts, render, scopeOf, thrown } from '../liquid-rig.ts';

describe('a template is bounded', () => {
  test.each([
    ['a long range', '{% for i in (1..10001) %}{% endfor %}', 'template.limit'],
    [
      'a range that would count for ever',
      '{% for i in (9007199254740992..9007199254740994) %}{% endfor %}',
      'template.range',
    ],
    ['a range without numbers', '{{ ("a".."c") | join }}', 'template.range'],
    ['a range to infinity', '{% assign n = 1 | divided_by: 0 %}{{ (1..n) | join }}', 'template.range'],
    [
      'loops in loops',
      '{% for i in (1..5000) %}{% for j in (1..5000) %}{% endfor %}{% endfor %}',
      'template.limit',
    ],
    [
      'loops in loops whose bodies end at once',
      '{% for i in (1..100) %}{% for j in (1..1000) %}{% for k in (1..5) %}{% break %}{% endfor %}{% endfor %}{% endfor %}',
      'template.limit',
    ],
    [
      'a text that doubles',
      '{% assign a = "xxxxxxxx" %}{% for i in (1..40) %}{% assign a = a | append: a %}{% endfor %}',
      'template.limit',
    ],
    ['a long output', '{% for i in (1..2000) %}{{ t }}{% endfor %}', 'template.limit'],
    [
      'a long capture',
      '{% capture c %}{% for i in (1..2000) %}{{ t }}{% endfor %}{% endcapture %}',
      'template.limit',
    ],
    [
      'conditions of many comparisons',
      `{% for i in (1..100) %}{% for j in (1..200) %}{% if ${Array.from({ length: 16 }, (_, at) => `i == ${at} and j == ${at}`).join(' or ')} %}{% endif %}{% endfor %}{% endfor %}`,
      'template.limit',
    ],
    [
      'many filters on short values',
      `{% for i in (1..100) %}{% for j in (1..100) %}{{ j${' | plus: 1'.repeat(12)} }}{% endfor %}{% endfor %}`,
      'template.limit',
    ],
    [
      'members found by what they hold, again and again',
      '{% for i in (1..500) %}{% assign found = o | where: "a", 3 %}{% endfor %}',
      'template.limit',
    ],
    [
      'searching a long list again and again',
      '{% for i in (1..5000) %}{% if l contains i %}{% endif %}{% endfor %}',
      'template.limit',
    ],
    [
      'a list that grows',
      '{% assign a = l %}{% for i in (1..40) %}{% assign a = a | concat: a %}{% endfor %}',
      'template.limit',
    ],
  ])('%s', (_, source, code) => {
    const o = Array.from({ length: 1000 }, (_, a) => ({ a }));
    const vars = { t: 'x'.repeat(1000), l: Array.from({ length: 1000 }, () => 'x'), o };
    expect(thrown(() => render(source, vars)).code).toBe(code);
  });

  test('refuses a plain output that is too long', () => {
    const t = 'x'.repeat(600_000);
    expect(render('{{ t }}', { t })).toHaveLength(600_000);
    expect(thrown(() => render('{{ t }}{{ t }}', { t })).code).toBe('template.limit');
  });

  test.each([
    ['a value', '{{ t }}'],
    ['what a filter makes of a value', '{{ s | replace: "", s }}'],
  ])('limits the text of a template that is one output: %s', (_, source) => {
    const compiled = compileTemplate(source, inText);
    if (!compiled.ok) throw new Error('It compiles.');
    const evaluated = (length: number) =>
      compiled.value.evaluate(scopeOf({ t: 'x'.repeat(length ** 2), s: 'x'.repeat(length) }));
    expect(evaluated(900)).toHaveLength(810_000);
    expect(thrown(() => evaluated(1100)).code).toBe('template.limit');
  });

  test('accepts a range of the permitted length', () => {
    expect(render('{{ (1..10000) | size }}')).toBe('10000');
    const long = '{% for i in (1..10000) %}{% if i > 0 %}{{ i }} and {{ i }}{% endif %}{% endfor %}';
    expect(render(long)).toHaveLength(127_788);
    expect(render('{% for i in (3..1) %}{{ i }}{% else %}none{% endfor %}')).toBe('none');
    expect(render('{% for i in (a..b) %}{{ i }}{% endfor %}', { a: '2', b: 4 })).toBe('234');
  });

  test.each([
    ['nested tags', '{% if a %}'.repeat(3000) + '{% endif %}'.repeat(3000), 'template.too-deep'],
    [
      'nested tags in the liquid tag',
      `{% liquid\n${'if a\n'.repeat(3000)}${'endif\n'.repeat(3000)}%}`,
      'template.too-deep',
    ],
    ['nested brackets', `{{ a${'[a'.repeat(20_000)} }}`, 'template.too-deep'],
    ['nested parentheses', `{{ ${'('.repeat(50_000)} }}`, 'template.too-deep'],
    ['text with tags', `{{ a }}${'x'.repeat(templateLimits.source)}`, 'template.too-long'],
    ['text', 'x'.repeat(templateLimits.literal + 1), 'template.too-long'],
  ])('%s', (_, source, code) => {
    expect(marked(source, compileTemplate(source, inText)).map(([found]) => found)).toContain(code);
  });

  test('limits the number of errors', () => {
    const source = '{{ a b }}'.repeat(5000);
    expect(marked(source, compileTemplate(source, inText))).toHaveLength(templateLimits.diagnostics);
    const tags = '{% x %}'.repeat(5000);
    expect(marked(tags, compileTemplate(tags, inText))).toHaveLength(templateLimits.diagnostics);
  });
});

describe('any text', () => {
  const pieces = fc.constantFrom(
    '{{',
    '}}',
    '{%',
    '%}',
    '{{-',
    '-%}',
    ' ',
    '\n',
    'a',
    'b.c',
    'steps',
    '.x',
    '[',
    ']',
    '(',
    ')',
    '..',
    '"',
    "'",
    '\\',
    '|',
    ',',
    ':',
    '=',
    '==',
    '>',
    'and',
    'not',
    'contains',
    '1',
    '6.0',
    '-',
    'nil',
    'if',
    'endif',
    'for',
    'in',
    'endfor',
    'assign',
    'capture',
    'endcapture',
    'case',
    'when',
    'else',
    'cycle',
    'liquid',
    'raw',
    'endraw',
    'comment',
    'echo',
    'upcase',
    'default',
    'join',
    '#',
  );
  const source = fc.oneof(
    fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join('')),
    fc.array(pieces, { maxLength: 12 }).map((parts) => `{{ ${parts.join(' ')} }}`),
    fc.array(pieces, { maxLength: 12 }).map((parts) => `{% ${parts.join(' ')} %}`),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
  );
  const scope = scopeOf({ a: 'fox', b: { c: [1, 2] } }, { steps: { x: {} } });

  test('compiles to a template or to errors within the text, and renders to text or a coded error', () => {
    fc.assert(
      fc.property(source, (text) => {
        const result = compileTemplate(text, inText);
        const fine = result.ok
          ? /^(?:string|template\..*)$/.test(comesTo(() => result.value.render(scope)))
          : marksParts(text, result.error);
        expect(fine).toBe(true);
      }),
      { seed: 20_261_121, numRuns: 3000 },
    );
  });

  test('behaves the same as a condition', () => {
    fc.assert(
      fc.property(source, (text) => {
        const result = compileCondition(text, inText);
        const fine = result.ok
          ? /^(?:boolean|template\..*)$/.test(comesTo(() => result.value.holds(scope)))
          : marksParts(text, result.error);
        expect(fine).toBe(true);
      }),
      { seed: 20_261_121, numRuns: 3000 },
    );
  });
});
