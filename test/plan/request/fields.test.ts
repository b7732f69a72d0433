import { describe, expect, test } from 'vitest';
import { TemplateError, type TemplateScope } from '../../../src/pipeline/templates/template.ts';
import { compileTree } from '../../../src/pipeline/templates/tree.ts';
import { type Value, WrittenNumber } from '../../../src/pipeline/values/value.ts';
import type { JobError } from '../../../src/plan/job.ts';
import { countError } from '../../../src/plan/request/image-files.ts';
import { ImageList, isAddress } from '../../../src/plan/request/images.ts';
import {
  decimal,
  hasOnlyParameters,
  needWords,
  notEmpty,
  renderField,
  renderPlain,
  renderTaskField,
} from '../../../src/plan/request/render.ts';
import type { RequestContext } from '../../../src/plan/request/request.ts';
import { promptOf } from '../../../src/plan/request/text.ts';
import { usualResult } from '../../../src/plan/request/tokens.ts';

const scopeOf = (vars: Readonly<Record<string, Value>>): TemplateScope => ({ vars, repeat: 1, steps: {} });
const treeOf = (value: Value) => {
  const compiled = compileTree(value, () => () => ({ line: 1, column: 1, length: 1 }));
  if (!compiled.ok) throw new Error('The template is wrong.');
  return compiled.value;
};
/** What a template of one variable makes of its value in a field; the code of the error where it fails. */
const field = (name: string, value: Value): Value => {
  try {
    return renderTaskField(treeOf('{{ x }}'), scopeOf({ x: value }), name);
  } catch (error) {
    if (error instanceof TemplateError) return error.code;
    throw error;
  }
};

describe('a field of an image operation', () => {
  test.each<readonly [string, Value, Value]>([
    ['motion', ' High ', 'high'],
    ['motion', 'low', 'low'],
    ['motion', 'middle', 'template.range'],
    ['motion', ' ', 'template.empty'],
    ['dimensions', 'SQUARE', 'square'],
    ['dimensions', 'portrait', 'portrait'],
    ['dimensions', 'landscape', 'landscape'],
    ['dimensions', 'round', 'template.range'],
    ['animateMode', 'Auto', 'auto'],
    ['animateMode', 'manual', 'manual'],
    ['videoType', 'Whatever it is', 'Whatever it is'],
    ['language', ' de ', ' de '],
    ['videoType', 'x'.repeat(256), 'x'.repeat(256)],
    ['videoType', 'x'.repeat(257), 'template.limit'],
    ['batchSize', '4', 4],
    ['batchSize', ' 2 ', 2],
    ['batchSize', 1, 1],
    ['batchSize', new WrittenNumber('4.0', 4), 4],
    ['batchSize', 3, 'template.range'],
    ['batchSize', '', 'template.range'],
    ['extend', '3', 3],
    ['extend', 4, 4],
    ['extend', 0, 'template.range'],
    ['extend', 5, 'template.range'],
    ['loop', true, true],
    ['loop', false, false],
    ['loop', 'true', true],
    ['loop', 'false', false],
    ['loop', 'yes', 'template.range'],
    ['loop', 1, 'template.range'],
    ['botType', 7, 7],
    ['accountFilter', { a: new WrittenNumber('6.0', 6) }, { a: 6 }],
    ['prompt', 2024, '2024'],
    ['prompt', new WrittenNumber('6.0', 6), '6.0'],
    ['prompt', 'x'.repeat(32_768), 'x'.repeat(32_768)],
    ['prompt', 'x'.repeat(32_769), 'template.limit'],
    ['prompt', ' \n', 'template.empty'],
  ])('%s of %j is sent as %j', (name, value, sent) => {
    expect(field(name, value)).toEqual(sent);
  });
});

describe('a text of a request', () => {
  const failure = (work: () => unknown): string => {
    try {
      return `no error: ${String(work())}`;
    } catch (error) {
      return (error as Error).message;
    }
  };

  test('is unchanged, to its last character', () => {
    const scope = scopeOf({ x: 'a fox ' });
    expect(renderField(treeOf('{{ x }}'), scope, 'it', 6)).toBe('a fox ');
    expect(failure(() => renderField(treeOf('{{ x }}'), scope, 'the prompt', 5))).toBe(
      'For this cell the prompt has 6 characters; at most 5 are sent.',
    );
    expect(renderField(treeOf(7), scope, 'it', 5)).toBe('7');
  });

  test('that is empty is reported with up to 80 characters of its template', () => {
    expect(notEmpty(' a ', 'it', '')).toBe(' a ');
    const source = (length: number): string => 'y'.repeat(length);
    expect(failure(() => notEmpty(' ', 'the prompt', source(80)))).toBe(
      `For this cell the prompt is empty: "${source(80)}" renders to nothing.`,
    );
    expect(failure(() => notEmpty('', 'the prompt', source(81)))).toContain(`"${source(79)}…" renders`);
  });

  test('that has only parameters is reported with up to 80 characters', () => {
    const prompt = (length: number): string => `--no ${'y'.repeat(length - 5)}`;
    expect(failure(() => needWords(`  ${prompt(80)}  `))).toContain(`parameters: "${prompt(80)}". Is`);
    expect(failure(() => needWords(prompt(81)))).toContain(`parameters: "${prompt(79)}…". Is`);
    for (const said of [undefined, 7, 'a --v 6']) expect(failure(() => needWords(said))).toMatch(/^no error/);
  });

  test.each(['no', 'p', 'profile', 'sref', 'cref', 'oref', 'NO'])(
    'has only parameters though --%s takes several words',
    (name) => {
      expect(hasOnlyParameters(`--${name} one two three`)).toBe(true);
    },
  );

  test.each(['v', 'ar', 'seed', 'nope'])('has words if a second word follows --%s', (name) => {
    expect(hasOnlyParameters(`--${name} one`)).toBe(true);
    expect(hasOnlyParameters(`--${name} one two`)).toBe(false);
    expect(hasOnlyParameters(`--${name}=one two`)).toBe(false);
    expect(hasOnlyParameters(`--${name} one --raw two --tile`)).toBe(true);
    expect(hasOnlyParameters(`--${name} one --raw two three`)).toBe(false);
  });
});

describe('a value of a request', () => {
  test.each<readonly [Value, number | undefined]>([
    ['7', 7],
    [' 7.5 ', 7.5],
    ['-.5', -0.5],
    ['7.', 7],
    ['-0', -0],
    [7, 7],
    [new WrittenNumber('1e3', 1000), 1000],
    ['1e3', undefined],
    ['0x10', undefined],
    ['+7', undefined],
    ['7,5', undefined],
    ['.', undefined],
    ['', undefined],
    ['x7', undefined],
    ['7x', undefined],
    [true, undefined],
    [null, undefined],
  ])('%j is the number %s', (value, number) => {
    expect(decimal(value)).toBe(number);
  });

  test('is a plain number, whatever its notation, except for a long integer', () => {
    const long = new WrittenNumber('12345678901234567890', Number('12345678901234567890'));
    const written = new WrittenNumber('6.0', 6);
    const plain = renderPlain(
      treeOf({ a: [written, { b: written }], c: long, d: null, e: 'x' }),
      scopeOf({}),
    );
    expect(plain).toEqual({ a: [6, { b: 6 }], c: long, d: null, e: 'x' });
  });
});

describe('the images of a request', () => {
  const contextOf = (more: Partial<RequestContext> = {}): RequestContext => ({
    keyOf: (step) => (step === 'late' ? undefined : `key of ${step}`),
    images: {
      facts: (path) =>
        path === 'gone.png'
          ? { error: { code: 'input.missing', message: 'm' } }
          : { sha256: path.startsWith('same') ? 'same' : `hash of ${path}`, bytes: 1 },
    },
    imageCount: () => 'one',
    ...more,
  });
  const shown = (images: readonly string[], more: Partial<RequestContext> = {}) =>
    ImageList.of(treeOf(images), false).render(scopeOf({ x: ' b.png ' }), contextOf(more));

  test('are files by their content, without blanks around their names, and the first name of each', () => {
    expect(shown(['a.png', '{{ x }}', 'same 1.png', 'same 2.png'])).toEqual({
      kind: 'known',
      images: [
        { sha256: 'hash of a.png' },
        { sha256: 'hash of b.png' },
        { sha256: 'same' },
        { sha256: 'same' },
      ],
      files: { 'hash of a.png': 'a.png', 'hash of b.png': 'b.png', same: 'same 1.png' },
    });
  });

  test('are addresses and jobs, in their order', () => {
    const inputs = [{ job: 'in 1' }, { job: 'in 2', output: 3 }];
    expect(shown(['https://x.test/A.png', 'steps.g', 'parent', 'data:,x'], { inputs })).toEqual({
      kind: 'known',
      images: [
        { url: 'https://x.test/A.png' },
        { job: 'key of g' },
        { job: 'in 1' },
        { job: 'in 2', output: 3 },
        { url: 'data:,x' },
      ],
      files: {},
    });
  });

  test('wait for jobs without a key, and fail at once for a missing file', () => {
    expect(shown(['parent'])).toEqual({ kind: 'waiting' });
    expect(shown(['steps.late', 'a.png'])).toEqual({ kind: 'waiting' });
    expect(shown(['steps.late', 'gone.png'])).toMatchObject({
      kind: 'failure',
      error: { code: 'input.missing' },
    });
  });

  test('are counted: one for each named step, and one for each gathered job', () => {
    const list = ImageList.of(treeOf(['parent', 'steps.g', 'steps.g', 'a.png']), false);
    expect([list.count(4), list.steps, list.showsParent, list.isEmpty]).toEqual([7, ['g'], true, false]);
    const gathers = ImageList.of(undefined, true);
    expect([gathers.count(3), gathers.showsParent, gathers.isEmpty]).toEqual([3, true, false]);
    const none = ImageList.of(undefined, false);
    expect([none.count(3), none.showsParent, none.isEmpty]).toEqual([0, false, true]);
  });

  test.each([
    ['http://x', true],
    ['HTTPS://x', true],
    ['Data:,x', true],
    ['https:/x', false],
    ['a/http://x', false],
    ['ftp://x', false],
    ['data', false],
  ])('are recognised as addresses: %s: %s', (name, address) => {
    expect(isAddress(name)).toBe(address);
  });

  test.each<readonly ['blend' | 'edit', readonly (number | 'one' | undefined)[], string]>([
    ['blend', ['one'], 'failure blend.count'],
    ['blend', ['one', 'one'], 'fine'],
    ['blend', ['one', 'one', 'one', 'one', 'one'], 'fine'],
    ['blend', ['one', 'one', 'one', 'one', 'one', 'one'], 'failure blend.count'],
    ['blend', [undefined], 'fine'],
    ['blend', [1], 'shortage blend.count'],
    ['blend', [2], 'fine'],
    ['blend', [3, 2], 'fine'],
    ['blend', [3, 3], 'shortage blend.count'],
    ['blend', [6, undefined], 'fine'],
    ['edit', [1], 'fine'],
    ['edit', [2], 'shortage image.count'],
    ['edit', ['one', undefined], 'fine'],
    ['edit', [], 'fine'],
  ])('of a %s with jobs of %j images are %s', (kind, counts, result) => {
    const error = countError(
      kind,
      counts.map((_, at) => ({ job: String(at) })),
      (job) => counts[Number(job)],
    );
    const said = Object.entries<JobError>(error ?? {}).map(([way, { code }]) => `${way} ${code}`);
    expect(said).toEqual(result === 'fine' ? [] : [result]);
  });
});

describe('the current prompt of a text model', () => {
  test.each<readonly [Readonly<Record<string, Value>>, string | undefined]>([
    [{ prompt: 'p', contents: [{ parts: [{ text: 'x' }] }] }, 'p'],
    [
      { contents: [{ parts: [{ text: 'a' }] }, { parts: [{ text: 'b' }, { data: 1 }, { text: 'c' }] }] },
      'b\nc',
    ],
    [{ messages: [{ content: 'a' }, { content: 'b' }] }, 'b'],
    [{ messages: [{ content: [{ text: 'a' }, { text: 7 }] }] }, 'a'],
    [{ messages: [{ content: [] }] }, undefined],
    [{ messages: [{ content: null }] }, undefined],
    [{ messages: ['a'] }, undefined],
    [{ messages: [] }, undefined],
    [{ prompt: 7 }, undefined],
    [{}, undefined],
  ])('of %j is %j', (fields, prompt) => {
    expect(promptOf(fields)).toBe(prompt);
  });
});

test('a whole reply is estimated longer than a member of one', () => {
  for (const name of ['text', 'json', 'parts', 'prompts']) expect(usualResult([name])).toBe(4096);
  for (const path of [['image_url'], ['json', 'best'], ['usage', 'text'], []])
    expect(usualResult(path)).toBe(64);
});
