import { describe, expect, test } from 'vitest';
import { pressNames, priceOf, replyPrice } from '../../../src/plan/estimate/price.ts';

const prices = {
  imagine: 0.04,
  'U*': 0.01,
  U4: 0.02,
  'Vary (*)': 0.03,
  '*e*l*': 7,
  text: { input: 1, output: 2 },
  reroll: 0.05,
};

describe('the price of a submission', () => {
  test.each<[Parameters<typeof priceOf>[1], readonly string[], number | undefined]>([
    ['imagine', [], 0.04],
    ['click', ['U1'], 0.01],
    ['click', ['U4'], 0.02],
    ['click', ['Vary (Strong)'], 0.03],
    ['click', ['reroll'], 0.05],
    ['click', ['Vary (Region'], undefined],
    ['click', ['V1'], undefined],
    ['click', [], undefined],
    ['click', ['V1', 'U1'], 0.01],
    ['click', ['text'], undefined],
    ['blend', [], undefined],
    ['blend', ['U1'], undefined],
  ])('%s %j', (kind, names, price) => {
    expect(priceOf(prices, kind, names)).toBe(price);
  });

  test('is that of clicks in general, if the button has none; 0 is a price', () => {
    expect(priceOf({ click: 0.5, U1: 0 }, 'click', ['V1'])).toBe(0.5);
    expect(priceOf({ click: 0.5, U1: 0 }, 'click', ['U1'])).toBe(0);
    expect(priceOf({}, 'click', ['U1'])).toBeUndefined();
  });
});

test.each([
  [['U*', 'Upscale*', '*'], 'Upscale (Subtle)', 'Upscale*'],
  [['Upscale*', 'U*'], 'Upscale (Subtle)', 'Upscale*'],
  [['*', 'U*', 'Upscale*'], 'U1', 'U*'],
  [['*e*l*', 'V*'], 'V1', 'V*'],
  [['U*1', 'U1*', '*U*1*'], 'U1', 'U*1'],
  [['Upscale*', 'Upscale (Subtle)'], 'Upscale (Subtle)', 'Upscale (Subtle)'],
])('the most specific of the patterns %j is the price of %s', (patterns, label, expected) => {
  const given = Object.fromEntries([...patterns.entries()].map(([index, name]) => [name, index + 1]));
  expect(priceOf(given, 'click', [label])).toBe(given[expected]);
});

test('the names for a price include each pressed button', () => {
  expect(
    pressNames([
      { kind: 'text', text: 'U1' },
      { kind: 'pattern', source: 'a::b' },
      { kind: 'word', word: 'pan up' },
    ]),
  ).toEqual(['U1', '/a::b/', 'pan up']);
});

describe('the price of a text call', () => {
  const models = {
    pro: { input: 1.25, output: 10 },
    flat: 0.5,
    chat: { input: 1, output: 2 },
    generate: 0.25,
    'p*': 7,
  };
  const request = (
    model: string,
    kind: 'generate' | 'chat' = 'generate',
  ): Parameters<typeof replyPrice>[1] => ({ kind, fields: { model } });
  const usage = {
    prompt: 1_000_000,
    cached: 500_000,
    candidates: 200_000,
    thoughts: 100_000,
    tool: 3_000_000,
  };

  test('counts sent and received tokens, thinking and tools included', () => {
    expect(replyPrice(models, request('pro'), usage)).toBe(4 * 1.25 + 0.3 * 10);
    expect(replyPrice(models, request('pro'), { candidates: 100_000 })).toBe(1);
    expect(replyPrice(models, request('other', 'chat'), { prompt: 500_000, total: 9 })).toBe(0.5);
  });

  test.each(['prompt', 'tool', 'candidates', 'thoughts'] as const)(
    'follows from the %s count alone if nothing else is counted',
    (count) => {
      const each = { pro: { input: 1, output: 2 } };
      const isSent = count === 'prompt' || count === 'tool';
      expect(replyPrice(each, request('pro'), { [count]: 500_000 })).toBe(isSent ? 0.5 : 1);
    },
  );

  test.each([
    [1, 2],
    [2, 1],
  ])('is the higher one of %d and %d for tokens of an unknown side', (input, output) => {
    const prices = { pro: { input, output } };
    expect(replyPrice(prices, request('pro'), { other: 500_000 })).toBe(1);
    expect(replyPrice(prices, request('pro'), { prompt: 1_000_000, other: 500_000 })).toBe(input + 1);
  });

  test('is unknown without a count, or without a price', () => {
    expect(replyPrice(models, request('pro'), undefined)).toBeUndefined();
    expect(replyPrice(models, request('pro'), { total: 100 })).toBeUndefined();
    expect(replyPrice({}, request('pro'), usage)).toBeUndefined();
    expect(replyPrice({}, request('constructor'), usage)).toBeUndefined();
  });

  test('may be per call, under the exact name of the model, else under the kind', () => {
    expect(replyPrice(models, request('flat'), undefined)).toBe(0.5);
    expect(replyPrice(models, request('p1'), usage)).toBe(0.25);
    expect(priceOf(models, 'generate', ['flat'])).toBe(0.5);
    expect(priceOf(models, 'generate', ['pro'])).toBeUndefined();
    expect(priceOf(models, 'generate', [])).toBe(0.25);
    expect(priceOf(models, 'chat', ['x'])).toBeUndefined();
  });
});
