import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { midjourneyProxyNames } from '../../../src/sandbox/names.ts';
import { type Client, key, start } from '../client.ts';

// The unmodified public clients of both forms: what they understand is what the endpoints must say.
let client: Client;
let google: GoogleGenAI;
let openai: OpenAI;
beforeAll(async () => {
  client = await start({ names: midjourneyProxyNames, settings: { pace: 0 } });
  google = new GoogleGenAI({
    apiKey: key,
    httpOptions: { baseUrl: client.sandbox.url, retryOptions: { attempts: 1 } },
  });
  openai = new OpenAI({ apiKey: key, baseURL: `${client.sandbox.url}/v1`, maxRetries: 0 });
});
afterAll(() => client.sandbox.close());

const square = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 40, height: 20, channels: 3, background } })
    .png()
    .toBuffer();

describe('@google/genai', () => {
  it('asks for text', async () => {
    const answer = await google.models.generateContent({
      model: 'text-flash',
      contents: 'Describe a lighthouse at dusk in two sentences.',
      config: { systemInstruction: 'You are a sea captain.', candidateCount: 2 },
    });
    expect(answer.candidates).toHaveLength(2);
    expect(answer.text).toMatch(/^Speaking as a sea captain, .*(lighthouse|dusk).*\. .*\.$/);
    expect(answer.modelVersion).toBe('text-flash-002');
    expect(answer.usageMetadata?.thoughtsTokenCount).toBeGreaterThan(0);
  });

  it('reads a stream to its end', async () => {
    const ask = { model: 'text-flash-1', contents: 'Describe an otter in 80 words.' };
    const stream = await google.models.generateContentStream({
      ...ask,
      config: { thinkingConfig: { includeThoughts: true } },
    });
    let text = '';
    let thoughts = '';
    let last: { finish?: string | undefined; total?: number | undefined } = {};
    for await (const chunk of stream) {
      const [candidate] = chunk.candidates ?? [];
      for (const part of candidate?.content?.parts ?? []) {
        if (part.thought === true) thoughts += part.text;
        else text += part.text ?? '';
      }
      last = { finish: candidate?.finishReason, total: chunk.usageMetadata?.totalTokenCount };
    }
    expect(text.split(' ')).toHaveLength(80);
    expect(thoughts).toContain('otter');
    expect(last.finish).toBe('STOP');
    const whole = await google.models.generateContent({
      ...ask,
      config: { thinkingConfig: { includeThoughts: true } },
    });
    expect(text).toBe(whole.text);
    expect(last.total).toBe(whole.usageMetadata?.totalTokenCount);
  });

  it('gets JSON of a schema', async () => {
    const answer = await google.models.generateContent({
      model: 'text-pro',
      contents: 'Which of the four frames (1 to 4) is best?',
      config: {
        responseMimeType: 'application/json',
        responseSchema: {
          type: 'OBJECT' as never,
          properties: { best: { type: 'INTEGER' as never } },
          required: ['best'],
        },
      },
    });
    expect([1, 2, 3, 4]).toContain(JSON.parse(answer.text ?? '').best);
  });

  it('goes the round of a function call with its signature', async () => {
    const tools = [
      {
        functionDeclarations: [
          {
            name: 'get_weather',
            description: 'The weather in a city',
            parametersJsonSchema: {
              type: 'object',
              properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
              required: ['city'],
            },
          },
        ],
      },
    ];
    const question = { role: 'user', parts: [{ text: 'What is the weather in Paris?' }] };
    const first = await google.models.generateContent({
      model: 'text-pro',
      contents: [question],
      config: { tools },
    });
    const [call] = first.functionCalls ?? [];
    expect(call).toMatchObject({ name: 'get_weather', args: { city: 'Paris' } });
    const content = first.candidates?.[0]?.content ?? {};
    expect(content.parts?.[0]?.thoughtSignature).toMatch(/^[\w+/=]{40,}$/);
    const response = {
      role: 'user',
      parts: [{ functionResponse: { name: 'get_weather', response: { sky: 'drizzle' } } }],
    };
    const second = await google.models.generateContent({
      model: 'text-pro',
      contents: [question, content, response],
      config: { tools },
    });
    expect(second.functionCalls).toBeUndefined();
    expect(second.text).toContain('drizzle');

    const bare = {
      ...content,
      parts: (content.parts ?? []).map(({ thoughtSignature: _signature, ...part }) => part),
    };
    const changed = {
      ...content,
      parts: (content.parts ?? []).map((part) => ({ ...part, thoughtSignature: 'QUJD' })),
    };
    for (const [turn, message] of [
      [bare, 'Function call is missing a thought_signature in functionCall parts'],
      [changed, 'Thought signature is not valid'],
    ] as const) {
      await expect(
        google.models.generateContent({
          model: 'text-pro',
          contents: [question, turn, response],
          config: { tools },
        }),
      ).rejects.toThrow(message);
    }
    const earlier = await google.models.generateContent({
      model: 'text-pro-1',
      contents: [question, bare, response],
      config: { tools, toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } } },
    });
    expect(earlier.functionCalls).toHaveLength(1);
  });

  it('shows images and gets one', async () => {
    const data = (await square('#2244bb')).toString('base64');
    const answer = await google.models.generateContent({
      model: 'text-flash',
      contents: [
        { parts: [{ text: 'Caption this image.' }, { inlineData: { mimeType: 'image/png', data } }] },
      ],
    });
    expect(answer.text).toMatch(/blue/);
    expect(answer.text).toMatch(/wide/);
    expect(answer.usageMetadata?.promptTokensDetails).toContainEqual({ modality: 'IMAGE', tokenCount: 258 });

    const drawn = await google.models.generateContent({
      model: 'text-image',
      contents: 'A fox in the snow',
      config: {
        responseModalities: ['TEXT', 'IMAGE'],
        imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
      },
    });
    const image = drawn.candidates?.[0]?.content?.parts?.find(
      ({ inlineData }) => inlineData !== undefined,
    )?.inlineData;
    const { width, height, format } = await sharp(Buffer.from(image?.data ?? '', 'base64')).metadata();
    expect([format, image?.mimeType]).toEqual(['png', 'image/png']);
    expect(width / height).toBeCloseTo(16 / 9, 1);
    // Twice the side of the sandbox's own pictures, which are 64 here.
    expect(Math.sqrt(width * height)).toBeGreaterThan(120);
  });

  it('is told where an answer comes from', async () => {
    const answer = await google.models.generateContent({
      model: 'text-pro',
      contents: 'Who wrote about “Füchse” in three sentences?',
      config: { tools: [{ googleSearch: {} }] },
    });
    const {
      groundingChunks = [],
      groundingSupports = [],
      webSearchQueries,
    } = answer.candidates?.[0]?.groundingMetadata ?? {};
    expect(webSearchQueries?.length).toBeGreaterThan(0);
    expect(groundingSupports).toHaveLength(3);
    const bytes = Buffer.from(answer.text ?? '');
    for (const { segment, groundingChunkIndices = [] } of groundingSupports) {
      expect(bytes.subarray(segment?.startIndex, segment?.endIndex).toString()).toBe(segment?.text);
      for (const index of groundingChunkIndices) expect(groundingChunks[index]?.web?.uri).toMatch(/^https:/);
    }
    expect(answer.usageMetadata?.toolUsePromptTokenCount).toBeGreaterThan(0);
  });

  it('raises its typed errors', async () => {
    const failure = await google.models
      .generateContent({
        model: 'text-pro',
        contents: 'x',
        config: { thinkingConfig: { thinkingBudget: 100 } },
      })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({ status: 400 });
    const stream = await google.models.generateContentStream({
      model: 'text-pro',
      contents: 'A fox [stream-error] at rest',
    });
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toThrow(/overloaded/);
  });
});

describe('openai', () => {
  const user = (content: string) => [{ role: 'user' as const, content }];

  it('asks for text, whole and streamed', async () => {
    const ask = { model: 'chat-mini', messages: user('Describe a heron in 40 words.') };
    const whole = await openai.chat.completions.create(ask);
    const text = whole.choices[0]?.message.content ?? '';
    expect(text.split(' ')).toHaveLength(40);
    let streamed = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    const stream = await openai.chat.completions.create({
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) {
      streamed += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(streamed).toBe(text);
    expect(usage).toEqual(whole.usage);
    const short = await openai.chat.completions.create({ ...ask, max_tokens: 5 });
    expect(short.choices[0]?.finish_reason).toBe('length');
    expect(short.usage?.completion_tokens).toBe(5);
  });

  it('gets JSON of a schema', async () => {
    const answer = await openai.chat.completions.create({
      model: 'text-flash',
      messages: user('Rate this fox.'),
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'rating',
          strict: true,
          schema: {
            $defs: { s: { type: 'integer', minimum: 3, maximum: 4 } },
            type: 'object',
            properties: { score: { $ref: '#/$defs/s' } },
            required: ['score'],
            additionalProperties: false,
          },
        },
      },
    });
    expect([3, 4]).toContain(JSON.parse(answer.choices[0]?.message.content ?? '').score);
    expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
  });

  it('goes the round of a tool call, whole and streamed', async () => {
    const tools = [
      {
        type: 'function' as const,
        function: {
          name: 'find_bird',
          description: 'Finds a bird',
          parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
      },
    ];
    const messages: OpenAI.ChatCompletionMessageParam[] = user('Find the bird that sings at night.');
    const first = await openai.chat.completions.create({ model: 'chat-large', messages, tools });
    const [choice] = first.choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    const call = choice?.message.tool_calls?.[0];
    if (choice === undefined || call?.type !== 'function') throw new Error('no call came');
    const streamed = await openai.chat.completions
      .stream({ model: 'chat-large', messages, tools })
      .finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: call.function });
    const second = await openai.chat.completions.create({
      model: 'chat-large',
      messages: [
        ...messages,
        choice.message,
        { role: 'tool', tool_call_id: call.id, content: 'nightingale' },
      ],
      tools,
    });
    expect(second.choices[0]?.message.content).toContain('nightingale');
  });

  it('shows an image', async () => {
    const url = `data:image/png;base64,${(await square('#cc2222')).toString('base64')}`;
    const answer = await openai.chat.completions.create({
      model: 'chat-mini',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Caption this.' },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    });
    expect(answer.choices[0]?.message.content).toMatch(/red/i);
  });

  it('lists the models', async () => {
    const ids: string[] = [];
    for await (const { id } of openai.models.list()) ids.push(id);
    expect(ids).toEqual(expect.arrayContaining(['text-pro', 'text-pro-1', 'text-image', 'chat-mini']));
  });

  it('raises its typed errors', async () => {
    const wrongKey = new OpenAI({ apiKey: 'other', baseURL: `${client.sandbox.url}/v1`, maxRetries: 0 });
    await expect(wrongKey.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(openai.chat.completions.create({ model: '', messages: user('x') })).rejects.toThrow(
      /model name is required/,
    );
    await expect(openai.chat.completions.create({ model: 'chat-mini', messages: [] })).rejects.toBeInstanceOf(
      OpenAI.BadRequestError,
    );
    await expect(
      openai.chat.completions.create({ model: 'nobody', messages: user('x') }),
    ).rejects.toMatchObject({ status: 503, code: 'model_not_found' });
  });
});
