import { describe, expect, it } from 'vitest';
import { key, start } from '../client.ts';
import { prompt, useTexts } from './answers-rig.ts';

const texts = useTexts();
const { generate } = texts;

describe('an invalid request', () => {
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
    const response = await generate(body);
    expect(response.status).toBe(400);
    expect(response.body['error'].message).toMatch(message);
    expect(response.body['error']).toMatchObject({
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
    const response = await generate(config(generationConfig), model);
    expect([response.status, response.body['error'].message.includes(message)]).toEqual([400, true]);
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
      (await texts.client.send(body === undefined ? 'GET' : 'POST', path, body, headers)).status;
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
