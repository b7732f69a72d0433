import type { FaultAction } from '../faults.ts';
import type { Stranger } from './stranger.ts';

export const chatStep = (more = ''): string =>
  `steps: { one: { chat: { model: text-pro, prompt: a fox${more === '' ? '' : `, ${more}`} } } }\n`;
export const nativeStep = (more = ''): string =>
  `steps: { one: { generate: { model: text-pro, prompt: a fox${more === '' ? '' : `, ${more}`} } } }\n`;

export const priced = 'prices: { text-pro: { input: 1, output: 10 } }\n';

export const events = (...lines: readonly (string | object)[]): FaultAction => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: lines
    .map((line) => (typeof line === 'string' ? line : `data: ${JSON.stringify(line)}`))
    .map((line) => `${line}\n\n`)
    .join(''),
});
export const done = 'data: [DONE]';
export const counted = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
export const chunk = (delta: object, more: object = {}): object => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const chatCounts = (usage: object): object => ({ object: 'chat.completion.chunk', choices: [], usage });
export const chat = (content: string, choice: object = {}, more: object = {}): FaultAction => ({
  status: 200,
  body: {
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop', ...choice }],
    usage: counted,
    ...more,
  },
});
const nativeCounts = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
export const native = (text: string, finishReason?: string): object => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }) }],
  usageMetadata: nativeCounts,
});
const halfStream = events(chunk({ content: 'a red ' }), chunk({ content: 'fox' }), chatCounts(counted), done);
const wholeFox = chat('a red fox');

/** Streams of chat, and how they end. */
const streams: readonly Stranger[] = [
  {
    name: 'a chat stream that lacks a finish reason is asked again, whole',
    source: 'opencode 43379; one-hub, commit of 20 February 2026',
    pipeline: chatStep('stream: true'),
    exchanges: [['chat', (request) => (request.body?.['stream'] === true ? halfStream : wholeFox)]],
    verdict: {
      exit: 0,
      rows: { done: 1 },
      asked: { chat: 2 },
      first: { text: 'a red fox', prompt_tokens: '20', attempts: '2' },
    },
  },
  {
    name: 'chat streams of a model that never gives a finish reason are answers from the second one on',
    source: 'foundry-local 423',
    pipeline: `matrix: { n: { from: 1, to: 5 } }\nsteps: { one: { chat: { model: text-pro, prompt: "fox {{ n }}", stream: true } } }\n`,
    exchanges: [['chat', (request) => (request.body?.['stream'] === true ? halfStream : wholeFox)]],
    verdict: { exit: 0, rows: { done: 5 }, asked: { chat: 6 } },
  },
  {
    name: 'a chat stream that lacks a finish reason is no answer where another of the model had one',
    source: 'one-hub, commit of 20 February 2026: [DONE] follows an upstream stream that was cut',
    pipeline:
      'steps:\n  one: { chat: { model: text-pro, prompt: a fox, stream: true } }\n  two: { chat: { model: text-pro, prompt: "{{ steps.one.text }}", stream: true } }\n',
    exchanges: [
      [
        'chat',
        ({ n, body }) =>
          body?.['stream'] !== true
            ? wholeFox
            : n === 1
              ? events(chunk({ content: 'a red fox' }), chunk({}, { finish_reason: 'stop' }), done)
              : halfStream,
      ],
    ],
    verdict: { exit: 0, rows: { done: 2 }, asked: { chat: 3 } },
  },
  {
    name: 'events that only keep a chat stream open are passed over',
    source: 'OmniRoute 4177; one-api 1477',
    pipeline: chatStep('stream: true'),
    exchanges: [
      [
        'chat',
        events(
          'data: ping',
          'data:',
          'data: null',
          'event: ping\ndata: {"type":"ping"}',
          { object: 'chat.completion.chunk', choices: [] },
          chunk({ content: 'a red fox' }, { finish_reason: 'stop' }),
          'data:  ',
          done,
        ),
      ],
    ],
    verdict: { exit: 0, rows: { done: 1 }, asked: { chat: 1 }, first: { text: 'a red fox' } },
  },
  {
    name: 'a chat stream whose data is words is an error with these words',
    source: 'one-hub, commit of 20 February 2026: data: unexpected EOF',
    pipeline: chatStep('stream: true'),
    exchanges: [['chat', events(chunk({ content: 'a red ' }), 'data: unexpected EOF', done)]],
    verdict: {
      exit: 1,
      codes: { 'service.malformed': 1 },
      asked: { chat: 3 },
      says: ['unexpected EOF'],
    },
  },
  {
    name: 'a chat stream of no choices whose counts say that none was made is a blocked prompt, asked once more',
    source: 'one-hub, commit of 20 February 2026',
    pipeline: chatStep('stream: true'),
    exchanges: [
      ['chat', events(chatCounts({ prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 }), done)],
    ],
    verdict: {
      exit: 1,
      codes: { 'text.blocked': 1 },
      asked: { chat: 2 },
      first: { prompt_tokens: '20', block_reason: 'NO_CANDIDATES' },
    },
  },
];

/** Prompts that were blocked, and providers that failed, as gateways tell of them. */
const verdicts: readonly Stranger[] = [
  {
    name: 'a 500 "no candidates" of native text is a blocked prompt, asked once more',
    source: 'one-hub, commit of 20 February 2026',
    pipeline: nativeStep(),
    exchanges: [
      [
        'generate',
        { status: 500, body: { error: { code: 500, message: 'no candidates', status: 'system_error' } } },
      ],
    ],
    verdict: { exit: 1, codes: { 'text.blocked': 1 }, asked: { generate: 2 } },
  },
  {
    name: 'a 500 "no_candidates" of chat is a blocked prompt that the next call may answer',
    source: 'one-hub, commit of 20 February 2026',
    pipeline: chatStep(),
    exchanges: [
      [
        'chat',
        {
          status: 500,
          body: { error: { code: 'no_candidates', message: 'no candidates', type: 'one_hub_error' } },
        },
        { times: 1 },
      ],
      ['chat', wholeFox],
    ],
    verdict: { exit: 0, rows: { done: 1 }, asked: { chat: 2 }, first: { text: 'a red fox' } },
  },
  {
    name: 'a whole chat reply without choices whose counts say that none was made is a blocked prompt',
    source: 'one-hub, commit of 20 February 2026, behind a client that reads streams',
    pipeline: chatStep(),
    exchanges: [
      [
        'chat',
        {
          status: 200,
          body: { choices: [], usage: { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 } },
        },
      ],
    ],
    verdict: { exit: 1, codes: { 'text.blocked': 1 }, asked: { chat: 2 } },
  },
  ...(['error', 'insufficient_system_resource', 'network_error'] as const).map(
    (reason): Stranger => ({
      name: `a chat reply that ends with ${reason} is asked again, and its tokens count`,
      source: 'bifrost 5425; api-docs.deepseek.com; docs.bigmodel.cn',
      pipeline: chatStep(),
      exchanges: [
        ['chat', chat('half of the', { finish_reason: reason }), { times: 1 }],
        ['chat', wholeFox],
      ],
      verdict: {
        exit: 0,
        rows: { done: 1 },
        asked: { chat: 2 },
        first: { text: 'a red fox', total_tokens: '30' },
      },
    }),
  ),
  ...(
    ['error', 'insufficient_system_resource', 'OTHER', 'length', 'content filter', 'null', '1'] as const
  ).map(
    (reason): Stranger => ({
      name: `a chat reply that ends with "${reason}" is a result where the step accepts it`,
      source: 'the advice of promptpress itself',
      pipeline: chatStep(`accept: ["${reason}"]`),
      exchanges: [['chat', chat('a red fox', { finish_reason: reason })]],
      verdict: { exit: 0, rows: { done: 1 }, asked: { chat: 1 }, first: { text: 'a red fox' } },
    }),
  ),
  {
    name: 'a chat reply whose reason is not known advises what to accept, as YAML reads it',
    source: 'made up',
    pipeline: chatStep(),
    exchanges: [['chat', chat('a red fox', { finish_reason: 'null' })]],
    verdict: { exit: 1, codes: { 'text.filtered': 1 }, says: ['accept: ["null"]'] },
  },
  {
    name: 'an error of the provider in a choice of a stream has the verdict of its status',
    source: 'OpenRouter: errors in the middle of a stream',
    pipeline: chatStep('stream: true'),
    exchanges: [
      [
        'chat',
        events(
          chunk({ content: 'half' }),
          {
            choices: [
              {
                index: 0,
                delta: {},
                finish_reason: 'error',
                error: { code: 400, message: 'The prompt is too long: 9000 > 8192' },
              },
            ],
          },
          chatCounts(counted),
          done,
        ),
      ],
    ],
    verdict: {
      exit: 1,
      codes: { 'service.rejected': 1 },
      asked: { chat: 1 },
      says: ['9000 > 8192'],
      first: { total_tokens: '15' },
    },
  },
  ...(['OTHER', 'IMAGE_OTHER'] as const).map(
    (reason): Stranger => ({
      name: `a native reply that ends with ${reason} is asked again as an invalid one is`,
      source: 'gemini-cli 7851; docs of the vendor',
      pipeline: nativeStep(),
      exchanges: [
        [
          'generate',
          { status: 200, body: { candidates: [{ finishReason: reason }], usageMetadata: nativeCounts } },
        ],
      ],
      verdict: {
        exit: 1,
        codes: { 'text.filtered': 1 },
        asked: { generate: 3 },
        first: { total_tokens: '45' },
      },
    }),
  ),
  ...(['STOP', undefined] as const).map(
    (reason): Stranger => ({
      name: `a bare error line of a native stream counts ${reason ? 'after an early STOP' : 'before its end'}`,
      source: 'one-hub, commit of 20 February 2026',
      pipeline: nativeStep('stream: true'),
      exchanges: [
        [
          'stream',
          events(
            native('a red ', reason),
            '{"code":400,"message":"the region is not served","status":"FAILED_PRECONDITION"}',
          ),
        ],
      ],
      verdict: {
        exit: 1,
        codes: { 'service.rejected': 1 },
        asked: { stream: 1 },
        says: ['the region is not served'],
      },
    }),
  ),
  {
    name: 'a bare "unexpected EOF" after an early STOP is no answer',
    source: 'one-hub, commit of 20 February 2026: an upstream that resets',
    pipeline: nativeStep('stream: true'),
    exchanges: [
      ['stream', events(native('a red ', 'STOP'), 'unexpected EOF'), { times: 1 }],
      ['stream', events(native('a red fox', 'STOP'))],
    ],
    verdict: { exit: 0, rows: { done: 1 }, asked: { stream: 2 }, first: { text: 'a red fox' } },
  },
];

/** Errors whose words lie where nobody looks. */
const words: readonly Stranger[] = (
  [
    [
      'a 200 with a code and a msg',
      { status: 200, body: { code: 500, msg: 'upstream channel disabled' } },
      'upstream channel disabled',
      'service.unavailable',
      3,
    ],
    [
      'a 200 of vLLM',
      { status: 200, body: { object: 'error', message: 'maximum context length is 4096', code: 400 } },
      'maximum context length is 4096',
      'service.rejected',
      1,
    ],
    [
      'a 422 of FastAPI',
      { status: 422, body: { detail: [{ loc: ['body', 'messages'], msg: 'Field required' }] } },
      'body.messages: Field required',
      'service.rejected',
      1,
    ],
    [
      'a 400 that hides the provider',
      {
        status: 400,
        body: {
          error: {
            message: 'Provider returned error',
            code: 400,
            metadata: { raw: '{"error":"max_tokens must be <= 4096"}' },
          },
        },
      },
      'Provider returned error: max_tokens must be <= 4096',
      'service.rejected',
      1,
    ],
    [
      'a 500 of two objects joined',
      {
        status: 500,
        body: '{"error":{"message":"customId is odd"}}{"code":4}',
        headers: { 'content-type': 'application/json' },
      },
      'customId is odd',
      'service.unavailable',
      3,
    ],
    [
      'a 200 that is no answer',
      { status: 200, body: { result: { response: 'fine' }, success: true } },
      '{"result":{"response":"fine"},"success":true}',
      'service.malformed',
      3,
    ],
  ] as const
).map(
  ([what, action, said, code, asked]): Stranger => ({
    name: `${what} keeps its words`,
    source: 'new-api, OpenRouter, vLLM, litellm; open-webui/computer 293',
    pipeline: chatStep(),
    exchanges: [['chat', action]],
    verdict: { exit: 1, codes: { [code]: 1 }, asked: { chat: asked }, says: [said] },
  }),
);

/** Replies and refusals in another notation. */
const notations: readonly Stranger[] = [
  {
    name: 'a native reply in snake case that was cut off is cut off',
    source: "gateways that pass on what the vendor's Python library prints",
    pipeline: nativeStep(),
    exchanges: [
      [
        'generate',
        {
          status: 200,
          body: {
            candidates: [{ content: { parts: [{ text: 'a red' }] }, finish_reason: 'MAX_TOKENS' }],
            usage_metadata: { prompt_token_count: 10, candidates_token_count: 5, total_token_count: 15 },
            model_version: 'text-pro-1',
          },
        },
      ],
    ],
    verdict: {
      exit: 1,
      codes: { 'text.max-tokens': 1 },
      first: { total_tokens: '15', model: 'text-pro-1', finish_reason: 'MAX_TOKENS' },
    },
  },
  {
    name: 'a native stream in snake case with numbers for reasons is read',
    source: "gateways that pass on what the vendor's Python library prints",
    pipeline: nativeStep('stream: true'),
    exchanges: [
      [
        'stream',
        events(
          { candidates: [{ content: { parts: [{ text: 'a red ' }] }, finish_reason: 0 }] },
          { candidates: [{ content: { parts: [{ text: 'fox' }] }, finish_reason: 1 }] },
        ),
      ],
    ],
    verdict: { exit: 0, asked: { stream: 1 }, first: { text: 'a red fox', finish_reason: 'STOP' } },
  },
  {
    name: 'a native stream whose reasons are all 0 was cut off',
    source: "gateways that pass on what the vendor's Python library prints",
    pipeline: nativeStep('stream: true'),
    exchanges: [
      [
        'stream',
        events({ candidates: [{ content: { parts: [{ text: 'a red' }] }, finish_reason: 0 }] }),
        { times: 1 },
      ],
      ['stream', events(native('a red fox', 'STOP'))],
    ],
    verdict: { exit: 0, asked: { stream: 2 }, first: { text: 'a red fox' } },
  },
  {
    name: 'a native image in snake case is a file',
    source: "gateways that pass on what the vendor's Python library prints",
    pipeline: nativeStep('generationConfig: { responseModalities: [TEXT, IMAGE] }'),
    exchanges: [
      [
        'generate',
        {
          status: 200,
          body: {
            candidates: [
              {
                content: {
                  parts: [
                    {
                      inline_data: {
                        mime_type: 'image/png',
                        data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
                      },
                    },
                  ],
                },
                finish_reason: 1,
              },
            ],
          },
        },
      ],
    ],
    verdict: { exit: 0, rows: { done: 1 }, asked: { generate: 1 }, first: { mime: 'image/png', width: '1' } },
  },
  ...(
    [
      [
        'a 400 that says overloaded',
        { status: 400, body: { error: { message: 'The model is overloaded.' } } },
      ],
      ['a 422 that says try again later', { status: 422, body: { detail: 'Model is loading, try later' } }],
      [
        'a 529',
        { status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } },
      ],
      [
        'a 400 with x-should-retry',
        { status: 400, body: { error: { message: 'hm' } }, headers: { 'x-should-retry': 'true' } },
      ],
    ] as const
  ).map(
    ([what, action]): Stranger => ({
      name: `${what} is tried again`,
      source: 'vendors behind gateways: their own clients',
      pipeline: chatStep(),
      exchanges: [
        ['chat', action, { times: 1 }],
        ['chat', wholeFox],
      ],
      verdict: { exit: 0, asked: { chat: 2 }, first: { text: 'a red fox' } },
    }),
  ),
  {
    name: 'a 500 that says not to retry is not tried again',
    source: 'vendors behind gateways: their own clients',
    pipeline: nativeStep(),
    exchanges: [
      [
        'generate',
        { status: 500, body: { error: { message: 'no' } }, headers: { 'x-should-retry': 'false' } },
      ],
    ],
    verdict: { exit: 1, asked: { generate: 1 } },
  },
];

/** Text servers: what replies, streams and refusals of texts are made of them. */
export const texts: readonly Stranger[] = [
  {
    name: 'a chat server that refuses each call in words of FastAPI fails the row with these words',
    source: 'litellm proxy 1.108.7',
    pipeline: chatStep(),
    exchanges: [['chat', { status: 400, body: { detail: 'Not a model of this proxy' } }]],
    verdict: {
      exit: 1,
      rows: { failed: 1 },
      codes: { 'service.rejected': 1 },
      asked: { chat: 1 },
      says: ['Not a model of this proxy'],
    },
  },
  ...streams,
  ...verdicts,
  ...words,
  ...notations,
];
