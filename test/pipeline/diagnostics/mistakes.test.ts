import { describe, expect, it } from 'vitest';
import { type Files, parse, placed } from '../diagnose.ts';

const grid = 'steps:\n  grid:\n    imagine: a fox\n';
const animals = 'matrix:\n  animal: [fox, owl]\n';
const reads = (name: string): string => `steps:\n  grid:\n    imagine: "{{ ${name} }}"\n`;
const table = (file: string): string => `matrix:\n  rows: ${file}\n${reads('prompt')}`;
const path = (text: string): string => `${grid}    path: ${text}\n`;

type Mistake = readonly [what: string, text: string, place: string, hint: string, files?: Files];

/** Each file has one mistake: it is reported once, where it was made, and nothing that only follows from it. */
const mistakes: readonly Mistake[] = [
  [
    'a template without quotes',
    `${animals}steps:\n  grid:\n    imagine: {{ animal }} in snow\n`,
    'yaml.syntax 6:14',
    'Put the whole text in quotes: "{{ animal }} in snow".',
  ],
  [
    'a quote that stays open',
    'steps:\n  grid:\n    imagine: "a fox\n',
    'yaml.syntax 4:14',
    'Close it: "a fox".',
  ],
  [
    'a step twice',
    `${grid}  grid:\n    imagine: an owl\n`,
    'yaml.duplicate-key 5:3',
    'The first one is on line 3. Give this one another name, for example grid2; or join the two into one.',
  ],
  [
    'an axis twice',
    `${animals}  animal: [hare]\n${reads('animal')}`,
    'yaml.duplicate-key 4:3',
    'The first one is on line 3. Join their values in one list, or give this one another name, for example animal2.',
  ],
  [
    'a field twice',
    `${grid}    imagine: an owl\n`,
    'yaml.duplicate-key 5:5',
    'The first one is on line 4. Keep one of the two and remove the other.',
  ],
  [
    'fields beside an empty operation',
    'steps:\n  cap:\n    generate:\n    model: text-pro\n    prompt: Write.\n',
    'schema.unknown-key 5:5',
    'Are "model", "prompt" meant to be inside "generate"? Indent them further than "generate".',
  ],
  [
    'steps as a list',
    'steps:\n  - imagine: a fox\n    path: U1\n',
    'schema.type 3:3',
    'Each step has a name, in place of the "-": steps: { grid: { imagine: a fox, path: U1 } }.',
  ],
  [
    'a prompt without an operation',
    'steps:\n  grid:\n    prompt: a fox\n',
    'step.kind 4:5',
    'For an image write imagine: a fox (in place of prompt); for a text generate: { model: text-pro, prompt: a fox }.',
  ],
  [
    'a capital letter',
    `Limits: { tasks: 1 }\n${grid}`,
    'schema.unknown-key 2:1',
    'Did you mean "limits"? Upper and lower case differ.',
  ],
  [
    'two operations',
    `${grid}    click: U1\n`,
    'step.kind 5:5',
    'A step has one operation. A path presses further buttons: write path: U1 in place of click: U1; or make a second step, grid2: { from: grid, click: U1 }.',
  ],
  [
    'a range with other words',
    `matrix:\n  seed: { start: 1, end: 4 }\n${reads('seed')}`,
    'schema.unknown-key 3:11',
    'A range is written seed: { from: 1, to: 4 }.',
  ],
  [
    'an axis that is one object',
    `matrix:\n  medium: { name: ink }\n${reads('medium.name')}`,
    'schema.unknown-key 3:13',
    'An axis is a list of values: medium: [{ name: ink }]. A range is medium: { from: 1, to: 4 }.',
  ],
  [
    'a matrix that is a list',
    `matrix:\n  - animal: [fox, owl]\n  - ink: [a]\nsteps:\n  grid:\n    imagine: "{{ animal }} {{ ink }}"\n`,
    'schema.type 3:3',
    'Each axis has a name, in place of the "-": matrix: { animal: [fox, owl], ink: [a] }.',
  ],
  [
    'a mistyped matrix',
    `matrx:\n  animal: [fox]\n${reads('animal')}`,
    'schema.unknown-key 2:1',
    'Did you mean "matrix"?',
  ],
  [
    'a matrix under another name',
    `variables:\n  animal: [fox]\n${reads('animal')}`,
    'schema.unknown-key 2:1',
    'Values that change from cell to cell are axes of the matrix: write matrix instead of "variables".',
  ],
  [
    'a sample in percent',
    `${animals}  sample: 50%\n${reads('animal')}`,
    'schema.type 4:11',
    'A sample is a number of cells, not a share of them: sample: { count: 10 }.',
  ],
  [
    'a mistyped value to exclude',
    `${animals}  exclude: [{ animal: olw }]\n${reads('animal')}`,
    'matrix.exclude-nothing 4:23',
    'Did you mean "owl"? The values are "fox", "owl".',
  ],
  [
    'a mistyped member to exclude',
    `matrix:\n  m: [{ n: ink }, { n: oil }]\n  exclude: [{ m: { n: imk } }]\n${reads('m.n')}`,
    'matrix.exclude-nothing 4:18',
    'Did you mean "ink"? The values of "n" are "ink", "oil".',
  ],
  [
    'a text to exclude an object',
    `matrix:\n  m: [{ n: ink }, { n: oil }]\n  exclude: [{ m: ink }]\n${reads('m.n')}`,
    'matrix.exclude-nothing 4:18',
    'An object matches by its members: { n: ink }.',
  ],
  [
    'a value without a member',
    `matrix:\n  m:\n    - { n: ink, s: 50 }\n    - { n: oil }\n${reads('m.s')}`,
    'template.unknown-member 5:7',
    'Give it one, as other values have it (s: 50); or write {{ m.s | default: 50 }}.',
  ],
  [
    'a table of another name',
    table('prompts.csv'),
    'file.missing 3:9',
    'Did you mean "prompt.csv"? Paths are relative to the pipeline file.',
    { 'prompt.csv': 'prompt\na\n' },
  ],
  [
    'a TSV with spaces',
    table('t.tsv'),
    'table.separator 1:3',
    'Put one tab between two columns (id<tab>prompt), in the header and in each row; or write commas and name the file .csv.',
    { 't.tsv': 'id    prompt\n1    a fox\n' },
  ],
  [
    'a CSV with bars',
    table('t.csv'),
    'table.separator 1:1',
    'Save the table with commas between the fields.',
    { 't.csv': 'id | prompt\n1 | a fox\n' },
  ],
  [
    'a CSV without a header',
    table('t.csv'),
    'table.no-header 1:1',
    'Put a line with the names of the columns above it, for example id,prompt.',
    { 't.csv': '1,a fox in the snow\n2,an owl\n' },
  ],
  [
    'a comma behind an object',
    table('t.jsonl'),
    'table.syntax 1:20',
    'Remove the comma: each line is a separate object.',
    { 't.jsonl': '{"prompt": "a fox"},\n' },
  ],
  [
    'a text without quotes in JSON',
    table('t.jsonl'),
    'table.syntax 1:12',
    'Put names and texts in double quotes, and a comma between two members, but none after the last.',
    { 't.jsonl': '{"prompt": fox}\n' },
  ],
  [
    'another arrow',
    path('u1 => vary strong'),
    'button.unknown 5:11',
    'Write one button after the other as U1 → Vary (Strong) (or ->).',
  ],
  [
    'a long arrow',
    path('U1-U4 --> Upscale (Subtle)'),
    'button.unknown 5:11',
    'Write an arrow as → or ->: U1..U4 → ….',
  ],
  ['a range with a hyphen', path('U1-U4'), 'button.unknown 5:11', 'Write a range as U1..U4.'],
  ['a range with a word', path('v2 to 4'), 'button.unknown 5:11', 'Write a range as V2..V4.'],
  [
    'a mistyped box',
    `${path('U1')}  r:\n    from: grid/U1\n    click: Vary (Region)\n    prompt: a scarf\n    mask: { shapes: [{ rect: { x: 0.1, y: 0.2, w: 0.3, h: 0.4 } }] }\n`,
    'schema.unknown-key 10:24',
    'Did you mean "rectangle"? Write rectangle: [0.1, 0.2, 0.3, 0.4] (x, y, width, height).',
  ],
  [
    'a box of sides',
    `${path('U1')}  r:\n    from: grid/U1\n    click: Vary (Region)\n    prompt: a scarf\n    mask: { shapes: [{ ellipse: { x: 0.1, y: 0.2, width: 0.3, height: 0.4 } }] }\n`,
    'schema.type 10:33',
    'Write ellipse: [0.1, 0.2, 0.3, 0.4] (x, y, width, height).',
  ],
  [
    'a number that is no number',
    'steps:\n  cap:\n    generate: { model: text-pro, prompt: p, temperature: hot }\n',
    'schema.unknown-key 4:45',
    'Write generationConfig: { temperature: 0.7 }; it is a number.',
  ],
  [
    'the key of another company',
    `service: { apiKey: "\${OPENAI_API_KEY}" }\n${grid}`,
    'service.key-variable 2:20',
    'Write ${PROMPTPRESS_API_KEY}, or leave apiKey out, and put the key of the gateway into the variable PROMPTPRESS_API_KEY (with export, or in a file for --dotenv). Never write the key itself into the pipeline.',
  ],
  [
    'an address in a variable without braces',
    `service: { baseUrl: $GATEWAY_URL }\n${grid}`,
    'service.base-url 2:21',
    'Write ${PROMPTPRESS_BASE_URL} and set that variable, or name yours PROMPTPRESS_VAR_GATEWAY_URL and write ${PROMPTPRESS_VAR_GATEWAY_URL}.',
  ],
  [
    'a currency',
    `budget: { cost: $25 }\n${grid}`,
    'schema.type 2:17',
    'Write the number alone: cost: 25. A cost budget needs prices in the file: prices: { imagine: 0.04 }.',
  ],
  [
    'codes in place of the settings of failures',
    `failures: [task.moderated]\n${grid}`,
    'schema.type 2:11',
    'Write failures: { accept: [task.moderated] }.',
  ],
  [
    'the end of a code',
    `failures: { accept: [moderated] }\n${grid}`,
    'schema.value 2:22',
    'Examples: task.moderated, text.blocked.',
  ],
  [
    'a known list in each',
    'steps:\n  grid:\n    each: [fox, owl]\n    imagine: "{{ item }}"\n',
    'schema.type 4:11',
    'A list that is known beforehand is an axis: matrix: { thing: [fox, owl] }, and "{{ thing }}" in place of each and "{{ item }}". To make branches of it, write it as one value: matrix: { things: [[fox, owl]] }, and each: "{{ things }}".',
  ],
  [
    'a bound without its list',
    'steps:\n  grid:\n    imagine: "{{ item }}"\n    max: 3\n',
    'step.each-max 5:5',
    'Add each: "{{ … }}".',
  ],
  [
    'a seed beside the prompt',
    `${grid}    seed: 42\n`,
    'schema.type 5:11',
    'A seed is part of the prompt: --seed 42. seed: true reads the seed of each grid into the column seed.',
  ],
  [
    'gathered jobs of one cell',
    `matrix: { seed: [1, 2] }\nsteps:\n  s: { imagine: "{{ seed }}" }\n  a: { gather: s, chat: { model: m, prompt: "{{ gathered }}" } }\n`,
    'template.unknown-variable 5:49',
    '"gathered" is there in a step that gathers over axes: gather: { step: s, over: [seed] }.',
  ],
  ...['grid#1', 'grid/1', 'grid/frame 1'].map(
    (from): Mistake => [
      `an output written ${from}`,
      `${grid}    grid: split\n  b: { from: "${from}", click: U }\n`,
      `step.${from === 'grid#1' ? 'unknown' : 'unknown-branch'} 6:15`,
      'Write grid/#1.',
    ],
  ),
  [
    'the number of the output that is asked for',
    `${grid}    grid: split\n  b: { from: "grid/#{{ frame }}", click: U }\n`,
    'template.unknown-variable 6:24',
    'Below an output (from: grid/#1), "frame" is its number; here there is none.',
  ],
];

describe('a mistake is reported once, at its position, with a correction', () => {
  it.each(mistakes.map((one) => [one[0], one] as const))('%s', async (_what, mistake) => {
    const [, text, place, hint, files = {}] = mistake;
    const { diagnostics } = await parse(`name: t\n${text}`, files);
    expect(diagnostics.map((one) => [placed(one), one.hint])).toEqual([[place, hint]]);
  });
});

it.each([
  [
    'a spreadsheet file as a table',
    `matrix: { rows: t.xlsx }\n${grid}`,
    '"t.xlsx" is a file of a spreadsheet program, but tables are read from text files.',
  ],
  [
    'a variable without braces',
    `service: { baseUrl: $PROMPTPRESS_BASE_URL }\n${grid}`,
    '"$PROMPTPRESS_BASE_URL" is read as an address: a variable has braces, ${NAME}.',
  ],
  [
    'a variable without braces, of a name that is not read',
    `service: { baseUrl: $GATEWAY_URL }\n${grid}`,
    '"$GATEWAY_URL" is read as an address: a variable has braces, ${NAME}, and this one is not read here.',
  ],
])('the message names %s', async (_what, text, message) => {
  expect((await parse(`name: t\n${text}`)).diagnostics.map((one) => one.message)).toEqual([message]);
});

it('a member with a test or a default may be missing', async () => {
  const text =
    'name: t\nmatrix:\n  m: [{ n: ink, s: 50 }, { n: oil }]\nsteps:\n  grid:\n    imagine: "{{ m.n }} {% if m.s %}{{ m.s }}{% endif %} {{ m.s | default: 5 }}"\n';
  expect((await parse(text)).diagnostics).toEqual([]);
});

it.each([
  ['excluded', '  exclude: [{ m: { n: oil } }]\n', []],
  ['in each run', '', ['warning']],
  ['not drawn, maybe', '  sample: { count: 1 }\n', ['warning']],
])('a value without a member that is %s', async (_what, line, expected) => {
  const text = `name: t\nmatrix:\n  m: [{ n: ink, s: 50 }, { n: oil }]\n${line}${reads('m.s')}`;
  expect((await parse(text)).diagnostics.map(({ severity }) => severity)).toEqual(expected);
});
