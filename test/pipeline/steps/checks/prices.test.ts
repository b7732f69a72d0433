import { describe, expect, it } from 'vitest';
import { globsMeet } from '../../../../src/pipeline/selectors/glob.ts';
import { parse } from '../../diagnose.ts';

const steps = `
steps:
  grid: { imagine: "a fox {{ m }}", path: "U1..U4 → Upscale (Subtle) | Upscale (2x)" }
  ask: { from: grid, generate: { model: "{{ m }}", prompt: p } }
`;

/** What is said of these prices: codes, and what the hints and messages name. */
async function said(prices: string, { matrix = 'm: [pro, lite]', budget = '', more = '' } = {}) {
  const { diagnostics } = await parse(
    `name: t\nmatrix: { ${matrix} }\n${budget}prices: { ${prices} }${steps}${more}`,
  );
  return diagnostics.map(({ code, severity, message, hint }) => ({ code, severity, message, hint }));
}

const cost = 'budget: { cost: 5 }\n';

describe('a cost budget', () => {
  it.each([
    'imagine: 1, click: 1, generate: 1',
    'imagine: 0, "U*": 1, pro: 1, lite: { input: 1, output: 1 }',
    'imagine: 1, U1: 1, U2: 1, U3: 1, U4: 1, "Upscale*": 1, generate: 1',
  ])('is accepted with prices for everything that runs: %s', async (prices) => {
    expect(await said(prices, { budget: cost })).toEqual([]);
  });

  it.each([
    ['click: 1, generate: 1', '"imagine"'],
    ['imagine: 1, U1: 1, "Upscale*": 1, generate: 1', '"U2", "U3", "U4"'],
    ['imagine: 1, click: 1, pro: 1', '"lite"'],
    ['imagine: 1, U1: 1, U2: 1, U3: 1, U4: 1, Upscale (Subtle): 1, generate: 1', '"Upscale (2x)"'],
  ])('is refused with %s', async (prices, names) => {
    expect(await said(prices, { budget: cost })).toMatchObject([
      {
        code: 'budget.unpriced',
        severity: 'error',
        message: `budget.cost cannot limit steps without a price: ${names}.`,
      },
    ]);
  });

  it('accepts a model that only the run decides, if any model has a price', async () => {
    const open = { budget: cost, matrix: 'm: { from: 1, to: 3 }' };
    expect(await said('imagine: 1, click: 1, pro: 1', open)).toEqual([]);
    expect(await said('imagine: 1, click: 1', open)).toMatchObject([{ code: 'budget.unpriced' }]);
  });

  it('requires no prices if it is absent', async () => {
    expect(await said('imagine: 1')).toEqual([]);
  });
});

describe('an unused price', () => {
  it.each([
    ['imagin: 1', 'Did you mean "imagine"?'],
    ['genrate: 1', 'Did you mean "generate"?'],
    ['Upscale (Sutble): 1', 'Did you mean "Upscale (Subtle)"?'],
    ['prro: 1', 'Did you mean "pro"?'],
    ['blend: 1', 'names that a price can stand under here'],
    ['"V*": 1', 'names that a price can stand under here'],
  ])('%s causes a warning with a suggestion', async (price, hint) => {
    const [found, ...others] = await said(price);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ code: 'price.unused', severity: 'warning' });
    expect(found?.hint).toContain(hint);
  });

  it.each([
    ['a wildcard may find it', '"Vary*": 1, "*": 2', 'more: { from: grid/U1, click: "V*" }'],
    ['a template may yield it', 'V1: 1', 'more: { from: grid, click: "V{{ repeat }}" }'],
    ['a pattern may mean it', 'V1: 1, 🔄: 1', 'more: { from: grid, click: /variation::1/ }'],
    ['a word means it', 'reroll: 1, 🔄: 1', 'more: { from: grid, click: reroll }'],
    [
      'the run alone knows the model',
      'other: 1',
      'more: { chat: { model: "{{ steps.ask.text }}", prompt: p }, from: grid }',
    ],
  ])('is not reported if %s', async (_why, prices, more) => {
    const found = await said(prices, { more: `  ${more}\n` });
    expect(found.filter(({ code }) => code === 'price.unused')).toEqual([]);
  });
});

describe('two globs', () => {
  it.each([
    ['U*', 'Upscale*', true],
    ['U*', 'V*', false],
    ['*a', 'b*', true],
    ['a*c', 'ab*', true],
    ['a', 'a', true],
    ['a', 'b', false],
    ['', '*', true],
    ['', 'a', false],
    ['*', '*', true],
    ['a*b', 'a*c', false],
  ])('that are %j and %j match a common text: %s', (one, other, expected) => {
    expect(globsMeet(one, other)).toBe(expected);
    expect(globsMeet(other, one)).toBe(expected);
  });
});
