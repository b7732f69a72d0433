import type { FaultAction } from '../faults.ts';
import type { Stranger } from './stranger.ts';

const chatStep = (more = ''): string =>
  `steps: { one: { chat: { model: text-pro, prompt: a fox${more === '' ? '' : `, ${more}`} } } }\n`;
const nativeStep = (more = ''): string =>
  `steps: { one: { generate: { model: text-pro, prompt: a fox${more === '' ? '' : `, ${more}`} } } }\n`;

const priced = 'prices: { text-pro: { input: 1, output: 10 } }\n';

const events = (...lines: readonly (string | object)[]): FaultAction => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: lines
    .map((line) => (typeof line === 'string' ? line : `data: ${JSON.stringify(line)}`))
    .map((line) => `${line}\n\n`)
    .join(''),
});
const done = 'data: [DONE]';
const counted = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const chunk = (delta: object, more: object = {}): object => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const chatCounts = (usage: object): object => ({ object: 'chat.completion.chunk', choices: [], usage });
const chat = (content: string, choice: object = {}, more: object = {}): FaultAction => ({
  status: 200,
  body: {
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop', ...choice }],
    usage: counted,
    ...more,
  },
});
const nativeCounts = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
const native = (text: string, finishReason?: string): object => ({
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

/** Counts of tokens that leave something open: no budget may be passed for them. */
const counts: readonly Stranger[] = [
  ...(
    [
      ['only a total', { total_tokens: 100 }, { other_tokens: '100', total_tokens: '100', cost: '0.001' }],
      [
        'a total above its parts',
        { prompt_tokens: 10, completion_tokens: 5, total_tokens: 515 },
        {
          prompt_tokens: '10',
          candidates_tokens: '5',
          other_tokens: '500',
          total_tokens: '515',
          cost: '0.00506',
        },
      ],
      [
        'reasoning beside a completion of 0',
        {
          prompt_tokens: 21,
          completion_tokens: 0,
          total_tokens: 81,
          completion_tokens_details: { reasoning_tokens: 60 },
        },
        { thoughts_tokens: '60', other_tokens: '', total_tokens: '81', cost: '0.000621' },
      ],
      [
        'one side alone',
        { completion_tokens: 5 },
        { prompt_tokens: '', candidates_tokens: '5', total_tokens: '5', cost: '' },
      ],
      [
        'a negative count',
        { prompt_tokens: 1, completion_tokens: -500, total_tokens: 1 },
        { candidates_tokens: '', total_tokens: '1', cost: '' },
      ],
    ] as const
  ).map(
    ([what, usage, first]): Stranger => ({
      name: `chat counts ${what}`,
      source: 'CLIProxyAPI 5733; counts of several gateways',
      pipeline: `${priced}${chatStep()}`,
      exchanges: [['chat', chat('a red fox', {}, { usage })]],
      verdict: { exit: 0, first },
    }),
  ),
  {
    name: 'a chat stream counts the prompt in its first chunk and the answer in its last',
    source: 'CLIProxyAPI; one-api',
    pipeline: `${priced}${chatStep('stream: true')}`,
    exchanges: [
      [
        'chat',
        events(
          {
            ...chunk({ content: 'a red ' }),
            usage: { prompt_tokens: 2500, completion_tokens: 1, total_tokens: 2501 },
          },
          chunk(
            { content: 'fox' },
            { finish_reason: 'stop', usage: { prompt_tokens: 0, completion_tokens: 150, total_tokens: 150 } },
          ),
          done,
        ),
      ],
    ],
    verdict: {
      exit: 0,
      first: { prompt_tokens: '2500', candidates_tokens: '150', total_tokens: '2650', cost: '0.004' },
    },
  },
  {
    name: 'native counts of only a total cost the dearer price, and bind a budget',
    source: 'counts of several gateways',
    pipeline: `${priced}budget: { cost: 0.03 }\nmatrix: { n: { from: 1, to: 60 } }\nsteps: { one: { generate: { model: text-pro, prompt: "fox {{ n }}" } } }\n`,
    exchanges: [
      [
        'generate',
        { status: 200, body: { ...native('a red fox', 'STOP'), usageMetadata: { totalTokenCount: 2000 } } },
      ],
    ],
    verdict: { exit: 4, says: [/0\.0\d+ is spent/], first: { other_tokens: '2000', cost: '0.02' } },
  },
];

const best = 'responseSchema: { type: OBJECT, properties: { best: { type: INTEGER } }, required: [best] }';
const bestOfChat =
  'response_format: { type: json_schema, json_schema: { name: x, schema: { type: object, properties: { best: { type: integer } }, required: [best] } } }';
const nativeSays = (text: string, reason = 'STOP'): FaultAction => ({
  status: 200,
  body: native(text, reason),
});

/** JSON that is not only JSON, and values that are what was asked for in another notation. */
const json: readonly Stranger[] = [
  {
    name: 'a native enum of integers written as texts takes the integer',
    source: 'the vendor: its enums are texts',
    pipeline: nativeStep('responseSchema: { type: INTEGER, format: enum, enum: ["101", "201"] }'),
    exchanges: [['generate', nativeSays('101')]],
    verdict: { exit: 0, asked: { generate: 1 }, first: { text: '101' } },
  },
  ...(['a', ' a\n', '"a"'] as const).map(
    (word): Stranger => ({
      name: `a native enum of words takes ${JSON.stringify(word)}`,
      source: 'the vendor: text/x.enum',
      pipeline: nativeStep(
        'generationConfig: { responseMimeType: text/x.enum, responseSchema: { type: STRING, enum: [a, b] } }',
      ),
      exchanges: [['generate', nativeSays(word)]],
      verdict: { exit: 0, asked: { generate: 1 }, first: { text: word } },
    }),
  ),
  {
    name: 'a native enum of words refuses another word',
    source: 'the vendor: text/x.enum',
    pipeline: nativeStep(
      'generationConfig: { responseMimeType: text/x.enum, responseSchema: { type: STRING, enum: [a, b] } }',
    ),
    exchanges: [['generate', nativeSays('c')]],
    verdict: { exit: 1, codes: { 'text.schema': 1 }, asked: { generate: 3 } },
  },
  {
    name: 'a price of chat is a multiple of a cent',
    source: 'CLIProxyAPI: structured outputs',
    pipeline: chatStep(
      'response_format: { type: json_schema, json_schema: { name: x, schema: { type: object, properties: { price: { type: number, multipleOf: 0.01 } } } } }',
    ),
    exchanges: [['chat', chat('{"price": 8.69}')]],
    verdict: { exit: 0, asked: { chat: 1 } },
  },
  ...(
    [
      ['thinking before it', '<think>\n{"best": 1}?\n</think>\n{"best": 3}'],
      ['a sentence before it', 'Here is the JSON requested:\n{"best": 3}'],
      ['a trailing comma', '{"best": 3,}'],
      ['a byte order mark', '\uFEFF{"best": 3}'],
      ['raw control characters', '{"best": 3, "why": "a\tb"}'],
    ] as const
  ).map(
    ([what, said]): Stranger => ({
      name: `chat JSON with ${what} is read, and its text stays as it was sent`,
      source: 'llama-cpp-python server 0.3.36; models behind several gateways',
      pipeline: `steps:\n  one: { chat: { model: text-pro, prompt: a fox, ${bestOfChat} } }\n  two: { chat: { model: text-pro, prompt: "number {{ steps.one.json.best }}" } }\n`,
      exchanges: [['chat', chat(said), { times: 1 }]],
      verdict: { exit: 0, rows: { done: 2 }, asked: { chat: 2 }, first: { text: said } },
    }),
  ),
  {
    name: 'a native stream of JSON behind thinking is read',
    source: 'models behind several gateways',
    pipeline: nativeStep(`stream: true, ${best}`),
    exchanges: [
      [
        'stream',
        events(native('<think>{"best"'), native(': 1}</think>Sure: {"best": '), native('3}', 'STOP')),
      ],
    ],
    verdict: {
      exit: 0,
      asked: { stream: 1 },
      first: { text: '<think>{"best": 1}</think>Sure: {"best": 3}' },
    },
  },
  {
    name: 'JSON among sentences is no answer of a step that reads strictly',
    source: 'the setting of promptpress',
    pipeline: chatStep(`reply: strict, ${bestOfChat}`),
    exchanges: [['chat', chat('Here: {"best": 3}')]],
    verdict: { exit: 1, codes: { 'text.not-json': 1 }, asked: { chat: 3 } },
  },
  {
    name: 'JSON of two values that fit is asked again',
    source: 'models behind several gateways',
    pipeline: chatStep(bestOfChat),
    exchanges: [
      ['chat', chat('{"best": 3} or {"best": 4}'), { times: 1 }],
      ['chat', chat('{"best": 4}')],
    ],
    verdict: { exit: 0, asked: { chat: 2 }, first: { text: '{"best": 4}' } },
  },
  {
    name: 'JSON that was cut off and accepted is never mended',
    source: 'models behind several gateways',
    pipeline: chatStep(`accept: [length], ${bestOfChat}`),
    exchanges: [['chat', chat('Here: {"best": 3} {"bes', { finish_reason: 'length' })]],
    verdict: { exit: 1, codes: { 'text.not-json': 1 } },
  },
  {
    name: 'a chat reply whose content is the object itself is that JSON',
    source: 'OmniRoute; gateways that parse JSON answers',
    pipeline: chatStep('response_format: { type: json_object }'),
    exchanges: [
      [
        'chat',
        {
          status: 200,
          body: { choices: [{ message: { content: { best: 3 } }, finish_reason: 'stop' }], usage: counted },
        },
      ],
    ],
    verdict: { exit: 0, asked: { chat: 1 }, first: { text: '{"best":3}' } },
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
  ...counts,
  ...json,
];
