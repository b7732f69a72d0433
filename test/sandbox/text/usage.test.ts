import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults/parse.ts';
import type { TokenCount } from '../../../src/sandbox/http/ledger.ts';
import { start } from '../client.ts';
import { prompt, useTexts, type Wire } from './answers-rig.ts';

const texts = useTexts();
const { generate, stream } = texts;

describe('usage', () => {
  const kinds = [
    ['promptTokenCount', 'promptTokensDetails'],
    ['candidatesTokenCount', 'candidatesTokensDetails'],
    ['cachedContentTokenCount', 'cacheTokensDetails'],
    ['toolUsePromptTokenCount', 'toolUsePromptTokensDetails'],
  ] as const;

  function expectSums(usage: Wire): void {
    for (const [count, details] of kinds) {
      const sum = (usage[details] ?? []).reduce((total: number, one: Wire) => total + one['tokenCount'], 0);
      expect(sum).toBe(usage[count] ?? 0);
    }
    const {
      promptTokenCount = 0,
      candidatesTokenCount = 0,
      toolUsePromptTokenCount = 0,
      thoughtsTokenCount = 0,
    } = usage;
    expect(usage['totalTokenCount']).toBe(
      promptTokenCount + candidatesTokenCount + toolUsePromptTokenCount + thoughtsTokenCount,
    );
    expect(usage['cachedContentTokenCount'] ?? 0).toBeLessThanOrEqual(promptTokenCount);
  }

  it('adds up for any request; a stream ends with the same sums, and never reports less than before', async () => {
    const request = fc.record({
      text: fc.constantFrom(
        'Describe a fox',
        'Count to 7 in 200 words',
        '€ ß 狐',
        'x [unsafe]',
        'x [blocked]',
        'x [empty]',
      ),
      model: fc.constantFrom('text-pro', 'text-lite', 'text-pro-1', 'text-flash-1'),
      tools: fc.subarray([{ vendor_search: {} }, { vendorMaps: {} }, { codeExecution: {} }]),
      config: fc.record(
        {
          maxOutputTokens: fc.integer({ min: 1, max: 600 }),
          candidateCount: fc.integer({ min: 1, max: 3 }),
          stopSequences: fc.constant(['the']),
        },
        { requiredKeys: [] },
      ),
      cached: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ text, model, tools, config, cached }) => {
        const body = prompt(text, {
          tools,
          generationConfig: config,
          ...(cached ? { cachedContent: 'cachedContents/abc' } : {}),
        });
        const { body: whole } = await generate(body, model);
        const usage = whole['usageMetadata'];
        expectSums(usage);
        const tokens = (whole['candidates'] ?? []).reduce(
          (sum: number, one: Wire) => sum + (one['tokenCount'] ?? 0),
          0,
        );
        expect(tokens).toBe(usage.candidatesTokenCount ?? 0);
        const limit = config.maxOutputTokens ?? 65_536;
        expect(usage.thoughtsTokenCount ?? 0).toBeLessThanOrEqual(limit * (config.candidateCount ?? 1));
        const events = await stream(body, model);
        expect(events.at(-1)?.['usageMetadata']).toEqual(usage);
        let before = 0;
        for (const { usageMetadata } of events) {
          expectSums(usageMetadata);
          expect(usageMetadata.totalTokenCount).toBeGreaterThanOrEqual(before);
          before = usageMetadata.totalTokenCount;
        }
      }),
      { seed: 20_261_121, numRuns: 60 },
    );
  });

  it('is counted by kind and model, to compare it with a run', async () => {
    const own = await start({
      settings: { pace: 0, faults: [fault('generate:504-after:at 3'), fault('chat:truncate:first 1')] },
    });
    try {
      const replies: Wire[] = [];
      for (const model of ['text-pro', 'text-flash-1', 'text-pro']) {
        const { status, body } = await generate(
          prompt('Describe an owl', { tools: [{ vendor_search: {} }] }),
          model,
          own,
        );
        if (status === 200) replies.push(body['usageMetadata']);
      }
      await own
        .send('POST', '/v1/chat/completions', {
          model: 'chat-mini',
          messages: [{ role: 'user', content: 'x' }],
        })
        .catch(() => undefined);
      const sum = (name: string): number => replies.reduce((total, usage) => total + (usage[name] ?? 0), 0);
      const { text } = own.sandbox.counters();
      expect(text.answers).toBe(2);
      expect(text.tokens).toEqual({
        prompt: sum('promptTokenCount'),
        cached: 0,
        candidates: sum('candidatesTokenCount'),
        thoughts: sum('thoughtsTokenCount'),
        tool: sum('toolUsePromptTokenCount'),
        total: sum('totalTokenCount'),
      } satisfies TokenCount);
      expect(Object.keys(text.byModel)).toEqual(['text-pro', 'text-flash-1']);
      // The third answer and the cut one were made, and not told.
      expect(text.untold.answers).toBe(2);
      expect(text.untold.tokens.total).toBeGreaterThan(0);
      expect(own.sandbox.requests().map(({ model }) => model)).toEqual([
        'text-pro',
        'text-flash-1',
        'text-pro',
        'chat-mini',
      ]);
    } finally {
      await own.sandbox.close();
    }
  });

  it('of a cut stream has only the counts before the cut', async () => {
    const own = await start({ settings: { pace: 0, faults: [fault('text:truncate:first 1')] } });
    try {
      const body = prompt('Describe a heron in 300 words');
      await expect(stream(body, 'text-pro', own)).rejects.toThrow('terminated');
      const { tokens, untold: unsent } = own.sandbox.counters().text;
      const { usageMetadata } = (await generate(body, 'text-pro', own)).body;
      expect(tokens.candidates).toBeGreaterThan(0);
      expect(tokens.candidates).toBeLessThan(usageMetadata.candidatesTokenCount);
      expect(tokens.total + unsent.tokens.total).toBe(usageMetadata.totalTokenCount);
    } finally {
      await own.sandbox.close();
    }
  });
});

function fault(text: string) {
  const parsed = parseFault(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}
