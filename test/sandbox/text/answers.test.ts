import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults/parse.ts';
import type { TokenCount } from '../../../src/sandbox/http/ledger.ts';
import { type Client, key, start } from '../client.ts';

let client: Client;
beforeAll(async () => {
  client = await start({ settings: { pace: 0 } });
});
afterAll(() => client.sandbox.close());

type Wire = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- tests look into whatever came

const prompt = (text: string, more: object = {}): Wire => ({
  contents: [{ role: 'user', parts: [{ text }] }],
  ...more,
});

async function generate(
  body: unknown,
  model = 'text-flash',
  from = client,
): Promise<{ status: number; body: Wire }> {
  return await from.send('POST', `/v1beta/models/${model}:generateContent`, body);
}

/** The events of a stream, as far as it goes. */
async function stream(body: unknown, model = 'text-flash', from = client): Promise<readonly Wire[]> {
  const path =
    model === '' ? '/v1/chat/completions' : `/v1beta/models/${model}:streamGenerateContent?alt=sse`;
  const response = await fetch(`${from.sandbox.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const text = await response.text();
  return text
    .split(/\r?\n\r?\n/)
    .filter((event) => event !== '')
    .map((event) => (event === 'data: [DONE]' ? { done: true } : JSON.parse(event.replace(/^data: /, ''))));
}

const textOf = ({ candidates = [] }: Wire): string =>
  (candidates[0]?.content?.parts ?? [])
    .map((part: Wire) => (part['thought'] === true ? '' : (part['text'] ?? '')))
    .join('');

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

  it('adds up, whatever is asked; a stream ends with the same, and never tells less than before', async () => {
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

  it('is counted by kind and model, so that a run can be held against it', async () => {
    const own = await start({
      settings: { pace: 0, faults: [fault('generate:504-after:at 3'), fault('chat:truncate:first 1')] },
    });
    try {
      const told: Wire[] = [];
      for (const model of ['text-pro', 'text-flash-1', 'text-pro']) {
        const { status, body } = await generate(
          prompt('Describe an owl', { tools: [{ vendor_search: {} }] }),
          model,
          own,
        );
        if (status === 200) told.push(body['usageMetadata']);
      }
      await own
        .send('POST', '/v1/chat/completions', {
          model: 'chat-mini',
          messages: [{ role: 'user', content: 'x' }],
        })
        .catch(() => undefined);
      const sum = (name: string): number => told.reduce((total, usage) => total + (usage[name] ?? 0), 0);
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

  it('of a stream that is cut is what was told until then', async () => {
    const own = await start({ settings: { pace: 0, faults: [fault('text:truncate:first 1')] } });
    try {
      const body = prompt('Describe a heron in 300 words');
      await expect(stream(body, 'text-pro', own)).rejects.toThrow('terminated');
      const { tokens, untold } = own.sandbox.counters().text;
      const { usageMetadata } = (await generate(body, 'text-pro', own)).body;
      expect(tokens.candidates).toBeGreaterThan(0);
      expect(tokens.candidates).toBeLessThan(usageMetadata.candidatesTokenCount);
      expect(tokens.total + untold.tokens.total).toBe(usageMetadata.totalTokenCount);
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

describe('an answer', () => {
  const bare = ({ createTime: _at, responseId: _id, ...rest }: Wire): Wire => rest;

  it('depends on the request alone, ids and times apart', async () => {
    const body = prompt('Draw a fox', { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } });
    const [one, two] = [await generate(body, 'text-image'), await generate(body, 'text-image')];
    expect(JSON.stringify(bare(one.body))).toBe(JSON.stringify(bare(two.body)));
    expect(one.body['responseId']).not.toBe(two.body['responseId']);
    const again = prompt('Describe a fox in 50 words');
    expect((await stream(again)).map(bare)).toEqual((await stream(again)).map(bare));
    const snake = { contents: [{ role: 'user', parts: { text: 'x' } }] };
    expect((await generate(snake)).status).toBe(400);
    const camel = await generate({ ...prompt('a fox'), generationConfig: { maxOutputTokens: 900 } });
    const other = await generate({ ...prompt('a fox'), generation_config: { max_output_tokens: '900' } });
    expect(bare(camel.body)).toEqual(bare(other.body));
  });

  it('changes its wording with seed and temperature, and has n of them', async () => {
    const texts = new Set<string>();
    for (const generationConfig of [{ seed: 1 }, { seed: 2 }, { seed: 3 }, { temperature: 2 }]) {
      texts.add(textOf((await generate(prompt('Describe a fox', { generationConfig }))).body));
    }
    expect(texts.size).toBe(4);
    const { body } = await generate(prompt('Describe a fox', { generationConfig: { candidateCount: 3 } }));
    expect(new Set(body['candidates'].map((each: Wire) => each['content'].parts[0].text)).size).toBe(3);
  });

  it.each([
    ['Describe a fox in one sentence.', /^[^.]+\.$/],
    ['Describe a fox in exactly 25 words.', /^(\S+ ){24}\S+\.$/],
    ['Answer in one word: which animal is a fox?', /^\S+$/],
    ['List four ideas about foxes.', /^1\. .*\n2\. .*\n3\. .*\n4\. [^\n]*$/],
    ['Write two paragraphs on foxes.', /^[^\n]+\n\n[^\n]+$/],
    ['Which of the frames 5 to 6 is sharpest?', /^Frame [56] is the best choice/],
    ['Is a fox an animal?', /^(Yes|No), fox/],
  ])('is of the length that is asked for: %s', async (text, pattern) => {
    expect(textOf((await generate(prompt(text))).body)).toMatch(pattern);
  });

  it('decides the same in all that it says', async () => {
    const responseSchema = {
      type: 'object',
      properties: { best: { type: 'integer' }, caption: { type: 'string' } },
      required: ['best', 'caption'],
    };
    for (let seed = 0; seed < 20; seed += 1) {
      const generationConfig = { seed, responseMimeType: 'application/json', responseSchema };
      const { body } = await generate(prompt('Which frame (1 to 4) is the best?', { generationConfig }));
      const { best, caption } = JSON.parse(textOf(body));
      expect([1, 2, 3, 4]).toContain(best);
      const [, said] = /^Frame (\d)/.exec(caption) ?? [undefined, String(best)];
      expect(said).toBe(String(best));
    }
  });

  it('stops at a stop sequence, at its length, and where thinking used that up', async () => {
    const text = textOf(
      (await generate(prompt('Describe a fox in 90 words', { generationConfig: { stopSequences: ['. '] } })))
        .body,
    );
    expect(text).toMatch(/^[^.]+$/);
    const short = await generate(
      prompt('Describe a fox in 90 words', { generationConfig: { maxOutputTokens: 7 } }),
      'text-lite',
    );
    expect(short.body['candidates'][0]).toMatchObject({ finishReason: 'MAX_TOKENS', tokenCount: 7 });
    const { body } = await generate(
      prompt('Describe a fox', { generationConfig: { maxOutputTokens: 30 } }),
      'text-pro',
    );
    expect(body['candidates'][0].content).toEqual({ role: 'model' });
    expect(body['candidates'][0].finishReason).toBe('MAX_TOKENS');
    expect(body['usageMetadata'].thoughtsTokenCount).toBe(29);
  });

  it('thinks by level and budget', async () => {
    const thoughts = async (model: string, thinkingConfig: object): Promise<number> =>
      (await generate(prompt('x', { generationConfig: { thinkingConfig } }), model)).body['usageMetadata']
        .thoughtsTokenCount ?? 0;
    const levels = [];
    for (const thinkingLevel of ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'])
      levels.push(await thoughts('text-pro', { thinkingLevel }));
    expect(levels).toEqual(levels.toSorted((one, other) => one - other));
    expect(levels[0]).toBe(0);
    expect(await thoughts('text-flash-1', { thinkingBudget: 0 })).toBe(0);
    const some = await thoughts('text-flash-1', { thinkingBudget: 100 });
    expect(some).toBeGreaterThan(50);
    expect(some).toBeLessThanOrEqual(100);
  });

  it('without alt=sse a stream is one JSON array', async () => {
    const { body } = await client.send(
      'POST',
      '/v1beta/models/text-pro:streamGenerateContent',
      prompt('a fox'),
    );
    expect(Array.isArray(body)).toBe(true);
    expect(body.at(-1).candidates[0].finishReason).toBe('STOP');
  });

  it('runs code, and is grounded in places', async () => {
    const code = await generate(prompt('Add 2 and 40', { tools: [{ code_execution: {} }] }));
    expect(code.body['candidates'][0].content.parts).toMatchObject([
      { executableCode: { language: 'PYTHON' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42\n' } },
      { text: expect.any(String) },
    ]);
    const maps = await generate(prompt('Cafés', { tools: [{ vendor_maps: { enableWidget: true } }] }));
    expect(maps.body['candidates'][0].groundingMetadata).toMatchObject({
      groundingChunks: expect.arrayContaining([
        { maps: expect.objectContaining({ placeId: expect.stringMatching(/^places\//) }) },
      ]),
      googleMapsWidgetContextToken: expect.any(String),
    });
  });

  it.each([
    ['AUTO', 'What time is it in Oslo?', [], ['get_time']],
    ['AUTO', 'Describe a fox', [], []],
    ['NONE', 'What time is it?', [], []],
    ['ANY', 'Describe a fox', ['get_sum'], ['get_sum']],
  ])('calls functions as it is told: %s, %s', async (mode, text, allowedFunctionNames, expected) => {
    const declarations = ['get_time', 'get_sum'].map((name) => ({
      name,
      parameters: {
        type: 'OBJECT',
        properties: { n: { type: 'INTEGER', minimum: 3, maximum: 3 } },
        required: ['n'],
      },
    }));
    const functionCallingConfig = {
      mode,
      ...(allowedFunctionNames.length === 0 ? {} : { allowedFunctionNames }),
    };
    const { body } = await generate(
      prompt(text, {
        tools: [{ functionDeclarations: declarations }],
        toolConfig: { functionCallingConfig },
      }),
    );
    const calls = body['candidates'][0].content.parts.flatMap((part: Wire) => part['functionCall'] ?? []);
    expect(calls.map(({ name }: Wire) => name)).toEqual(expected);
    for (const { args } of calls) expect(args).toEqual({ n: 3 });
  });
});

describe('marks', () => {
  it('[blocked]: no candidates, whole and streamed', async () => {
    const { body } = await generate(prompt('a fox [blocked]'));
    expect(body).not.toHaveProperty('candidates');
    expect(body['promptFeedback'].blockReason).toBe('PROHIBITED_CONTENT');
    expect(await stream(prompt('a fox [blocked]'))).toHaveLength(1);
  });

  it.each([
    ['[unsafe]', 'SAFETY', 'content_filter'],
    ['[recited]', 'RECITATION', 'content_filter'],
    ['[empty]', 'STOP', 'stop'],
  ])('%s: %s without parts', async (mark, finishReason, finish) => {
    const { body } = await generate(prompt(`a fox ${mark}`));
    expect(body['candidates'][0]).toMatchObject({ finishReason, content: { role: 'model' } });
    expect(body['candidates'][0].content).not.toHaveProperty('parts');
    const chat = await client.send('POST', '/v1/chat/completions', {
      model: 'chat-mini',
      messages: [{ role: 'user', content: `a fox ${mark}` }],
    });
    expect(chat.body.choices[0]).toMatchObject({ finish_reason: finish, message: { content: '' } });
  });

  it('[unsafe] is lifted by BLOCK_NONE and OFF', async () => {
    for (const [threshold, finishReason] of [
      ['OFF', 'STOP'],
      ['BLOCK_NONE', 'STOP'],
      ['BLOCK_ONLY_HIGH', 'SAFETY'],
    ]) {
      const safetySettings = [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT', threshold }];
      const { body } = await generate(prompt('a fox [unsafe]', { safetySettings }));
      expect(body['candidates'][0].finishReason).toBe(finishReason);
      expect(textOf(body)).not.toContain('[unsafe]');
    }
  });

  it('[not-json]: broken JSON even with a schema', async () => {
    const generationConfig = {
      responseMimeType: 'application/json',
      responseSchema: { type: 'object', properties: { a: { type: 'string' } } },
    };
    const { body } = await generate(prompt('a fox [not-json]', { generationConfig }));
    expect(() => JSON.parse(textOf(body))).toThrow(SyntaxError);
    const fine = await generate(prompt('a fox', { generationConfig }));
    expect(JSON.parse(textOf(fine.body))).toEqual({ a: expect.any(String) });
  });

  it('[bad-call] and [refused]', async () => {
    const { body } = await generate(
      prompt('x [bad-call]', { tools: [{ functionDeclarations: [{ name: 'f' }] }] }),
    );
    expect(body['candidates'][0].finishReason).toBe('MALFORMED_FUNCTION_CALL');
    const chat = await client.send('POST', '/v1/chat/completions', {
      model: 'chat-mini',
      messages: [{ role: 'user', content: 'x [refused]' }],
    });
    expect(chat.body.choices[0].message).toMatchObject({ content: null, refusal: expect.any(String) });
  });

  it('[cut] and [stream-error] spoil a stream once', async () => {
    const cut = await stream(prompt('Describe a fox [cut]'));
    expect(cut.length).toBeGreaterThan(0);
    expect(cut.some(({ candidates }) => candidates[0].finishReason !== undefined)).toBe(false);
    expect((await stream(prompt('Describe a fox [cut]'))).at(-1)?.['candidates'][0].finishReason).toBe(
      'STOP',
    );

    const failed = await stream(prompt('Describe a fox [stream-error]'));
    expect(failed.at(-1)).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } });
    expect(
      (await stream(prompt('Describe a fox [stream-error]'))).at(-1)?.['candidates'][0].finishReason,
    ).toBe('STOP');

    const chat = { model: 'chat-mini', stream: true, messages: [{ role: 'user', content: 'a fox [cut]' }] };
    expect((await stream(chat, '')).at(-1)).not.toEqual({ done: true });
    expect((await stream(chat, '')).at(-1)).toEqual({ done: true });
  });
});

describe('a request that is not right', () => {
  const part = (more: object): object => ({ contents: [{ parts: [more] }] });
  const config = (generationConfig: object): object => prompt('x', { generationConfig });

  it.each<[object, string | RegExp]>([
    [{}, 'contents is not specified'],
    [{ contents: [] }, 'contents is not specified'],
    [{ contents: 'x' }, /Invalid value at 'contents\[0\]' \(.*Content\), "x"/],
    [{ contents: [{ parts: [] }] }, 'contents.parts must not be empty'],
    [{ contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] }, 'Please use a valid role: user, model.'],
    [part({}), "required oneof field 'data' must have one initialized field"],
    [part({ txt: 'x' }), `Unknown name "txt" at 'contents[0].parts[0]': Cannot find field.`],
    [
      part({ inlineData: { mimeType: 'image/png', data: '%%' } }),
      `Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed for "%%"`,
    ],
    [part({ inlineData: { mimeType: 'image/png', data: 'QUJD' } }), 'Unable to process input image'],
    [prompt('x', { foo: 1 }), 'Invalid JSON payload received. Unknown name "foo": Cannot find field.'],
    [
      config({ foo: 1 }),
      `Invalid JSON payload received. Unknown name "foo" at 'generation_config': Cannot find field.`,
    ],
    [config({ temperature: 'hot' }), `Invalid value at 'generation_config.temperature' (TYPE_FLOAT), "hot"`],
    [config({ temperature: 3 }), 'temperature must be in the range [0, 2]'],
    [config({ thinkingConfig: { thinkingLevel: 'DEEP' } }), /thinking_level' \(.*ThinkingLevel\), "DEEP"/],
    [
      config({ thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 1 } }),
      'You can only set only one of thinking budget and thinking level.',
    ],
    [config({ thinkingConfig: { thinkingBudget: 1 } }), 'thinking_budget is not supported by this model'],
    [
      config({ responseSchema: { type: 'OBJECT' } }),
      "response_schema requires response_mime_type: 'application/json'",
    ],
    [
      config({ responseMimeType: 'application/json', responseSchema: { additionalProperties: false } }),
      `Unknown name "additionalProperties" at 'generation_config.response_schema'`,
    ],
    [config({ responseModalities: ['IMAGE'] }), 'response modalities is not supported by the model'],
    [
      prompt('x', { tools: [{ google_search: {} }] }),
      `Unknown name "google_search" at 'tools[0]': Cannot find field.`,
    ],
    [
      prompt('x', { systemInstruction: { parts: [{ inlineData: { mimeType: 'a/b', data: '' } }] } }),
      'only supports text',
    ],
    [prompt('x', { cachedContent: 'abc' }), 'cached_content'],
    [
      prompt('x', { toolConfig: { functionCallingConfig: { mode: 'ANY' } } }),
      'without function_declarations',
    ],
  ])('%j is a 400 that names the field', async (body, message) => {
    const answer = await generate(body);
    expect(answer.status).toBe(400);
    expect(answer.body['error'].message).toMatch(message);
    expect(answer.body['error']).toMatchObject({
      code: '',
      type: 'svc_api_error',
      message: expect.stringMatching(/\(request id: \w+\)$/),
    });
  });

  it.each([
    [
      { thinkingConfig: { thinkingLevel: 'LOW' } },
      'text-pro-1',
      'thinking_level is not supported by this model',
    ],
    [
      { thinkingConfig: { thinkingBudget: 52_428 } },
      'text-flash-1',
      'The thinking budget (52428) is invalid.',
    ],
    [{ thinkingConfig: { thinkingBudget: 0 } }, 'text-pro-1', 'only works in thinking mode'],
  ])('%j for %s is a 400', async (generationConfig, model, message) => {
    const answer = await generate(config(generationConfig), model);
    expect([answer.status, answer.body['error'].message.includes(message)]).toEqual([400, true]);
  });

  it('models that are not known, and those that do not speak this form', async () => {
    expect((await generate(prompt('x'), 'nobody')).body['error'].code).toBe('model_not_found');
    expect((await generate(prompt('x'), 'nobody')).status).toBe(503);
    expect((await generate(prompt('x'), 'chat-mini')).status).toBe(404);
    const any = await start({ settings: { pace: 0, anyModel: true } });
    try {
      expect(
        (await generate(config({ thinkingConfig: { thinkingLevel: 'LOW' } }), 'vendor-3-pro', any)).status,
      ).toBe(200);
      expect(
        (await generate(config({ thinkingConfig: { thinkingLevel: 'LOW' } }), 'vendor-2.5-pro', any)).status,
      ).toBe(400);
    } finally {
      await any.sandbox.close();
    }
  });

  it('keys: the native endpoint takes either header, chat and models Bearer alone', async () => {
    const vendor = { authorization: '', 'x-vendor-api-key': key };
    const ask = async (path: string, body: unknown, headers: Record<string, string>): Promise<number> =>
      (await client.send(body === undefined ? 'GET' : 'POST', path, body, headers)).status;
    expect(await ask('/v1beta/models/text-pro:generateContent', prompt('x'), vendor)).toBe(200);
    expect(
      await ask('/v1beta/models/text-pro:generateContent', prompt('x'), {
        authorization: '',
        'x-vendor-api-key': 'no',
      }),
    ).toBe(401);
    expect(await ask('/v1/models/text-pro:generateContent', prompt('x'), vendor)).toBe(200);
    expect(await ask('/v1/chat/completions', {}, vendor)).toBe(401);
    expect(await ask('/v1/models', undefined, vendor)).toBe(401);
    expect(await ask('/v1beta/models/text-pro:countTokens', {}, {})).toBe(301);
  });

  it('bodies that are too large, or no JSON', async () => {
    const small = await start({ settings: { pace: 0, bodyLimit: 200 } });
    try {
      expect((await generate(prompt('x'.repeat(500)), 'text-pro', small)).status).toBe(413);
      expect((await generate('{', 'text-pro', small)).status).toBe(400);
      expect(
        (await small.send('POST', '/v1/chat/completions', '{"messages":[]}')).body.error.message,
      ).toMatch(/^model name is required \(request id: \w+\)$/);
      expect(
        (await small.send('POST', '/v1/chat/completions', { model: 'chat-mini' })).body.error.message,
      ).toMatch(/^messages is required/);
    } finally {
      await small.sandbox.close();
    }
  });
});
