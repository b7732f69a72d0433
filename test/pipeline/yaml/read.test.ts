import { describe, expect, it } from 'vitest';
import { diagnose, parse, placed } from '../diagnose.ts';

const one = 'steps: { grid: { imagine: a fox } }\n';
const mebi = 1024 * 1024;

describe('hostile YAML', () => {
  it('does not grow through aliases', async () => {
    const level = (index: number): string =>
      `  b${index}: &a${index + 1} [${Array.from({ length: 9 }, () => `*a${index}`).join()}]\n`;
    const levels = Array.from({ length: 20 }, (_, index) => level(index)).join('');
    expect(await diagnose(`name: t\nmatrix:\n  a: &a0 [x]\n${levels}${one}`)).toEqual(['yaml.size 9:11']);
  });

  it.each([
    ['brackets', '['.repeat(mebi)],
    ['braces', '{a: '.repeat(mebi / 4)],
    ['dashes', '- '.repeat(30_000)],
    ['indents', Array.from({ length: 1000 }, (_, index) => `${' '.repeat(index)}a:\n`).join('')],
    ['keys', '? '.repeat(30_000)],
  ])('is refused if it is nested too deeply: %s', async (_what, text) => {
    const found = await diagnose(text);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^yaml\.nesting /);
  });

  it('takes no quadratic time for keys', async () => {
    const keys = Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join(', ');
    const found = await diagnose(`name: t\nprices: { ${keys} }\n${one}`);
    // A long price list is told of at its beginning, and is no error.
    expect(found).toHaveLength(20);
    expect(found.every((each) => each.startsWith('price.unused 2:'))).toBe(true);
  });

  it('takes no quadratic time for errors on one line', async () => {
    const items = Array.from({ length: 9000 }, () => '{a: x}').join();
    const text = `name: t\nmatrix: { b: [1, 2], exclude: [${items}] }\nsteps: { grid: { imagine: "{{ b }}" } }\n`;
    expect(await diagnose(text)).toHaveLength(1001);
  });

  it('takes less than the product of excludes and values', async () => {
    const values = Array.from({ length: 20_000 }, (_, index) => `{n: ${index}}`).join();
    const excludes = Array.from({ length: 5000 }, (_, index) => `{a: {n: ${index}}}`).join();
    const text = `name: t\nmatrix: { a: [${values}], exclude: [${excludes}] }\nsteps: { grid: { imagine: "{{ a.n }}" } }\n`;
    expect(await diagnose(text)).toEqual([]);
  });

  it('cannot change JavaScript objects through its keys', async () => {
    const text =
      'name: t\nmatrix: { a: [{ toString: x, hasOwnProperty: y }] }\nsteps: { grid: { imagine: "{{ a.toString }} {{ a.valueOf }}" } }\n';
    expect(await diagnose(text)).toEqual(['template.unknown-member 3:48']);
    const { diagnostics } = await parse(
      'name: t\nsteps:\n  toString: { imagine: x }\n  valueOf: { from: constructor, click: U1 }\n',
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(['step.unknown']);
    expect(({} as Record<string, unknown>)['imagine']).toBeUndefined();
  });

  it('reports its first syntax errors, one per line', async () => {
    const found = await diagnose(`name: t\n${'}\n'.repeat(50)}`);
    expect(found).toHaveLength(10);
    expect(new Set(found.map((one) => one.split(' ')[0]))).toEqual(new Set(['yaml.syntax']));
  });
});

describe('YAML that surprises', () => {
  it.each([
    ['a key without a value', 'name:\n', 'schema.type 1:1'],
    ['yes', 'description: yes\n', undefined],
    ['a date', 'description: 2026-11-01\n', undefined],
    ['a tagged text', 'description: !!str 6\n', undefined],
  ])('%s', async (_what, line, expected) => {
    const text = line.startsWith('name') ? `${line}${one}` : `name: t\n${line}${one}`;
    expect(await diagnose(text)).toEqual(expected === undefined ? [] : [expected]);
  });

  it.each([
    [
      'alone',
      'imagine: {{ animl }}',
      ['yaml.key 5:14', 'template.unknown-variable 5:17'],
      'Put a text that begins with {{ in quotes: "{{ name }}, …".',
    ],
    [
      'before other text',
      'imagine: {{ animal }} in snow',
      ['yaml.syntax 5:14'],
      'Put the whole text in quotes: "{{ animal }} in snow".',
    ],
  ])('gets a hint that a template needs quotes: %s', async (_what, step, expected, hint) => {
    const { diagnostics } = await parse(`name: t\nmatrix: { animal: [fox] }\nsteps:\n  grid:\n    ${step}\n`);
    expect(diagnostics.map(placed)).toEqual(expected);
    expect(diagnostics[0]?.hint).toBe(hint);
  });

  it('reports where an unclosed quote opens, without errors for the text after it', async () => {
    const { diagnostics } = await parse(
      'name: t\nsteps:\n  grid: { imagine: "a fox }\n  b: { imagine: a }\n',
    );
    expect(diagnostics.map(placed)).toEqual(['yaml.syntax 3:20']);
    expect(diagnostics[0]).toMatchObject({
      message: 'The quote that opens here is never closed.',
      hint: 'End the text with ".',
      sourceLine: '  grid: { imagine: "a fox }',
      length: 8,
    });
  });

  it.each([
    ['service: { speed: 3 }', 'service.speed cannot be 3.'],
    ['service: { speed: "3 " }', 'service.speed cannot be "3 ".'],
  ])('shows an impossible value as it is written: %s', async (line, message) => {
    const { diagnostics } = await parse(`name: t\n${line}\n${one}`);
    expect(diagnostics.map((found) => [found.code, found.message])).toEqual([['schema.value', message]]);
  });

  it('lists the possible values if no others are accepted', async () => {
    const { diagnostics } = await parse(
      `name: t\nsteps: { a: { video: { image: a.png, batchSize: 3 } } }\n`,
      {
        'a.png': '',
      },
    );
    expect(diagnostics.map(({ message, hint }) => [message, hint])).toEqual([
      ['steps.a.video.batchSize cannot be 3.', 'Possible: 1, 2, 4.'],
    ]);
  });

  it('gets a hint that a text with a colon needs quotes', async () => {
    const { diagnostics } = await parse('name: t\nsteps:\n  grid:\n    imagine: a fox: in snow\n');
    expect(diagnostics.map(placed)).toEqual(['yaml.syntax 4:14']);
    expect(diagnostics[0]?.hint).toBe('Put a text with ": " in quotes. Write "a fox: in snow".');
  });

  it.each([
    [
      'limits: { submit: 60 }',
      'limits.submit must be a rate; this is a number.',
      'A rate needs a unit of time: submit: 60/min (a minute), 60/s or 60/h.',
    ],
    [
      'retry: { base: 1 }',
      'retry.base must be a duration; this is a number.',
      'A duration has a unit: base: 1s (seconds) or base: 1m (minutes).',
    ],
    [
      'description: 12',
      'description must be text; this is a number.',
      'Put text that looks like another value in quotes: "12".',
    ],
  ])('reports a number in place of a text: %s', async (line, message, hint) => {
    const { diagnostics } = await parse(`name: t\n${line}\n${one}`);
    expect(diagnostics.map((found) => [found.message, found.hint])).toEqual([[message, hint]]);
  });

  it('keeps the meaning of an anchor at each place', async () => {
    const text = 'name: &x t\nmatrix: { a: [&x 1, *x, &x 2, *x] }\nsteps: { grid: { imagine: "{{ a }}" } }\n';
    const { pipeline } = await parse(text);
    expect(pipeline?.matrix.axes[0]).toMatchObject({ values: [1, 1, 2, 2] });
  });
});

describe('shared parts', () => {
  it('are written under x- keys, in any form, and used by aliases and merge keys', async () => {
    const { pipeline, diagnostics } = await parse(
      [
        'x-model: &model text-pro',
        'x-ask: &ask { model: *model, prompt: Caption this., images: [parent] }',
        'x-list: [1, { imagine: 3 }]',
        'name: t',
        'steps:',
        '  grid: &grid { imagine: a fox, keep: false }',
        '  again: { <<: *grid, imagine: an owl }',
        '  words: { from: grid, generate: { <<: *ask, prompt: Name it. } }',
      ].join('\n'),
    );
    expect(diagnostics).toEqual([]);
    expect(pipeline?.steps.map(({ name, keep }) => [name, keep])).toEqual([
      ['grid', false],
      ['again', false],
      ['words', true],
    ]);
    expect(Object.keys(pipeline?.steps[2]?.request ?? {})).toEqual(['model', 'images', 'prompt']);
    expect(pipeline?.steps[1]?.request['prompt']).toMatchObject({ source: 'an owl' });
  });

  it.each([
    ['before', '<<: *a, x: [9]', { y: [2], x: [9] }],
    ['behind', 'x: [9], <<: *a', { x: [9], y: [2] }],
    ['of a list, the first wins', '<<: [*a, *b]', { x: [1], y: [2], z: [4] }],
    ['of a list, in its order', '<<: [*b, *a]', { x: [3], z: [4], y: [2] }],
    ['written out', '<<: { x: [5] }', { x: [5] }],
    ['twice', '<<: *a, <<: *b', { x: [1], y: [2], z: [4] }],
  ])('do not override a key of the mapping itself: %s', async (_what, matrix, axes) => {
    const text = `x-a: &a { x: [1], y: [2] }\nx-b: &b { x: [3], z: [4] }\nname: t\nmatrix: { ${matrix} }\nsteps: { g: { imagine: a fox } }\n`;
    const { pipeline } = await parse(text);
    const found = pipeline?.matrix.axes.map((axis) => [axis.name, axis.kind === 'values' ? axis.values : []]);
    expect(found).toEqual(Object.entries(axes));
  });

  it('give the same jobs as values that are written out', async () => {
    const merged = await parse(
      'x-m: &m { prompt: a fox, images: [a.png] }\nname: t\nsteps: { g: { imagine: { <<: *m } } }\n',
      { 'a.png': '' },
    );
    const written = await parse('name: t\nsteps: { g: { imagine: { prompt: a fox, images: [a.png] } } }\n', {
      'a.png': '',
    });
    const sources = ({ pipeline }: typeof merged): string =>
      JSON.stringify(pipeline?.steps[0]?.request, (key, value: unknown) => (key === 'position' ? 0 : value));
    expect(sources(merged)).toBe(sources(written));
  });

  it.each([
    ['<<: 1', 'yaml.merge 2:11'],
    ['<<: [*a, 2]', 'yaml.merge 2:11'],
    ['<<: *a, x: [2], x: [3]', 'yaml.duplicate-key 2:27'],
  ])('%s is an error', async (matrix, found) => {
    const text = `x-a: &a { x: [1] }\nmatrix: { ${matrix} }\nname: t\nsteps: { g: { imagine: a fox } }\n`;
    const errors = (await parse(text)).diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors.map(placed)).toEqual([found]);
  });

  it('are not merged by a merge key in quotes', async () => {
    const { pipeline } = await parse(`name: t\nprices: { "<<": 1, imagine: 2 }\n${one}`);
    expect(pipeline?.prices).toEqual({ '<<': 1, imagine: 2 });
  });

  it('show an error once, at its position', async () => {
    const text =
      'x-a: &a { imagine: "{{ animl }}" }\nname: t\nmatrix: { animal: [fox] }\nsteps: { b: *a, c: { <<: *a } }\n';
    expect(await diagnose(text)).toEqual(['template.unknown-variable 1:24']);
  });

  it('must not contain a service key, and their variables are read where they are used', async () => {
    const text = (key: string): string =>
      `x-s: &s { a: [{ apiKey: ${key} }] }\nx-t: &t { apiKey: "\${MY_KEY}", id: "\${PROMPTPRESS_VAR_ID}" }\nname: t\nservice: { <<: *t }\n${one}`;
    expect(await diagnose(text('"${MY_KEY}"'))).toEqual([]);
    const { diagnostics } = await parse(text('sk-0123456789abcdef0123'));
    expect(diagnostics.map(placed)).toEqual(['service.literal-key 1:25']);
    expect(diagnostics[0]?.sourceLine).not.toContain('sk-');
  });

  it('are refused under x- keys anywhere else', async () => {
    const { diagnostics } = await parse(`name: t\nretry: { x-a: 1 }\n${one}`);
    expect(diagnostics.map(placed)).toEqual(['schema.unknown-key 2:10']);
    expect(diagnostics[0]?.hint).toBe(
      'Write keys with x- at the beginning of a line, beside name and steps.',
    );
  });
});
