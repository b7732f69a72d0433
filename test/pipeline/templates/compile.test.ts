import { describe, expect, test } from 'vitest';
import { compileTemplate } from '../../../src/pipeline/templates/compile.ts';
import { inText, marked, render, scopeOf, template, thrown, written } from '../liquid-rig.ts';

describe('a template renders', () => {
  test('text without tags unchanged, braces included', () => {
    expect(render('a {red, green} fox % 100 }} %}')).toBe('a {red, green} fox % 100 }} %}');
    expect(render('')).toBe('');
  });

  test('scalars as they were written', () => {
    const vars = { a: 'fox', b: written('6.0'), c: 7, d: true, e: null, f: written('1e3') };
    expect(render('{{ a }}|{{ b }}|{{ c }}|{{ d }}|{{ e }}|{{ f }}', vars)).toBe('fox|6.0|7|true||1e3');
    // The same through liquidjs itself, which a tag brings in.
    expect(render('{% # %}{{ a }}|{{ b }}|{{ c }}|{{ d }}|{{ e }}|{{ f }}', vars)).toBe(
      'fox|6.0|7|true||1e3',
    );
  });

  test('numbers in the template as they are written', () => {
    expect(render('{% assign v = 6.0 %}{{ v }} {{ x | default: 1.50 }} {{ v | plus: 1 }}', { x: null })).toBe(
      '6.0 1.50 7',
    );
  });

  test('members, indexes, sizes', () => {
    const vars = { m: { name: 'ink', 'a b': 1 }, l: ['x', 'y'], k: 'name', i: 1 };
    expect(
      render(
        '{{ m.name }}{{ m["a b"] }}{{ m[k] }}{{ l[0] }}{{ l[i] }}{{ l[-1] }}{{ l.size }}{{ l.first }}',
        vars,
      ),
    ).toBe('ink1inkxyy2x');
  });

  test('repeat and the results of steps', () => {
    const rest = { repeat: 3, steps: { pick: { json: { best: 2 } } } };
    expect(render('{{ repeat }}/{{ steps.pick.json.best }}', {}, rest)).toBe('3/2');
  });

  test('control flow, filters, captures and the liquid tag', () => {
    expect(render('{% for i in (1..3) %}{{ i }}{% unless forloop.last %}, {% endunless %}{% endfor %}')).toBe(
      '1, 2, 3',
    );
    expect(render('{% capture c %}{{ a | upcase }}!{% endcapture %}{{ c }}{{ c }}', { a: 'fox' })).toBe(
      'FOX!FOX!',
    );
    expect(render('{% liquid\n assign q = a | upcase\n echo q\n%}', { a: 'fox' })).toBe('FOX');
    expect(render('{% raw %}{{ a }}{% endraw %}')).toBe('{{ a }}');
    expect(render('{% case a %}{% when "owl" %}o{% when "fox", "wolf" %}f{% endcase %}', { a: 'fox' })).toBe(
      'f',
    );
  });

  test('a falsy value that a tag gives', () => {
    expect(render('{% for i in (1..3) %}{% cycle 0, false %}{% endfor %}')).toBe('0false0');
  });

  test('the same text each time, without state from an earlier rendering', () => {
    const counted = template(
      '{% assign n = n | append: "x" %}{% for i in l limit: 1 offset: continue %}{{ i }}{% endfor %}{{ n }}',
    );
    const scope = scopeOf({ n: 'n', l: [1, 2, 3] });
    expect(counted.render(scope)).toBe('1nx');
    expect(counted.render(scope)).toBe('1nx');
    expect(scope.vars).toEqual({ n: 'n', l: [1, 2, 3] });
  });
});

describe('a template that is one output', () => {
  test('keeps the type of its value', () => {
    const vars = { n: 3, w: written('6.0'), b: false, o: { a: [1] }, l: ['x'], z: null };
    const evaluate = (source: string) => template(source).evaluate(scopeOf(vars));
    expect(evaluate('{{ n }}')).toBe(3);
    expect(evaluate('{{ w }}')).toBe(vars.w);
    expect(evaluate('{{ b }}')).toBe(false);
    expect(evaluate('{{ o }}')).toBe(vars.o);
    expect(evaluate('{{ l }}')).toBe(vars.l);
    expect(evaluate('{{ z }}')).toBeNull();
    expect(evaluate('{{- o.a -}}')).toEqual([1]);
    expect(evaluate('{{ n | plus: 1 }}')).toBe(4);
    expect(evaluate('{{ "a,b" | split: "," }}')).toEqual(['a', 'b']);
    expect(evaluate('{{ w | times: 2 }}')).toBe(12);
  });

  test('becomes text with anything beside the output', () => {
    expect(template('{{ n }} ').evaluate(scopeOf({ n: 3 }))).toBe('3 ');
    expect(template('{{ n }}{{ n }}').evaluate(scopeOf({ n: 3 }))).toBe('33');
    expect(template('plain').evaluate(scopeOf())).toBe('plain');
  });
});

describe('an error', () => {
  test.each([
    ['{{ gone }}', '"gone"'],
    ['{{ m.nmae }}', '"m.nmae"'],
    ['{{ m.none.x }}', '"m.none.x"'],
    ['{{ w.value }}', '"w.value"'],
    ['{{ m.name.constructor }}', '"m.name.constructor"'],
    ['{{ m.__proto__ }}', '"m.__proto__"'],
    ['{{ constructor }}', '"constructor"'],
    ['{{ __proto__ }}', '"__proto__"'],
    ['{{ toString }}', '"toString"'],
    ['{{ m[k] }}', '"m.nokey"'],
    ['{{ gone | upcase }}', '"gone"'],
    ['{% assign x = m.nmae %}', '"m.nmae"'],
    ['{% if m.nmae > 3 %}{% endif %}', '"m.nmae"'],
    ['{{ l | first }}', '{{ l | first }}'],
  ])('names the undefined variable in %s', (source, name) => {
    const vars = { m: { name: 'ink', none: null }, k: 'nokey', w: written('6.0'), l: [] };
    const error = thrown(() => render(source, vars));
    expect(error.code).toBe('template.undefined');
    expect(error.message).toContain(name);
  });

  test.each([
    'a {{ m }}',
    '{{ l }}',
    '{% capture c %}{{ m }}{% endcapture %}',
    '{% echo m %}',
    '{% cycle m, m %}',
    '{{ m | raw }}',
  ])('refuses to write a list or a mapping as text: %s', (source) => {
    expect(thrown(() => render(source, { m: { a: 1 }, l: [1] })).code).toBe('template.object');
  });

  test('names the filter that failed, and keeps the cause', () => {
    const error = thrown(() => render('{{ "%zz" | url_decode }}'));
    expect(error.code).toBe('template.filter');
    expect(error.message).toContain('url_decode');
    expect(error.cause).toBeInstanceOf(URIError);
    expect(thrown(() => render('{{ 1 | divided_by: 0 }}')).code).toBe('template.filter');
    expect(thrown(() => template('{{ 1 | divided_by: 0 }}').evaluate(scopeOf())).code).toBe(
      'template.filter',
    );
  });

  test('does not occur for lists that a filter joins, or mappings written as JSON', () => {
    expect(render('{{ l | join: ", " }} {{ m | json }}', { l: ['a', written('1.0')], m: { a: 1 } })).toBe(
      'a, 1.0 {"a":1}',
    );
  });
});

describe('a name that may be absent', () => {
  const vars = { m: { name: 'ink', none: null } };

  test('counts as nothing for default, if and unless', () => {
    expect(render('{{ m.stylize | default: 50 }}', vars)).toBe('50');
    expect(render('{% if m.stylize %}y{% else %}n{% endif %}', vars)).toBe('n');
    expect(render('{% unless m.none.deep %}n{% endunless %}', vars)).toBe('n');
    expect(render('{% if m.name and m.stylize == nil %}y{% endif %}', vars)).toBe('y');
    expect(render('{% if m.nope %}{% elsif m.name %}y{% endif %}', vars)).toBe('y');
  });

  test('is an error everywhere else', () => {
    for (const source of [
      '{% if m.stylize > 5 %}{% endif %}',
      '{% case m.stylize %}{% endcase %}',
      '{% for x in m.list %}{% endfor %}',
    ]) {
      expect(thrown(() => render(source, vars)).code).toBe('template.undefined');
    }
  });
});

describe('the analysis', () => {
  const uses = (source: string) => {
    const { variables, steps } = template(source);
    return {
      variables: variables.map(({ path, position }) => [
        path.join('.'),
        source.slice(position.column - 1, position.column - 1 + position.length),
      ]),
      steps: steps.map(({ step, path, position }) => [
        step,
        path.join('.'),
        source.slice(position.column - 1, position.column - 1 + position.length),
      ]),
    };
  };

  test('gives variables and steps with their members and positions, in order', () => {
    expect(
      uses(
        '{% if b %}{{ a.x | append: c["y z"] }}{% endif %}{{ steps.pick.json.best }} {{ l[0] }} {{ repeat }}',
      ),
    ).toEqual({
      variables: [
        ['b', 'b'],
        ['a.x', 'a.x'],
        ['c.y z', 'c["y z"]'],
        ['l.0', 'l[0]'],
        ['repeat', 'repeat'],
      ],
      steps: [['pick', 'json.best', 'steps.pick.json.best']],
    });
  });

  test('gives a computed member as the path before it and as a separate variable', () => {
    expect(uses('{{ m[k].x }}{{ steps.pick.json[k] }}')).toEqual({
      variables: [
        ['m', 'm[k].x'],
        ['k', 'k'],
        ['k', 'k'],
      ],
      steps: [['pick', 'json', 'steps.pick.json[k]']],
    });
  });

  test('omits names that assign, capture and loops define, from there on', () => {
    expect(uses('{{ x }}{% assign x = y %}{{ x }}').variables).toEqual([
      ['x', 'x'],
      ['y', 'y'],
    ]);
    expect(uses('{% capture c %}{{ a }}{% endcapture %}{{ c }}').variables).toEqual([['a', 'a']]);
    expect(
      uses('{% for i in l offset: o %}{{ i.x }}{{ forloop.index }}{% endfor %}{{ i }}').variables,
    ).toEqual([
      ['l', 'l'],
      ['o', 'o'],
      ['i', 'i'],
    ]);
    expect(uses('{% for i in l offset:continue %}{{ i }}{% endfor %}').variables).toEqual([['l', 'l']]);
  });

  test('covers every tag that evaluates something', () => {
    const source =
      '{% case a %}{% when b %}{{ c }}{% else %}{{ d }}{% endcase %}{% cycle e: f, g %}{% tablerow t in h cols: i %}{{ t }}{% endtablerow %}' +
      '{% echo j %}{% liquid\n echo k\n%}{% for x in (l..m) %}{% endfor %}{% if n %}{% elsif o %}{% endif %}{% unless p %}{% endunless %}{{ "q" | append: r, s: t }}';
    expect(uses(source).variables.map(([name]) => name)).toEqual('abcdefghijklmnoprt'.split(''));
  });

  test('finds nothing in text, comments and raw', () => {
    expect(uses('a {% comment %}{{ b }}{% endcomment %}{% raw %}{{ c }}{% endraw %}')).toEqual({
      variables: [],
      steps: [],
    });
  });

  test('marks the whole text', () => {
    expect(template('{{ a }}').position).toEqual({ line: 1, column: 1, length: 7 });
    expect(template('abc').position).toEqual({ line: 1, column: 1, length: 3 });
  });
});

describe('an error', () => {
  const of = (source: string) => marked(source, compileTemplate(source, inText));

  test.each([
    ['a {{ b', 'template.syntax', '{{'],
    ['{% if a %}', 'template.syntax', '{%'],
    ['{% endif %}', 'template.syntax', '{% endif %}'],
    ['{{ }}', 'template.syntax', ''],
    ['{{ a b }}', 'template.syntax', 'b'],
    ['{{ a, b }}', 'template.syntax', ','],
    ['{{ a | upcase | }}', 'template.syntax', '|'],
    ['{% if a == %}{% endif %}', 'template.syntax', '=='],
    ['{% if == a b %}{% endif %}', 'template.syntax', '=='],
    ['{% if a = b %}{% endif %}', 'template.syntax', '='],
    ['{% foo %}', 'template.unknown-tag', '{% foo %}'],
    ['{% include "x" %}', 'template.refused-tag', '{% include "x" %}'],
    ['{% render "x" %}', 'template.refused-tag', '{% render "x" %}'],
    ['{% layout "x" %}', 'template.refused-tag', '{% layout "x" %}'],
    ['{% block x %}{% endblock %}', 'template.refused-tag', '{% block x %}'],
    ['{% increment a %}', 'template.refused-tag', '{% increment a %}'],
    ['{% if a %}{% decrement a %}{% endif %}', 'template.refused-tag', '{% decrement a %}'],
    ['{{ a | upcas }}', 'template.unknown-filter', 'upcas'],
    ['{{ l | sample: 2 }}', 'template.refused-filter', 'sample: 2'],
    ['{{ l | where_exp: "i", "i == steps.x" }}', 'template.refused-filter', 'where_exp: "i", "i == steps.x"'],
    ['{{ "now" | date: "%Y" }}', 'template.not-repeatable', '"now"'],
    ["{{ 'today' | date_to_string }}", 'template.not-repeatable', "'today'"],
    ['{{ steps }}', 'template.steps', 'steps'],
    ['{{ steps[a] }}', 'template.steps', 'steps[a]'],
    ['{{ steps[0] }}', 'template.steps', 'steps[0]'],
    ['{% for s in steps %}{% endfor %}', 'template.steps', 'steps'],
    ['{{ [a] }}', 'template.computed-name', '[a]'],
    ['{% assign steps = 1 %}', 'template.reserved', 'steps'],
    ['{% capture repeat %}{% endcapture %}', 'template.reserved', 'repeat'],
    ['{% for steps in l %}{% endfor %}', 'template.reserved', '{% for steps in l %}'],
  ])('in %s is %s', (source, code, text) => {
    const diagnostics = of(source);
    expect(diagnostics.map(([found]) => found)).toContain(code);
    expect(diagnostics).toContainEqual([code, text]);
  });

  test('does not hide the next', () => {
    expect(of('{% foo %}{% bar %}')).toEqual([
      ['template.unknown-tag', '{% foo %}'],
      ['template.unknown-tag', '{% bar %}'],
    ]);
    expect(of('{{ a | upcas }}{{ steps }}')).toEqual([
      ['template.unknown-filter', 'upcas'],
      ['template.steps', 'steps'],
    ]);
  });

  test('comes with a suggestion', () => {
    const result = compileTemplate('{{ a | upcas }}', inText);
    expect(result.ok ? [] : result.error[0]?.hint).toBe('Did you mean "upcase"?');
  });

  test.each([
    '{{ a }}',
    '{{ a | join: ", " }}',
    '{%- if a -%}x{%- endif -%}',
    '{{ "a | b, c" }}',
    '{{ a.b[0].c | default: "x", allow_false: true }}',
    '{% if a and b or not c %}{% endif %}',
    '{% liquid\n if a\n echo b\n endif\n%}',
  ])('is not found in %s', (source) => {
    expect(compileTemplate(source, inText).ok).toBe(true);
  });
});

describe('a member that a reply lacks', () => {
  const steps = { pick: { json: { best: 1, of: { a: 1 }, list: [1, 2], none: {} } } };
  test.each([
    ['{{ steps.pick.json.worst }}', 'has "best", "of", "list", "none" there'],
    [
      'so {{ steps.pick.json.of.b }}',
      'has "a" there. Write a member that may be missing as {{ steps.pick.json.of.b | default',
    ],
    ['{{ steps.pick.json.list[4] }}', 'a list of 2'],
    ['{{ steps.pick.json.none.x }}', 'an empty object'],
    ['{{ steps.pick.json.best.x }}', 'no object there'],
  ])('is reported with the known names: %s', (source, words) => {
    const error = thrown(() => render(source, {}, { steps }));
    expect(error.code).toBe('template.undefined');
    expect(error.message).toContain(words);
  });
});
