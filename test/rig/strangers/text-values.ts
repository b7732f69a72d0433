import type { FaultAction } from '../faults.ts';
import type { Stranger } from './stranger.ts';
import { chat, chatStep, chunk, counted, done, events, native, nativeStep, priced } from './texts.ts';

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
    name: 'a chat stream that counts no prompt beside an answer leaves its price open',
    source: 'auto_ai_router 142: usage of CometAPI with input_tokens 0 that is never corrected',
    pipeline: `${priced}${chatStep('stream: true')}`,
    exchanges: [
      [
        'chat',
        events(
          { ...chunk({ content: 'a red ' }), usage: { input_tokens: 0, output_tokens: 0 } },
          {
            ...chunk({ content: 'fox' }, { finish_reason: 'stop' }),
            usage: { input_tokens: 0, output_tokens: 150 },
          },
          done,
        ),
      ],
    ],
    verdict: {
      exit: 0,
      says: ['estimated'],
      first: { candidates_tokens: '150', total_tokens: '150', cost: '' },
    },
  },
  {
    name: 'a chunk that is a whole message and counts one side is an answer',
    source: 'Portkey-AI/gateway issue 858',
    pipeline: `${priced}${chatStep()}`,
    exchanges: [
      [
        'chat',
        {
          status: 200,
          body: {
            object: 'chat.completion.chunk',
            choices: [
              { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'a red fox' } },
            ],
            usage: { completion_tokens: 25 },
          },
        },
      ],
    ],
    verdict: { exit: 0, first: { text: 'a red fox', candidates_tokens: '25', cost: '' } },
  },
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

/** Text servers: tokens that they count oddly, and values that they write in another way than was asked. */
export const textValues: readonly Stranger[] = [...counts, ...json];
