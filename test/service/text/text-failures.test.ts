import { describe, expect, test } from 'vitest';
import type { FailureClass } from '../../../src/service/result.ts';
import type { JsonObject } from '../../../src/service/text-service.ts';
import { never } from '../scripted-fetch.ts';
import { event } from './streams.ts';
import { gateway, page } from './text-failures-rig.ts';
import { asked, call, chatReply, failureOf, plainReply, textServiceWith } from './text-service.ts';

const vendor = (
  code: number,
  status: string,
  message: string,
  details: readonly unknown[] = [],
): JsonObject => ({
  error: { code, message, status, details },
});

const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '22.5s' };

interface Row {
  readonly status: number;
  readonly body: unknown;
  readonly code: string;
  readonly class: FailureClass;
}

const rows: readonly Row[] = [
  { status: 400, body: gateway('no'), code: 'service.rejected', class: 'permanent' },
  { status: 400, body: vendor(400, 'INVALID_ARGUMENT', 'no'), code: 'service.rejected', class: 'permanent' },
  { status: 400, body: gateway('x', 'do_request_failed'), code: 'service.unavailable', class: 'retry' },
  { status: 400, body: '{"error":{"mess', code: 'service.ambiguous', class: 'retry' },
  {
    status: 400,
    body: vendor(400, 'INVALID_ARGUMENT', 'API key not valid.', [{ reason: 'API_KEY_INVALID' }]),
    code: 'service.unauthorized',
    class: 'stop',
  },
  { status: 401, body: gateway('invalid token'), code: 'service.unauthorized', class: 'stop' },
  { status: 403, body: gateway('no', 'access_denied'), code: 'service.forbidden', class: 'permanent' },
  { status: 403, body: gateway('用户额度不足'), code: 'service.quota', class: 'stop' },
  { status: 403, body: gateway('no', 'insufficient_user_quota'), code: 'service.quota', class: 'stop' },
  {
    status: 500,
    body: gateway('no', 'pre_consume_token_quota_failed'),
    code: 'service.quota',
    class: 'stop',
  },
  {
    status: 404,
    body: vendor(404, 'NOT_FOUND', 'models/x is not found'),
    code: 'service.not-found',
    class: 'permanent',
  },
  { status: 404, body: gateway('Invalid URL (POST /v1beta/x)'), code: 'service.not-found', class: 'stop' },
  { status: 404, body: page, code: 'service.not-json', class: 'stop' },
  { status: 200, body: page, code: 'service.not-json', class: 'stop' },
  { status: 301, body: '', code: 'service.redirect', class: 'stop' },
  { status: 408, body: '', code: 'service.unavailable', class: 'retry' },
  { status: 413, body: page, code: 'service.too-large', class: 'permanent' },
  { status: 429, body: gateway('slow down'), code: 'service.throttled', class: 'throttle' },
  { status: 499, body: vendor(499, 'CANCELLED', 'no'), code: 'service.unavailable', class: 'retry' },
  { status: 500, body: gateway('oops'), code: 'service.unavailable', class: 'retry' },
  { status: 500, body: gateway('bad', 'invalid_request'), code: 'service.rejected', class: 'permanent' },
  {
    status: 500,
    body: gateway('bad', 'sensitive_words_detected'),
    code: 'service.rejected',
    class: 'permanent',
  },
  { status: 503, body: gateway('busy'), code: 'service.unavailable', class: 'retry' },
  {
    status: 503,
    body: gateway('no channel', 'model_not_found'),
    code: 'service.not-found',
    class: 'permanent',
  },
  ...[502, 504, 520, 521, 522, 523, 524, 599].map(
    (status): Row => ({ status, body: page, code: 'service.unavailable', class: 'retry' }),
  ),
  { status: 200, body: '{"candidates":[{"con', code: 'service.malformed', class: 'retry' },
  { status: 200, body: '', code: 'service.malformed', class: 'retry' },
  { status: 200, body: '{"code":1}', code: 'service.malformed', class: 'retry' },
  { status: 200, body: gateway('busy', 503), code: 'service.unavailable', class: 'retry' },
];

test.each(rows)('HTTP $status with $body is $code, $class', async ({ status, body, ...expected }) => {
  const given = { status, ...(status === 301 && { headers: { location: 'https://www.example.com' } }) };
  for (const kind of ['generate', 'chat'] as const) {
    expect(await failureOf(body, call({ prompt: 'a' }, { kind }), given)).toMatchObject(expected);
  }
});

describe('an error in a stream that began well', () => {
  const streamed = (...items: readonly unknown[]) =>
    failureOf(
      `data: ${JSON.stringify(event([{ text: 'a' }], {}, { promptTokenCount: 3 }))}\n\n${items
        .map((item) => (typeof item === 'string' ? item : `data: ${JSON.stringify(item)}\n\n`))
        .join('')}`,
      call({ prompt: 'a' }, { stream: true }),
    );
  const usage = { prompt: 3, total: 3 };

  test.each([
    [vendor(503, 'UNAVAILABLE', 'overloaded'), 503, 'service.unavailable', 'retry'],
    [{ error: { message: 'x', status: 'INTERNAL' } }, 500, 'service.unavailable', 'retry'],
    [{ error: { message: 'x', type: 'rate_limit_error' } }, 429, 'service.throttled', 'throttle'],
    [{ error: { message: 'x', code: '' } }, 500, 'service.unavailable', 'retry'],
    [{ error: 'it broke' }, 500, 'service.unavailable', 'retry'],
    [vendor(400, 'INVALID_ARGUMENT', 'x'), 400, 'service.rejected', 'permanent'],
    [vendor(401, 'UNAUTHENTICATED', 'x'), 401, 'service.unauthorized', 'stop'],
    [gateway('x', 'model_not_found'), 500, 'service.not-found', 'permanent'],
  ])('as %j has the code of a %d', async (error, status, code, failureClass) => {
    const expected = { status, code, class: failureClass, usage };
    expect(await streamed(error)).toMatchObject(expected);
    expect(await streamed(JSON.stringify(error, null, 2))).toMatchObject(expected);
  });

  test('of status 429 says how long to wait, in a stream and outside', async () => {
    const error = vendor(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [{ '@type': 'x' }, retryInfo]);
    const expected = { code: 'service.throttled', class: 'throttle', retryAfterMs: 22_500 };
    expect(await streamed(error)).toMatchObject({ ...expected, usage });
    expect(await failureOf(error, undefined, { status: 429 })).toMatchObject(expected);
  });

  test('is a truncated stream at the end of the file', async () => {
    expect(await streamed()).toMatchObject({ code: 'stream.truncated', class: 'retry', status: 200, usage });
    expect(await failureOf('', call({ prompt: 'a' }, { stream: true }))).toMatchObject({
      code: 'stream.truncated',
    });
  });

  test('is reported with the usage for a broken event', async () => {
    expect(await streamed('data: {"a":\n\n')).toMatchObject({
      code: 'service.malformed',
      class: 'retry',
      usage,
    });
  });
});

describe('the message of a refusal', () => {
  const refusal = async (body: unknown, fields: JsonObject, status = 400): Promise<string> =>
    (await failureOf(body, call({ prompt: 'a', ...fields }), { status })).message;
  const invalid = (message: string, details: readonly unknown[] = []): JsonObject =>
    vendor(400, 'INVALID_ARGUMENT', message, details);

  test.each([
    [
      'Unknown name "foo" at \'generation_config\': Cannot find field.',
      {},
      'does not know "generationConfig.foo"',
    ],
    ['Unknown name "bar": Cannot find field.', {}, 'does not know "bar"'],
    [
      'Invalid value at \'generation_config.temperature\' (TYPE_FLOAT), "hot"',
      {},
      'objects to "generationConfig.temperature"',
    ],
    [
      '* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name.',
      { functions: {} },
      'objects to "functions"',
    ],
    [
      "Invalid value at 'generation_config.response_schema.properties'",
      { responseSchema: {} },
      'objects to "responseSchema"',
    ],
    ["Invalid value at 'system_instruction.parts[0].text'", { system: 'x' }, 'objects to "system"'],
    ["Invalid value at 'contents[0].parts[0].inline_data.mime_type'", {}, 'objects to "images"'],
    [
      'You can only set only one of thinking budget and thinking level.',
      {},
      'keep one of thinkingLevel and thinkingBudget',
    ],
    [
      'thinking_level is not supported by this model',
      { thinking: 'low' },
      'The model "text-pro" takes a thinking budget, or no thinking at all: write thinking: 1024',
    ],
    [
      'thinking_budget is not supported by this model',
      { thinking: 9 },
      'The model "text-pro" takes a thinking level: write thinking: minimal, low, medium or high',
    ],
    ['The thinking budget (52428) is invalid.', { thinking: 52_428 }, 'does not take this thinking budget'],
    [
      'Budget 0 is invalid. This model only works in thinking mode.',
      { thinking: 0 },
      'cannot turn its thinking off',
    ],
  ])('%s', async (words, fields, advice) => {
    expect(await refusal(invalid(words), fields)).toContain(advice);
  });

  test('names fields of the details, in the words of the pipeline', async () => {
    const details = [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [
          { field: 'generation_config.thinking_config.thinking_level', description: 'x' },
          { field: 'safety_settings[0].category', description: 'y' },
        ],
      },
    ];
    expect(await refusal(invalid('Invalid.', details), { thinking: 'low' })).toContain(
      'objects to "thinking", "safetySettings[0].category"',
    );
  });

  test('names the parameter of an OpenAI-like error', async () => {
    const failure = await failureOf(
      gateway('no', 'x', { param: 'max_tokens' }),
      call({ prompt: 'a' }, { kind: 'chat' }),
      { status: 400 },
    );
    expect(failure.message).toContain('objects to "max_tokens"');
  });

  test.each([
    [404, vendor(404, 'NOT_FOUND', 'models/x is not found for API version v1beta')],
    [404, gateway('text-pro is not here')],
    [503, gateway('No available channel', 'model_not_found')],
  ])('names the model under HTTP %d', async (status, body) => {
    expect(await refusal(body, {}, status)).toContain('has no model "text-pro"');
  });

  test.each([
    vendor(404, 'NOT_FOUND', 'Requested entity was not found.'),
    gateway('The organization has no project of this name'),
    gateway('no such tuned endpoint', 'not_found'),
  ])('keeps the words of the service for HTTP 404 about something else (%#)', async (body) => {
    const said = await refusal(body, {}, 404);
    const { message } = body['error'] as { readonly message: string };
    expect(said).toContain(message.replace(/ \(request id.*/, ''));
    expect(said).not.toContain('has no model');
  });

  test('names the fields to leave out under 403', async () => {
    const message = await refusal(gateway('no'), { search: true, thinking: 'low' }, 403);
    expect(message).toContain('try a plain prompt without thinking and search');
  });

  test('is compared without the request id', async () => {
    expect(await failureOf(gateway('model name is required'), undefined, { status: 400 })).toMatchObject({
      serviceMessage: 'model name is required',
      requestId: 'r-1',
      status: 400,
    });
  });
});

describe('the size of a request', () => {
  const images = [
    { mimeType: 'image/png', data: 'A'.repeat(4000) },
    { mimeType: 'image/png', data: 'A'.repeat(9000) },
  ];

  test('is reported by its largest part after a 413', async () => {
    const failure = await failureOf('', call({ prompt: 'a' }, { images }), { status: 413 });
    expect(failure.message).toContain('"images[1]"');
  });

  test.each(['generate', 'chat'] as const)('%s: what is too large is not sent', async (kind) => {
    let sent = 0;
    const fetch = (): Promise<Response> => {
      sent++;
      return Promise.resolve(new Response(JSON.stringify(kind === 'chat' ? chatReply : plainReply)));
    };
    const ask = (maxRequestBytes: number, request: object) =>
      textServiceWith({ fetch, maxRequestBytes }).ask(call({ prompt: 'a' }, { kind, ...request }), never);
    const refused = await ask(10_000, { images });
    expect(refused).toMatchObject({ ok: false, error: { code: 'request.too-large', class: 'permanent' } });
    expect(refused.ok ? '' : refused.error.message).toContain('"images[1]"');
    // By its bytes, not its characters.
    expect(await ask(1000, { extra: { x: 'é'.repeat(600) } })).toMatchObject({ ok: false });
    expect(sent).toBe(0);
    expect(await ask(20_000, { images })).toMatchObject({ ok: true });
    expect(sent).toBe(1);
  });

  test('may be 32 MiB by default', async () => {
    const fits = call(
      { prompt: 'a' },
      { images: [{ mimeType: 'image/png', data: 'A'.repeat(32 * 1024 * 1024 - 200) }] },
    );
    expect(await asked(plainReply, fits)).toMatchObject({ ok: true });
    const not = call(
      { prompt: 'a' },
      { images: [{ mimeType: 'image/png', data: 'A'.repeat(32 * 1024 * 1024) }] },
    );
    expect(await asked(plainReply, not)).toMatchObject({ ok: false, error: { code: 'request.too-large' } });
  });
});

test('refuses images that together are longer than any text can be, and does not crash', async () => {
  const data = 'A'.repeat(27 * 1024 * 1024);
  const images = Array.from({ length: 12 }, () => ({ mimeType: 'image/png', data }));
  const failure = await failureOf(
    plainReply,
    call({ prompt: 'a' }, { images, earlier: [{ fields: {}, images, after: [] }] }),
  );
  expect(failure.message).toContain('the request has 679.5 MB, 28.3 MB of them in "images[0]"');
});
