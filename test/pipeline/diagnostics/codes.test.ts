import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diagnosticCodes } from '../../../src/pipeline/diagnostics/codes.ts';
import { jobErrors } from '../../../src/pipeline/diagnostics/job-errors.ts';
import { endCodes, noticeCodes, refusalCodes } from '../../../src/pipeline/diagnostics/run-codes.ts';
import { diagnose, marked, parse } from '../diagnose.ts';
import { bytes, clip, head, one, rows } from './case-texts.ts';
import { fieldCases } from './field-cases.ts';
import { fileCases } from './file-cases.ts';

const cases = { ...fileCases, ...fieldCases };

/** Errors in a table stand in the table: which file, and where. */
const tableCases: Readonly<
  Record<string, readonly [file: string, content: string | Uint8Array, place: string]>
> = {
  'table.column-name': ['t.csv', 'a,__proto__\n1,2\n', '1:1'],
  'table.duplicate-column': ['t.csv', 'a,a\n1,2\n', '1:1'],
  'table.empty-column': ['t.csv', 'a,\n1,2\n', '1:1'],
  'table.not-object': ['t.jsonl', '[1]\n', '1:1'],
  'table.separator': ['t.csv', 'a;b\n1;2\n', '1:1'],
  'table.syntax': ['t.jsonl', '{"a":\n', '1:1'],
  'table.too-long': ['t.tsv', `${'a'.repeat(1024 * 1024 + 1)}\n`, '1:1'],
  'table.too-many': [
    't.tsv',
    `${Array.from({ length: 1025 }, (_, index) => `c${index}`).join('\t')}\n`,
    '1:1',
  ],
  'table.encoding': ['t.csv', bytes('a', [0xff], '\n'), '1:1'],
  'table.empty': ['t.csv', '', '1:1'],
  'table.no-header': ['t.csv', '1,a fox in the snow\n2,an owl\n', '1:1'],
};

/** Of rows, which are read when a plan is made, and of files that fail or change while they are read. */
const later = ['table.columns', 'table.changed', 'table.unreadable'];

/** Of plans: test/plan/matrix/matrix.test.ts, test/plan/graph. */
const ofPlans = [
  'matrix.empty',
  'matrix.sample-too-large',
  'matrix.too-large',
  'plan.too-large',
  'plan.unknown-step',
];

/** Of axes that the user replaces: test/pipeline/matrix/set-axes.test.ts. */
const ofSettings = ['matrix.set'];

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

it('file.more-errors says that there are more errors', async () => {
  const items = Array.from({ length: 1500 }, () => '    - 1\n').join('');
  const found = await diagnose(`name: t\nmatrix:\n  include:\n${items}${one}`);
  expect(found).toHaveLength(1001);
  expect(found.at(-1)).toBe('file.more-mistakes 1003:7');
});

it('step.gather-click suggests what to write instead', async () => {
  const hint = async (more: string): Promise<string | undefined> =>
    (await parse(`${head}  b: { click: U1, ${more} }\n`)).diagnostics[0]?.hint;
  expect(await hint('gather: grid/*')).toBe('Write from: grid/* to press it on each.');
  expect(await hint('gather: grid/*, from: grid')).toBe('Keep from.');
});

it.each([
  `${head}  b: { from: grid/U1, video: { extend: 1 } }\n`,
  `${head}  c: { from: grid/U1, click: Animate (Low motion) }\n  b: { from: c, video: { extend: 1 } }\n`,
  `${clip}  b: { from: clip/U1, video: { extend: 1 } }\n`,
])('video.extend suggests the buttons that extend a video: %j', async (text) => {
  const { diagnostics } = await parse(text);
  expect(diagnostics).toMatchObject([{ code: 'video.extend' }]);
  expect(diagnostics[0]?.hint).toContain('press Extend (Low motion) or Extend (High motion)');
});

it.each([
  [
    'generate: { model: m, prompt: p, extra: { a: 1 } }',
    'It is a key of the step, beside generate: indent both alike.',
  ],
  ['imagine: { prompt: p, extra: { a: 1 } }', 'It is a key of the step, beside imagine: indent both alike.'],
  ['chat: { model: m, prompt: p, keep: false }', 'It is a key of the step, beside chat: indent both alike.'],
  ['generate: { model: m, prompt: p, topP: 0.5 }', 'Write generationConfig: { topP: 0.5 }.'],
  ['chat: { model: m, prompt: p, responseSchema: {} }', /response_format: \{ type: json_schema/],
  ['chat: { model: m, prompt: p, top_p: 1 }', /extra, beside chat: extra: \{ top_p: 1 \}/],
  ['chat: { model: m, prompt: p, thinking: low }', /extra: \{ reasoning_effort: low \}/],
  ['chat: { model: m, prompt: p, seed: 1 }', /extra, beside chat: extra: \{ seed: 1 \}/],
  ['chat: { model: m, prompt: p, max_token: 1 }', 'Did you mean "max_tokens"?'],
])('schema.unknown-key suggests where a key belongs: %s', async (step, hint) => {
  const { diagnostics } = await parse(`name: t\nsteps: { b: { ${step} } }\n`);
  expect(diagnostics).toMatchObject([{ code: 'schema.unknown-key' }]);
  expect(diagnostics[0]?.hint).toMatch(hint);
});

/** Codes whose message says itself what to do. */
const selfExplained = [
  'template.object',
  'template.refused-tag',
  'template.refused-filter',
  'template.reserved',
  'table.outside',
];

it.each(Object.entries(cases).filter(([code]) => !selfExplained.includes(code)))(
  '%s: says what to do',
  async (code, own) => {
    for (const [source, files] of own) {
      const { diagnostics } = await parse(marked(source).text, files);
      expect(diagnostics.filter((found) => found.code === code && found.hint === undefined)).toEqual([]);
    }
  },
);

it('has a case for every code', () => {
  const tested = [
    ...Object.keys(cases),
    ...Object.keys(tableCases),
    ...later,
    ...ofSettings,
    ...ofPlans,
    'file.more-mistakes',
  ];
  expect(tested.toSorted()).toEqual(Object.keys(diagnosticCodes).toSorted());
});

it('every code of jobs, runs and commands is met in src, beside the tables', () => {
  const texts = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/(?:job-errors|run-codes)\.ts$/.test(path))
    .map((path) => readFileSync(join('src', path), 'utf8'));
  const met = new Set(texts.flatMap((text) => text.match(/(?<=')[a-z0-9.-]+(?=')/g) ?? []));
  const codes = Object.keys({ ...jobErrors, ...endCodes, ...refusalCodes, ...noticeCodes });
  // A code of an engine, or of SQLite, is made of its second word.
  const isMade = (code: string): boolean => met.has(code) || met.has(code.replace(/^(?:engine|state)\./, ''));
  expect(codes.filter((code) => !isMade(code))).toEqual([]);
});
