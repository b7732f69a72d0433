import { describe, expect, test } from 'vitest';
import { pressNames, priceOf } from '../../src/plan/price.ts';

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

  test('of clicks in general, where the button has none of its own; 0 is a price', () => {
    expect(priceOf({ click: 0.5, U1: 0 }, 'click', ['V1'])).toBe(0.5);
    expect(priceOf({ click: 0.5, U1: 0 }, 'click', ['U1'])).toBe(0);
    expect(priceOf({}, 'click', ['U1'])).toBeUndefined();
  });
});

test('the names of what a request presses', () => {
  expect(
    pressNames([
      { kind: 'text', text: 'U1' },
      { kind: 'pattern', source: 'a::b' },
      { kind: 'word', word: 'pan up' },
    ]),
  ).toEqual(['U1', '/a::b/', 'pan up']);
});
