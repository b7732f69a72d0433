import OpenAI from 'openai';
import OpenAI5 from 'openai-5';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { midjourneyProxyNames } from '../../../src/sandbox/names.ts';
import { type Client, key, start } from '../client.ts';

// The unmodified public client: what it understands is what the chat endpoint must say.
let client: Client;
beforeAll(async () => {
  client = await start({ names: midjourneyProxyNames, settings: { pace: 0 } });
});
afterAll(() => client.sandbox.close());

const square = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 40, height: 20, channels: 3, background } })
    .png()
    .toBuffer();

/** What the tests use is typed alike in both majors, but their classes are not each other's. */
const majors = { 5: OpenAI5 as unknown as typeof OpenAI, 6: OpenAI };

describe.each(Object.entries(majors))('openai %s', (_, Major) => {
  let openai: OpenAI;
  beforeAll(() => {
    openai = new Major({ apiKey: key, baseURL: `${client.sandbox.url}/v1`, maxRetries: 0 });
  });

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
    const reply = await openai.chat.completions.create({
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
    expect([3, 4]).toContain(JSON.parse(reply.choices[0]?.message.content ?? '').score);
    expect(reply.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
  });

  it('makes a round of a tool call, whole and streamed', async () => {
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

  it('makes a round of a function call in the older protocol, whole and streamed', async () => {
    const functions = [
      {
        name: 'find_bird',
        description: 'Finds a bird',
        parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
      { name: 'find_song', description: 'Finds a song of a bird', parameters: { type: 'object' } },
    ];
    const model = 'chat-large';
    const messages: OpenAI.ChatCompletionMessageParam[] = user('Ask find_bird and find_song.');
    const ask = { model, messages, functions };
    const first = await openai.chat.completions.create(ask);
    const [choice] = first.choices;
    const called = choice?.message.function_call;
    if (choice === undefined || called === undefined || called === null) throw new Error('no call came');
    expect(choice.finish_reason).toBe('function_call');
    expect(choice.message).toMatchObject({ content: null });
    expect(choice.message.tool_calls).toBeUndefined();
    expect(JSON.parse(called.arguments)).toEqual({ name: expect.any(String) });
    const pieces: string[] = [];
    let end: unknown;
    for await (const chunk of await openai.chat.completions.create({ ...ask, stream: true })) {
      pieces.push(chunk.choices[0]?.delta.function_call?.arguments ?? '');
      end = chunk.choices[0]?.finish_reason ?? end;
    }
    expect([pieces.join(''), end]).toEqual([called.arguments, 'function_call']);
    const second = await openai.chat.completions.create({
      ...ask,
      messages: [
        ...messages,
        choice.message,
        { role: 'function', name: called.name, content: 'nightingale' },
      ],
    });
    expect(second.choices[0]?.message.content).toContain('nightingale');
    const named = await openai.chat.completions.create({ ...ask, function_call: { name: 'find_song' } });
    expect(named.choices[0]?.message.function_call?.name).toBe('find_song');
    const none = await openai.chat.completions.create({ ...ask, function_call: 'none' });
    expect(none.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.any(String) },
    });
  });

  it('refuses requests that the older protocol does not allow', async () => {
    const ask = { model: 'chat-large', messages: user('Find the bird.') };
    const functions = [{ name: 'find_bird', parameters: { type: 'object' } }];
    const tools = [{ type: 'function' as const, function: { name: 'find_bird' } }];
    const refusals = [
      { ...ask, functions, tools },
      { ...ask, function_call: 'auto' as const, functions: [] },
      { ...ask, functions, function_call: { name: 'other' } },
      { ...ask, functions: [{ name: 'a b' }] },
    ].map((body) =>
      openai.chat.completions.create(body).then(
        () => 'answered',
        (error: { readonly status?: number }) => error.status,
      ),
    );
    expect(await Promise.all(refusals)).toEqual([400, 400, 400, 400]);
  });

  it('shows an image', async () => {
    const url = `data:image/png;base64,${(await square('#cc2222')).toString('base64')}`;
    const reply = await openai.chat.completions.create({
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
    expect(reply.choices[0]?.message.content).toMatch(/red/i);
  });

  it('lists the models', async () => {
    const ids: string[] = [];
    for await (const { id } of openai.models.list()) ids.push(id);
    expect(ids).toEqual(expect.arrayContaining(['text-pro', 'text-pro-1', 'text-image', 'chat-mini']));
  });

  it('raises its typed errors', async () => {
    const wrongKey = new Major({ apiKey: 'other', baseURL: `${client.sandbox.url}/v1`, maxRetries: 0 });
    await expect(wrongKey.models.list()).rejects.toBeInstanceOf(Major.AuthenticationError);
    await expect(openai.chat.completions.create({ model: '', messages: user('x') })).rejects.toThrow(
      /model name is required/,
    );
    await expect(openai.chat.completions.create({ model: 'chat-mini', messages: [] })).rejects.toBeInstanceOf(
      Major.BadRequestError,
    );
    await expect(
      openai.chat.completions.create({ model: 'nobody', messages: user('x') }),
    ).rejects.toMatchObject({ status: 503, code: 'model_not_found' });
  });
});
