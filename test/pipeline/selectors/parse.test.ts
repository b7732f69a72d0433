import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ButtonMatch, PathSegment, Selector } from '../../../src/pipeline/pipeline.ts';
import { globMatches } from '../../../src/pipeline/selectors/glob.ts';
import { selectorLimits } from '../../../src/pipeline/selectors/limits.ts';
import {
  formatPath,
  formatSelector,
  parsePath,
  parseSegment,
  parseSelector,
} from '../../../src/pipeline/selectors/parse.ts';
import { good, inText, marked, marksParts, scopeOf } from '../liquid-rig.ts';

const plainMatch = (match: ButtonMatch): string => {
  switch (match.kind) {
    case 'text':
      return `text ${match.text.source}`;
    case 'word':
      return `word ${match.word}`;
    case 'pattern':
    case 'wildcard':
      return `${match.kind} ${match.source}`;
  }
};
const plainSelector = ({ alternatives, optional, name }: Selector) => ({
  press: alternatives.map(plainMatch),
  optional,
  name,
});
const plainPath = (path: readonly PathSegment[]) => path.map(({ selectors }) => selectors.map(plainSelector));
const path = (text: string) => plainPath(good(parsePath(text, inText)));
const names = (text: string) => path(text).map((segment) => segment.map(({ name }) => name));

describe('a path', () => {
  test('has segments between arrows, and fans out', () => {
    expect(names('U1..U4 → Vary (Strong)')).toEqual([['U1', 'U2', 'U3', 'U4'], ['Vary (Strong)']]);
    expect(names('U1,U3->Zoom Out 1.5x -> V1')).toEqual([['U1', 'U3'], ['Zoom Out 1.5x'], ['V1']]);
    expect(names(' U2 .. U3 , V1 ')).toEqual([['U2', 'U3', 'V1']]);
    expect(names('U2..U2')).toEqual([['U2']]);
    expect(names('1..3')).toEqual([['1', '2', '3']]);
    expect(names('U9..U11')).toEqual([['U9', 'U10', 'U11']]);
  });

  test('has alternatives', () => {
    expect(path('Upscale (Subtle)  |  Upscale (2x)')).toEqual([
      [
        {
          press: ['text Upscale (Subtle)', 'text Upscale (2x)'],
          optional: false,
          name: 'Upscale (Subtle) | Upscale (2x)',
        },
      ],
    ]);
    expect(path('"A" | /b|c/ | reroll?')).toEqual([
      [{ press: ['text A', 'pattern b|c', 'word reroll'], optional: true, name: 'A | /b|c/ | reroll' }],
    ]);
  });

  test('reads words for buttons without a label, unless they are quoted', () => {
    expect(
      path('reroll, pan left, pan  right, pan up, pan down, "pan x", Reroll')[0]?.map(
        ({ press }) => press[0],
      ),
    ).toEqual([
      'word reroll',
      'word pan left',
      'word pan right',
      'word pan up',
      'word pan down',
      'text pan x',
      'text Reroll',
    ]);
    expect(path('"reroll"')[0]?.[0]).toEqual({ press: ['text reroll'], optional: false, name: 'reroll' });
    expect(path('prompt 3..prompt 4?, prompt 5, prompt  1 | 1️⃣')[0]).toEqual([
      { press: ['word prompt 3'], optional: true, name: 'prompt 3' },
      { press: ['word prompt 4'], optional: true, name: 'prompt 4' },
      { press: ['text prompt 5'], optional: false, name: 'prompt 5' },
      { press: ['word prompt 1', 'text 1️⃣'], optional: false, name: 'prompt 1 | 1️⃣' },
    ]);
  });

  test('has wildcards and patterns', () => {
    expect(path('U*')).toEqual([[{ press: ['wildcard U*'], optional: false, name: 'U*' }]]);
    expect(path('*?')).toEqual([[{ press: ['wildcard *'], optional: true, name: '*' }]]);
    expect(path('/upsample::2::/')).toEqual([
      [{ press: ['pattern upsample::2::'], optional: false, name: '/upsample::2::/' }],
    ]);
    expect(path('/a\\/b, c → d/?, U1')[0]?.map(({ name, optional }) => [name, optional])).toEqual([
      ['/a\\/b, c → d/', true],
      ['U1', false],
    ]);
  });

  test('reads everything in quotes as text', () => {
    expect(path('"Vary, -> → | .. * ?"? → \'it "is"\' → "say \\"a\\\\b\\" \\n"')).toEqual([
      [{ press: ['text Vary, -> → | .. * ?'], optional: true, name: 'Vary, → → | .. * ?' }],
      [{ press: ['text it "is"'], optional: false, name: 'it "is"' }],
      [{ press: ['text say "a\\b" \\n'], optional: false, name: 'say "a\\b" \\n' }],
    ]);
    expect(names('Don\'t → Vary "x"')).toEqual([["Don't"], ['Vary "x"']]);
  });

  test('keeps templates whole, and their result is one label', () => {
    const text =
      'U{{ n | plus: 1 }}, {% if a == "b, c" %}V1{% else %}V2{% endif %} → "{{ x | default: "a → b" }}, y"?';
    const [first, second] = good(parsePath(text, inText));
    const label = (selector: Selector | undefined, n: number | string) => {
      const [match] = selector?.alternatives ?? [];
      return match?.kind === 'text' ? match.text.render(scopeOf({ n, a: 'z', x: 'U1, U2' })) : match;
    };
    expect(label(first?.selectors[0], 1)).toBe('U2');
    expect(label(first?.selectors[1], 1)).toBe('V2');
    expect(label(second?.selectors[0], 1)).toBe('U1, U2, y');
    expect(names(text)).toEqual([
      ['U{{ n | plus: 1 }}', '{% if a == "b, c" %}V1{% else %}V2{% endif %}'],
      ['{{ x | default: "a → b" }}, y'],
    ]);
    expect(plainPath([good(parseSegment('{{ "U*" }}', inText))])[0]?.[0]?.press).toEqual(['text {{ "U*" }}']);
  });

  test('gives the positions of its parts', () => {
    const text = 'U1 →  A | B , "x\\"{{ v }}"';
    const [first, second] = good(parsePath(text, inText));
    const at = ({ position }: { position: { column: number; length: number } }) =>
      text.slice(position.column - 1, position.column - 1 + position.length);
    expect(at(first as PathSegment)).toBe('U1');
    expect(at(second as PathSegment)).toBe('A | B , "x\\"{{ v }}"');
    expect(second?.selectors.map(at)).toEqual(['A | B', '"x\\"{{ v }}"']);
    const match = second?.selectors[1]?.alternatives[0];
    expect(match?.kind === 'text' && match.text.variables.map(at)).toEqual(['v']);
  });

  test('formats in one spelling', () => {
    expect(names('Zoom   Out\t2x')).toEqual(names('"Zoom Out 2x"'));
    expect(names('cafe\u0301')).toEqual(names('caf\u00e9'));
  });
});

test('a path may be as large as its bounds, and no larger', () => {
  const code = (text: string): string | undefined => {
    const read = parsePath(text, inText);
    return read.ok ? undefined : read.error[0]?.code;
  };
  const fan = (size: number): string => Array.from({ length: size }, (_, at) => `B${at}`).join(', ');
  const { segments, selectors, branches } = selectorLimits;
  const rest = branches / selectors;
  expect([code(fan(selectors)), code(fan(selectors + 1))]).toEqual([undefined, 'path.too-many']);
  expect([code(`${fan(selectors)} → ${fan(rest)}`), code(`${fan(rest)} → ${fan(selectors)} → A, B`)]).toEqual(
    [undefined, 'path.too-many'],
  );
  const chain = (size: number): string => Array.from({ length: size }, () => 'U1').join(' → ');
  expect([code(chain(segments)), code(chain(segments + 1))]).toEqual([undefined, 'path.too-many']);
});

describe('an error in a path', () => {
  test.each([
    ['', [['path.empty', '']]],
    ['  ', [['path.empty', '  ']]],
    ['→ U1', [['path.dangling-arrow', '→']]],
    ['U1 ->', [['path.dangling-arrow', '->']]],
    ['U1 → U2 ->', [['path.dangling-arrow', '->']]],
    ['U1 → → U2', [['path.empty', ' ']]],
    ['U1,,U2', [['path.empty', '']]],
    ['U1,', [['path.empty', '']]],
    ['A |', [['path.empty', '']]],
    ['| A', [['path.empty', '']]],
    ['""', [['path.empty', '""']]],
    ['" "', [['path.empty', '" "']]],
    ['?', [['path.empty', '?']]],
    ['U1 → "abc', [['path.unclosed-quote', '"']]],
    ['U1 → {{ a', [['path.unclosed-template', '{{']]],
    ['"{% a', [['path.unclosed-template', '{%']]],
    ['/abc → U1', [['path.unclosed-pattern', '/']]],
    ['"a" b', [['path.after-quote', 'b']]],
    ['/a/ b c , U1', [['path.after-quote', 'b c']]],
    ['U1..V4', [['path.bad-range', 'U1..V4']]],
    ['U4..U1', [['path.bad-range', 'U4..U1']]],
    ['U1..', [['path.bad-range', 'U1..']]],
    ['U1...U4', [['path.bad-range', 'U1...U4']]],
    ['U01..U04', [['path.bad-range', 'U01..U04']]],
    ['U{{ a }}..U4', [['path.bad-range', 'U{{ a }}..U4']]],
    ['U1..U4 | V1', [['path.range-place', 'U1..U4']]],
    ['U1..U101', [['path.too-many', 'U1..U101']]],
    ['A | U*', [['path.wildcard-place', '*']]],
    ['U*, V*', [['path.wildcard-place', 'U*, V*']]],
    ['U1, U*', [['path.wildcard-place', 'U1, U*']]],
    ['U**', [['path.wildcard-place', '*']]],
    ['U{{ a }}*', [['path.wildcard-place', '*']]],
    ['U*1..U*2', [['path.wildcard-place', 'U*1..U*2']]],
    ['A? | B', [['path.optional-place', 'A?']]],
    ['U1, U1', [['path.duplicate', 'U1']]],
    ['U1..U3, "U2"', [['path.duplicate', '"U2"']]],
    ['A | A', [['path.duplicate', 'A']]],
    ['"*"', [['path.reserved', '"*"']]],
    ['/a(b/', [['path.bad-pattern', 'a(b']]],
    ['U1, /(a+)+/', [['path.unsafe-pattern', '+']]],
    ['U1 → {{ a | nope }}', [['template.unknown-filter', 'nope']]],
    ['"\\"\\"{{ a b }}"', [['template.syntax', 'b']]],
    [
      'U1..V2 → → "x',
      [
        ['path.bad-range', 'U1..V2'],
        ['path.empty', ' '],
        ['path.unclosed-quote', '"'],
      ],
    ],
  ])('%s', (text, diagnostics) => {
    expect(marked(text, parsePath(text, inText))).toEqual(diagnostics);
  });

  test.each([
    ['x'.repeat(selectorLimits.text + 1), 'path.too-long'],
    ['x'.repeat(selectorLimits.label + 1), 'path.too-long'],
    [`/${'x'.repeat(selectorLimits.pattern + 1)}/`, 'path.too-long'],
    [Array.from({ length: selectorLimits.segments + 1 }, () => 'A').join('→'), 'path.too-many'],
    [Array.from({ length: selectorLimits.selectors + 1 }, (_, n) => `A${n}`).join(','), 'path.too-many'],
    [Array.from({ length: selectorLimits.alternatives + 1 }, (_, n) => `A${n}`).join('|'), 'path.too-many'],
    ['U1..U100 → U1..U100 → U1, U2', 'path.too-many'],
  ])('is reported beyond a limit (%#)', (text, code) => {
    expect(marked(text, parsePath(text, inText)).map(([found]) => found)).toEqual([code]);
  });

  test('is reported a limited number of times, however long the text', () => {
    const text = '"x" y,'.repeat(1000);
    expect(marked(text, parsePath(text, inText))).toHaveLength(selectorLimits.diagnostics);
  });
});

describe('a single segment or selector', () => {
  test('is parsed like one of a path', () => {
    expect(plainPath([good(parseSegment('U1..U2, Custom Zoom?', inText))])).toEqual(
      path('U1..U2, Custom Zoom?'),
    );
    expect(plainSelector(good(parseSelector('Upscale (Subtle) | Upscale (2x)?', inText)))).toEqual(
      path('Upscale (Subtle) | Upscale (2x)?')[0]?.[0],
    );
    expect(good(parseSelector('U*', inText)).alternatives).toEqual([{ kind: 'wildcard', source: 'U*' }]);
    expect(good(parseSelector('U{{ steps.pick.json.best }}', inText)).alternatives[0]).toMatchObject({
      kind: 'text',
      text: { steps: [{ step: 'pick', path: ['json', 'best'] }] },
    });
  });

  test.each([
    ['U1 → U2', 'path.one-selector', '→'],
    ['U1, U2', 'path.one-selector', ','],
    ['U1..U4', 'path.one-selector', 'U1..U4'],
    ['', 'path.empty', ''],
    ['"x', 'path.unclosed-quote', '"'],
  ])('refuses %s as a click', (text, code, at) => {
    expect(marked(text, parseSelector(text, inText))).toContainEqual([code, at]);
  });

  test('refuses an arrow in a segment', () => {
    expect(marked('U1 -> U2', parseSegment('U1 -> U2', inText))).toEqual([['path.one-segment', '->']]);
  });
});

describe('any text', () => {
  const piece = fc.constantFrom(
    'U1',
    'U2',
    'Vary (Strong)',
    '→',
    '->',
    ',',
    '|',
    '..',
    '*',
    '?',
    '"',
    "'",
    '/',
    '\\',
    '{{',
    '}}',
    '{%',
    '%}',
    ' ',
    'a',
    '-',
    '{{ n }}',
    'reroll',
    'pan left',
    'prompt 1',
    '🔄',
    '\n',
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 14 }).map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
  );

  test('is a path that formats and parses back, or has errors within the text', () => {
    fc.assert(
      fc.property(text, (source) => {
        const read = parsePath(source, inText);
        for (const parse of [parseSegment, parseSelector]) parse(source, inText);
        const again = read.ok ? parsePath(formatPath(read.value), inText) : read;
        expect(again.ok && plainPath(again.value)).toEqual(read.ok && plainPath(read.value));
        expect(read.ok || marksParts(source, read.error)).toBe(true);
      }),
      { seed: 20_261_121, numRuns: 5000 },
    );
  });

  test('can be written as one label', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), (label) => {
        fc.pre(!/\{[{%]/.test(label) && !/^\s*(?:\*{1,2}\s*$|#)/.test(label) && label.trim() !== '');
        const quoted = `"${label.replace(/[\\"]/g, '\\$&')}"`;
        const selector = good(parseSelector(quoted, inText));
        expect(selector.alternatives.map(plainMatch)).toEqual([`text ${label}`]);
        expect(good(parseSelector(formatSelector(selector), inText)).alternatives.map(plainMatch)).toEqual([
          `text ${label}`,
        ]);
      }),
      { seed: 20_261_121, numRuns: 2000 },
    );
  });

  test('is not read beyond its limits, and errors are limited in number', () => {
    for (const part of ['{{', '{% "', '"{{ ', '/\\', 'a,', '-', '"\\"', '*.', 'U1..', '/a/ x']) {
      const text = part.repeat(selectorLimits.text);
      const beyond = parsePath(text, inText);
      expect(beyond.ok ? [] : beyond.error.map(({ code }) => code)).toEqual(['path.too-long']);
      const longest = parsePath(text.slice(0, selectorLimits.text), inText);
      const diagnostics = longest.ok ? [] : longest.error;
      expect(diagnostics.length).toBeGreaterThan(0);
      expect(diagnostics.length).toBeLessThanOrEqual(selectorLimits.diagnostics);
    }
  });
});

describe('globMatches', () => {
  test.each([
    ['U*', 'U1', true],
    ['U*', 'U', true],
    ['U*', 'V1', false],
    ['*', '', true],
    ['*', 'anything', true],
    ['*(*)', 'Vary (Strong)', true],
    ['*(*)', 'Vary', false],
    ['a*b*c', 'abbc', true],
    ['a*b*c', 'abcb', false],
    ['', '', true],
    ['', 'a', false],
    ['.*', 'ab', false],
    ['a*', 'a*', true],
  ])('says whether %s matches %s: %s', (glob, label, expected) => {
    expect(globMatches(glob, label)).toBe(expected);
  });

  test('agrees with the equivalent regular expression', () => {
    const letters = (max: number) =>
      fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: max }).map((all) => all.join(''));
    fc.assert(
      fc.property(letters(6), letters(10), (glob, label) => {
        const same = new RegExp(`^${glob.split('*').join('[^]*')}$`);
        expect(globMatches(glob, label)).toBe(same.test(label));
      }),
      { seed: 20_261_121, numRuns: 2000 },
    );
  });
});
