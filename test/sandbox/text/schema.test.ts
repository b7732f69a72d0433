import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Random } from '../../../src/sandbox/draw/canvas/random.ts';
import { themeOf } from '../../../src/sandbox/draw/canvas/theme.ts';
import { Maker } from '../../../src/sandbox/text/json/maker.ts';
import { fromOpenApi } from '../../../src/sandbox/text/json/schema.ts';
import { valueFor } from '../../../src/sandbox/text/json/value.ts';
import type { Occasion } from '../../../src/sandbox/text/say/prose.ts';

const seed = 20_261_121;

const occasion = (prompt = 'Which of the four frames (1 to 4) shows the sharpest fox?'): Occasion => ({
  prompt,
  system: '',
  sights: [],
  facts: [],
  random: new Random('occasion'),
  seed: 'occasion',
  temperature: 1,
});

const textFor = (schema: object): string => String(valueFor(schema, occasion(), 'patterns'));

it.each([
  ['repeats of repeats', '^(a+)+$'],
  ['a group that may be anything', '^(a|aa)+!$'],
  ['a look-ahead over repeats', '^(?=(a+)+b)a{40}$'],
  ['many open repeats', '^a*a*a*a*a*a*a*a*a*a*b$'],
])('a pattern with %s is tested without exponential work', (_what, pattern) => {
  expect(textFor({ type: 'string', pattern, minLength: 100 })).toMatch(/^[^]{1,}$/);
});

it.each(['forest', 'lake'])('twenty scenes of a %s differ, and each can be drawn', (theme) => {
  const item = {
    type: 'object',
    properties: { title: { type: 'string' }, scene: { type: 'string' } },
    required: ['title', 'scene'],
  };
  const scenes = { type: 'array', minItems: 20, maxItems: 20, items: item };
  const schema = { type: 'object', properties: { scenes }, required: ['scenes'] };
  const asked = occasion(`Twenty scenes of a ${theme}, each with a short title.`);
  const made = valueFor(schema, asked, 'patterns') as {
    readonly scenes: readonly { readonly title: string; readonly scene: string }[];
  };
  expect(new Set(made.scenes.map(({ scene }) => scene)).size).toBe(20);
  expect(new Set(made.scenes.map(({ title }) => title)).size).toBe(20);
  for (const { title, scene } of made.scenes) {
    expect(scene).toMatch(new RegExp(`^An? \\w+ [a-z ]+ near the ${theme} (?:at|in) [a-z ]+$`));
    const { animal } = themeOf(scene);
    expect(animal).toBeDefined();
    expect(title.toLowerCase()).toContain(animal);
  }
});

it('nested repeats make a bounded text', () => {
  expect(textFor({ type: 'string', pattern: '^(((a{2000}){2000}){2000})$' }).length).toBeLessThanOrEqual(
    200_000,
  );
});

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });

function errors(schema: unknown, value: unknown): unknown {
  const isValid = ajv.compile(schema as object);
  return isValid(value) ? undefined : { errors: isValid.errors, value };
}

/** A JSON Schema that some value satisfies. */
const { schema: anySchema } = fc.letrec<{ schema: object }>((tie) => {
  const range = (low: number, high: number) =>
    fc
      .tuple(fc.integer({ min: low, max: high }), fc.integer({ min: 0, max: 12 }))
      .map(([from, span]) => [from, from + span] as const);
  const sub = tie('schema');
  const name = fc.constantFrom('best', 'score', 'caption', 'tags', 'title', 'city', 'a b', '7', 'ä', 'id');
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      range(0, 40).chain(([minLength, maxLength]) =>
        fc.constantFrom<object>(
          { type: 'string' },
          { type: 'string', minLength, maxLength },
          { type: 'string', maxLength },
          { type: 'string', minLength },
        ),
      ),
      fc
        .constantFrom(
          '^[a-z]{3}-\\d{2,4}$',
          '^(red|green|blue)$',
          '[A-Z]\\w*',
          '^#[0-9a-fA-F]{6}$',
          '^\\p{Lu}\\p{Ll}+$',
          '^[^aeiou]+$',
          'fox|owl',
          '^(?:v\\d+\\.)?\\d+$',
          '^.{12}$',
        )
        .map((pattern) => ({ type: 'string', pattern })),
      fc
        .constantFrom('date-time', 'date', 'email', 'uri', 'uuid', 'enum')
        .map((format) => ({ type: 'string', format })),
      range(-1000, 1000).map(([minimum, maximum]) => ({ type: 'integer', minimum, maximum })),
      range(-1000, 1000).map(([exclusiveMinimum, top]) => ({
        type: 'integer',
        exclusiveMinimum,
        exclusiveMaximum: top + 2,
      })),
      fc
        .tuple(
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.double({ min: 0, max: 1e6, noNaN: true }),
        )
        .map(([minimum, span]) => ({ type: 'number', minimum, maximum: Math.max(minimum, minimum + span) })),
      fc
        .tuple(fc.constantFrom(0.1, 0.25, 3, 10), fc.integer({ min: -50, max: 50 }))
        .map(([multipleOf, from]) => ({ type: 'number', multipleOf, minimum: from, maximum: from + 40 })),
      fc.constantFrom<object>(
        { type: 'boolean' },
        { type: 'null' },
        { type: ['integer', 'null'] },
        {},
        { const: { a: [1] } },
        { type: 'number' },
        { type: 'integer' },
        { type: 'object' },
        { type: 'array' },
      ),
      fc
        .uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 5 })
        .map((words) => ({ enum: words })),
      fc
        .tuple(sub, range(0, 4))
        .map(([items, [minItems, maxItems]]) => ({ type: 'array', items, minItems, maxItems })),
      range(0, 5).map(([minItems, maxItems]) => ({
        type: 'array',
        items: { type: 'integer', minimum: 0, maximum: 60 },
        minItems,
        maxItems,
        uniqueItems: true,
      })),
      fc
        .tuple(sub, sub)
        .map(([one, two]) => ({ type: 'array', prefixItems: [one, two], items: false, minItems: 2 })),
      fc
        .tuple(fc.dictionary(name, sub, { maxKeys: 5 }), fc.array(fc.nat(4)), fc.boolean(), fc.nat(2))
        .map(([properties, picks, closed, minimum]) => {
          const names = Object.keys(properties);
          const required = [...new Set(picks.flatMap((pick) => names[pick] ?? []))];
          return {
            type: 'object',
            properties,
            required,
            propertyOrdering: names.toReversed(),
            ...(closed ? { additionalProperties: false } : {}),
            minProperties: closed ? Math.min(minimum, names.length) : minimum,
          };
        }),
      sub.map((additionalProperties) => ({ type: 'object', additionalProperties, minProperties: 1 })),
      fc.array(sub, { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      fc.tuple(sub, sub).map(([one, two]) => ({
        oneOf: [
          { type: 'object', properties: { kind: { const: 'one' }, value: one }, required: ['kind', 'value'] },
          { type: 'object', properties: { kind: { const: 'two' }, value: two }, required: ['kind'] },
        ],
      })),
      fc.tuple(sub, sub).map(([one, two]) => ({
        allOf: [
          { type: 'object', properties: { one }, required: ['one'] },
          { properties: { two }, required: ['two'] },
        ],
      })),
    ),
  };
});

describe('the JSON for a schema', () => {
  it('satisfies any JSON Schema, the same each time', () => {
    fc.assert(
      fc.property(anySchema, fc.string(), (schema, text) => {
        const value = JSON.parse(JSON.stringify(valueFor(schema, occasion(), text))) as unknown;
        expect(errors(schema, value)).toBeUndefined();
        expect(valueFor(schema, occasion(), text)).toEqual(value);
      }),
      { seed, numRuns: 150 },
    );
  });

  it('satisfies any schema of the OpenAPI subset', () => {
    const { schema: openApi } = fc.letrec<{ schema: object }>((tie) => ({
      schema: fc
        .tuple(
          fc.oneof(
            { maxDepth: 3, depthSize: 'small' },
            fc.constantFrom<object>(
              { type: 'STRING' },
              { type: 'BOOLEAN' },
              { type: 'NUMBER', format: 'double' },
              { type: 'INTEGER', minimum: 3, maximum: 5 },
            ),
            fc.constantFrom<object>(
              { type: 'STRING', format: 'enum', enum: ['fox', 'owl'] },
              { type: 'INTEGER', enum: ['1', '2'] },
            ),
            tie('schema').map((items) => ({ type: 'ARRAY', items, minItems: 1, maxItems: 3 })),
            fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema')).map((properties) => ({
              type: 'OBJECT',
              properties,
              required: Object.keys(properties),
              propertyOrdering: Object.keys(properties).toReversed(),
            })),
            fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
          ),
          fc.boolean(),
        )
        .map(([schema, nullable]) => ({ ...schema, nullable })),
    }));
    fc.assert(
      fc.property(openApi, fc.string(), (schema, text) => {
        const plain = fromOpenApi(schema);
        expect(errors(plain, valueFor(plain, occasion(), text))).toBeUndefined();
      }),
      { seed, numRuns: 80 },
    );
  });

  const tree = {
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          children: { type: 'array', items: { $ref: '#/$defs/node' } },
          parent: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
        },
        required: ['name', 'children', 'parent'],
        additionalProperties: false,
      },
    },
  };

  it.each([
    ['one that refers to itself', tree],
    ['not', { type: 'integer', minimum: 1, maximum: 3, not: { enum: [1, 2] } }],
    [
      'if and then',
      {
        type: 'object',
        properties: { a: { type: 'boolean' }, b: { type: 'string' } },
        required: ['a'],
        if: { properties: { a: { const: true } } },
        // oxlint-disable-next-line unicorn/no-thenable -- the word of JSON Schema
        then: { required: ['b'] },
        else: { not: { required: ['b'] } },
      },
    ],
    [
      'contains',
      {
        type: 'array',
        items: { type: 'integer', minimum: 0, maximum: 9 },
        contains: { const: 7 },
        minItems: 3,
      },
    ],
    ['names of members', { type: 'object', propertyNames: { pattern: '^x_[a-z]+$' }, minProperties: 3 }],
    [
      'patterns of members',
      {
        type: 'object',
        patternProperties: { '^x_[a-z]{3}$': { type: 'integer' } },
        additionalProperties: false,
        minProperties: 2,
      },
    ],
    ['a pattern and a length', { type: 'string', pattern: '^[a-z]+$', minLength: 30, maxLength: 32 }],
    ['false where nothing need be', { type: 'object', properties: { a: false, b: true } }],
    ['true', true],
    [
      'draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { n: { type: 'integer' } },
        type: 'object',
        properties: { n: { $ref: '#/definitions/n' } },
        required: ['n'],
      },
    ],
  ])('satisfies %s', (_name, schema) => {
    for (let index = 0; index < 8; index += 1) {
      const value = valueFor(schema, occasion(), `seed ${index}`);
      const { $schema: _dialect, ...plain } = schema as { $schema?: string };
      expect(errors(schema === true ? {} : plain, value)).toBeUndefined();
    }
  });

  it('is made for an unsatisfiable or invalid schema too', () => {
    const endless = {
      $defs: { a: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, required: ['a'] } },
      $ref: '#/$defs/a',
    };
    for (const schema of [
      false,
      { allOf: [{ type: 'string' }, { type: 'integer' }] },
      endless,
      { type: 'array', minItems: 1e12 },
      { type: 'string', pattern: '(' },
      { allOf: [{ $ref: '#' }, { type: 'string' }] },
      // Its check, as code, nests too deep for the stack.
      { oneOf: Array.from({ length: 2000 }, (_, index) => ({ const: index })) },
    ]) {
      expect(() => valueFor(schema, occasion(), 'x')).not.toThrow();
    }
  });

  it('is made in one attempt if the schema asks for too many values', () => {
    let schema: object = { type: 'string' };
    for (let depth = 0; depth < 5; depth += 1) schema = { type: 'array', minItems: 40, items: schema };
    const made = vi.spyOn(Maker.prototype, 'make');
    valueFor(schema, occasion(), 'x');
    expect(made.mock.calls.filter(([, , depth]) => depth === 0)).toHaveLength(1);
  });

  it('has values that suit their names', () => {
    const schema = {
      type: 'object',
      properties: {
        best: { type: 'integer' },
        score: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' } },
        caption: { type: 'string' },
      },
      required: ['best', 'score', 'tags', 'caption'],
    };
    for (let index = 0; index < 50; index += 1) {
      const value = valueFor(schema, occasion(), `seed ${index}`) as {
        best: number;
        score: number;
        tags: string[];
        caption: string;
      };
      expect([1, 2, 3, 4]).toContain(value.best);
      expect(value.score).toBeGreaterThanOrEqual(1);
      expect(value.score).toBeLessThanOrEqual(10);
      expect(value.tags.every((tag) => /^[a-z]+$/.test(tag))).toBe(true);
      expect(value.caption).toMatch(/^[A-Z].*\.$/);
    }
  });
});
