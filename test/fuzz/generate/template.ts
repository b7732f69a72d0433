import { type Draft, draft, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { mutate, odd } from './oddity.ts';

const valid = [
  '{{ animal }}, {{ medium.name }} --stylize {{ medium.stylize }}',
  '{% for x in list %}{{ x | upcase }}{% unless forloop.last %}, {% endunless %}{% endfor %}',
  '{% assign y = animal | append: "s" | split: "o" %}{{ y | join: "-" }}',
  '{% case animal %}{% when "fox" %}red{% else %}grey{% endcase %}',
  '{% capture z %}{{ animal }}{% endcapture %}{{ z | size }}',
  '{% if n > 2 and animal contains "o" %}a{% elsif list.size == 3 %}b{% endif %}',
  '{{ n | times: 3 | plus: 1 | divided_by: 2 }}',
  'U{{ steps.pick.json.best }} of {% for one in steps.pick.json.list %}{{ one.name }}{% endfor %}',
  '{% assign best = steps.pick.json %}{{ best.why | default: steps.pick.text | truncate: 20 }}',
  '{% raw %}{{ x }}{% endraw %}{# c #}{% comment %}x{% endcomment %}',
];

const filters = [
  'append: animal',
  'prepend: text',
  'replace: "a", text',
  'replace: "", text',
  'split: ""',
  'join: text',
  'upcase',
  'reverse',
  'sort',
  'uniq',
  'concat: list',
  'map: "name"',
  'where: "name", "ink"',
  'slice: 0, 1000000000',
  'truncate: 1e9',
  'times: 1e308',
  'divided_by: 0',
  'modulo: 0',
  'pow: 1e9',
  'round: 1000',
  'date: "%Y"',
  'date: "%999999999Y"',
  'json',
  'inspect',
  'jsonify',
  'escape',
  'url_encode',
  'url_decode',
  'strip_html',
  'newline_to_br',
  'normalize_whitespace',
  'number_of_words',
  'default: medium',
  'first',
  'last',
  'size',
  'push: 1',
  'group_by: "constructor"',
  'sum: "stylize"',
  'where_exp: "x", "x.y"',
  'constructor',
  '__proto__',
  'toString',
  'base64_decode',
  'to_integer',
  'xml_escape',
  'cgi_escape',
  'slugify: "x", "y"',
  'array_to_sentence_string',
  'strip_newlines',
  'sample',
  'raw',
];

const name = (random: Random): string =>
  random.pick([
    'animal',
    'text',
    'list',
    'medium',
    'medium.name',
    'n',
    'medium.constructor',
    'animal.__proto__',
    'list.constructor.constructor',
    'medium["__proto__"]',
    'list[0]',
    'list[-1]',
    'list[1e9]',
    'medium[animal]',
    'steps.grid.url',
    'steps.pick.json',
    'steps.pick.json.best',
    'steps.pick.json.list[0].name',
    'steps.pick.json.list[1e9]',
    'steps.pick.json["__proto__"]',
    'steps.pick.json.constructor.name',
    'steps.pick.json.nothing',
    'steps.pick.json[steps.pick.json.best]',
    'steps.pick.text',
    'steps.pick.parts[0].text',
    'steps.pick.usage.total',
    'steps.none.json',
    'constructor',
    'toString',
    '__proto__',
    'this',
    'nil',
    'blank',
    'empty',
    '"x"',
    "'",
    '1',
    '(1..3)',
    '(1..1000000000)',
    '(-1..n)',
    '(1..text)',
    'forloop',
    'repeat',
    'vars',
  ]);

const output = (random: Random): string =>
  `{{ ${[name(random), ...random.some(0, 6, () => random.pick(filters))].join(' | ')} }}`;

/** Tags inside tags, where each loop multiplies the one around it. */
function loops(random: Random): Draft {
  const depth = random.whole(1, 12);
  const range = random.pick([
    '(1..10)',
    '(1..10000)',
    '(1..10001)',
    '(1..1000000000)',
    'list',
    '(1..n)',
    'text',
    '(-9007199254740993..9007199254740993)',
  ]);
  const open = Array.from(
    { length: depth },
    (_, at) =>
      `{% for i${at} in ${range} ${random.pick(['', 'reversed', 'limit: 1e9', 'offset: 1e9', 'offset: continue'])} %}`,
  ).join('');
  return draft(
    'template',
    open,
    random.pick([
      '',
      'x',
      '{{ text }}',
      '{% break %}',
      '{% cycle 1, 2 %}',
      '{% assign q = q | append: text %}',
    ]),
    piece('{% endfor %}', depth),
  );
}

/** A text that doubles each time. */
function doubling(random: Random): Draft {
  const line = random.pick([
    '{% capture a %}{{ a }}{{ a }}{% endcapture %}',
    '{% assign a = a | append: a %}',
    '{% assign a = a | replace: "x", a %}',
    '{% assign a = a | split: "" | join: a %}',
    '{% assign b = b | concat: b %}',
    '{% assign a = a | prepend: a | upcase | escape %}',
    '{% assign a = a | url_encode %}',
  ]);
  return draft(
    'template',
    '{% assign a = "x%<&" %}{% assign b = list %}',
    piece(line, random.size(200)),
    random.pick(['{{ a }}', '{{ a | size }}', '{{ b | size }}', '']),
  );
}

const much = (random: Random): Draft => {
  const unit = random.pick([
    '{{ animal }}',
    '{{',
    '}}',
    '{%',
    '%}',
    '{% if n %}',
    '{% endif %}',
    '{% raw %}',
    '{% comment %}',
    '(',
    '[',
    '"',
    'a.',
    'a[',
    ' | upcase',
    '{{ n ',
    ' and n',
    ' or n == 1',
    '{%- ',
    ' -%}',
    '{% liquid\n',
    '{# ',
    'x',
    '\n',
    '{% case n %}{% when 1 %}',
    '{% for i in list %}',
    '{% capture c %}',
    '{% tablerow i in list %}',
    '==',
    'not ',
  ]);
  const [open, close] = random.pick([
    ['', ''],
    ['{{ ', ' }}'],
    ['{% if ', ' %}x{% endif %}'],
    ['{% assign a = ', ' %}'],
    ['{{ n', ' }}'],
    ['{{ medium', ' }}'],
  ] as const);
  return draft(
    random.pick(['template', 'template', 'condition']),
    open,
    piece(unit, random.size(random.happens(0.1) ? 100_000 : 3000)),
    close,
  );
};

const condition = (random: Random): Draft => {
  const operand = (): string => name(random);
  const test = (): string =>
    `${operand()} ${random.pick(['==', '!=', '<', '>=', 'contains', 'and', 'or', '=', 'not', '<>'])} ${operand()}`;
  return draft('condition', random.some(1, 6, test).join(random.pick([' and ', ' or ', ' '])));
};

/** A template or a condition. */
export function hostileTemplate(random: Random): Draft {
  const chosen = random.next();
  if (chosen < 0.3) return draft(random.pick(['template', 'condition']), mutate(random.pick(valid), random));
  if (chosen < 0.5) return draft('template', ...random.some(1, 8, () => output(random)));
  if (chosen < 0.6) return loops(random);
  if (chosen < 0.7) return doubling(random);
  if (chosen < 0.85) return much(random);
  if (chosen < 0.95) return condition(random);
  return draft(random.pick(['template', 'condition']), ...random.some(1, 8, () => odd(random)));
}
