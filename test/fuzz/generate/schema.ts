import { sample } from '../../rig/fake-saying.ts';
import { type Draft, draft, type Piece, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { anyJson, type Json, largeJson, mutateJson, oddValue } from './json.ts';
import { odd } from './oddity.ts';

type Schema = { readonly [name: string]: Json };

/** A schema as pipelines declare them: with {@link sample} it has values that keep to it. */
function plainSchema(random: Random, depth = 3): Schema {
  const upper = random.happens(0.3);
  const type = (name: string): string => (upper ? name.toUpperCase() : name);
  const chosen = depth === 0 ? random.whole(2, 6) : random.whole(0, 6);
  switch (chosen) {
    case 0: {
      const names = random.some(1, 4, () => random.pick(['best', 'why', 'score', 'a b', 'länge', 'tags']));
      return {
        type: type('object'),
        properties: Object.fromEntries(names.map((name) => [name, plainSchema(random, depth - 1)])),
        required: [...new Set(names)],
        ...(random.happens(0.3) && { additionalProperties: false }),
        ...(random.happens(0.2) && { propertyOrdering: [...new Set(names)] }),
      };
    }
    case 1:
      return { type: type('array'), items: plainSchema(random, depth - 1), minItems: random.whole(0, 3) };
    case 2:
      return { type: type('integer'), minimum: random.whole(-5, 5), maximum: random.whole(6, 50) };
    case 3:
      return { type: type('number'), minimum: 0, ...(random.happens(0.5) && { nullable: true }) };
    case 4:
      return { type: type('boolean'), description: odd(random) };
    case 5:
      return { type: type('string'), enum: ['a', 'b', odd(random)] };
    default:
      return { type: type('string'), minLength: random.whole(0, 3), maxLength: random.whole(20, 40) };
  }
}

const patterns = [
  '(a+)+$',
  '^(a|a)*$',
  '^(\\w+\\s?)*$',
  '[',
  '(?<=a)b',
  '\\p{L}+',
  '^.*.*.*x$',
  '(?:a{1,99}){1,99}',
];

/** One keyword, as it should be or not. */
function keyword(random: Random, inner: () => Json): readonly [string, Json] {
  const count = (): Json => random.pick<Json>([0, 1, 5, -1, 1.5, 1e9, '3', 'x', null]);
  return random.pick<() => readonly [string, Json]>([
    () => ['type', random.pick<Json>(['object', 'ARRAY', 'string', ['string', 'null'], 'any', 7, []])],
    () => ['properties', { a: inner(), [odd(random)]: inner() }],
    () => [
      'properties',
      Object.fromEntries([
        ['__proto__', inner()],
        ['constructor', inner()],
      ]),
    ],
    () => ['patternProperties', { [random.pick(patterns)]: inner() }],
    () => ['additionalProperties', random.happens(0.5) ? false : inner()],
    () => ['unevaluatedProperties', false],
    () => ['propertyNames', inner()],
    () => ['required', random.pick<Json>([['a'], ['a', 'a'], [odd(random)], 'a', [1]])],
    () => ['dependentRequired', { a: ['b'] }],
    () => ['dependentSchemas', { a: inner() }],
    () => ['items', inner()],
    () => ['prefixItems', [inner(), inner()]],
    () => ['contains', inner()],
    () => ['uniqueItems', true],
    () => [
      random.pick(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'minContains']),
      count(),
    ],
    () => [
      random.pick(['minimum', 'maximum', 'exclusiveMinimum', 'multipleOf']),
      random.pick<Json>([0, 0.1, 1e-300, -1, '2', true]),
    ],
    () => ['pattern', random.pick(patterns)],
    () => ['format', random.pick(['date-time', 'uri', 'regex', odd(random)])],
    () => ['enum', random.pick<Json>([['a'], [], [null], [1, 1], [{ a: [1] }], 'a'])],
    () => ['const', oddValue(random)],
    () => [random.pick(['anyOf', 'oneOf', 'allOf']), random.some(0, 4, inner)],
    () => ['not', inner()],
    () => ['if', inner()],
    () => ['then', inner()],
    () => [
      '$ref',
      random.pick([
        '#',
        '#/$defs/a',
        '#/$defs/b',
        '#/properties/a',
        'https://a.example',
        '#/x/y',
        '#a',
        odd(random),
      ]),
    ],
    () => ['$defs', { a: inner(), b: { $ref: random.pick(['#/$defs/a', '#/$defs/b', '#']) } }],
    () => [
      random.pick([
        '$id',
        '$anchor',
        '$dynamicRef',
        '$schema',
        '$async',
        'nullable',
        'discriminator',
        'x-promptpress-steps',
        odd(random),
      ]),
      oddValue(random),
    ],
  ])();
}

function oddSchema(random: Random, depth: number): Json {
  if (depth === 0 || random.happens(0.1))
    return random.happens(0.8) ? plainSchema(random, 0) : oddValue(random);
  return Object.fromEntries(random.some(1, 5, () => keyword(random, () => oddSchema(random, depth - 1))));
}

/** Schemas whose work multiplies at each level. */
function exploding(random: Random): Json {
  let schema: Json = random.pick<Json>([{ type: 'integer' }, { $ref: '#' }, { pattern: '(a+)+$' }, true]);
  const branch = random.pick(['anyOf', 'oneOf', 'allOf']);
  const width = random.whole(2, 4);
  for (let level = random.whole(1, 8); level > 0; level -= 1) {
    const inner = schema;
    schema = random.pick<() => Json>([
      () => ({ [branch]: Array.from({ length: width }, () => inner) }),
      () => ({ items: inner, uniqueItems: true }),
      () => ({ additionalProperties: inner, propertyNames: { pattern: '^(a|a)*$' } }),
      () => ({ properties: { a: inner }, unevaluatedProperties: inner }),
      () => ({ not: inner, contains: inner }),
    ])();
  }
  return schema;
}

/** A schema, more or less. */
export const schemaLike = (random: Random): Json =>
  random.happens(0.5) ? plainSchema(random) : oddSchema(random, random.whole(1, 3));

const names = ['a', 'b', 'best', 'why', 'tags'];

/** An answer that gives a schema work. */
function busyReply(random: Random): readonly Piece[] {
  const times = random.size(random.happens(0.05) ? 120_000 : 2000);
  const unit = random.pick([
    '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",',
    '{"a":{"a":1}},',
    '[1,2],',
    '1.1,',
    'null,',
  ]);
  if (random.happens(0.5)) return [piece('['), piece(unit, times), piece('0]')];
  if (random.happens(0.5)) return [piece('"'), piece('a', random.size(200_000)), piece('!"')];
  return largeJson(random);
}

/**
 * A schema, and an answer that is checked against it: the first piece and those after. Of the form `fits` the answer keeps to
 * the schema.
 */
export function hostileSchema(random: Random): Draft {
  const chosen = random.next();
  if (chosen < 0.25) {
    const schema = plainSchema(random);
    const result = JSON.stringify(sample(schema, random.whole(0, 1_000_000)));
    return draft('fits', JSON.stringify(schema), result);
  }
  const schema: Json =
    chosen < 0.6
      ? mutateJson(oddSchema(random, random.whole(1, 4)), random, 0.03)
      : chosen < 0.8
        ? exploding(random)
        : random.pick<Json>([plainSchema(random), anyJson(random)]);
  const [first, ...rest] = random.happens(0.02) ? largeJson(random) : [piece(JSON.stringify(schema))];
  const result = random.happens(0.5)
    ? busyReply(random)
    : [
        piece(
          JSON.stringify(mutateJson({ a: anyJson(random), [random.pick(names)]: anyJson(random) }, random)),
        ),
      ];
  // A large schema is one piece, so that what follows is the answer.
  const whole = piece(
    [first, ...rest].map((one) => one?.text.repeat(Math.min(one.times, 20_000)) ?? '').join(''),
  );
  return { form: 'any', pieces: [whole, ...result] };
}
