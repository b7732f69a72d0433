import { describe, expect, it } from 'vitest';
import type { FakeSaying, FaultAction } from '../rig/fake-service.ts';
import { byStatus } from '../rig/manifest.ts';
import { openTextPlace, tokenSums } from './text-rig.ts';

type Way = 'generate' | 'stream' | 'chat' | 'chat-stream';

const native = ['generate', 'stream'] as const;
const chat = ['chat', 'chat-stream'] as const;
const streams = ['stream', 'chat-stream'] as const;
const all = [...native, ...chat];

/** One text that goes wrong, and what its row says then. */
interface Case {
  readonly what: string;
  readonly ways: readonly Way[];
  readonly action: FaultAction;
  /** How often it goes wrong. Default always. */
  readonly times?: number;
  /** The step that asks: with a schema, or with a reason that it accepts. Default neither. */
  readonly step?: 'json' | 'accepting';
  /** Calls that the service got for it. */
  readonly calls: number;
  /** Its code; absent: it is done. */
  readonly code?: string;
  /** Part of its message. */
  readonly says?: string;
  /** More of its row. */
  readonly row?: Readonly<Record<string, string>>;
}

const says = (saying: FakeSaying): FaultAction => ({ says: saying });
const status = (code: number, error: object): FaultAction => ({ status: code, body: { error } });
const refusal = (code: number, word: string, message: string): FaultAction =>
  status(code, { code: word, message: `${message} (request id: r${code})`, type: 'svc_api_error' });

const cutOff: FakeSaying = { text: 'half', finishReason: 'MAX_TOKENS' };

const cases: readonly Case[] = [
  {
    what: 'a stream that ends without a finishReason',
    ways: streams,
    action: says({ text: 'a b c', stream: 'unfinished' }),
    calls: 3,
    code: 'stream.truncated',
  },
  {
    what: 'a stream that ends too early twice',
    ways: streams,
    action: says({ text: 'a b c', stream: 'unfinished' }),
    times: 2,
    calls: 3,
    row: { attempts: '3' },
  },
  {
    what: 'a connection cut in the answer',
    ways: all,
    action: { truncate: 60 },
    calls: 3,
    code: 'connection.lost',
  },
  {
    what: 'an error in the stream',
    ways: streams,
    action: says({ text: 'a b c', stream: 'error' }),
    calls: 3,
    code: 'service.unavailable',
    says: 'overloaded',
  },
  {
    what: 'an error in the stream without data',
    ways: streams,
    action: says({ text: 'a b c', stream: 'bare-error' }),
    calls: 3,
    code: 'service.unavailable',
    says: 'overloaded',
  },
  {
    what: 'an event whose JSON is cut',
    ways: streams,
    action: says({ text: 'a b c', stream: 'cut-event' }),
    calls: 3,
    code: 'service.malformed',
  },
  {
    what: 'a mark of the end',
    ways: ['stream'],
    action: says({ text: 'abc', stream: 'done' }),
    calls: 1,
    row: { text: 'abc' },
  },
  {
    what: 'a prompt that is blocked',
    ways: native,
    action: says({ blockReason: 'SAFETY' }),
    calls: 1,
    code: 'text.blocked',
    row: { block_reason: 'SAFETY' },
  },
  {
    what: 'an answer that is filtered',
    ways: native,
    action: says({ text: 'half', finishReason: 'RECITATION' }),
    calls: 1,
    code: 'text.filtered',
    row: { finish_reason: 'RECITATION', file_name: '' },
  },
  {
    what: 'an answer that is filtered',
    ways: chat,
    action: says({ text: 'half', finishReason: 'content_filter' }),
    calls: 1,
    code: 'text.filtered',
    row: { finish_reason: 'content_filter', file_name: '' },
  },
  {
    what: 'a model that will not',
    ways: chat,
    action: says({ refusal: 'I would rather not' }),
    calls: 1,
    code: 'text.refused',
    says: 'I would rather not',
  },
  {
    what: 'an answer that was all thinking',
    ways: native,
    action: says({ finishReason: 'MAX_TOKENS', tokens: { thoughts: 2999 } }),
    calls: 1,
    code: 'text.empty',
    says: '2999 of them were spent on thinking',
    row: { thoughts_tokens: '2999', finish_reason: 'MAX_TOKENS' },
  },
  {
    what: 'nothing at all',
    ways: all,
    action: says({ text: '' }),
    calls: 3,
    code: 'text.empty',
    row: { attempts: '3' },
  },
  { what: 'no candidates', ways: ['generate'], action: says({ silent: true }), calls: 3, code: 'text.empty' },
  { what: 'an answer cut off', ways: native, action: says(cutOff), calls: 1, code: 'text.max-tokens' },
  {
    what: 'an answer cut off',
    ways: chat,
    action: says({ ...cutOff, finishReason: 'length' }),
    calls: 1,
    code: 'text.max-tokens',
  },
  {
    what: 'an answer cut off that is taken',
    ways: native,
    step: 'accepting',
    action: says(cutOff),
    calls: 1,
    row: { text: 'half', finish_reason: 'MAX_TOKENS' },
  },
  {
    what: 'an answer cut off that is taken',
    ways: chat,
    step: 'accepting',
    action: says({ ...cutOff, finishReason: 'length' }),
    calls: 1,
    row: { text: 'half', finish_reason: 'length' },
  },
  {
    what: 'JSON that is none',
    ways: all,
    step: 'json',
    action: says({ text: 'I think it is 3.' }),
    calls: 3,
    code: 'text.not-json',
    row: { attempts: '3' },
  },
  {
    what: 'JSON against its schema',
    ways: all,
    step: 'json',
    action: says({ text: '{"best":"3"}' }),
    calls: 3,
    code: 'text.schema',
    says: '/best must be integer',
  },
  {
    what: 'JSON against its schema once',
    ways: all,
    step: 'json',
    action: says({ text: '{"best":"3"}' }),
    times: 1,
    calls: 2,
    row: { attempts: '2' },
  },
  {
    what: 'a call that is none',
    ways: native,
    action: says({ finishReason: 'MALFORMED_FUNCTION_CALL' }),
    calls: 3,
    code: 'text.bad-call',
  },
  {
    what: 'a field that the model objects to',
    ways: native,
    action: status(400, {
      code: 400,
      message: 'Invalid value',
      status: 'INVALID_ARGUMENT',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ field: 'generation_config.temperature', description: 'too hot' }],
        },
      ],
    }),
    calls: 1,
    code: 'service.rejected',
    says: 'generationConfig.temperature',
  },
  {
    what: 'a request refused with 400',
    ways: all,
    action: refusal(400, '', 'temperature is out of range'),
    calls: 1,
    code: 'service.rejected',
    says: 'temperature is out of range',
    row: { request_id: 'r400', attempts: '1' },
  },
  {
    what: 'a model refused with 403',
    ways: all,
    action: refusal(403, '', 'not allowed'),
    calls: 1,
    code: 'service.forbidden',
    says: 'not allowed',
    row: { request_id: 'r403' },
  },
  {
    what: 'a request too large',
    ways: all,
    action: refusal(413, '', 'too large'),
    calls: 1,
    code: 'service.too-large',
    row: { request_id: 'r413' },
  },
  {
    what: 'a malformed request with 500',
    ways: all,
    action: refusal(500, 'invalid_request', 'bad'),
    calls: 1,
    code: 'service.rejected',
    row: { request_id: 'r500' },
  },
  {
    what: 'a model that is not there',
    ways: all,
    action: refusal(503, 'model_not_found', 'no channel'),
    calls: 1,
    code: 'service.not-found',
    says: 'promptpress models',
  },
  {
    what: 'a service that stays away',
    ways: all,
    action: refusal(502, '', 'later'),
    calls: 3,
    code: 'service.unavailable',
  },
  {
    what: 'a service that is away twice',
    ways: all,
    action: refusal(502, '', 'later'),
    times: 2,
    calls: 3,
    row: { attempts: '3' },
  },
  {
    what: 'a service that sheds load twice',
    ways: all,
    action: refusal(503, '', 'later'),
    times: 2,
    calls: 3,
    row: { attempts: '1' },
  },
  { what: 'an internal failure', ways: all, action: refusal(500, '', 'broken'), times: 1, calls: 2 },
  {
    what: 'too many requests',
    ways: all,
    action: status(429, {
      code: 429,
      message: 'quota',
      status: 'RESOURCE_EXHAUSTED',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.01s' }],
    }),
    times: 2,
    calls: 3,
    row: { attempts: '1' },
  },
  {
    what: 'a connection reset',
    ways: all,
    action: { reset: 'before' },
    times: 1,
    calls: 2,
    row: { attempts: '2' },
  },
  {
    what: 'an answer lost',
    ways: all,
    action: { reset: 'after' },
    times: 1,
    calls: 2,
    row: { attempts: '2' },
  },
];

const schema = '{ type: object, properties: { best: { type: integer } }, required: [best] }';

/** A cell for each case, which asks through the step that it names. */
function pipelineOf(way: Way, chosen: readonly Case[]): string {
  const isChat = way === 'chat' || way === 'chat-stream';
  const kind = isChat ? 'chat' : 'generate';
  const stream = way === 'stream' || way === 'chat-stream' ? ', stream: true' : '';
  const json = isChat
    ? `response_format: { type: json_schema, json_schema: { name: best, schema: ${schema} } }`
    : `responseSchema: ${schema}`;
  const step = (name: string, more: string): string =>
    `  ${name}: { when: case.step == "${name}", ${kind}: { model: text-pro, prompt: "{{ case.what }}"${stream}${more} } }`;
  const values = chosen.map(({ what, step: by = 'plain' }) => `    - { what: ${what}, step: ${by} }`);
  return `
matrix:
  case:
${values.join('\n')}
steps:
${step('plain', '')}
${step('json', `, ${json}`)}
${step('accepting', ', accept: [MAX_TOKENS, length]')}
`;
}

describe.concurrent('text calls that go wrong', () => {
  it.each(all)('%s: the result of each, in calls, in its row, in tokens', async (way) => {
    const chosen = cases.filter(({ ways }) => ways.includes(way));
    await using place = await openTextPlace(pipelineOf(way, chosen));
    const { service } = place;
    const isOf =
      (what: string) =>
      ({ body }: { readonly body: unknown }): boolean =>
        JSON.stringify(body ?? '').includes(`"${what}"`);
    for (const { what, action, times } of chosen)
      service.fault(way === 'chat-stream' ? 'chat' : way, action, {
        match: isOf(what),
        ...(times === undefined ? {} : { times }),
      });
    const { code, err, rows: listed } = await place.run();
    expect(code, err).toBe(1);
    const rows = listed.filter((row) => row['status'] !== 'skipped');
    expect(
      rows.map((row, at) => ({
        what: row['prompt'],
        status: row['status'],
        code: row['error_code'],
        calls: service.requests.filter(isOf(row['prompt'] ?? '')).length,
        ...Object.fromEntries(Object.keys(chosen[at]?.row ?? {}).map((name) => [name, row[name]])),
      })),
    ).toEqual(
      chosen.map(({ what, code: failure, calls, row }) => ({
        what,
        status: failure === undefined ? 'done' : 'failed',
        code: failure ?? '',
        calls,
        ...row,
      })),
    );
    for (const [at, { says: part = '' }] of chosen.entries())
      expect(rows[at]?.['error_message']).toContain(part);
    expect(tokenSums(listed)).toEqual(service.texts.tokens.counted);

    // Nothing of it is tried again unless it is asked for.
    const calls = place.calls();
    expect((await place.run()).code).toBe(1);
    expect(place.calls()).toBe(calls);
  });

  it.each([
    ['401', refusal(401, '', 'invalid token')],
    ['a page', { status: 200, body: '<!doctype html><title>Welcome</title>' }],
    ['a redirect', { status: 301, headers: { location: 'https://site.example/' }, body: '<p>' }],
  ] as const)('%s stops the run at once, exit 3', async (_, action) => {
    await using place = await openTextPlace(`
matrix: { n: { from: 1, to: 200 } }
steps: { say: { generate: { model: text-pro, prompt: "text {{ n }}" } } }
`);
    place.service.fault('generate', action);
    const { code, err, rows } = await place.run();
    expect(code, err).toBe(3);
    expect(place.calls()).toBeLessThanOrEqual(16);
    expect(byStatus(rows)).toEqual({ pending: 200 });
    expect(rows.filter(({ attempts }) => Number(attempts) > 0)).toEqual([]);
  });
});
