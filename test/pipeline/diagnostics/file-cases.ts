import {
  type Case,
  clip,
  each,
  eachOf,
  edit,
  from,
  generate,
  head,
  json,
  listed,
  ofScenes,
  one,
  path,
  reads,
  rows,
} from './case-texts.ts';

/** A step that gathers a text over an axis. */
const over = (axis: string, prompt = '{{ gathered[0].text }} {{ n }}'): string =>
  `name: t
matrix: { n: [1, 2], seed: [1, 2] }
steps:
  a: { chat: { model: m, prompt: "{{ n }} {{ seed }}" } }
  b: { gather: { step: a, over: [${axis}] }, chat: { model: m, prompt: "${prompt}" } }`;

/** A step that picks from the answers of a step. */
const best = (fields: string, more = ''): string =>
  `name: t
matrix: { n: [1, 2], seed: [1, 2] }
steps:
  a: { chat: { model: m, prompt: "{{ n }} {{ seed }}" } }
  s: { from: a, chat: { model: m, prompt: "{{ steps.a.text }}" } }
  b: { best: { ${fields} } }
${more}`;

/** A step of several items in a cell. */
const scenes = '  e: { each: "{{ steps.a.text | lines }}", chat: { model: m, prompt: "{{ item }}" } }';

/** Errors in YAML, schema, settings, matrix, steps and buttons. Each text makes exactly the diagnostic it stands under, at its mark. */
export const fileCases: Readonly<Record<string, readonly Case[]>> = {
  'yaml.syntax': [
    ['name: t\nsteps: ⟦]\n'],
    ['name: t\nsteps:\n  grid: ⟦"a\n  b: { imagine: p }\n'],
    ["name: t\nsteps: { grid: { imagine: [a, ⟦'b] } }\nx: 1"],
    ['name: t\nsteps:\n  ⟦"grid: { imagine: a }\n'],
  ],
  'yaml.tab': [['name: t\nsteps:\n⟦\tgrid: { imagine: a fox }\n']],
  'yaml.documents': [[`name: t\n${one}⟦---\nname: u\n`]],
  'yaml.version': [[`⟦%YAML 1.1\n---\nname: t\n${one}`]],
  'yaml.empty': [['⟦'], ['⟦# nothing\n']],
  'yaml.size': [[`⟦name: ${'t'.repeat(1024 * 1024)}`]],
  'yaml.nesting': [
    [`name: t\nmatrix: { a: ${'['.repeat(62)}⟦[${']'.repeat(63)} }\n`],
    [`name: ${'['.repeat(64)}⟦${'['.repeat(50_000)}`],
  ],
  'yaml.alias': [[`name: ⟦*t\n${one}`], [`name: t\nmatrix: { a: &a [1, ⟦*a] }\n${one}`]],
  'yaml.tag': [
    [`name: t\nmatrix: { a: [!!set ⟦{ b }] }\nsteps: { grid: { imagine: "{{ a }}" } }\n`],
    [`name: t\ndescription: !secret ⟦x\n${one}`, {}, ['schema.type']],
  ],
  'yaml.key': [
    [`name: t\nprices: { ⟦1: 2 }\n${one}`],
    [`name: t\nprices: { ⟦__proto__: 2 }\n${one}`],
    [`name: t\nprices: { ⟦constructor: 2 }\n${one}`],
    [`name: t\nprices: { ? ⟦[a] : 2 }\n${one}`],
  ],
  'yaml.duplicate-key': [[`name: t\n⟦name: u\n${one}`]],
  'yaml.merge': [[`name: t\npoll: { ⟦<<: 2s }\n${one}`]],
  'yaml.number': [
    [`name: t\nmatrix: { a: [⟦.inf, 1] }\nsteps: { grid: { imagine: "{{ a }}" } }\n`],
    [`name: t\nmatrix: { a: [1, ⟦.nan] }\nsteps: { grid: { imagine: "{{ a }}" } }\n`],
  ],

  'schema.unknown-key': [
    [`name: t\n⟦stepps: {}\n${one}`],
    [`⟦nam: t\n${one}`],
    [`name: t\nsteps: { grid: { ⟦imagin: a fox } }\n`],
    [`${head}  b: { from: grid, ⟦prompt: x, imagine: y }\n`],
    [`name: t\nlimits: { ⟦task: 3 }\n${one}`],
    [`name: t\nsteps: { grid: { imagine: { ⟦promt: a fox } } }`],
  ],
  'schema.missing-key': [
    [`⟦${one}`],
    ['⟦name: t\n'],
    [`${head}  ⟦b: { click: U1 }\n`],
    ['name: t\nsteps: { grid: { ⟦imagine: {} } }\n'],
    ['name: t\nsteps: { grid: { imagine: a, path: [⟦{}] } }\n'],
    [`name: t\nmatrix: { ⟦sample: {} }\n${one}`],
  ],
  'schema.key-choice': [
    [`${head}  b: { ⟦generate: { model: m } }\n`],
    [`${head}  b: { ⟦video: { motion: low } }\n`],
    [`${clip}  b: { from: clip, ⟦video: { image: steps.grid, extend: 1 } }\n`],
    [edit('{}').replace('mask', '⟦mask')],
    [edit('{ file: a.png, shapes: [{ ellipse: [0, 0, 1, 1] }] }').replace('mask', '⟦mask'), { 'a.png': '' }],
    [edit('{ shapes: [⟦{}] }')],
    [`${head}  b: { ⟦chat: { model: m, prompt: p, messages: [{ role: user, content: c }] } }\n`],
  ],
  'schema.type': [
    ['⟦- a\n'],
    [`name: ⟦6.1\n${one}`],
    [`name: t\nsteps: ⟦[]\n`],
    ['name: t\nsteps: { grid: ⟦x }\n'],
    ['name: t\nsteps: { grid: { imagine: a, keep: ⟦yes } }\n'],
    [`name: t\nservice: { apiKey: ⟦123456 }\n${one}`],
    ['name: t\nsteps: { grid: { imagine: a, when: ⟦true } }\n'],
    ['name: t\nsteps: { grid: { ⟦imagine: } }\n'],
  ],
  'schema.value': [
    [`name: t\nservice: { speed: ⟦fats }\n${one}`],
    [`name: t\nlimits: { submit: ⟦60/minute }\n${one}`],
    [`name: t\ntimeouts: { task: ⟦20 minutes }\n${one}`],
    [`name: ⟦../t\n${one}`],
    [`name: t\nservice: { names: ⟦natural }\n${one}`],
    [`name: t\nservice: { auth: ⟦basic }\n${one}`],
    [generate('thinking: ⟦lots')],
    [`${head}  b: { from: grid, video: { image: parent, batchSize: ⟦3 } }\n`],
    [`${head}  b: { from: grid, video: { image: parent, motion: ⟦fast } }\n`],
    [edit('{ shapes: [{ ellipse: ⟦all }] }')],
    [edit('{ shapes: [{ ellipse: [0, 0, ⟦half, 1] }] }')],
    [generate('continue: ⟦"{{ repeat }}"')],
    [generate('accept: [⟦"{{ repeat }}"]')],
    [generate('responseSchema: { type: string, format: x }, accept: [MAX_TOKENS, ⟦"{4th}"]')],
  ],
  'schema.range': [
    [`name: t\nlimits: { tasks: ⟦0 }\n${one}`],
    [`name: t\nmatrix: { repeat: ⟦0 }\n${one}`],
    ['name: t\nsteps: ⟦{}\n'],
    ['name: t\nsteps: { grid: { imagine: ⟦"" } }\n'],
    [`name: t\nmatrix: { a: { from: 1, to: 2, step: ⟦0 } }\nsteps: { grid: { imagine: "{{ a }}" } }\n`],
    [`${head}  b: { blend: { images: ⟦[] } }\n`],
    [`name: t\nbudget: { cost: ⟦-1 }\nprices: { imagine: 1 }\n${one}`],
    [edit('{ shapes: [{ rectangle: [0, 0, ⟦1.5, 1] }] }')],
    [edit('{ shapes: [{ rectangle: ⟦[0, 0, 1] }] }')],
    [edit('{ shapes: ⟦[] }')],
    [`${clip}  b: { from: clip, video: { extend: ⟦0 } }\n`],
    [`${head}  b: { blend: { images: ⟦[a.png, a.png, a.png, a.png, a.png, a.png] } }\n`, { 'a.png': '' }],
    [`name: t\nretry: { transient: [⟦""] }\n${one}`],
  ],
  'schema.name': [
    ['name: t\nsteps: { ⟦a b: { imagine: a fox } }\n'],
    [`name: t\nmatrix: { ⟦1st: [1] }\n${one}`],
    [generate('functions: { get.it: { answer: 1 }, ⟦get it: { answer: 1 } }')],
  ],

  'service.literal-key': [
    [`name: t\nservice: { apiKey: ⟦topsecret }\n${one}`],
    [`name: t\nservice: { apiKey: "⟦\${KEY:-topsecret}" }\n${one}`.replace('"⟦', '⟦"')],
  ],
  'service.key-variable': [
    [`name: t\nservice: { apiKey: "⟦\${OPENAI_API_KEY}" }\n${one}`.replace('"⟦', '⟦"')],
  ],
  'service.variable': [
    [`name: t\nservice: { baseUrl: "https://a.example/⟦\${1X}" }\n${one}`],
    [`name: t\nservice: { id: "⟦\${OPEN" }\n${one}`],
    [`name: t\nservice: { id: "⟦\${PROMPTPRESS_VAR_A:-\${PROMPTPRESS_VAR_B}}" }\n${one}`],
  ],
  'service.variable-name': [
    [`name: t\nservice: { baseUrl: "https://a.example/⟦\${AWS_SECRET_ACCESS_KEY}" }\n${one}`],
    [`name: t\nservice: { baseUrl: "https://⟦\${PROMPTPRESS_API_KEY}.a.example" }\n${one}`],
    [`name: t\nservice: { id: "eu-⟦\${MY_ID:-west}-\${PROMPTPRESS_VAR_ID}" }\n${one}`],
    [`name: t\nservice: { names: { keyHeader: "⟦\${PROMPTPRESS_VARX}" } }\n${one}`],
  ],
  'service.variable-outside': [['name: t\nsteps: { grid: { imagine: "a fox of ⟦${HOME}" } }\n']],
  'service.base-url': [
    [`name: t\nservice: { baseUrl: ⟦a.example }\n${one}`],
    [`name: t\nservice: { baseUrl: "⟦https://u:p@a.example" }\n${one}`.replace('"⟦', '⟦"')],
    [`name: t\nservice: { baseUrl: ⟦https://a.example/?x=1 }\n${one}`],
    [`name: t\nservice: { baseUrl: ⟦ftp://a.example }\n${one}`],
  ],
  'budget.unpriced': [
    [`name: t\nbudget: { cost: ⟦5 }\n${one}`],
    [`name: t\nbudget: { ask: ⟦5 }\n${one}`],
    [
      `name: t\nbudget: { cost: ⟦5 }\nprices: { imagine: { input: 1, output: 2 } }\n${one}`,
      {},
      ['price.unused'],
    ],
    [
      `name: t\nbudget: { cost: ⟦5 }\nprices: { imagine: 1, U1: 2 }\nsteps: { grid: { imagine: p, path: "U1, U2" } }\n`,
    ],
    [
      `name: t\nbudget: { cost: ⟦5 }\nprices: { imagine: 1 }\nsteps: { b: { imagine: p }, c: { chat: { model: m, prompt: p } } }\n`,
    ],
  ],
  'price.unused': [
    [`name: t\nprices: { ⟦imagin: 1 }\n${one}`],
    [`name: t\nprices: { imagine: 1, ⟦click: 1 }\n${one}`],
    [`name: t\nprices: { ⟦imagine: { input: 1, output: 2 } }\n${one}`],
    [`name: t\nprices: { ⟦text-por: 1 }\nsteps: { c: { chat: { model: text-pro, prompt: p } } }\n`],
  ],
  'failures.code': [
    [`name: t\nfailures: { accept: [task.failed, ⟦task.moderatd] }\n${one}`],
    [`name: t\nfailures: { accept: [⟦nothing.like-it] }\n${one}`],
    [`name: t\nfailures: { accept: [⟦submit.interrupted] }\n${one}`],
    [`name: t\nfailures: { accept: [⟦ancestor.failed] }\n${one}`],
  ],
  'settings.order': [
    [`name: t\npoll: { min: ⟦2s, max: 1s }\n${one}`],
    [`name: t\npoll: { min: ⟦30s }\n${one}`],
    [`name: t\nretry: { cap: ⟦500ms }\n${one}`],
  ],

  'matrix.reserved': [
    [`name: t\nmatrix: { ⟦steps: [1] }\n${one}`],
    [`name: t\nmatrix: { ⟦empty: [1] }\n${one}`],
    [`name: t\nmatrix: { include: [{ ⟦repeat: 1 }] }\n${one}`],
    [rows('t.csv'), { 't.csv': 'x,steps\n1,2\n' }],
  ],
  'matrix.column-clash': [
    [
      `name: t\nmatrix: { x: [1], rows: ⟦t.csv }\nsteps: { grid: { imagine: "{{ x }}" } }\n`,
      { 't.csv': 'x\n1\n' },
    ],
  ],
  'matrix.rows-format': [[rows('t.xlsx'), { 't.xlsx': '' }]],
  'matrix.empty-axis': [[`name: t\nmatrix: { a: ⟦[] }\nsteps: { grid: { imagine: "{{ a }}" } }\n`]],
  'matrix.range': [
    [`name: t\nmatrix: { a: { from: 4, to: ⟦1 } }\nsteps: { grid: { imagine: "{{ a }}" } }\n`],
  ],
  'matrix.glob': [
    [rows('{ files: ⟦images// }')],
    [rows('{ files: ⟦images/** }')],
    [rows('{ files: ⟦"images/[ab].png" }')],
    [rows("{ files: ⟦'images\\a.png' }")],
    [rows('{ files: ⟦a**/b.png }')],
    [rows('{ files: ⟦"*/../b.png" }')],
    [rows('{ files: ⟦"a.{png" }')],
    [rows('{ files: ⟦"{1,2,3,4,5,6}{1,2,3,4,5,6}" }')],
  ],
  'matrix.no-files': [[listed('⟦images/*.png'), { 'images/a.jpg': '', 'b.png': '' }], [listed('⟦no/*')]],
  'matrix.unknown-variable': [
    [`name: t\nmatrix: { ax: [1], exclude: [{ ⟦a: 1 }] }\nsteps: { grid: { imagine: "{{ ax }}" } }\n`],
    [
      `name: t\nmatrix: { a: [1], include: [{ b: 1 }], exclude: [{ ⟦b: 1 }] }\nsteps: { grid: { imagine: "{{ a }}" } }\n`,
    ],
  ],
  'matrix.exclude-nothing': [
    [
      `name: t\nmatrix: { a: [fox, 6.0], exclude: [{ a: fox }, { a: "6.0" }, { a: ⟦6 }] }\nsteps: { grid: { imagine: "{{ a }}" } }\n`,
    ],
    [
      `name: t\nmatrix: { a: { from: 1, to: 9, step: 2 }, exclude: [{ a: 9 }, { a: ⟦4 }] }\nsteps: { grid: { imagine: "{{ a }}" } }\n`,
    ],
    [
      `name: t\nmatrix: { a: [{ b: 1, c: [2] }], exclude: [{ a: { c: [2] } }, { a: ⟦{ b: 1, c: [3] } }] }\nsteps: { grid: { imagine: "{{ a.b }}" } }\n`,
    ],
  ],
  'matrix.unused-axis': [
    [`name: t\nmatrix: { ⟦a: [1, 2] }\n${one}`],
    [`name: t\nmatrix: { ⟦rows: t.csv }\n${one}`, { 't.csv': 'x\n1\n' }],
  ],

  'step.kind': [
    ['name: t\nsteps: { ⟦grid: {} }\n'],
    [`${head}  b: { imagine: a, from: grid, ⟦click: U1 }\n`],
  ],
  'step.unknown': [
    [from('⟦gird')],
    [`${head}  b: { imagine: "{{ ⟦steps.gird.prompt }}" }\n`],
    [`${head}  b: { imagine: { prompt: p, images: [⟦steps.gird] } }\n`],
  ],
  'step.from-and-gather': [[`${head}  b: { imagine: p, from: grid, ⟦gather: grid/* }\n`]],
  'step.gather-click': [
    [`${head}  b: { click: U1, ⟦gather: grid/* }\n`],
    [`${head}  b: { click: U1, from: grid, ⟦gather: 3 }\n`],
  ],
  'step.no-parent': [
    [`${head}  b: { imagine: { prompt: p, images: [⟦parent] } }\n`],
    [`${head}  b: { gather: grid/*, generate: { model: m, prompt: p, images: [⟦parent] } }\n`],
    [`${head}  b: { chat: { model: m, prompt: p, images: [⟦parent] } }\n`],
  ],
  'step.same-request': [
    [`${head}  b: { from: ⟦grid/*, generate: { model: m, prompt: p } }\n`],
    [`${head}  b: { from: ⟦grid/**, chat: { model: m, prompt: p } }\n`],
    [`name: t\nmatrix: { a: [1, 2] }\nsteps:\n  g: { imagine: "{{ a }}" }\n  b: { from: ⟦g, imagine: p }\n`],
    [
      `name: t\nmatrix: { a: [1], repeat: 2 }\nsteps:\n  g: { imagine: "{{ a }}" }\n  b: { from: ⟦g, blend: { images: [a.png, b.png] } }\n`,
      { 'a.png': '', 'b.png': '' },
    ],
  ],
  'step.each-list': [
    [each('a text')],
    [each('{{ steps.b.json.best }}')],
    [each('{{ steps.b.json }}')],
    [each('{{ steps.b.text }}')],
    [each('{{ steps.b.usage }}')],
    [each('{{ steps.grid.task_id }}')],
    [eachOf('a: [x, y]', '⟦{{ a }}')],
    [eachOf('a: { from: 1, to: 3 }', '⟦{{ a }}')],
    [eachOf('a: [{ x: y }]', '⟦{{ a.x }}')],
    [eachOf('rows: t.csv', '⟦{{ a }}'), { 't.csv': 'a\n1\n' }],
  ],
  'step.each-max': [
    [`name: t\nsteps: { c: { ⟦max: 3, imagine: a fox } }\n`],
    [
      `${each('{{ steps.b.json.all }}').replace('⟦', '')}  d: { from: c, each: "{{ steps.b.json.all }}", ⟦max: 11, imagine: "{{ item }}" }\n`,
    ],
    [
      `${each('{{ steps.b.json.all }}').replace('⟦', '')}  d: { from: c, each: "⟦{{ steps.b.json.all }}", imagine: "{{ item }}" }\n`,
    ],
  ],
  'step.each-name': [[eachOf('a: [[x]], item: [x, y]', '⟦{{ a }}')]],
  'gather.axis': [
    [`${over('⟦sed')}\n`],
    [`${over('⟦gathered')}\n`],
    [`${over('seed')}\n  c: { gather: { step: b, over: [⟦seed] }, chat: { model: m, prompt: q } }\n`],
    [`${over('seed').replace('[seed]', '⟦seeds')}\n`],
    [best('from: a, by: "{{ steps.s.text }}", over: [⟦seeds]')],
  ],
  'best.by': [
    [best('from: a, by: "⟦7", over: [seed]')],
    [best('from: a, by: "⟦{{ seed }}", over: [seed]')],
    [best('from: e, by: "⟦{{ steps.s.text }}", over: [seed]', scenes)],
    [best('from: e, by: "⟦{{ steps.s.text }}"', scenes)],
  ],
  'best.one': [[best('from: ⟦a, by: "{{ steps.s.text }}"')]],
  'gather.variable': [
    [`${over('seed', '{{ ⟦seed }}')}\n`],
    [`${over('seed')}\n  c: { from: b, chat: { model: m, prompt: "{{ ⟦seed }} {{ steps.b.text }}" } }\n`],
    [`${over('repeat', '{{ ⟦repeat }}')}\n`],
    [
      `${over('seed', '{{ ⟦mood }}').replace('seed: [1, 2]', 'seed: [1, 2], include: [{ seed: 1, mood: dark }]')}\n`,
    ],
  ],
  'gather.mixed': [
    [`${over('seed', '{{ ⟦steps.a.text }}')}\n`],
    [
      `${over('seed')}\n  c: { gather: { step: a, over: [n] }, chat: { model: m, prompt: "{{ ⟦steps.b.text }}" } }\n`,
    ],
  ],
  'step.gather-text': [
    [`${generate('stream: true')}  c: { gather: ⟦b, generate: { model: m, prompt: q } }\n`],
    [
      `${head}  b: { from: grid/*, chat: { model: m, prompt: p, images: [parent] } }\n  c: { gather: ⟦b, blend: {} }\n`,
    ],
    [`${head}  b: { from: grid/*, describe: { image: parent } }\n  c: { gather: ⟦b, blend: {} }\n`],
    [`${head}  b: { from: grid/*, video: { image: parent }, path: U1 }\n  c: { gather: ⟦b/*, blend: {} }\n`],
  ],
  'step.continue': [
    [generate('continue: ⟦grid')],
    [
      `${generate('stream: true')}  c: { from: grid, generate: { model: m, contents: [{ parts: [] }], ⟦continue: b } }\n`,
    ],
  ],
  'step.no-json': [
    [reads('stream: true', '{{ ⟦steps.b.json.best }}')],
    [reads('generationConfig: { responseMimeType: text/plain }', '{{ ⟦steps.b.json }}')],
    [`${head}  b: { chat: { model: m, prompt: p } }\n  c: { imagine: "{{ ⟦steps.b.json.x }}" }\n`],
  ],
  'step.json-member': [
    [ofScenes('{{ item.title }} {{ ⟦item.titel }}')],
    [ofScenes('{{ item.title }} {{ ⟦item.title.x }}')],
    [reads(json, '{{ steps.b.json.best }} {{ ⟦steps.b.json.bets }}')],
    [reads(json, '{{ ⟦steps.b.json.best.x }}')],
    [reads(json, '{{ steps.b.json.all[0] }} {{ ⟦steps.b.json.all.x }}')],
    [
      reads(
        'generationConfig: { responseSchema: { type: OBJECT, properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: [object, "null"], properties: { b: {} } } } } }',
        '{{ steps.b.json.a.b }} {{ ⟦steps.b.json.a.c }}',
      ),
    ],
  ],
  'step.no-text': [
    [ofScenes('{{ ⟦item }}')],
    [reads(json, 'x {{ ⟦steps.b.json }}')],
    [reads(json, '{{ ⟦steps.b.json.all }}')],
    [reads(json, '{{ steps.b.json | json }} {{ ⟦steps.b.usage }}')],
    [reads('', '{{ steps.b.parts.size }} {{ ⟦steps.b.parts }}')],
  ],
  'step.no-outputs': [[`${head}  b: { from: ⟦grid/#2, chat: { model: m, prompt: p } }\n`]],
  'step.output-button': [['name: t\nsteps: { g: { imagine: a fox, grid: split, path: "#1 → ⟦U1" } }\n']],
  'step.output-name': [
    [
      'name: t\nmatrix: { frame: [1, 2] }\nsteps: { ⟦g: { imagine: "{{ frame }}", grid: split, path: "#1" } }\n',
    ],
  ],
  'step.split-not-kept': [
    ['name: t\nsteps: { g: { imagine: a fox, keep: false, ⟦grid: split } }\n'],
    [`${head}  b: { from: grid, click: V1, keep: false, ⟦grid: split }\n`],
  ],
  'step.split-single': [
    [`${head}  b: { from: grid, click: U1, ⟦grid: split }\n`],
    [`${head}  b: { from: grid, click: U1, path: Upscale (Subtle), ⟦grid: split }\n`],
  ],
  'step.rounds': [[generate('⟦rounds: 3')]],

  'button.unknown': [
    [path('⟦U5')],
    [path('U1 → ⟦Vary Strong')],
    [path('⟦U1 > Vary (Strong)')],
    [path('⟦U1 U2')],
    [path('U1, ⟦u2')],
    [path('⟦U0..U4')],
    [path('⟦Q*')],
    [path('U1 → "⟦Custom  Zoom"'.replace('"⟦', '⟦"')), {}, ['modal.prompt']],
    [path('U1 → [⟦Upscale'.replace('[', ''))],
    [path('U1 → Upscale (Subtle) | Upscale (2x), ⟦Vary (Strng)?')],
    [`${head}  b: { from: grid, click: ⟦U9 }\n`],
    ['name: t\nmatrix: { n: [1, 5] }\nsteps: { g: { imagine: "a {{ n }}", path: "⟦U{{ n }}" } }\n'],
  ],
  'button.grid': [
    [path('⟦Vary (Region)?'), {}, ['modal.prompt', 'modal.mask']],
    [path('V1 → reroll → ⟦pan left | Zoom Out 2x')],
    [path('"U1, V2 → ⟦/Outpaint::50/"')],
    [path('U1 → V1, U2 → ⟦🪄')],
    [`${head}  b: { from: grid, click: ⟦Upscale (Subtle) }\n`],
    [`${head}  b: { from: grid/U1, click: V1 }\n  c: { from: b, click: ⟦Animate (Low motion) }\n`],
    [
      `${head}  b: { blend: { images: [a.png, b.png] }, path: ⟦Vary (Strong) }\n`,
      { 'a.png': '', 'b.png': '' },
    ],
  ],
};
