import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replyPrice } from '../../../../src/plan/estimate/price.ts';
import type { ReplyUsage } from '../../../../src/service/result.ts';
import { mergedCounts, readChatUsage, readNativeUsage } from '../../../../src/service/text/reply/usage.ts';

const chat = (prompt: unknown, completion: unknown, total: unknown, reasoning?: unknown): unknown => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: total,
  ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
});

describe('counts of chat', () => {
  test.each<[string, unknown, ReplyUsage | undefined]>([
    ['are read', chat(10, 5, 15), { prompt: 10, candidates: 5, total: 15 }],
    ['that are only a total are other ones', { total_tokens: 100 }, { other: 100, total: 100 }],
    [
      'above their parts are other ones',
      chat(10, 5, 515),
      { prompt: 10, candidates: 5, other: 500, total: 515 },
    ],
    ['of one side leave the other open', { completion_tokens: 5 }, { candidates: 5, total: 5 }],
    ['that are negative are untold', chat(1, -500, 1), { prompt: 1, total: 1 }],
    ['that are no whole number are untold', chat(0.5, 5, '9'), { candidates: 5, total: 5 }],
    ['hold the reasoning', chat(10, 5, undefined, 3), { prompt: 10, candidates: 2, thoughts: 3, total: 15 }],
    [
      'hold it not where it is more',
      chat(10, 5, undefined, 60),
      { prompt: 10, candidates: 5, thoughts: 60, total: 75 },
    ],
    [
      'hold it not where the total says so',
      chat(10, 5, 18, 3),
      { prompt: 10, candidates: 5, thoughts: 3, total: 18 },
    ],
    [
      'of input and output are the same',
      { input_tokens: 10, output_tokens: 5 },
      { prompt: 10, candidates: 5, total: 15 },
    ],
  ])('%s', (_what, value, usage) => {
    expect(readChatUsage(value)).toEqual(usage);
  });
});

test('each count of a stream is the largest reported one, in any event', () => {
  const all = [chat(2500, 1, 2501), null, { trace: 'x' }, chat(0, 150, 150), chat(-1, 0.5, undefined)];
  expect(readChatUsage(all.reduce(mergedCounts, undefined))).toEqual({
    prompt: 2500,
    candidates: 150,
    total: 2650,
  });
});

test('native counts are read in snake case', () => {
  const counts = {
    prompt_token_count: 10,
    candidates_token_count: 5,
    thoughts_token_count: 2,
    total_token_count: 17,
  };
  expect(readNativeUsage(counts)).toEqual({ prompt: 10, candidates: 5, thoughts: 2, total: 17 });
});

describe('the charge for a reply', () => {
  const count = fc.nat(2000);
  const told = fc.option(
    fc.oneof({ weight: 8, arbitrary: count }, { weight: 1, arbitrary: fc.constantFrom(-3, 0.5, '7') }),
    {
      nil: undefined,
    },
  );
  const prices = fc.record({
    input: fc.integer({ min: 1, max: 50 }),
    output: fc.integer({ min: 1, max: 50 }),
  });
  const request = { kind: 'chat', fields: { model: 'm' } } as const;
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  const known = (value: unknown): number => (isCount(value) ? value : 0);

  test('is at least the price of every reading whose parts do not exceed a reported total', () => {
    fc.assert(
      fc.property(
        told,
        told,
        told,
        told,
        prices,
        fc.nat(100),
        (prompt, completion, reasoning, total, m, share) => {
          const usage = readChatUsage(chat(prompt, completion, total, reasoning));
          const charged = usage === undefined ? 0 : (replyPrice({ m }, request, usage) ?? 0);
          const [p, c, r, t] = [prompt, completion, reasoning, total].map(known) as [
            number,
            number,
            number,
            number,
          ];
          const within = Math.max(c, r);
          // Reasoning that explains a total stands beside the completion; without a total, it lies inside.
          const made = isCount(total) && t >= p + c + r ? c + r : within;
          if (isCount(total) && p + made > t) return;
          const rest = Math.max(0, t - p - made);
          const sent = Math.round((rest * share) / 100);
          const reading = ((p + sent) * m.input + (made + rest - sent) * m.output) / 1_000_000;
          expect(charged).toBeGreaterThanOrEqual(reading - 1e-12);
        },
      ),
    );
  });

  test('is the price of its parts for an ordinary reply', () => {
    fc.assert(
      fc.property(
        count,
        count,
        fc.nat(100),
        prices,
        fc.boolean(),
        (prompt, completion, part, m, saysTotal) => {
          const reasoning = Math.floor((completion * part) / 100);
          const usage = readChatUsage(
            chat(prompt, completion, saysTotal ? prompt + completion : undefined, reasoning),
          );
          fc.pre(usage !== undefined && prompt + completion > 0);
          expect(replyPrice({ m }, request, usage)).toBeCloseTo(
            (prompt * m.input + completion * m.output) / 1_000_000,
            12,
          );
        },
      ),
    );
  });
});
