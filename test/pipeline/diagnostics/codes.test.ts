import { describe, expect, it } from 'vitest';
import { diagnosticCodes } from '../../../src/pipeline/diagnostics/codes.ts';
import { diagnose, type Files, marked, parse } from '../diagnose.ts';

/** A step with a path, for steps that continue it. */
const grid = '  grid: { imagine: a fox, path: U1..U4 }\n';
const head = `name: t\nsteps:\n${grid}`;
/** One step that uses nothing, after the settings before it. */
const one = 'steps: { grid: { imagine: a fox } }\n';
/** A step that reads the table `t.csv` or what else it is called. */
const rows = (file: string): string =>
  `name: t\nmatrix: { rows: ${file.includes('⟦') ? '' : '⟦'}${file} }\nsteps: { grid: { imagine: "{{ x }}" } }\n`;
/** A step that reads the files that this glob means. */
const listed = (glob: string): string =>
  `name: t\nmatrix: { rows: { files: ${glob} } }\nsteps: { grid: { imagine: "{{ file }}" } }\n`;
const template = (text: string): string =>
  `name: t\nmatrix: { a: [1, 2] }\nsteps:\n  grid:\n    imagine: >-\n      {{ a }} ${text}\n`;
const path = (text: string): string => `name: t\nsteps:\n  grid:\n    imagine: a fox\n    path: ${text}\n`;
const from = (text: string): string => `${head}  next: { click: U2, from: ${text} }\n`;
const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

/** A generate step `b` with these fields besides model and prompt. */
const generate = (fields: string): string =>
  `${head}  b: { from: grid, generate: { model: m, prompt: p, ${fields} } }\n`;
/** The same, as the only field, of a model of this name. */
const thinking = (model: string, fields: string): string =>
  `${head}  b: { generate: { model: ${model}, prompt: p, ${fields} } }\n`;
/** The same, of an axis `m`. */
const thinkingOver = (axis: string, model: string, wish: string): string =>
  `name: t\nmatrix:\n  m: ${axis}\nsteps: { b: { generate: { model: "${model}", prompt: p, thinking: ${wish} } } }\n`;
/** An edit with this mask. */
const edit = (mask: string): string =>
  `${head}  b: { from: grid/U1, edit: { image: parent, prompt: p, mask: ${mask} } }\n`;
/** A video with a path. */
const clip = `${head}  clip: { from: grid/U1, video: { image: parent }, path: U1 }\n`;
const image = (text: string): string => generate(`images: [${text}]`);
/** A prompt that reads the generate step `b`. */
const reads = (fields: string, text: string): string =>
  `${generate(fields)}  c: { imagine: "${text}", from: grid }\n`;
const json =
  'responseSchema: { type: object, properties: { best: { type: integer }, all: { type: array } } }';

type Case = readonly [text: string, files?: Files, others?: readonly string[]];

/** Each one makes exactly the diagnostic it stands under, at its mark. */
const cases: Readonly<Record<string, readonly Case[]>> = {
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
  'yaml.merge': [[`name: t\nretry: &r { base: 2s }\npoll: { ⟦<<: *r }\n${one}`]],
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
    [generate('responseSchema: { type: string, format: x }, accept: [MAX_TOKENS, ⟦4th]')],
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
    [reads(json, 'x {{ ⟦steps.b.json }}')],
    [reads(json, '{{ ⟦steps.b.json.all }}')],
    [reads(json, '{{ steps.b.json | json }} {{ ⟦steps.b.usage }}')],
    [reads('', '{{ steps.b.parts.size }} {{ ⟦steps.b.parts }}')],
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

  'modal.prompt': [
    [`${head}  b: { from: grid/U1, click: ⟦Vary (Region), mask: m.png }\n`, { 'm.png': '' }],
    [`${head}  b: { from: grid/U1, click: ⟦🖌️, mask: m.png }\n`, { 'm.png': '' }],
    [`${head}  b: { from: grid/U1, click: ⟦X | /CustomZoom::/ }\n`, {}, ['button.unknown']],
    [path('U1 → ⟦Custom Zoom?')],
    [path('[U1, { button: ⟦Custom Zoom }]')],
    [path('[U1, ⟦Custom Zoom]')],
    [path('[U1, { button: ⟦/video::.*::manual$/ }]')],
  ],
  'modal.mask': [
    [`${head}  b: { from: grid/U1, click: ⟦Vary (Region), prompt: p }\n`],
    [path('[U1, { button: ⟦/Inpaint/, prompt: p }]')],
    [path('"U1 → ⟦Vary (Region)"'), {}, ['modal.prompt']],
  ],
  'modal.zoom': [
    [path('[U1, { button: Custom Zoom, prompt: ⟦a fox }]')],
    [path('[U1, { button: Custom Zoom, prompt: a fox ⟦--zoom }]')],
    [path('[U1, { button: Custom Zoom, prompt: a fox ⟦--zoom far --ar 1:1 }]')],
    [path('[U1, { button: Custom Zoom, prompt: a fox ⟦--zoom 2.5 }]')],
    [path('[U1, { button: Custom Zoom, prompt: "a fox ⟦--zoom 0.5 --ar 1:1" }]')],
    [path('[U1, { button: Custom Zoom, prompt: ⟦a fox --zoomed 1.5 }]')],
  ],
  'modal.remix': [
    [path('[{ button: V1..V4, ⟦prompt: p }]')],
    [`${head}  b: { from: grid/U1, click: reroll, ⟦prompt: p, remix: false }\n`],
  ],
  'modal.unused': [
    [path('[{ button: U1..U4, ⟦prompt: p }]')],
    [path('[U1, { button: Upscale (Subtle) | Upscale (2x), ⟦remix: true }]')],
    [path('[{ button: V1, ⟦mask: m.png }]'), { 'm.png': '' }],
    [path('[{ button: /video.*manual/, prompt: p, ⟦mask: m.png }]'), { 'm.png': '' }],
    [
      `${head}  b: { from: grid/U1, click: Custom Zoom, prompt: p --zoom 2, ⟦mask: m.png }\n`,
      { 'm.png': '' },
    ],
  ],

  'mask.type': [
    [edit('⟦neck.jpg'), { 'neck.jpg': '' }],
    [edit('⟦parent')],
    [edit('{ file: ⟦steps.grid }')],
    [edit('"⟦data:image/png;base64,AAAA"')],
    [path('[U1, { button: Vary (Region), prompt: p, mask: ⟦https://a.example/neck }]')],
  ],
  'mask.box': [
    [edit('{ shapes: [{ rectangle: ⟦[0.5, 0, 0.6, 1] }] }')],
    [edit('{ shapes: [{ ellipse: [0, 0, 1, 1] }, { ellipse: ⟦[0, 0.9, 1, 0.2] }] }')],
    [edit('{ shapes: [{ rectangle: ⟦[0.5, 0, 0, 1] }] }')],
    [path('[U1, { button: Vary (Region), prompt: p, mask: { shapes: [{ ellipse: ⟦[0, 0, 1, 0.0] }] } }]')],
  ],

  'blend.count': [
    [`${head}  b: { ⟦blend: {} }\n`],
    [`${head}  b: { blend: { images: ⟦[a.png] } }\n`, { 'a.png': '' }],
    [`${head}  b: { from: grid/U1, blend: { images: ⟦[parent] } }\n`],
    [`${head}  b: { from: grid, ⟦blend: { dimensions: square } }\n`],
    [`${head}  b: { gather: ⟦grid, blend: {} }\n`],
    [`${head}  b: { gather: ⟦grid/U1, blend: {} }\n`],
    [`${head}  v: { from: grid/*, click: V1, path: U1..U2 }\n  b: { gather: ⟦v/**, blend: {} }\n`],
  ],
  'video.extend': [
    [`${head}  b: { video: { ⟦extend: 1 } }\n`],
    [`${head}  b: { from: ⟦grid/U1, video: { extend: 1 } }\n`],
    [`${clip}  b: { from: ⟦clip/U1, video: { extend: 1 } }\n`],
    [
      `${head}  c: { from: grid/U1, video: { image: parent, batchSize: 2 } }\n  b: { from: c, video: { extend: ⟦3 } }\n`,
    ],
  ],

  'image.address': [[image('⟦"https://"').replace('⟦"', '"⟦')], [image('steps.grid, ⟦http://a b')]],
  'image.data': [
    [image('"⟦data:image/png;base64,"')],
    [image('"⟦data:text/plain;base64,AAAA"')],
    [image('"⟦data:image/svg+xml;base64,AAAA"')],
    [image('"⟦data:image/png;base64,AA#A"')],
    [image('"data:image/png;base64,AAAA", "⟦data:image/png,AAAA"')],
  ],
  'image.type': [
    [image('⟦notes.txt'), { 'notes.txt': '' }],
    [image('A.JPG, ⟦fox'), { 'A.JPG': '', fox: '' }],
  ],
  'image.too-large': [
    [image('⟦fox.png'), { 'fox.png': new Uint8Array(20 * 1024 * 1024 + 1) }],
    [edit('{ file: ⟦neck.png }'), { 'neck.png': new Uint8Array(20 * 1024 * 1024 + 1) }],
  ],

  'schema.answer': [
    [generate('responseSchema: { type: ⟦objekt }')],
    [generate('responseSchema: { type: OBJECT, properties: { a: { type: STRING, ⟦enum: [] } } }')],
    [generate('responseSchema: { $ref: ⟦"#/$defs/a" }')],
    [generate('generationConfig: { responseSchema: { anyOf: [{ type: string }, ⟦7] } }')],
    [generate('responseSchema: { type: string, pattern: ⟦"(" }')],
    [generate('responseSchema: { type: string, pattern: ⟦"^(a+)+$" }')],
    [generate('responseSchema: { ⟦propertis: {} }')],
    [generate('responseSchema: { properties: { best: {} }, required: [⟦bets] }')],
    [
      `${head}  b: { chat: { model: m, prompt: p, response_format: { type: json_schema, json_schema: { schema: { ⟦items: [] } } } } }\n`,
    ],
  ],
  'schema.twice': [[generate('responseSchema: {}, generationConfig: { responseSchema: ⟦{} }')]],

  'native.unknown-key': [
    [generate('generationConfig: { ⟦maxOutputToken: 3, max_output_tokens: 4, brandNewThing: 1 }')],
    [generate('generationConfig: { ⟦temperture: 1 }')],
    [
      generate('generationConfig: { thinkingConfig: { ⟦thinkingBugdet: 0 } }'),
      {},
      ['thinking.unknown-model'],
    ],
    [generate('toolConfig: { functionCallingConfig: { ⟦mod: ANY } }')],
  ],

  'thinking.both': [
    [thinking('m', 'generationConfig: { thinkingConfig: { thinkingLevel: LOW, thinkingBudget: ⟦5 } }')],
    [
      thinking(
        'm',
        'thinking: 5, generationConfig: { thinkingConfig: { thinkingBudget: ⟦5, includeThoughts: true } }',
      ),
    ],
  ],
  'thinking.generation': [
    [thinking('gemini-2.5-flash', 'thinking: ⟦low')],
    [thinking('gemini-3-pro-preview', 'thinking: ⟦1024')],
    [thinking('gemini-2.5-pro', 'generationConfig: { thinkingConfig: { thinkingLevel: ⟦HIGH } }')],
    [`models: { m: { thinking: none } }\n${thinking('m', 'thinking: ⟦0')}`],
    [`models: { m: { thinking: level } }\n${thinking('m', 'thinking: ⟦0')}`],
    [thinkingOver('[gemini-2.5-flash, gemini-3-pro]', '{{ m }}', '⟦low')],
    [thinkingOver('[pro]', 'gemini-2.5-{{ m }}', '⟦low')],
    [
      thinkingOver(
        '[{ id: gemini-3-pro, t: low }, { id: gemini-2.5-pro, t: low }]',
        '{{ m.id }}',
        '⟦"{{ m.t }}"',
      ),
    ],
    [thinkingOver('["1024", low]', 'gemini-3-pro', '⟦"{{ m }}"')],
    [thinkingOver('[gemini-3-pro]\n  include: [{ m: gemini-2.5-pro }]', '{{ m }}', '⟦low')],
  ],
  'thinking.range': [
    [thinking('gemini-2.5-flash-lite', 'thinking: ⟦511')],
    [thinking('gemini-2.5-pro', 'thinking: ⟦0')],
    [thinking('gemini-2.5-flash-preview-09-2025', 'thinking: ⟦24577')],
    [thinking('gemini-3-pro', 'thinking: ⟦medium')],
    [thinkingOver('[0, 128]', 'gemini-2.5-pro', '⟦"{{ m }}"')],
  ],
  'thinking.unknown-model': [
    [thinking('text-pro', 'thinking: ⟦low')],
    [thinking('gemini-2.5-flash-image', 'thinking: ⟦512')],
  ],
  'step.cycle': [
    [
      'name: t\nsteps:\n  a: { click: U1, from: ⟦b }\n  b: { click: U1, from: c }\n  c: { click: U1, from: a }\n',
    ],
    ['name: t\nsteps:\n  a: { blend: {}, gather: ⟦b/* }\n  b: { click: U1, from: a, path: U1..U2 }\n'],
    ['name: t\nsteps: { a: { imagine: "{{ ⟦steps.a.prompt }}" } }\n'],
  ],
  'step.no-buttons': [[`${head}  b: { chat: { model: m, prompt: p } }\n  c: { click: U1, from: ⟦b }\n`]],
  'step.unknown-branch': [
    [from('⟦grid/U5')],
    [from('⟦grid/U1/V1')],
    [from('⟦grid/U1/*')],
    [`name: t\nsteps: { a: { imagine: x }, b: { click: U1, from: ⟦a/** } }\n`],
  ],
  'step.several': [
    [`${from('grid/*')}  z: { imagine: "{{ ⟦steps.next.prompt }}" }\n`],
    [
      `${from('grid/*')}  z: { click: V1, from: grid, when: '⟦steps.next.prompt == "x"' }\n`
        .replace("'⟦", "⟦'")
        .replace("⟦'s", "'⟦s"),
    ],
  ],
  'step.field': [
    [`${head}  b: { imagine: "{{ ⟦steps.grid.text }}" }\n`],
    [`${head}  b: { imagine: "{{ ⟦steps.grid }}" }\n`],
    [`${head}  b: { imagine: "{{ ⟦steps.grid.prompt.x }}" }\n`],
    [reads('', '{{ steps.b.usage.total }} {{ ⟦steps.b.usage.totl }}')],
    [reads('', '{{ ⟦steps.b.usage.total.x }}')],
    [reads('', '{{ steps.b.parts[0].text }} {{ ⟦steps.b.parts.text }}')],
    [reads('', '{{ ⟦steps.b.image_url }}')],
    [`${generate('')}  c: { from: b, chat: { model: m, prompt: p, images: [⟦parent] } }\n`],
    [`${clip}  c: { from: clip/U1, chat: { model: m, prompt: p, images: [⟦parent] } }\n`],
    [`${clip}  u: { from: clip, click: U1 }\n  c: { edit: { image: ⟦steps.u, prompt: p } }\n`],
    [
      `${head}  b: { from: grid, describe: { image: parent } }\n  c: { from: b, video: { image: ⟦parent } }\n`,
    ],
    [
      `${head}  b: { from: grid, describe: { image: parent } }\n  c: { imagine: "{{ ⟦steps.b.image_url }}" }\n`,
    ],
    [`${generate('')}  c: { from: grid, chat: { model: m, prompt: p, images: [⟦steps.b] } }\n`],
  ],

  'template.unknown-variable': [[template('{{ ⟦b }}')], [path('"U{{ ⟦b }}"')]],
  'template.unknown-member': [
    [
      `name: t\nmatrix: { a: [{ name: x }, { name: y }] }\nsteps: { grid: { imagine: "{{ ⟦a.nam }} {{ a.name }}" } }\n`,
    ],
    [template('{{ ⟦a.b }}')],
    [
      `name: t\nmatrix: { a: [{ b: { c: 1 } }, { b: { d: 1 } }] }\nsteps: { grid: { imagine: "{{ a.b.c }} {{ a.b.d }} {{ ⟦a.b.e }}" } }\n`,
    ],
  ],
  'template.object': [
    ['name: t\nmatrix: { m: [{ a: 1 }] }\nsteps: { g: { imagine: "x {{ ⟦m }}" } }\n'],
    ['name: t\nmatrix: { m: [[1, 2]] }\nsteps: { g: { imagine: "{{ ⟦m }}" } }\n'],
  ],
  'template.syntax': [[template('{{ a ⟦b }}')]],
  'template.empty': [['name: t\nsteps: { grid: { imagine: a, when: "⟦  " } }\n']],
  'template.wrapped': [['name: t\nmatrix: { a: [1] }\nsteps: { grid: { imagine: a, when: "⟦{{ a }}" } }\n']],
  'template.unknown-tag': [[template('⟦{% nope %}')]],
  'template.refused-tag': [[template("⟦{% include 'x' %}")]],
  'template.unknown-filter': [[template('{{ a | ⟦upcas }}')]],
  'template.refused-filter': [[template('{{ a | ⟦sample }}')]],
  'template.not-repeatable': [[template('{{ ⟦"now" | date: "%Y" }}')]],
  'template.reserved': [[template('{% assign ⟦repeat = 1 %}')]],
  'template.computed-name': [[template('{{ ⟦[a] }}')]],
  'template.steps': [[template('{{ ⟦steps }}')]],
  'template.too-long': [[`name: t\nsteps: { grid: { imagine: "⟦{{ 1 }}${'x'.repeat(100_001)}" } }\n`]],
  'template.too-deep': [
    [template(`${'{% if a %}'.repeat(64)}⟦{% if a %}${'{% endif %}'.repeat(65)}`), {}, ['template.syntax']],
  ],

  'path.empty': [[path('"⟦  "')], [path('U1 →⟦ → U2')]],
  'path.dangling-arrow': [[path('U1 ⟦→')]],
  'path.one-segment': [[path('[U1 ⟦→ U2]')]],
  'path.one-selector': [[`${head}  b: { click: U1⟦..U4, from: grid }\n`.replace('U1⟦', '⟦U1')]],
  'path.duplicate': [[path('U1, ⟦U1')]],
  'path.bad-range': [[path('⟦U4..U1')]],
  'path.range-place': [[path('⟦U1..U4 | V1')]],
  'path.wildcard-place': [[path('⟦U*, V1')]],
  'path.optional-place': [[path('⟦U1? | V1')]],
  'path.reserved': [[path('⟦"*"').replace('⟦"*"', '\'⟦"*"\'')]],
  'path.after-quote': [[path('\'"U1" ⟦x\'')]],
  'path.unclosed-quote': [[path("'⟦\"U1'")]],
  'path.unclosed-pattern': [[path('⟦/up')]],
  'path.unclosed-template': [[path("'U⟦{{ a'")]],
  'path.bad-pattern': [[path("'/⟦(/'")], [`name: t\nretry: { permanent: [lost, "/⟦(/"] }\n${one}`]],
  'path.unsafe-pattern': [[path("'/⟦(?=a)/'")], [`name: t\nretry: { transient: ["/a⟦(?=b)/"] }\n${one}`]],
  'path.too-long': [[path(`⟦${'x'.repeat(8193)}`)]],
  'path.too-many': [[path(`⟦${Array.from({ length: 33 }, () => 'U1').join(' → ')}`)]],

  'address.step': [[from('⟦/U1/')]],
  'address.separator': [[from('grid/U1 ⟦→ V1')]],
  'address.several': [[from('grid/⟦U1..U4')]],
  'address.star': [[from('grid/⟦*/V1')]],
  'address.optional': [[from('grid/⟦U1?')]],

  'file.missing': [
    [rows('t.csv')],
    [`${head}  b: { click: /Inpaint/, from: grid/U1, prompt: p, mask: ⟦no.png }\n`],
  ],
  'file.outside': [
    [rows('../t.csv'), { '../t.csv': 'x\n1\n' }],
    [rows('t.csv'), { 't.csv': ['../../etc/t.csv'] }],
    [rows('.git/t.csv'), { '.git/t.csv': 'x\n1\n' }],
  ],
  'table.outside': [
    [listed('⟦images/*.png'), { 'images/a.png': '', 'images/b.png': ['../../etc/passwd'] }],
    [listed('⟦../*.png'), { '../a.png': '' }],
    [listed('⟦.git/*.png'), { '.git/a.png': '' }],
  ],
  'file.not-file': [[rows('t.csv'), { 't.csv': null }]],
};

/** Mistakes in a table stand in the table: which file, and where. */
const tableCases: Readonly<
  Record<string, readonly [file: string, content: string | Uint8Array, place: string]>
> = {
  'table.column-name': ['t.csv', 'a,__proto__\n1,2\n', '1:1'],
  'table.duplicate-column': ['t.csv', 'a,a\n1,2\n', '1:1'],
  'table.empty-column': ['t.csv', 'a,\n1,2\n', '1:1'],
  'table.not-object': ['t.jsonl', '[1]\n', '1:1'],
  'table.syntax': ['t.jsonl', '{"a":\n', '1:1'],
  'table.too-long': ['t.tsv', `${'a'.repeat(1024 * 1024 + 1)}\n`, '1:1'],
  'table.too-many': [
    't.tsv',
    `${Array.from({ length: 1025 }, (_, index) => `c${index}`).join('\t')}\n`,
    '1:1',
  ],
  'table.encoding': ['t.csv', bytes('a', [0xff], '\n'), '1:1'],
  'table.empty': ['t.csv', '', '1:1'],
};

/** Of rows, which are read when a plan is made, and of files that fail or change while they are read. */
const later = ['table.columns', 'table.changed', 'table.unreadable'];

describe.each(Object.entries(cases))('%s', (code, own) => {
  it.each(own.map((one, index) => [index + 1, one] as const))(
    'case %i',
    async (_number, [source, files, others = []]) => {
      const { text, place } = marked(source);
      const found = await diagnose(text, files);
      const expected = found.filter((one) => !others.some((other) => one.startsWith(`${other} `)));
      expect(expected).toEqual([`${code} ${place}`]);
    },
  );
});

it.each(Object.entries(tableCases))('%s', async (code, [file, content, place]) => {
  const found = await diagnose(marked(rows(file)).text, { [file]: content });
  expect(found.map((one) => one.replace(/:\d+$/, ''))).toEqual([`${code} ${place.replace(/:\d+$/, '')}`]);
});

it('file.more-mistakes: says that there are more', async () => {
  const items = Array.from({ length: 1500 }, () => '    - 1\n').join('');
  const found = await diagnose(`name: t\nmatrix:\n  include:\n${items}${one}`);
  expect(found).toHaveLength(1001);
  expect(found.at(-1)).toBe('file.more-mistakes 1003:7');
});

it('step.gather-click: says what to write instead', async () => {
  const hint = async (more: string): Promise<string | undefined> =>
    (await parse(`${head}  b: { click: U1, ${more} }\n`)).diagnostics[0]?.hint;
  expect(await hint('gather: grid/*')).toBe('Write from: grid/* to press it on each.');
  expect(await hint('gather: grid/*, from: grid')).toBe('Keep from.');
});

it.each([
  `${head}  b: { from: grid/U1, video: { extend: 1 } }\n`,
  `${head}  c: { from: grid/U1, click: Animate (Low motion) }\n  b: { from: c, video: { extend: 1 } }\n`,
  `${clip}  b: { from: clip/U1, video: { extend: 1 } }\n`,
])('video.extend says which buttons extend a video: %j', async (text) => {
  const { diagnostics } = await parse(text);
  expect(diagnostics).toMatchObject([{ code: 'video.extend' }]);
  expect(diagnostics[0]?.hint).toContain('press Extend (Low motion) or Extend (High motion)');
});

it.each([
  ['generate: { model: m, prompt: p, extra: { a: 1 } }', 'It is a key of the step, beside generate.'],
  ['imagine: { prompt: p, extra: { a: 1 } }', 'It is a key of the step, beside imagine.'],
  ['chat: { model: m, prompt: p, keep: false }', 'It is a key of the step, beside chat.'],
  ['generate: { model: m, prompt: p, topP: 0.5 }', 'Write generationConfig: { topP: … }.'],
  ['chat: { model: m, prompt: p, responseSchema: {} }', /response_format: \{ type: json_schema/],
  ['chat: { model: m, prompt: p, top_p: 1 }', /extra, beside chat: extra: \{ top_p: … \}/],
  ['chat: { model: m, prompt: p, seed: 1 }', /extra, beside chat: extra: \{ seed: … \}/],
  ['chat: { model: m, prompt: p, max_token: 1 }', 'Did you mean "max_tokens"?'],
])('schema.unknown-key says where a key belongs: %s', async (step, hint) => {
  const { diagnostics } = await parse(`name: t\nsteps: { b: { ${step} } }\n`);
  expect(diagnostics).toMatchObject([{ code: 'schema.unknown-key' }]);
  expect(diagnostics[0]?.hint).toMatch(hint);
});

it('has a case for every code', () => {
  const tested = [...Object.keys(cases), ...Object.keys(tableCases), ...later, 'file.more-mistakes'];
  expect(tested.toSorted()).toEqual(Object.keys(diagnosticCodes).toSorted());
});
