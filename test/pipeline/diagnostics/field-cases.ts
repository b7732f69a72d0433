import {
  type Case,
  clip,
  edit,
  from,
  generate,
  head,
  image,
  listed,
  one,
  path,
  reads,
  rows,
  template,
  thinking,
  thinkingOver,
} from './case-texts.ts';

/** A step that goes on from a pick. */
const picks = (top: string, step: string): string =>
  `name: t
matrix: { seed: [1, 2] }
steps:
  a: { chat: { model: m, prompt: "{{ seed }}" } }
  b: { best: { from: a, by: "{{ steps.a.text }}", ${top}, over: [seed] } }
  c: { ${step} }
`;

/** Errors in fields, templates, paths, addresses and the files that they name. Each text makes exactly the diagnostic it stands under, at its mark. */
export const fieldCases: Readonly<Record<string, readonly Case[]>> = {
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
  'prompt.multiplied': [
    ['name: p\nsteps: { a: { imagine: "a ⟦{red, green} fox" } }\n'],
    [
      'name: p\nmatrix: { n: [1] }\nsteps: { a: { imagine: { prompt: "a {{ n }} ⟦{red, {{ n }}, blue} fox" } } }\n',
    ],
    ['name: p\nsteps: { a: { imagine: "a fox --ar 3:2 ⟦--repeat 4 --v 7" } }\n'],
    ['name: p\nsteps: { a: { imagine: "a fox ⟦—r 3" } }\n'],
    [path('[U1, { button: Vary (Strong), remix: true, prompt: "⟦{red, green} fox" }]')],
  ],
  'prompt.words': [
    [
      'name: p\nmatrix: { c: [red, ⟦__colour__] }\nsteps: { a: { imagine: "{{ c }} fox" }, b: { imagine: "{{ c }} owl" } }\n',
    ],
    [
      'name: p\nmatrix: { c: [{ p: red }, ⟦{ p: "red --ar 3:2 fox" }] }\nsteps: { a: { imagine: "{{ c.p }}" } }\n',
    ],
    ['name: p\nsteps: { a: { imagine: "a ⟦{red|green} fox" } }\n'],
    ['name: p\nsteps: { a: { imagine: "a ⟦__colour__ fox" } }\n'],
    ['name: p\nsteps: { a: { imagine: "a fox, ⟦<lora:ink:0.8>" } }\n'],
    ['name: p\nsteps: { a: { imagine: "a ⟦(red:1.3) fox" } }\n'],
    ['name: p\nsteps: { a: { imagine: "a fox ⟦- -ar 3:2" } }\n'],
    ['name: p\nsteps: { a: { imagine: "a fox ⟦-ar 3:2" } }\n'],
    ['name: p\nsteps: { a: { imagine: "a fox --ar 3:2 ⟦in snow" } }\n'],
    ['name: p\nsteps: { a: { imagine: "a fox --tile ⟦in snow --v 7" } }\n'],
    ['name: p\nmatrix: { n: [1] }\nsteps: { a: { imagine: "a fox --seed {{ n }} ⟦in snow" } }\n'],
    [`${head}  b: { from: grid/U1, click: Vary (Strong), remix: true, prompt: "a ⟦__colour__ owl" }\n`],
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
    [picks('top: 2', 'from: ⟦b/3, chat: { model: m, prompt: "{{ steps.a.text }}" }')],
    [picks('top: 2', 'from: ⟦b/U1, chat: { model: m, prompt: "{{ steps.a.text }}" }')],
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
    [picks('top: 1', 'from: b, chat: { model: m, prompt: "{{ ⟦steps.b.text }}" }')],
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

  'template.unknown-variable': [
    [template('{{ ⟦b }}')],
    [path('"U{{ ⟦b }}"')],
    ['name: t\nsteps: { c: { imagine: "{{ ⟦item }}" } }\n'],
    ['name: t\nsteps: { c: { imagine: "{{ ⟦item_index }}" } }\n'],
    ['name: t\nsteps: { c: { each: "{{ ⟦item.parts }}", imagine: "{{ item }}" } }\n'],
  ],
  'template.unknown-member': [
    [
      'name: t\nmatrix: { a: [[{ x: b }]] }\nsteps: { c: { each: "{{ a }}", imagine: "{{ item.x }} {{ ⟦item.y }}" } }\n',
    ],
    [
      'name: t\nmatrix: { a: [[b]] }\nsteps: { c: { each: "{{ a }}", imagine: "{{ item }} {{ ⟦item_index.y }}" } }\n',
    ],
    [
      `name: t\nmatrix: { a: [{ name: x }, { name: y }] }\nsteps: { grid: { imagine: "{{ ⟦a.nam }} {{ a.name }}" } }\n`,
    ],
    [template('{{ ⟦a.b }}')],
    [
      `name: t\nmatrix: { a: [{ b: { c: 1 } }, { b: { d: 1 } }] }\nsteps: { grid: { imagine: "{{ a.b.c | default: 1 }} {{ a.b.d | default: 1 }} {{ ⟦a.b.e }}" } }\n`,
    ],
    [
      `name: t\nmatrix: { a: [{ b: 1, c: 1 }, ⟦{ b: 2 }] }\nsteps: { grid: { imagine: "{{ a.b }} {{ a.c }}" } }\n`,
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
  'path.output': [['name: t\nsteps: { a: { imagine: a fox, path: "⟦#one" } }\n']],
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
