import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replyChecker } from '../../../../src/pipeline/steps/reply-schema/check.ts';
import { type Value, WrittenNumber } from '../../../../src/pipeline/values/value.ts';

/** What a check says: nothing, or its problems. */
function problems(schema: Value, value: unknown): readonly string[] {
  const verdict = replyChecker(schema).check(value);
  return verdict.ok ? [] : verdict.problems;
}

const diagnostics = (schema: Value): readonly string[] =>
  replyChecker(schema).mistakes.map(({ severity, path }) => `${severity} /${path.join('/')}`);

describe('values in another notation', () => {
  it.each<[Value, readonly unknown[], readonly unknown[]]>([
    [{ type: 'INTEGER', enum: ['101', '201'] }, [101, 201], [301, '101', '301']],
    [{ type: 'NUMBER', enum: ['0.10', '2'] }, [0.1, 2, 2.0], ['0.10']],
    [{ type: ['integer', 'string'], enum: ['101', 'a'] }, [101, '101', 'a'], [1]],
    [{ type: 'STRING', enum: [1, 2] }, ['1', '2'], [1, '3']],
    [{ type: 'INTEGER', nullable: true, enum: ['1'] }, [1, null], [2]],
    [{ enum: ['101'] }, ['101'], [101]],
    [{ type: 'integer', enum: ['0x10', '1e3', ''] }, [], [16, 1000, 0]],
    [{ type: 'array', items: { type: 'integer', enum: ['7'] } }, [[7, 7]], [[8]]],
    [{ multipleOf: 0.01 }, [8.69, 0, -1.15, 123_456_789.01, 1e21, 'a'], [8.695, 0.001]],
    [{ multipleOf: 0.1 }, [0.3, 0.7, 1e-1], [0.35, 1e-9]],
    [{ multipleOf: 3 }, [9, -9, 3e20], [10, 9.5]],
    [{ multipleOf: 1e-7 }, [0.0000003, 12], [1.5e-8]],
  ])('match by their type: %j accepts %j and not %j', (schema, good, bad) => {
    expect(diagnostics(schema)).toEqual([]);
    expect(good.filter((value) => problems(schema, value).length > 0)).toEqual([]);
    expect(bad.filter((value) => problems(schema, value).length === 0)).toEqual([]);
  });

  it('accept each product of a decimal number as its multiple', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e6, max: 1e6 }),
        fc.integer({ min: 1, max: 9999 }),
        fc.nat(6),
        (times, digits, places) => {
          const multipleOf = Number(`${digits}e-${places}`);
          expect(problems({ multipleOf }, Number(`${times * digits}e-${places}`))).toEqual([]);
        },
      ),
    );
  });
});

describe('a native schema', () => {
  const schema: Value = {
    type: 'OBJECT',
    properties: {
      best: { type: 'INTEGER', nullable: true, enum: [1, 2] },
      words: { type: 'ARRAY', items: { type: 'STRING', minLength: '2' }, maxItems: '2' },
      kind: { type: 'TYPE_UNSPECIFIED', format: 'enum' },
    },
    required: ['best'],
    propertyOrdering: ['best', 'words'],
  };

  it('has the meaning of the equivalent JSON Schema', () => {
    expect(diagnostics(schema)).toEqual([]);
    expect(problems(schema, { best: 1, words: ['fox', 'owl'], kind: {}, more: true })).toEqual([]);
    expect(problems(schema, { best: null })).toEqual([]);
    expect(problems(schema, { words: ['a', 'fox', 'owl'] })).toEqual([
      "The answer must have required property 'best'",
      '/words must NOT have more than 2 items',
      '/words/0 must NOT have fewer than 2 characters',
    ]);
    expect(problems(schema, { best: 3 })).toEqual(['/best must be one of 1,2,null']);
    expect(problems(schema, [])).toEqual(['The answer must be object']);
  });

  it.each<[string, Value]>([
    ['a choice', { anyOf: [{ type: 'STRING' }], nullable: true }],
    ['no type', { minLength: 1, nullable: true }],
    ['a reference', { $ref: '#/$defs/a', nullable: true, $defs: { a: { type: 'STRING' } } }],
  ])('can be nullable with %s', (_what, nullable) => {
    expect(problems(nullable, null)).toEqual([]);
    expect(problems(nullable, 'fox')).toEqual([]);
    expect(problems({ ...(nullable as object), nullable: false }, 'fox')).toEqual([]);
  });
});

describe('a JSON Schema', () => {
  it('may refer to itself, from anywhere to anywhere', () => {
    const tree: Value = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'https://a.example/tree',
      type: 'object',
      properties: {
        left: { $ref: '#' },
        right: { $ref: '#/properties/left' },
        leaf: { $ref: '#/more/a~1b' },
      },
      additionalProperties: false,
      more: { 'a/b': { type: 'integer' } },
    };
    expect(diagnostics(tree)).toEqual([]);
    expect(problems(tree, { left: { right: { leaf: 1 } } })).toEqual([]);
    expect(problems(tree, { left: { right: { leaf: 'x', top: 1 } } })).toEqual([
      '/left/right must NOT have additional properties ("top")',
      '/left/right/leaf must be integer',
    ]);
  });

  it('compares items without looking at each pair', () => {
    const items = Array.from({ length: 90_000 }, (_, index) => index);
    expect(problems({ uniqueItems: true }, items)).toEqual([]);
    expect(
      problems({ uniqueItems: true }, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toEqual(['The answer must NOT have equal items']);
  });

  it('may contain numbers as they were written', () => {
    expect(problems({ minimum: new WrittenNumber('6.0', 6) }, 5)).toEqual(['The answer must be >= 6']);
  });

  it('reports the first ten problems', () => {
    const found = problems(
      { items: { type: 'string' } },
      Array.from({ length: 30 }, () => 1),
    );
    expect(found).toHaveLength(11);
    expect(found.at(-1)).toBe('and 20 more');
  });
});

describe('a schema that is not valid', () => {
  it.each<[string, Value, string]>([
    ['member', { properties: { '\udbff': { type: 'string' } } }, 'properties'],
    ['pattern', { patternProperties: { 'a\udbff': { type: 'string' } } }, 'patternProperties'],
  ])('has a %s named by half of a surrogate pair', (_what, schema, keyword) => {
    expect(diagnostics(schema)).toEqual([expect.stringMatching(`^error /${keyword}/`)]);
    expect(problems(schema, { a: 'fox' })).toEqual([expect.stringContaining('surrogate pair')]);
  });

  it.each<[string, Value, readonly string[]]>([
    ['types', { items: { type: ['string', 'nul'] } }, ['error /items/type']],
    ['references', { $ref: '#/$defs/a' }, ['error /$ref']],
    ['addresses', { $ref: 'https://a.example/b' }, ['error /$ref']],
    ['a loop', { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } }, ['error /$defs/a/allOf/0/$ref']],
    [
      'counts',
      { minItems: -1, maxItems: 'x', minLength: 1.5 },
      ['error /minItems', 'error /maxItems', 'error /minLength'],
    ],
    ['numbers', { minimum: '1', multipleOf: 0 }, ['error /minimum', 'error /multipleOf']],
    ['lists', { anyOf: [], enum: [], required: 'a' }, ['error /anyOf', 'error /enum', 'error /required']],
    ['schemas', { properties: { a: 1 }, items: [] }, ['error /properties/a', 'error /items']],
    ['flags', { nullable: 'yes', uniqueItems: 1 }, ['error /nullable', 'error /uniqueItems']],
    ['unused definitions', { definitions: { a: { type: 'x' } } }, ['error /definitions/a/type']],
    ['patterns', { pattern: '[' }, ['error /pattern']],
    ['patterns that may take for ever', { pattern: '^(a+)+$' }, ['warning /pattern']],
    ['keywords', { requierd: [] }, ['warning /requierd']],
    ['requirements', { properties: { a: true }, required: ['b'] }, ['warning /required/0']],
  ])('is reported with its position: %s', (_what, schema, expected) => {
    expect(diagnostics(schema)).toEqual(expected);
    expect(replyChecker(schema).check({ b: 1 }).ok).toBe(!expected.some((one) => one.startsWith('error')));
  });

  it('is explained in messages of readable length, whatever the names of its members', () => {
    const long = 'x'.repeat(60_000);
    const schema: Value = { type: long, properties: { [long]: { type: long } }, [long]: 1 };
    const found = replyChecker(schema).mistakes;
    expect(found.length).toBeGreaterThan(1);
    for (const { message, hint = '' } of found)
      expect([message, hint].filter((text) => text.length > 2001)).toEqual([]);
  });

  it('may be too large, or nested too deeply', () => {
    let deep: Value = {};
    for (let level = 0; level < 120; level += 1) deep = { items: deep };
    expect(diagnostics(deep)).toHaveLength(1);
    const many = Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`a${index}`, {}]));
    expect(diagnostics({ properties: many })).toHaveLength(1);
    const parts = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [`a${index}`, { items: { $ref: `#/$defs/a${index + 1}` } }]),
    );
    const chain: Value = { $ref: '#/$defs/a0', $defs: { ...parts, a120: {} } };
    expect(diagnostics(chain)).toEqual(['error /$defs/a100']);
  });
});

describe('a check', () => {
  it('ends for any schema', () => {
    const names = Array.from({ length: 60 }, (_, index) => `a${index}`);
    const choices = names.map((name, index): [string, Value] => {
      const next = { $ref: `#/$defs/${names[index + 1] ?? 'end'}` };
      return [name, { anyOf: [next, next] }];
    });
    const schema = { $ref: '#/$defs/a0', $defs: { ...Object.fromEntries(choices), end: { type: 'string' } } };
    expect(diagnostics(schema)).toEqual([]);
    expect(problems(schema, 1)).toEqual(['The answer takes too much work to check against its schema.']);
  });

  it('ends for any pattern and text', () => {
    const schema = { items: { pattern: '^[a-z]*[a-z0-9]*x$' } };
    expect(diagnostics(schema)).toEqual([]);
    expect(problems(schema, ['foxX'])).toEqual(['/0 must match pattern "^[a-z]*[a-z0-9]*x$"']);
    expect(
      problems(
        schema,
        Array.from({ length: 100 }, () => 'a'.repeat(100_000)),
      ),
    ).toEqual([]);
  });

  it('ends for any reply', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(problems({ items: { $ref: '#' } }, deep)).toEqual(['The answer is nested more than 200 deep.']);
    expect(
      problems(
        {},
        Array.from({ length: 100_001 }, () => 1),
      ),
    ).toEqual(['The answer has more than 100000 values.']);
  });

  it('accepts members that an unchecked pattern may name', () => {
    const schema = { patternProperties: { '^(a+)+$': {} }, additionalProperties: false };
    expect(problems(schema, { aa: 1 })).toEqual([]);
  });
});

const keyword = fc.constantFrom(
  'type',
  'properties',
  'items',
  'anyOf',
  'allOf',
  'enum',
  'const',
  '$ref',
  '$defs',
  'nullable',
  'pattern',
  'required',
  'minItems',
  'maximum',
  'uniqueItems',
  'additionalProperties',
  'patternProperties',
  'prefixItems',
  'if',
  'then',
  'not',
  'dependentRequired',
  'dependentSchemas',
  'contains',
  'minContains',
  'unevaluatedProperties',
  'propertyNames',
  'x',
);

it('a check of any declared schema gives a verdict', () => {
  const { schema } = fc.letrec<{ schema: Value }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constantFrom<Value[]>('string', 'OBJECT', '#', '#/$defs/x', '^a', true, false, 0, 2, null),
      fc.array(tie('schema'), { maxLength: 3 }),
      fc.dictionary(keyword, tie('schema'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(schema, fc.jsonValue(), (declared, value) => {
      const checker = replyChecker(declared);
      const verdict = checker.check(value);
      const isWrong = checker.mistakes.some(({ severity }) => severity === 'error');
      expect(isWrong && verdict.ok).toBe(false);
      expect(verdict.ok || verdict.problems.length > 0).toBe(true);
    }),
    { seed: 7, numRuns: 1500 },
  );
});

describe('a check', () => {
  it('has the whole limit of pattern work for itself, whatever the previous check used', () => {
    const schema: Value = { type: 'string', pattern: 'a*b' };
    // Well above half of the bound, in which what lies beyond would count as a match.
    const text = 'x'.repeat(32_000);
    const first = problems(schema, text);
    expect(first).toHaveLength(1);
    expect(problems(schema, text)).toEqual(first);
  });
});
