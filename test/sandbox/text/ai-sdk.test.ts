import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  Output,
  stepCountIs,
  streamText,
  type ToolSet,
  tool,
} from 'ai';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults/parse.ts';
import { midjourneyProxyNames } from '../../../src/sandbox/names.ts';
import { type Client, key, start } from '../client.ts';

// The AI SDK checks every reply against schemas of its own: what they refuse, the endpoints must not say.
let client: Client;
beforeAll(async () => {
  client = await start({ names: midjourneyProxyNames, settings: { pace: 0, anyModel: true } });
});
afterAll(() => client.sandbox.close());

type Asked = (id: string, apiKey?: string, from?: Client) => Exclude<LanguageModel, string>;

const google: Asked = (id, apiKey = key, from = client) =>
  createGoogleGenerativeAI({ apiKey, baseURL: `${from.sandbox.url}/v1beta` })(id);

const providers: Readonly<Record<string, readonly [Asked, string]>> = {
  google: [google, 'gemini-2.5-flash'],
  // The provider's own default is the endpoint of responses, which gateways of this family do not have.
  openai: [
    (id, apiKey = key, from = client) => createOpenAI({ apiKey, baseURL: `${from.sandbox.url}/v1` }).chat(id),
    'chat-mini',
  ],
  'openai, a model that thinks': [
    (id, apiKey = key, from = client) => createOpenAI({ apiKey, baseURL: `${from.sandbox.url}/v1` }).chat(id),
    'o4-mini',
  ],
  'openai-compatible': [
    (id, apiKey = key, from = client) =>
      createOpenAICompatible({
        name: 'sandbox',
        apiKey,
        baseURL: `${from.sandbox.url}/v1`,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(id),
    'text-pro',
  ],
};

interface Rating {
  readonly best: number;
  readonly why: string;
  readonly tags: readonly string[];
}

const rating = jsonSchema<Rating>({
  type: 'object',
  properties: {
    best: { type: 'integer', minimum: 1, maximum: 4 },
    why: { type: 'string' },
    tags: { type: 'array', items: { type: 'string', enum: ['soft', 'sharp'] }, minItems: 1 },
  },
  required: ['best', 'why', 'tags'],
  additionalProperties: false,
});

const weather = tool({
  description: 'The weather in a city',
  inputSchema: jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }),
  execute: ({ city }) => ({ sky: `drizzle over ${city}` }),
});

/** What the sandbox says that it told of tokens since it was last asked. */
function counted(): { readonly prompt: number; readonly output: number; readonly total: number } {
  const { tokens } = client.sandbox.counters().text;
  const now = {
    prompt: tokens.prompt + tokens.tool,
    output: tokens.candidates + tokens.thoughts,
    total: tokens.total,
  };
  const since = {
    prompt: now.prompt - before.prompt,
    output: now.output - before.output,
    total: now.total - before.total,
  };
  before = now;
  return since;
}
let before = { prompt: 0, output: 0, total: 0 };

const usageOf = (usage: {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly totalTokens: number | undefined;
}): ReturnType<typeof counted> => ({
  prompt: usage.inputTokens ?? 0,
  output: usage.outputTokens ?? 0,
  total: usage.totalTokens ?? 0,
});

const heron = { system: 'You are a sea captain.', prompt: 'Describe a heron in 20 words.', maxRetries: 0 };

describe.each(Object.entries(providers))('%s', (name, [provider, id]) => {
  it('asks for text, and receives the count of every token', async () => {
    counted();
    const { text, usage, finishReason, response, warnings } = await generateText({
      ...heron,
      model: provider(id),
    });
    expect(text).toMatch(/^Speaking as a sea captain, .*heron/);
    expect(finishReason).toBe('stop');
    expect(usageOf(usage)).toEqual(counted());
    expect(warnings).toEqual([]);
    expect(response.headers?.['x-request-id']).toMatch(/^\w{20,}$/);
  });

  it('streams the same text with the same tokens', async () => {
    const whole = await generateText({ ...heron, model: provider(id) });
    counted();
    const errors: unknown[] = [];
    const result = streamText({
      ...heron,
      model: provider(id),
      onError: ({ error }) => void errors.push(error),
    });
    let text = '';
    for await (const delta of result.textStream) text += delta;
    expect([text, errors]).toEqual([whole.text, []]);
    expect(await result.finishReason).toBe('stop');
    expect(usageOf(await result.usage)).toEqual(usageOf(whole.usage));
    expect(usageOf(await result.usage)).toEqual(counted());
  });

  it('gets an output of a schema, whole and streamed', async () => {
    const ask = { prompt: 'Which of the four frames is best?', maxRetries: 0, model: provider(id) };
    const { output, warnings } = await generateText({ ...ask, output: Output.object({ schema: rating }) });
    expect([1, 2, 3, 4]).toContain(output.best);
    expect(Object.keys(output).sort()).toEqual(['best', 'tags', 'why']);
    expect(output.tags.every((tag) => tag === 'soft' || tag === 'sharp')).toBe(true);
    expect(warnings).toEqual([]);
    const streamed = streamText({ ...ask, output: Output.object({ schema: rating }) });
    let partials = 0;
    for await (const _ of streamed.partialOutputStream) partials += 1;
    expect(partials).toBeGreaterThan(1);
    expect(await streamed.output).toEqual(output);
  });

  it('goes the round of a tool, whole and streamed', async () => {
    const ask = {
      prompt: 'What is the weather in Paris?',
      maxRetries: 0,
      model: provider(id),
      tools: { get_weather: weather },
      stopWhen: stepCountIs(4),
    };
    counted();
    const { steps, text, totalUsage } = await generateText(ask);
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(steps[0]?.toolCalls).toMatchObject([{ toolName: 'get_weather', input: { city: 'Paris' } }]);
    expect(text).toContain('drizzle over Paris');
    expect(usageOf(totalUsage)).toEqual(counted());
    const streamed = streamText(ask);
    expect(await streamed.text).toContain('drizzle over Paris');
    expect((await streamed.steps)[0]?.toolCalls).toMatchObject([{ input: { city: 'Paris' } }]);
    const none = await generateText({ ...ask, toolChoice: 'none' });
    expect(none.toolCalls).toEqual([]);
    const forced = await generateText({
      ...ask,
      prompt: 'Hello.',
      stopWhen: stepCountIs(1),
      toolChoice: { type: 'tool', toolName: 'get_weather' },
    });
    expect(forced.toolCalls).toHaveLength(1);
  });

  it('shows an image', async () => {
    const image = await sharp({ create: { width: 40, height: 20, channels: 3, background: '#cc2222' } })
      .png()
      .toBuffer();
    const content = [
      { type: 'text' as const, text: 'Caption this.' },
      { type: 'image' as const, image },
    ];
    const { text, usage } = await generateText({
      model: provider(id),
      maxRetries: 0,
      messages: [{ role: 'user', content }],
    });
    expect(text).toMatch(/red/i);
    expect(usage.inputTokens).toBeGreaterThan(258);
  });

  it('raises errors with status, request id and whether to try again', async () => {
    const [bad, busy] = ['text:400:at 1', 'text:429=2:at 2'].map((text) => parseFault(text));
    if (bad?.ok !== true || busy?.ok !== true) throw new Error('The faults are right.');
    const faulty = await start({
      names: midjourneyProxyNames,
      settings: { pace: 0, faults: [bad.value, busy.value] },
    });
    try {
      const failures: APICallError[] = [];
      for (const model of [
        provider(id, key, faulty),
        provider(id, key, faulty),
        provider(id, 'other', faulty),
        provider('nobody', key, faulty),
      ]) {
        const failure = await generateText({ prompt: 'x', maxRetries: 0, model }).catch(
          (error: unknown) => error,
        );
        if (!APICallError.isInstance(failure)) throw failure;
        failures.push(failure);
      }
      expect(failures.map(({ statusCode, isRetryable }) => [statusCode, isRetryable])).toEqual([
        [400, false],
        [429, true],
        [401, false],
        [503, true],
      ]);
      for (const { responseBody = '', responseHeaders } of failures) {
        const { message } = JSON.parse(responseBody).error;
        expect(message).toContain(`(request id: ${responseHeaders?.['x-request-id']})`);
      }
      expect(failures[1]?.responseHeaders?.['retry-after']).toBe('2');
      expect(JSON.parse(failures[3]?.responseBody ?? '').error.code).toBe('model_not_found');
      // The gateway's own refusals are no errors of the native form, so that this provider tells their status alone.
      const words = name === 'google' ? /^Unauthorized$/ : /^invalid token \(request id: \w+\)$/;
      expect(failures[2]?.message).toMatch(words);
    } finally {
      await faulty.sandbox.close();
    }
  });

  it('receives the reason of a blocked prompt, and the error of a failed stream', async () => {
    const blocked = await generateText({ model: provider(id), maxRetries: 0, prompt: 'A fox [blocked]' });
    expect([blocked.text, blocked.finishReason]).toEqual(['', 'content-filter']);
    const prompt = `A heron of ${name.replaceAll(/\W/g, ' ')} [stream-error] in 60 words`;
    const errors: string[] = [];
    const result = streamText({
      model: provider(id),
      maxRetries: 0,
      prompt,
      onError: ({ error }) =>
        void errors.push(error instanceof Error ? error.message : JSON.stringify(error)),
    });
    await result.consumeStream();
    expect(errors).toEqual([expect.stringContaining('overloaded')]);
    expect(await result.finishReason).toBe('error');
  });
});

describe('google alone', () => {
  const own = createGoogleGenerativeAI({ apiKey: key }).tools;
  // Their types do not agree under exactOptionalPropertyTypes.
  const toolSet = (tools: object): ToolSet => tools as ToolSet;

  test('thoughts are separate from the text', async () => {
    const { reasoningText, text, usage } = await generateText({
      ...heron,
      model: google('gemini-2.5-flash'),
      providerOptions: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 512 } } },
    });
    expect(reasoningText).toContain('heron');
    expect(text).not.toContain(reasoningText ?? '');
    expect(usage.outputTokenDetails.reasoningTokens).toBeGreaterThan(0);
    expect(usage.outputTokenDetails.reasoningTokens).toBeLessThanOrEqual(512);
  });

  test('a model that draws gives a file', async () => {
    const { files } = await generateText({
      model: google('gemini-2.5-flash-image'),
      prompt: 'A fox in the snow',
      maxRetries: 0,
      providerOptions: { google: { responseModalities: ['TEXT', 'IMAGE'] } },
    });
    expect(files.map(({ mediaType }) => mediaType)).toEqual(['image/png']);
    expect((await sharp(files[0]?.uint8Array).metadata()).format).toBe('png');
  });

  test('a reply of a search has its sources', async () => {
    const tools = toolSet({ google_search: own.googleSearch({}) });
    const { sources, providerMetadata, warnings } = await generateText({
      model: google('gemini-2.5-pro'),
      prompt: 'Who wrote about foxes in three sentences?',
      maxRetries: 0,
      tools,
    });
    expect(warnings).toEqual([]);
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.every((source) => source.sourceType === 'url' && source.url.startsWith('https:'))).toBe(
      true,
    );
    expect(providerMetadata?.['google']).toMatchObject({
      groundingMetadata: {
        webSearchQueries: expect.arrayContaining([expect.any(String)]),
        groundingSupports: expect.any(Array),
      },
    });
  });

  test('code that was run comes with what it put out', async () => {
    const tools = toolSet({ code_execution: own.codeExecution({}) });
    const { toolCalls, toolResults } = await generateText({
      model: google('gemini-2.5-pro'),
      prompt: 'Add 2 and 40',
      maxRetries: 0,
      tools,
    });
    expect(toolCalls).toHaveLength(1);
    expect(toolResults).toMatchObject([{ output: { outcome: 'OUTCOME_OK', output: '42\n' } }]);
  });
});
