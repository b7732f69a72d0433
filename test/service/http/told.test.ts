import { describe, expect, test } from 'vitest';
import { readTold, type ToldLimit } from '../../../src/service/http/told.ts';

const now = Date.UTC(2026, 10, 1, 12);
const read = (headers: Readonly<Record<string, string>>): readonly ToldLimit[] =>
  readTold(new Headers(headers), now);
const requests = (limit: number, remaining: number, resetMs: number): ToldLimit => ({
  of: 'requests',
  limit,
  remaining,
  resetMs,
});
const tokens = (limit: number, remaining: number, resetMs: number): ToldLimit => ({
  ...requests(limit, remaining, resetMs),
  of: 'tokens',
});

interface Published {
  readonly by: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly told: readonly ToldLimit[];
}

/** Headers as the sources of gateway 9.2 publish them. */
const published: readonly Published[] = [
  {
    by: 'OpenAI',
    headers: {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-limit-tokens': '150000',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    told: [requests(60, 59, 1000), tokens(150_000, 149_984, 360_000)],
  },
  {
    by: 'OpenAI, a project with limits of its own',
    headers: {
      'x-ratelimit-limit-requests': '5000',
      'x-ratelimit-limit-tokens': '160000',
      'x-ratelimit-limit-tokens_usage_based': '160000',
      'x-ratelimit-remaining-requests': '4999',
      'x-ratelimit-remaining-tokens': '159976',
      'x-ratelimit-remaining-tokens_usage_based': '159976',
      'x-ratelimit-reset-requests': '12ms',
      'x-ratelimit-reset-tokens': '9ms',
      'x-ratelimit-reset-tokens_usage_based': '9ms',
    },
    told: [requests(5000, 4999, 12), tokens(160_000, 159_976, 9)],
  },
  {
    by: 'Groq',
    headers: {
      'retry-after': '2',
      'x-ratelimit-limit-requests': '14400',
      'x-ratelimit-limit-tokens': '18000',
      'x-ratelimit-remaining-requests': '14370',
      'x-ratelimit-remaining-tokens': '17997',
      'x-ratelimit-reset-requests': '2m59.56s',
      'x-ratelimit-reset-tokens': '7.66s',
    },
    told: [requests(14_400, 14_370, 179_560), tokens(18_000, 17_997, 7660)],
  },
  {
    by: 'Azure, which tells -1 where there is no limit of tokens',
    headers: {
      'x-ratelimit-limit-requests': '50',
      'x-ratelimit-remaining-requests': '45',
      'x-ratelimit-reset-requests': '10',
      'x-ratelimit-limit-tokens': '-1',
      'x-ratelimit-remaining-tokens': '-1',
      'x-ratelimit-reset-tokens': '0',
    },
    told: [requests(50, 45, 10_000)],
  },
  {
    by: 'Anthropic',
    headers: {
      date: 'Thu, 21 Aug 2025 12:41:00 GMT',
      'anthropic-ratelimit-input-tokens-limit': '80000',
      'anthropic-ratelimit-input-tokens-remaining': '79000',
      'anthropic-ratelimit-input-tokens-reset': '2025-08-21T12:41:01Z',
      'anthropic-ratelimit-output-tokens-limit': '16000',
      'anthropic-ratelimit-output-tokens-remaining': '16000',
      'anthropic-ratelimit-output-tokens-reset': '2025-08-21T12:40:59Z',
      'anthropic-ratelimit-requests-limit': '1000',
      'anthropic-ratelimit-requests-remaining': '999',
      'anthropic-ratelimit-requests-reset': '2025-08-21T12:41:00.060Z',
      'anthropic-ratelimit-tokens-limit': '96000',
      'anthropic-ratelimit-tokens-remaining': '95000',
      'anthropic-ratelimit-tokens-reset': '2025-08-21T12:41:01Z',
    },
    told: [requests(1000, 999, 60), tokens(80_000, 79_000, 1000), tokens(16_000, 16_000, 0)],
  },
  {
    by: 'Anthropic, without what input and output take',
    headers: {
      'anthropic-ratelimit-tokens-limit': '96000',
      'anthropic-ratelimit-tokens-remaining': '0',
      'anthropic-ratelimit-tokens-reset': '2026-11-01T12:00:20Z',
    },
    told: [tokens(96_000, 0, 20_000)],
  },
  {
    by: 'GitHub',
    headers: {
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '4987',
      'x-ratelimit-reset': String(now / 1000 + 1350),
      'x-ratelimit-used': '13',
      'x-ratelimit-resource': 'core',
    },
    told: [requests(5000, 4987, 1_350_000)],
  },
  {
    by: 'Together',
    headers: { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9', 'x-ratelimit-reset': '1' },
    told: [requests(10, 9, 1000)],
  },
  {
    by: 'the draft up to 06',
    headers: { 'ratelimit-limit': '100, 100;w=60', 'ratelimit-remaining': '50', 'ratelimit-reset': '50' },
    told: [requests(100, 50, 50_000)],
  },
  {
    by: 'draft 07',
    headers: { ratelimit: 'limit=100, remaining=50, reset=5', 'ratelimit-policy': '100;w=10' },
    told: [requests(100, 50, 5000)],
  },
  {
    by: 'the draft since 08',
    headers: {
      ratelimit: '"burst";r=50;t=30, daily;r=900;t=3600;pk=:dHJpYWwxMjEzMjM=:, "bytes, all";r=1',
      'ratelimit-policy': '"burst";q=100;w=60, daily;q=1000;w=86400, "bytes, all";q=5;qu="content-bytes"',
    },
    told: [requests(100, 50, 30_000), requests(1000, 900, 3_600_000)],
  },
  {
    by: 'the draft since 08, without its policy and without a reset',
    headers: { ratelimit: '"default";r=50' },
    told: [{ of: 'requests', remaining: 50 }],
  },
];

describe('the limits that a reply reports', () => {
  test.each(published)('are read in the form of $by', ({ headers, told }) => {
    expect(read(headers)).toEqual(told);
  });

  test('are reported once if several headers contain them', () => {
    expect(
      read({
        'x-ratelimit-limit': '9',
        'x-ratelimit-remaining': '3',
        'ratelimit-limit': '9',
        'ratelimit-remaining': '3',
        'ratelimit-reset': '4',
      }),
    ).toEqual([requests(9, 3, 4000)]);
  });

  test.each<readonly [reset: string, ms: number | undefined]>([
    ['0', 0],
    ['1.5', 1500],
    ['1h2m3.5s', 3_723_500],
    ['200ms', 200],
    ['86400', 86_400_000],
    ['1000000000', undefined],
    [String(now / 1000 + 30), 30_000],
    [String(now + 30_000), 30_000],
    [String(now / 1000 - 30), 0],
    ['Sun, 01 Nov 2026 12:00:09 GMT', 9000],
    ['2026-11-01T13:00:00+01:00', 0],
  ])('are reset at %j, in ms: %s', (reset, ms) => {
    const told = read({ 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': reset });
    expect(told).toEqual(ms === undefined ? [] : [requests(9, 3, ms)]);
  });

  test.each<readonly [what: string, limit: string, remaining: string, reset: string]>([
    ['more than a day', '9', '3', '86401'],
    ['a negative time', '9', '3', '-5'],
    ['a word', '9', '3', 'soon'],
    ['a date that is none', '9', '3', '2026-99-99T99:99:99Z'],
    ['a negative limit', '-1', '3', '5'],
    ['a negative remainder', '9', '-1', '5'],
    ['more than the limit', '9', '10', '5'],
    ['infinity', 'Infinity', '3', '5'],
    ['a number with a word', '9 a minute', '3', '5'],
    ['nothing', '', '3', '5'],
  ])('are left out if one of the values is %s', (_what, limit, remaining, reset) => {
    const [a, b, c] = [limit, remaining, reset];
    expect(read({ 'x-ratelimit-limit': a, 'x-ratelimit-remaining': b, 'x-ratelimit-reset': c })).toEqual([]);
    expect(read({ 'ratelimit-policy': `a;q="${a}"`, ratelimit: `a;r="${b}";t="${c}"` })).toEqual([]);
  });

  test.each([
    ['a second', '1', [{ of: 'tokens', limit: 150_000, remaining: 0 }]],
    ['half of the reset', '180', [tokens(150_000, 0, 360_000)]],
    ['the longest wait that is read, and more', '7200', [tokens(150_000, 0, 360_000)]],
  ])('of a limit that is used up have no reset if Retry-After asks for much less: %s', (_how, wait, told) => {
    const names = { limit: '150000', remaining: '0', reset: '6m0s' };
    const headers = Object.entries(names).map(([name, value]) => [`x-ratelimit-${name}-tokens`, value]);
    expect(read({ ...Object.fromEntries(headers), 'retry-after': wait })).toEqual(told);
    const some = {
      ...Object.fromEntries(headers),
      'x-ratelimit-remaining-tokens': '9',
      'retry-after': wait,
    };
    expect(read(some)).toEqual([tokens(150_000, 9, 360_000)]);
  });

  test.each(['retry-after-ms', 'x-ms-retry-after-ms'])('have no reset if %s asks for much less', (name) => {
    const headers = {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '6m0s',
    };
    const told = [{ of: 'requests', limit: 60, remaining: 0 }];
    expect(read({ ...headers, [name]: '1000' })).toEqual(told);
    expect(read({ ...headers, [name]: '1000', 'retry-after': '360' })).toEqual(told);
    expect(read({ ...headers, [name]: '360000', 'retry-after': '1' })).toEqual([requests(60, 0, 360_000)]);
  });

  test.each<readonly [ms: number, told: readonly ToldLimit[]]>([
    [3_600_000, [requests(9, 0, 3_600_000), tokens(900, 0, 3_600_000)]],
    [3_600_001, [requests(9, 0, 3_600_001), { of: 'tokens', limit: 900, remaining: 0 }]],
    [86_400_000, [requests(9, 0, 86_400_000), { of: 'tokens', limit: 900, remaining: 0 }]],
  ])('of tokens have no reset after more than an hour, of requests up to a day: %i ms', (ms, told) => {
    const of = (what: string, limit: string): Readonly<Record<string, string>> => ({
      [`x-ratelimit-limit-${what}`]: limit,
      [`x-ratelimit-remaining-${what}`]: '0',
      [`x-ratelimit-reset-${what}`]: `${ms}ms`,
    });
    expect(read({ ...of('requests', '9'), ...of('tokens', '900') })).toEqual(told);
  });

  test('are empty if no header is about them, and then no value is read', () => {
    const names = ['content-type', 'retry-after', 'x-request-id'];
    const get = (): string => expect.unreachable('A value was read.');
    expect(readTold({ keys: () => names, get }, now)).toEqual([]);
  });
});
