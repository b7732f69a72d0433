import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diagnosticCodes } from '../../src/pipeline/diagnostics/codes.ts';
import { WrittenNumber } from '../../src/pipeline/values/value.ts';
import { diagnose, parse } from './diagnose.ts';

/** A pipeline that uses every part of the language. */
const wholeLanguage = readFileSync(new URL('whole-language.yaml', import.meta.url), 'utf8');

/** The files that it names. */
const wholeFiles = { 'data/scenes.csv': 'scene\nat dusk\n', 'masks/neck.png': '', 'images/fox.png': '' };

const minimal = 'name: t\nsteps: { grid: { imagine: a fox } }\n';

describe('a valid pipeline', () => {
  it('has every default', async () => {
    const { pipeline, diagnostics } = await parse(minimal);
    expect(diagnostics).toEqual([]);
    expect(pipeline).toMatchObject({
      name: 't',
      source: { file: 't.yaml', text: minimal },
      service: {
        baseUrl: '${PROMPTPRESS_BASE_URL}',
        apiKey: '${PROMPTPRESS_API_KEY}',
        speed: 'relax',
        auth: 'bearer',
        names: { preset: 'neutral', own: {} },
      },
      limits: { tasks: 12, requests: 32 },
      retry: {
        attempts: 6,
        baseMs: 1000,
        capMs: 60_000,
        resubmits: 2,
        ambiguous: 'retry',
        patienceMs: 3_600_000,
      },
      timeouts: { requestMs: 60_000, taskMs: 1_200_000 },
      poll: { minMs: 1000, maxMs: 15_000 },
      budget: {},
      prices: {},
      matrix: { axes: [], exclude: [], include: [], repeat: 1, variables: [] },
    });
    expect(pipeline?.steps).toHaveLength(1);
    expect(pipeline?.steps[0]).toMatchObject({
      name: 'grid',
      kind: 'imagine',
      keep: true,
      path: [],
      after: [],
    });
    expect(Object.keys(pipeline?.steps[0]?.request ?? {})).toEqual(['prompt']);
  });

  it('has its settings in their units', async () => {
    const { pipeline } = await parse(`name: t
description: d
service: { baseUrl: "https://a.example", apiKey: "\${KEY}", id: a, speed: turbo, auth: header, names: { preset: midjourney-proxy, path: x } }
limits: { tasks: 3, submit: 60/min, poll: 5/s, download: 2000/h, text: 1.5/s, tokens: 200000/min }
retry: { base: 250ms, cap: 1.5s, ambiguous: hold, patience: 6h }
budget: { submits: 5, tokens: 6, cost: 2.5 }
prices: { imagine: 0.04, "U*": 0.01, text-pro: { input: 1.25, output: 10 } }
steps: { grid: { imagine: a fox } }
`);
    expect(pipeline).toMatchObject({
      description: 'd',
      service: {
        id: 'a',
        speed: 'turbo',
        auth: 'header',
        names: { preset: 'midjourney-proxy', own: { path: 'x' } },
      },
      limits: {
        tasks: 3,
        submit: { count: 60, perMs: 60_000 },
        poll: { count: 5, perMs: 1000 },
        download: { count: 2000, perMs: 3_600_000 },
        text: { count: 1.5, perMs: 1000 },
        tokens: { count: 200_000, perMs: 60_000 },
      },
      retry: { baseMs: 250, capMs: 1500, ambiguous: 'hold', patienceMs: 21_600_000 },
      budget: { submits: 5, tokens: 6, cost: 2.5 },
      prices: { imagine: 0.04, 'U*': 0.01, 'text-pro': { input: 1.25, output: 10 } },
    });
  });

  it('retries ambiguous answers of a broken gateway only if the file says so', async () => {
    const repeats = async (retry: string): Promise<unknown> =>
      (await parse(`name: t\n${retry}\nsteps: { grid: { imagine: a fox } }\n`)).pipeline?.retry
        .retriesAmbiguous;
    expect(await repeats('')).toBeUndefined();
    expect(await repeats('retry: { attempts: 3 }')).toBeUndefined();
    expect(await repeats('retry: { ambiguous: hold }')).toBeUndefined();
    expect(await repeats('retry: { ambiguous: retry }')).toBe(true);
  });

  it('keeps numbers as they are written', async () => {
    const text =
      'name: t\nmatrix: { a: [6.0, 6, 1e3, 0x10, 12345678901234567890, 007, -1.5, "6.0", true, null] }\nsteps: { grid: { imagine: "{{ a }}" } }\n';
    const { pipeline } = await parse(text);
    expect(pipeline?.matrix.axes[0]).toMatchObject({
      kind: 'values',
      values: [
        new WrittenNumber('6.0', 6),
        6,
        new WrittenNumber('1e3', 1000),
        new WrittenNumber('0x10', 16),
        new WrittenNumber('12345678901234567890', Number('12345678901234567890')),
        new WrittenNumber('007', 7),
        -1.5,
        '6.0',
        true,
        null,
      ],
    });
  });

  it('has its matrix in written order, with the columns of the rows in their place', async () => {
    const text = `name: t
matrix:
  a: [1]
  rows: data/t.csv
  b: { from: 0, to: 1, step: 0.5 }
  include: [{ a: 9, z: x }]
  exclude: [{ b: 0.5, x: any }]
  sample: { count: 1000000000000 }
  repeat: 2
steps:
  grid: { imagine: "{{ a }} {{ x }} {{ b }} {{ repeat }}" }
`;
    const { pipeline, diagnostics } = await parse(text, { 'data/t.csv': 'x,y\n1,2\n' });
    expect(diagnostics).toEqual([]);
    expect(pipeline?.matrix).toMatchObject({
      axes: [
        { kind: 'values', name: 'a', values: [1], position: { line: 3, column: 3 } },
        { kind: 'rows', name: 'rows', declared: 'data/t.csv', format: 'csv', columns: ['x', 'y'] },
        { kind: 'range', name: 'b', from: 0, to: 1, step: 0.5 },
      ],
      include: [{ values: { a: 9, z: 'x' } }],
      exclude: [{ values: { b: 0.5, x: 'any' } }],
      sample: { count: 1_000_000_000_000, seed: 0 },
      repeat: 2,
      variables: ['a', 'x', 'y', 'b', 'z'],
    });
  });

  it('has steps with the steps that they wait for', async () => {
    const text = `name: t
steps:
  last: { imagine: "{{ steps.next.task_id }} {{ steps.grid.prompt }}", when: 'steps.grid.button == "x"', keep: false, extra: { a: "{{ repeat }}" } }
  grid: { imagine: { prompt: a fox, botType: NIJI, accountFilter: { modes: [FAST] } }, path: [U1, { button: Vary (Strong) }] }
  next: { from: grid/U1/Vary  (Strong), click: U2 | reroll }
`;
    const { pipeline, diagnostics } = await parse(text);
    expect(diagnostics).toEqual([]);
    const [last, grid, next] = pipeline?.steps ?? [];
    expect(last).toMatchObject({ name: 'last', kind: 'imagine', keep: false, after: ['next', 'grid'] });
    expect(last?.when?.source).toBe('steps.grid.button == "x"');
    expect(Object.keys(last?.extra ?? {})).toEqual(['a']);
    expect(Object.keys(grid?.request ?? {})).toEqual(['prompt', 'botType', 'accountFilter']);
    expect(grid?.path.map((segment) => segment.selectors.map(({ name }) => name))).toEqual([
      ['U1'],
      ['Vary (Strong)'],
    ]);
    expect(next).toMatchObject({
      kind: 'click',
      from: { step: 'grid', segments: ['U1', 'Vary (Strong)'] },
      selector: { name: 'U2 | reroll' },
      request: {},
      after: ['grid'],
    });
  });

  it('may be written with a byte order mark, CRLF line ends and aliases', async () => {
    const text =
      '\uFEFFname: t\r\nretry: { base: &wait 2s, cap: *wait }\r\nsteps: { grid: { imagine: a fox } }\r\n';
    const { pipeline, diagnostics } = await parse(text);
    expect(diagnostics).toEqual([]);
    expect(pipeline?.retry).toMatchObject({ baseMs: 2000, capMs: 2000 });
    expect(await diagnose(`\uFEFFnam: t\r\nsteps: { grid: { imagin: a fox } }\r\n`)).toEqual([
      'schema.unknown-key 1:1',
      'schema.unknown-key 2:18',
    ]);
  });
});

describe('the whole language', () => {
  it('is refused only for missing files', async () => {
    const found = await diagnose(wholeLanguage);
    expect(found).toEqual([
      'file.missing 30:9',
      'file.missing 45:11',
      'file.missing 63:35',
      'file.missing 77:96',
      'file.missing 82:79',
    ]);
  });

  it('checks its templates against the columns of its table', async () => {
    const files = { ...wholeFiles, 'data/scenes.csv': 'scen\nat dusk\n' };
    const text = wholeLanguage.replace(/^ {2}include:.*\n/m, '');
    const found = await diagnose(text, files);
    expect(found).toEqual([
      'template.unknown-variable 37:32',
      'template.unknown-variable 54:41',
      'template.unknown-variable 147:45',
    ]);
  });
});

describe('several errors', () => {
  it('are reported together, each once, in file order', async () => {
    const text = `name: t
service: { speed: fats }
matrix:
  animal: [fox, owl]
  exclude: [{ animal: cat }]
steps:
  grid:
    imagine: "{{ anmal }} {{ animal }}"
    kep: false
  next: { from: gird, click: U1 }
`;
    expect(await diagnose(text)).toEqual([
      'schema.value 2:19',
      'matrix.exclude-nothing 5:23',
      'template.unknown-variable 8:18',
      'schema.unknown-key 9:5',
      'step.unknown 10:17',
    ]);
  });

  it('are reported once where an alias repeats them', async () => {
    const text = 'name: t\nsteps:\n  a: { imagine: &p "{{ x }}" }\n  b: { imagine: *p }\n';
    expect(await diagnose(text)).toEqual(['template.unknown-variable 3:24']);
  });

  it('cause no further errors for an unreadable axis, table or path', async () => {
    const text = `name: t
matrix: { rows: no.csv, ok: [1, 2] }
steps:
  grid: { imagine: "{{ scene }}", path: U4..U1 }
  next: { from: grid/U2, click: U1 }
`;
    expect(await diagnose(text)).toEqual(['file.missing 2:17', 'path.bad-range 4:41']);
  });
});

describe('arbitrary text', () => {
  const files = wholeFiles;
  const sane = async (text: string): Promise<void> => {
    const { pipeline, diagnostics } = await parse(text, files);
    for (const diagnostic of diagnostics) {
      expect(Object.keys(diagnosticCodes)).toContain(diagnostic.code);
      expect(diagnostic.line).toBeGreaterThanOrEqual(1);
      expect(diagnostic.column).toBeGreaterThanOrEqual(1);
      expect(diagnostic.length).toBeGreaterThanOrEqual(1);
    }
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    expect(pipeline === undefined).toBe(errors.length > 0);
  };

  it('never makes the parser throw', async () => {
    await expect(
      fc.assert(fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 200 }), sane), {
        numRuns: 60,
      }),
    ).resolves.toBeUndefined();
  });

  it('never makes the parser throw in the form of a pipeline', async () => {
    const key = fc.constantFrom(
      'name',
      'steps',
      'matrix',
      'service',
      'imagine',
      'click',
      'from',
      'path',
      'rows',
      'include',
      'exclude',
      'grid',
      'sample',
      'repeat',
      'when',
      'images',
      'generate',
      'toString',
    );
    const text = fc.constantFrom(
      'grid',
      'grid/U1',
      'grid/**',
      'U1..U4',
      '{{ a }}',
      '{{ steps.grid.prompt }}',
      '{% if',
      'parent',
      'steps.grid',
      '60/min',
      '2s',
      '${X}',
      '',
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.double()),
        fc.dictionary(key, tie('value'), { maxKeys: 5 }),
        fc.array(tie('value'), { maxLength: 4 }),
      ),
    }));
    const root = fc.dictionary(key, value, { maxKeys: 8 });
    await expect(
      fc.assert(
        fc.asyncProperty(root, (json) => sane(JSON.stringify(json))),
        { numRuns: 60 },
      ),
    ).resolves.toBeUndefined();
  });

  it('never makes the parser throw in a damaged pipeline', async () => {
    const damage = fc.record({
      at: fc.nat({ max: wholeLanguage.length }),
      cut: fc.nat({ max: 40 }),
      put: fc.oneof(
        fc.constantFrom(
          '',
          '[',
          '{',
          '"',
          "'",
          '{{',
          '}}',
          '&a ',
          '*a',
          '!!',
          '\t',
          '\n',
          ': ',
          '- ',
          '|',
          '# ',
          '\0',
        ),
        fc.string({ maxLength: 5 }),
      ),
    });
    await expect(
      fc.assert(
        fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), async (damages) => {
          const text = damages.reduce(
            (now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut),
            wholeLanguage,
          );
          await sane(text);
        }),
        { numRuns: 60 },
      ),
    ).resolves.toBeUndefined();
  });
});
