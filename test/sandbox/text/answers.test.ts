import { describe, expect, it } from 'vitest';
import { prompt, useTexts, type Wire } from './answers-rig.ts';

const texts = useTexts();
const { generate, stream } = texts;

const textOf = ({ candidates = [] }: Wire): string =>
  (candidates[0]?.content?.parts ?? [])
    .map((part: Wire) => (part['thought'] === true ? '' : (part['text'] ?? '')))
    .join('');

describe('a reply', () => {
  const bare = ({ createTime: _at, responseId: _id, ...rest }: Wire): Wire => rest;

  it('depends only on the request, except for ids and times', async () => {
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

  it('changes its wording with seed and temperature, and has n candidates', async () => {
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
  ])('has the requested length: %s', async (text, pattern) => {
    expect(textOf((await generate(prompt(text))).body)).toMatch(pattern);
  });

  it('makes the same decision everywhere', async () => {
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

  it('agrees with earlier decisions of the conversation', async () => {
    const responseSchema = { type: 'object', properties: { best: { type: 'integer' } }, required: ['best'] };
    const ask = (text: string): Wire => ({ role: 'user', parts: [{ text }] });
    for (let seed = 0; seed < 12; seed += 1) {
      const generationConfig = { seed, responseMimeType: 'application/json', responseSchema };
      const first = ask('Which of the four frames (1 to 4) is the sharpest?');
      const { body } = await generate({ contents: [first], generationConfig });
      const { best } = JSON.parse(textOf(body));
      const why = [first, body['candidates'][0].content, ask('Why is it the sharpest?')];
      const said = await generate({ contents: why, generationConfig: { seed } });
      expect(textOf(said.body)).toContain(`Frame ${best} is the best choice: `);
      const again = [...why, said.body['candidates'][0].content, ask('So which one do you choose?')];
      expect(textOf((await generate({ contents: again, generationConfig: { seed } })).body)).toContain(
        `Frame ${best} is`,
      );
    }
  });

  it('stops at a stop sequence, at its length, and when thinking has used up the length', async () => {
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
    const { body } = await texts.client.send(
      'POST',
      '/v1beta/models/text-pro:streamGenerateContent',
      prompt('a fox'),
    );
    expect(Array.isArray(body)).toBe(true);
    expect(body.at(-1).candidates[0].finishReason).toBe('STOP');
  });

  it('runs code, and has sources on maps', async () => {
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
  ])('calls functions as requested: %s, %s', async (mode, text, allowedFunctionNames, expected) => {
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
    const chat = await texts.client.send('POST', '/v1/chat/completions', {
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
    const chat = await texts.client.send('POST', '/v1/chat/completions', {
      model: 'chat-mini',
      messages: [{ role: 'user', content: 'x [refused]' }],
    });
    expect(chat.body.choices[0].message).toMatchObject({ content: null, refusal: expect.any(String) });
  });

  it('[cut] and [stream-error] break a stream once', async () => {
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
