import { type Draft, draft, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { oddValue } from './json.ts';
import { mutate, odd } from './oddity.ts';
import { pictures } from './pictures.ts';
import { schemaLike } from './schema.ts';
import { validPipelines } from './seeds.ts';

const steps = 'steps: { grid: { imagine: "{{ a }}" } }\n';
const mebi = 1024 * 1024;

/** Aliases that double, or repeat a long list, at every level. */
function aliasBomb(random: Random): Draft {
  const levels = random.whole(2, 40);
  const width = random.whole(2, 12);
  const lines = [`x0: &x0 [${Array.from({ length: width }, () => odd(random).length).join(', ')}]`];
  for (let level = 1; level <= levels; level += 1) {
    lines.push(`x${level}: &x${level} [${Array.from({ length: width }, () => `*x${level - 1}`).join(', ')}]`);
  }
  return draft('yaml', `name: t\nmatrix:\n  ${lines.join('\n  ')}\n${steps}`);
}

function anchors(random: Random): Draft {
  return random.happens(0.5)
    ? draft('yaml', 'name: t\nmatrix:\n  a: ', piece('&a ', random.size(5000)), 'x\n', steps)
    : draft(
        'yaml',
        `name: t\nmatrix:\n  a: [&a ${odd(random)}, `,
        piece('*a, ', random.size(100_000)),
        `*a]\n${steps}`,
      );
}

function deep(random: Random): Draft {
  const times = random.size(20_000);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{a: ', '}'],
    ['- ', ''],
    ['? ', ''],
    ['[{a: ', '}]'],
    ['{? ', '}'],
    ['- - ? ', ''],
    ['! ', ''],
    ['[a, ', ']'],
  ] as const);
  const closing = random.happens(0.7) ? times : random.size(times);
  return draft(
    'yaml',
    'name: t\nmatrix:\n  a: ',
    piece(open, times),
    'x',
    piece(close, closing),
    `\n${steps}`,
  );
}

/** Block mappings, each deeper than the last. */
function stairs(random: Random): Draft {
  const depth = random.size(600);
  const word = random.pick(['a:', '- a:', '-', '? a\n:']);
  const lines = Array.from({ length: depth }, (_, level) => `${' '.repeat(level * 2)}${word}`);
  return draft('yaml', `${lines.join('\n')}\n`);
}

/** Much of one thing, up to beyond the file's limit. */
function much(random: Random): Draft {
  const unit = random.pick([
    'a',
    ' ',
    '\t',
    '\n',
    '\r',
    '#',
    '# c\n',
    'a: b\n',
    '- ',
    '- a\n',
    '"',
    "'",
    "''",
    '\\',
    '"a" ',
    '|\n',
    '> ',
    '? a\n',
    ': ',
    'a:\n',
    '!a ',
    '!!str ',
    '&a ',
    '*a ',
    '%TAG ! x\n',
    '---\n',
    '...\n',
    '--- a\n',
    '\0',
    '\uD800',
    '\uFEFF',
    '{',
    '}',
    '[]',
    '{}',
    ',',
    '[,',
    'a, ',
    '{{',
    '{% if a %}',
    '${A}',
    'sk-aaaaaaaaaaaa ',
    'api_key: ',
    'secret-',
    'password=" ',
    'authorization: bearer ',
    'x://',
    'é',
    '👩‍👩‍👧‍👦',
    'e\u0301',
    '\u0301',
    '🇩🇪',
  ]);
  const budget = random.happens(0.01) ? mebi + random.whole(-10, 10_000) : random.size(20_000);
  const times = Math.max(1, Math.floor(budget / unit.length));
  const before = random.pick([
    '',
    'name: ',
    'name: t\nmatrix: { a: [x] }\nsteps: { grid: { imagine: ',
    'name: t\nsteps:\n  grid:\n    imagine: a\n    path: ',
    'name: t\nmatrix:\n  a:\n    - ',
    'name: t\nservice:\n  apiKey: ',
    'name: t\nmatrix:\n  a: [',
    'name: t\ndescription: |\n  ',
    'name: t\ndescription: "',
  ]);
  const after = random.pick(['', '"', ']', '\n', `\n${steps}`, ' } }', "'"]);
  return draft('yaml', before, piece(unit, times), after);
}

/** Many members: keys, steps, axes, values, excludes; some of them twice. */
function many(random: Random): Draft {
  const count = random.size(random.happens(0.01) ? 40_000 : 1000);
  const twice = random.happens(0.3);
  const key = (at: number): string => `k${twice ? at % 7 : at}`;
  const lines = (line: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => line(at)).join('\n');
  switch (random.whole(0, 6)) {
    case 0:
      return draft('yaml', `name: t\n${lines((at) => `${key(at)}: 1`)}\n${steps}`);
    case 1:
      return draft('yaml', `name: t\nsteps:\n${lines((at) => `  ${key(at)}: { imagine: a }`)}\n`);
    case 2:
      return draft(
        'yaml',
        `name: t\nsteps:\n${lines((at) => `  k${at}: { from: k${at + 1}, click: U1 }`)}\n`,
      );
    case 3:
      return draft('yaml', `name: t\nmatrix:\n${lines((at) => `  ${key(at)}: [a, b]`)}\n${steps}`);
    case 4:
      return draft(
        'yaml',
        `name: t\nmatrix:\n  a: [x]\n  exclude:\n${lines((at) => `    - { a: ${at % 3} }`)}\n  include:\n${lines((at) => `    - { a: ${at} }`)}\n${steps}`,
      );
    case 5:
      return draft(
        'yaml',
        `name: t\nmatrix:\n  a:\n${lines((at) => `    - { n: ${at}, ${key(at)}: x }`)}\n${steps}`,
      );
    default:
      return draft(
        'yaml',
        `name: t\nsteps:\n  k0: { imagine: a }\n${lines((at) => `  k${at + 1}: { from: k${at}, click: U1 }`)}\n`,
      );
  }
}

/** Odd texts where the language wants its own. */
function places(random: Random): Draft {
  const text = JSON.stringify(random.some(1, 4, () => odd(random)).join(''));
  const plain = odd(random);
  return draft(
    'yaml',
    random.pick([
      `name: ${text}\n${steps}`,
      `name: ${plain}\n${steps}`,
      `? ${text}\n: x\nname: t\n${steps}`,
      `name: t\nmatrix: { ${text}: [a] }\n${steps}`,
      `name: t\nmatrix: { a: [${text}, ${plain}] }\n${steps}`,
      `name: t\nmatrix: { a: [{ ${text}: 1 }, { constructor: 2 }] }\nsteps: { grid: { imagine: "{{ a.constructor }} {{ a.${plain} }}" } }\n`,
      `name: t\nsteps: { ${text}: { imagine: a } }\n`,
      `name: t\nsteps: { grid: { imagine: ${text} } }\n`,
      `name: t\nsteps: { grid: { imagine: a, path: ${text} }, b: { from: ${text}, click: ${text} } }\n`,
      `name: t\nsteps: { grid: { imagine: a, images: [${text}], when: ${text} } }\n`,
      `name: t\nmatrix: { rows: ${text} }\n${steps}`,
      `name: t\nmatrix: { rows: { files: ${text} } }\nsteps: { grid: { imagine: "{{ file }}" } }\n`,
      `name: t\nretry: { permanent: [${text}, "/${plain}/"], transient: [${text}] }\n${steps}`,
      `name: t\nsteps: { grid: { imagine: a, path: [{ button: ${text}, prompt: ${text}, mask: ${text} }, { button: Custom Zoom, prompt: ${text} }] } }\n`,
      `name: t\nsteps: { a: { imagine: a, path: U* }, b: { from: a/*, edit: { image: ${text}, prompt: a, mask: { shapes: [{ ellipse: [${plain}, 0, 1, ${text}] }] } } }, c: { gather: ${text}, blend: {} }, d: { from: ${text}, video: { extend: ${plain} } } }\n`,
      `name: t\nservice: { baseUrl: ${text}, apiKey: ${text}, id: ${text}, names: { ${text}: ${text} } }\n${steps}`,
      `name: t\nlimits: { tasks: ${plain}, submit: ${text} }\nbudget: { cost: ${plain} }\nprices: { ${text}: ${plain} }\n${steps}`,
      `name: t\nmatrix: { a: { from: ${plain}, to: ${random.pick(['1e308', '9007199254740993', '-1', '1e15'])} }, repeat: ${plain} }\n${steps}`,
    ]),
  );
}

/** Ranges, samples and repeats so large that nothing may count them one by one. */
function huge(random: Random): Draft {
  const number = (): number =>
    random.pick([0, 1, 2, 10, 1e3, 1e6, 1e9, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e15, 1e18, -1]);
  const step = random.pick(['', ', step: 1', ', step: 0', ', step: 1e-9', ', step: -1']);
  const axes = Array.from(
    { length: random.whole(1, 8) },
    (_, at) => `  a${at}: { from: ${number()}, to: ${number()}${step} }`,
  );
  const more = random.pick([
    '',
    `  sample: { count: ${number()}, seed: ${number()} }\n`,
    `  repeat: ${number()}\n`,
    `  exclude: [{ a0: ${number()} }]\n`,
  ]);
  return draft(
    'yaml',
    `name: t\nmatrix:\n${axes.join('\n')}\n${more}steps: { grid: { imagine: "{{ a0 }}" } }\n`,
  );
}

/** Fan-outs and stars that multiply. */
function branches(random: Random): Draft {
  const segment = random.pick([
    'U1..U4',
    'U*',
    '*',
    'a, b, c, d, e, f, g, h, i',
    'a | b',
    '/x/, /y/',
    'U1..U4, V1..V4',
    'U1..U99',
  ]);
  const path = Array.from({ length: random.whole(1, 10) }, () => segment).join(' → ');
  const below = Array.from(
    { length: random.whole(0, 6) },
    (_, at) =>
      `  s${at}: { from: ${at === 0 ? 'grid' : `s${at - 1}`}/${random.pick(['**', '*', 'U1', 'U1/*'])}, click: U1, path: "${path}" }`,
  );
  return draft('yaml', `name: t\nsteps:\n  grid: { imagine: a, path: "${path}" }\n${below.join('\n')}\n`);
}

/** Text steps whose fields are odd, missing, twice or elsewhere. */
function texts(random: Random): Draft {
  const value = (): string => JSON.stringify(oddValue(random));
  const schema = (): string => JSON.stringify(schemaLike(random));
  const text = (): string =>
    JSON.stringify(
      random.pick([
        'Which is best?',
        '{{ a }}',
        '{{ steps.pick.json.best }}',
        '{{ steps.say.text }}',
        '{{ steps.grid.json }}',
        '{{ steps.s0.parts[0].text }}',
        odd(random),
        mutate('{{ steps.pick.json.best | plus: 1 }}', random),
      ]),
    );
  const image = (): string =>
    random.pick([
      'parent',
      'steps.grid',
      'steps.pick',
      'steps.s0',
      'x.png',
      '../x.png',
      'https://a.example/x',
      'data:image/png;base64,aGk=',
      'data:,',
      '{{ a }}',
      odd(random),
    ]);
  const or = (good: string): string => (random.happens(0.1) ? value() : good);
  const shared = [
    () => `system: ${text()}`,
    () => `images: [${random.some(0, 3, () => JSON.stringify(image())).join(', ')}]`,
    () => `stream: ${or('true')}`,
    () => `accept: [${or(random.pick(['MAX_TOKENS', 'length']))}]`,
  ];
  const fields = {
    generate: [
      ...shared,
      () => `thinking: ${or(random.pick(['low', 'HIGH', '1024', '-2', '0', '"{{ a }}"']))}`,
      () => `responseSchema: ${schema()}`,
      () => `responseSchema: ${schema()}`,
      () => `search: ${or('true')}`,
      () => `functions: { f: { answer: ${value()}, parameters: ${schema()} } }`,
      () => `functions: { ${JSON.stringify(odd(random))}: ${value()} }`,
      () => `rounds: ${or(random.pick(['1', '0', '1e9']))}`,
      () => `continue: ${or(random.pick(['pick', 's0', 's1', 'grid']))}`,
      () => `contents: [{ role: user, parts: [{ text: ${text()} }] }]`,
      () =>
        `generationConfig: { responseMimeType: application/json, responseSchema: ${schema()}, temperature: ${text()} }`,
      () => `generationConfig: { thinkingConfig: { thinkingLevel: LOW, thinkingBudget: ${value()} } }`,
      () => `tools: [${or('{ codeExecution: {} }')}]`,
    ],
    chat: [
      ...shared,
      () => `messages: [{ role: user, content: ${text()} }]`,
      () => `response_format: { type: json_schema, json_schema: { name: x, schema: ${schema()} } }`,
      () => `temperature: ${or('"{{ a | size }}"')}`,
    ],
  };
  /** Most of them as they should be: what is found at once is not looked at any further. */
  const fieldsOf = (kind: keyof typeof fields): string => {
    const drawn = random.some(0, 3, () => random.pick(fields[kind])());
    const named = new Map(drawn.map((field) => [field.split(':')[0], field]));
    if (random.happens(0.95)) named.set('prompt', `prompt: ${text()}`);
    if (random.happens(0.05)) named.set('odd', `${JSON.stringify(odd(random))}: ${value()}`);
    if (random.happens(0.95)) for (const name of ['contents', 'messages']) named.delete(name);
    return [...named.values()].join(', ');
  };
  const step = (_: unknown, at: number): string => {
    const from = random.pick([
      '',
      'from: grid, ',
      'from: pick, ',
      `from: s${at - 1}, `,
      `from: s${at + 1}, `,
      'gather: grid/*, ',
      'gather: pick, ',
    ]);
    const kind = random.pick(['generate', 'generate', 'chat'] as const);
    const extra = random.happens(0.1) ? `, extra: ${or('{ labels: { a: "{{ a }}" } }')}` : '';
    const model = or(random.pick(['text-pro', 'text-pro', '"{{ a }}"', '"{{ steps.pick.json.best }}"']));
    return `  s${at}: { ${from}${kind}: { model: ${model}, ${fieldsOf(kind)} }${extra} }`;
  };
  const limit = random.pick([
    '',
    'limits: { tokens: 1/min, text: 1/h }\n',
    `models: { text-pro: { thinking: ${random.pick(['level', 'budget', 'none', value()])} } }\n`,
    `prices: { text-pro: { input: ${value()}, output: 1 } }\n`,
  ]);
  return draft(
    'yaml',
    `name: t\n${limit}matrix: { a: [x, low, 7] }\nsteps:\n  grid: { imagine: "{{ a }}", path: U1,U2 }\n`,
    `  pick: { from: grid, generate: { model: text-pro, prompt: which, images: [parent], responseSchema: { type: object, properties: { best: { type: integer } } } } }\n`,
    `${Array.from({ length: random.whole(1, 5) }, step).join('\n')}\n`,
  );
}

const marks = (random: Random): Draft => {
  const text = random.pick(validPipelines);
  return draft(
    'yaml',
    random.pick(['\uFEFF', '\uFEFF\uFEFF', '\uFFFE', '\0', '%YAML 1.1\n---\n', '%TAG !! tag:x,2000:\n---\n']),
    random.pick([
      text,
      text.replaceAll('\n', '\r\n'),
      text.replaceAll('\n', '\r'),
      text.replace('\n', '\r\n'),
    ]),
    random.pick(['', '\uFEFF', '\0', '\n...\n---\na: b\n', '\u0085']),
  );
};

const shapes: readonly ((random: Random) => Draft)[] = [
  aliasBomb,
  anchors,
  deep,
  stairs,
  much,
  many,
  places,
  huge,
  branches,
  texts,
  texts,
  texts,
  pictures,
  pictures,
  pictures,
  marks,
];

/** A pipeline's text: half of them a valid one with a few changes, half of them made to hurt. */
export function hostilePipeline(random: Random): Draft {
  if (random.happens(0.5)) return draft('yaml', mutate(random.pick(validPipelines), random));
  return random.pick(shapes)(random);
}
