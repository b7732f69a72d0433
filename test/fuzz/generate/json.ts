import { type Piece, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { odd } from './oddity.ts';

/** A JSON value as it is made here; a member may be called anything. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Values where another was meant. */
export const oddValue = (random: Random): Json =>
  random.pick<() => Json>([
    () => null,
    () => true,
    () => 0,
    () => -1,
    () => 1.5,
    () => 1e308,
    () => 2 ** 53,
    () => '',
    () => odd(random),
    () => odd(random).repeat(random.size(300)),
    () => [],
    () => ({}),
    () => [odd(random), null, {}],
    () => ({ [odd(random)]: odd(random) }),
    () => Object.fromEntries([['__proto__', { polluted: true }]]),
  ])();

/** The value with a few members taken away, replaced, repeated, renamed. */
export function mutateJson(value: Json, random: Random, share = 0.05): Json {
  if (random.happens(share)) return oddValue(random);
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((item) => mutateJson(item, random, share));
    if (!random.happens(share)) return items;
    return random.happens(0.5) ? items.slice(1) : items.flatMap((item) => [item, item]);
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value as { readonly [name: string]: Json })
    .filter(() => !random.happens(share))
    .map(([name, inner]): readonly [string, Json] => [
      random.happens(share / 2) ? odd(random) : name,
      mutateJson(inner, random, share),
    ]);
  return Object.fromEntries(random.happens(share) ? members.toReversed() : members);
}

/** Any JSON, not very large. */
export function anyJson(random: Random, depth = 4): Json {
  if (depth === 0 || random.happens(0.4)) return oddValue(random);
  return random.happens(0.5)
    ? random.some(0, 4, () => anyJson(random, depth - 1))
    : Object.fromEntries(
        random.some(0, 4, () => [
          random.pick(['a', 'b', 'c', 'length', odd(random)]),
          anyJson(random, depth - 1),
        ]),
      );
}

/** JSON that is deep, wide or long. */
export function largeJson(random: Random): readonly Piece[] {
  const times = random.size(random.happens(0.02) ? 400_000 : 5000);
  const [open, unit, close] = random.pick([
    ['[', '0,', '0]'],
    ['[', '[],', '0]'],
    ['[', '"a",', '"a"]'],
    ['[', '{"a":1},', '0]'],
    ['"', 'a', '"'],
    ['"', '\\u0000', '"'],
    ['{"a":"', '{{x}}', '"}'],
    ['{', '"a":1,', '"b":2}'],
    ['', ' ', '{}'],
    ['1', '0', ''],
    ['0.', '0', '1'],
    ['{"__proto__":', '[', ''],
  ] as const);
  if (!random.happens(0.3)) return [piece(open), piece(unit, times), piece(close)];
  const [into, out] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
    ['{"properties":{"a":', '}}'],
  ] as const);
  return [piece(into, times), piece('1'), piece(out, random.happens(0.8) ? times : random.size(times))];
}
