import type { Stranger } from './stranger.ts';
import { chat, chatStep, chunk, done, events, native, nativeStep, priced } from './texts.ts';

const family = 'names: midjourney-proxy';
const gateway = { names: 'midjourney-proxy' } as const;

/** Shapes of the other tables of texts by another endpoint, transport or notation. */
export const textVariants: readonly Stranger[] = [
  {
    name: 'chat counts reasoning above its parts at the dearer price, streamed',
    source: 'CLIProxyAPI 5733',
    pipeline: `${priced}${chatStep('stream: true')}`,
    exchanges: [
      [
        'chat',
        events(
          chunk({ content: 'a red fox' }, { finish_reason: 'stop' }),
          { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 515 } },
          done,
        ),
      ],
    ],
    verdict: { exit: 0, first: { other_tokens: '500', total_tokens: '515', cost: '0.00506' } },
  },
  {
    name: 'native counts of a total above its parts cost the dearer price, streamed',
    source: 'counts of several gateways',
    pipeline: `${priced}${nativeStep('stream: true')}`,
    exchanges: [
      [
        'stream',
        events({
          ...native('a red fox', 'STOP'),
          usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 515 },
        }),
      ],
    ],
    verdict: { exit: 0, first: { other_tokens: '500', total_tokens: '515', cost: '0.00506' } },
  },
  {
    name: 'a bare error line of a chat stream is an error with its words',
    source: 'one-hub, commit of 20 February 2026',
    pipeline: chatStep('stream: true'),
    exchanges: [
      [
        'chat',
        events(
          chunk({ content: 'a red ' }),
          '{"code":400,"message":"the region is not served","status":"FAILED_PRECONDITION"}',
          done,
        ),
      ],
    ],
    verdict: {
      exit: 1,
      codes: { 'service.rejected': 1 },
      asked: { chat: 1 },
      says: ['the region is not served'],
    },
  },
  {
    name: 'a bare error line of a chat stream after its finish reason is an error too',
    source: 'one-hub, commit of 20 February 2026',
    pipeline: chatStep('stream: true'),
    exchanges: [
      [
        'chat',
        events(
          chunk({ content: 'a red ' }, { finish_reason: 'stop' }),
          '{"code":400,"message":"the region is not served","status":"FAILED_PRECONDITION"}',
        ),
      ],
    ],
    verdict: { exit: 1, codes: { 'service.rejected': 1 }, says: ['the region is not served'] },
  },
  {
    name: 'a bare error of 429 inside a native stream is tried again',
    source: 'one-hub, commit of 20 February 2026',
    pipeline: nativeStep('stream: true'),
    exchanges: [
      [
        'stream',
        events(native('a red ', 'STOP'), '{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}'),
        { times: 1 },
      ],
      ['stream', events(native('a red fox', 'STOP'))],
    ],
    verdict: { exit: 0, asked: { stream: 2 }, first: { text: 'a red fox' } },
  },
  ...(
    [
      [
        'imagine',
        'steps: { grid: { imagine: a fox } }\n',
        { status: 422, body: { detail: [{ loc: ['prompt'], msg: 'too long' }] } },
        'too long',
      ],
      [
        'generate',
        nativeStep(),
        { status: 400, body: { object: 'error', message: 'no vision' } },
        'no vision',
      ],
      [
        'stream',
        nativeStep('stream: true'),
        {
          status: 400,
          body: { error: { message: 'Provider returned error', metadata: { raw: 'bad top_k' } } },
        },
        'bad top_k',
      ],
    ] as const
  ).map(
    ([route, pipeline, action, said]): Stranger => ({
      name: `a refusal keeps its words by ${route}, wherever they lie`,
      source: 'FastAPI, vLLM, OpenRouter',
      pipeline,
      exchanges: [[route, action]],
      verdict: { exit: 1, codes: { 'service.rejected': 1 }, asked: { [route]: 1 }, says: [said] },
    }),
  ),
  {
    name: 'a native stream refused with 422 that says overloaded is tried again',
    source: 'vendors behind gateways: their own clients',
    pipeline: nativeStep('stream: true'),
    exchanges: [['stream', { status: 422, body: { detail: 'The model is overloaded.' } }, { times: 1 }]],
    verdict: { exit: 0, rows: { done: 1 }, asked: { stream: 2 } },
  },
  {
    name: 'a gateway that reads the key of native texts in its header alone works with auth: header',
    source: 'litellm proxy 1.108.7 (its pass-through)',
    pipeline: nativeStep('stream: true'),
    serviceSettings: `${family}, auth: header`,
    service: { ...gateway, auth: 'header' },
    verdict: { exit: 0, rows: { done: 1 }, asked: { stream: 1 } },
  },
  {
    name: 'a chat stream of JSON that lacks a finish reason is asked again, whole',
    source: 'opencode 43379',
    pipeline: chatStep('stream: true, response_format: { type: json_object }'),
    exchanges: [
      [
        'chat',
        (request) =>
          request.body?.['stream'] === true
            ? events(chunk({ content: '{"a":' }), chunk({ content: '1}' }), done)
            : chat('{"a":1}'),
      ],
    ],
    verdict: { exit: 0, rows: { done: 1 }, asked: { chat: 2 }, first: { text: '{"a":1}' } },
  },
  ...(
    [
      [
        'chat',
        chatStep('stream: true'),
        events({ error: { code: 'insufficient_quota', message: 'top up' } }),
      ],
      [
        'stream',
        nativeStep('stream: true'),
        events({ error: { code: 402, message: 'top up', status: 'X' } }),
      ],
      ['stream', nativeStep('stream: true'), events('{"code":402,"message":"top up","status":"X"}')],
      ['generate', nativeStep(), { status: 200, body: { code: 402, message: 'top up', status: 'X' } }],
      ['chat', chatStep(), { status: 200, body: { code: 402, message: 'top up' } }],
    ] as const
  ).map(
    ([route, pipeline, action], at): Stranger => ({
      name: `a used-up quota inside a 200 of ${route} stops the run and fails no row: ${at}`,
      source: 'converting gateways',
      pipeline,
      exchanges: [[route, action]],
      verdict: { exit: 3, rows: { pending: 1 }, says: ['service.quota'] },
      later: [{ verdict: { exit: 0, rows: { done: 1 } } }],
    }),
  ),
  {
    name: 'a chat stream that ends with nothing is asked again',
    source: 'opencode 43379',
    pipeline: chatStep('stream: true'),
    exchanges: [
      ['chat', events(chunk({ content: 'a red ' })), { times: 1 }],
      ['chat', chat('a red fox')],
    ],
    verdict: { exit: 0, asked: { chat: 2 }, first: { text: 'a red fox' } },
  },
  ...(
    [
      ['chat', chatStep('stream: true')],
      ['stream', nativeStep('stream: true')],
    ] as const
  ).map(
    ([route, pipeline]): Stranger => ({
      name: `a 500 "no candidates" of ${route}, streamed, is a blocked prompt, asked once more`,
      source: 'one-hub, commit of 20 February 2026',
      pipeline,
      exchanges: [
        [
          route,
          {
            status: 500,
            body: { error: { code: 'no_candidates', message: 'no candidates', type: 'one_hub_error' } },
          },
        ],
      ],
      verdict: { exit: 1, codes: { 'text.blocked': 1 }, asked: { [route]: 2 } },
    }),
  ),
  {
    name: 'a native reply that is a bare error is tried again',
    source: 'one-hub, commit of 20 February 2026',
    pipeline: nativeStep(),
    exchanges: [
      [
        'generate',
        { status: 200, body: { code: 503, message: 'busy', status: 'UNAVAILABLE' } },
        { times: 1 },
      ],
    ],
    verdict: { exit: 0, rows: { done: 1 }, asked: { generate: 2 } },
  },
  {
    name: 'a bare error that stands first in a native stream is an error with its words',
    source: 'one-hub, commit of 20 February 2026',
    pipeline: nativeStep('stream: true'),
    exchanges: [['stream', events('{"code":400,"message":"no such region","status":"FAILED_PRECONDITION"}')]],
    verdict: { exit: 1, codes: { 'service.rejected': 1 }, says: ['no such region'] },
  },
  {
    name: 'chat counts of texts and null are no counts',
    source: 'counts of several gateways',
    pipeline: `${priced}${chatStep()}`,
    exchanges: [
      [
        'chat',
        chat('a red fox', {}, { usage: { prompt_tokens: null, completion_tokens: 0.5, total_tokens: 100 } }),
      ],
    ],
    verdict: { exit: 0, first: { other_tokens: '100', total_tokens: '100', cost: '0.001' } },
  },
  ...(['generate', 'stream'] as const).map(
    (route): Stranger => ({
      name: `a 529 of ${route} is tried again, and its x-should-retry is heeded`,
      source: 'vendors behind gateways: their own clients',
      pipeline: nativeStep(route === 'stream' ? 'stream: true' : ''),
      exchanges: [
        [route, { status: 529, body: { error: { message: 'Overloaded' } } }, { times: 1 }],
        [
          route,
          { status: 400, body: { error: { message: 'hm' } }, headers: { 'x-should-retry': 'true' } },
          { times: 1 },
        ],
      ],
      verdict: { exit: 0, rows: { done: 1 }, asked: { [route]: 3 } },
    }),
  ),
  {
    name: 'a native enum of numbers written as texts takes the number, streamed',
    source: 'gemini schemas through gateways',
    pipeline: nativeStep(
      'stream: true, generationConfig: { responseMimeType: application/json, responseSchema: { type: OBJECT, properties: { best: { type: INTEGER, enum: ["101", "201"] } }, required: [best] } }',
    ),
    exchanges: [['stream', events(native('{"best":101}', 'STOP'))]],
    verdict: { exit: 0, asked: { stream: 1 }, first: { text: '{"best":101}' } },
  },
  {
    name: 'a native price is a multiple of a cent, behind thinking and with a trailing comma',
    source: 'decimal arithmetic of floats',
    pipeline: nativeStep(
      'generationConfig: { responseMimeType: application/json, responseJsonSchema: { type: object, properties: { price: { type: number, multipleOf: 0.01 } }, required: [price] } }',
    ),
    exchanges: [
      ['generate', { status: 200, body: native('<think>{"price": 1}</think>{"price":8.69,}', 'STOP') }],
    ],
    verdict: { exit: 0, asked: { generate: 1 } },
  },
  {
    name: 'a native text endpoint that reads x-goog-api-key alone names auth: header, streamed',
    source: 'litellm proxy 1.108.7 (its pass-through)',
    pipeline: nativeStep('stream: true'),
    serviceSettings: family,
    service: { ...gateway, auth: 'header' },
    verdict: { exit: 3, rows: { pending: 1 }, asked: { stream: 1 }, says: ['service.auth: header'] },
  },
];
