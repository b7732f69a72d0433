import type { FakeRoute, FaultAction } from '../faults.ts';
import type { Stranger, Verdict } from './stranger.ts';
import { chat, chatStep, chunk, done, events, native, nativeStep, priced } from './texts.ts';

const family = 'names: midjourney-proxy';
const gateway = { names: 'midjourney-proxy' } as const;
const grids = (count: number): string =>
  `matrix: { n: { from: 1, to: ${count} } }\nsteps: { grid: { imagine: "a fox {{ n }}" } }\n`;
const texts = (step: string): string =>
  `matrix: { n: { from: 1, to: 12 } }\nsteps: { one: { ${step.replace('PROMPT', 'model: text-pro, prompt: "fox {{ n }}"')} } }\n`;

const dot =
  '"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="';

/** Work that begins from a finished grid: one task or call of each endpoint. */
const next = {
  action: 'click: U1',
  describe: 'describe: { image: parent }',
  video: 'video: { image: parent, batchSize: 1 }',
  edits: 'edit: { image: parent, prompt: a hat, mask: { shapes: [{ rectangle: [0, 0, 0.5, 0.5] }] } }',
  generate: 'generate: { model: text-pro, prompt: Caption this., images: [parent] }',
  chat: 'chat: { model: text-pro, prompt: Caption this., images: [parent], stream: true }',
} as const;
type Next = keyof typeof next;
const after = (what: Next): string =>
  `steps:\n  grid: { imagine: a fox }\n  next: { from: grid, ${next[what]} }\n`;

const refusal = (code: number, description: string, type = 'upstream_error'): FaultAction => ({
  status: 400,
  body: { description, type, code },
});
const page: FaultAction = { status: 200, body: '<!doctype html><title>Console</title>' };
const missing: FaultAction = { status: 404, body: { detail: 'Not Found' } };

/** A base address that is wrong, whatever is asked there first: nothing fails, and few requests show it. */
const wrong = (
  [base, what, answer]: readonly [base: string, what: string, answer: FaultAction],
  pipeline: string,
  verdict: Partial<Verdict> = {},
): Stranger => ({
  name: `a base address with ${base} at the end fails none of twelve rows: ${what}`,
  source: 'new-api 2025-04-11, one-hub 2026-02-20, litellm 1.108.7',
  pipeline,
  serviceSettings: family,
  service: gateway,
  baseUrl: (url) => `${url}${base}`,
  exchanges: [['unknown', answer]],
  verdict: { exit: 3, rows: { pending: 12 }, codes: {}, ...verdict },
});

/** What comes of work that begins from a grid, where its endpoint answers so. */
const one = (
  name: string,
  source: string,
  what: Next,
  answer: FaultAction,
  verdict: Verdict,
  more: Partial<Stranger> = {},
): Stranger => ({
  name: `${name}: ${what}`,
  source,
  pipeline: after(what),
  exchanges: [[what, answer]],
  verdict,
  ...more,
});

const inDoubt = (route: FakeRoute): Verdict => ({
  exit: 5,
  rows: { done: 1, 'in-doubt': 1 },
  asked: { imagine: 1, [route]: 1 },
});
const again = (route: FakeRoute): Verdict => ({
  exit: 0,
  rows: { done: 2 },
  asked: { imagine: 1, [route]: 2 },
});
const notOffered = (what: string): Verdict => ({
  exit: 3,
  rows: { done: 1, failed: 1 },
  codes: { 'service.not-offered': 1 },
  says: [`does not offer ${what}`],
});

/** Shapes of the other tables by another endpoint, transport, speed or notation. */
export const variants: readonly Stranger[] = [
  wrong(['/v1', 'one image is asked for', missing], grids(12), { asked: { unknown: 1 } }),
  wrong(['/mj', 'fast images', { status: 404 }], grids(12), { asked: { unknown: 1 } }),
  wrong(['/v1', 'chat', missing], texts('chat: { PROMPT }')),
  wrong(['/api', 'a native stream', page], texts('generate: { PROMPT, stream: true }')),

  one('a path that is not there', 'litellm 1.108.7', 'edits', missing, notOffered('edits')),
  one('a path that is not there', 'one-hub 2026-02-20', 'describe', page, notOffered('describe')),
  one('a path that is not there', 'new-api 2025-04-11', 'generate', page, notOffered('generate')),
  one('a path that is not there', 'novicezk 2.6.3', 'chat', missing, notOffered('chat')),

  ...(
    [
      ['describe', 'insert_midjourney_task_failed '],
      ['video', 'copy_response_body_failed '],
      ['edits', 'close_response_body_failed '],
    ] as const
  ).map(([what, words]) =>
    one(
      'a task that was made and not noted is in doubt',
      'new-api 2025-04-11',
      what,
      { status: 400, body: { description: words, type: 'upstream_error', code: 4 }, when: 'after' },
      inDoubt(what),
    ),
  ),
  ...(
    ['imagine: a fox', `describe: { image: ${dot} }`, `video: { image: ${dot}, batchSize: 1 }`] as const
  ).map(
    (step): Stranger => ({
      name: `no channel, told as code 5, has made nothing: ${step.split(':')[0]}, fast`,
      source: 'one-hub 2026-02-20',
      pipeline: `steps: { one: { ${step} } }\n`,
      serviceSettings: 'speed: fast',
      exchanges: [
        ['submit', refusal(5, '当前分组 default 下对于模型 mj 无可用渠道 ', 'internal_error'), { times: 1 }],
      ],
      verdict: { exit: 0, rows: { done: 1 }, first: { attempts: '1', speed: 'fast' } },
    }),
  ),
  ...(['action', 'video', 'edits'] as const).map((what) =>
    one(
      'a connection that broke behind the gateway is tried again where the file says so',
      'new-api 2025-04-11',
      what,
      refusal(5, 'do_request_failed '),
      again(what),
      {
        retry: 'ambiguous: retry',
        exchanges: [[what, refusal(5, 'do_request_failed '), { times: 1 }]],
      },
    ),
  ),
  ...(
    [
      ['action', '并发数已达上限'],
      ['describe', '队列数已达上限'],
      ['video', '当前账号并发数已达上限，请稍后再试'],
    ] as const
  ).map(([what, description]) =>
    one(
      'a full queue, told as code 4, fails no row',
      'trueai-org/midjourney-proxy',
      what,
      page,
      again(what),
      {
        exchanges: [[what, { code: 4, description }, { times: 1 }]],
      },
    ),
  ),
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
        grids(1),
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
    name: 'a 503 of a proxy whose connection broke leaves a submission in doubt where the file says hold',
    source: 'Envoy before a gateway',
    pipeline: grids(1),
    retry: 'ambiguous: hold',
    exchanges: [
      [
        'imagine',
        {
          status: 503,
          body: 'upstream connect error or disconnect/reset before headers. reset reason: connection termination',
          when: 'after',
        },
      ],
    ],
    verdict: { exit: 5, rows: { 'in-doubt': 1 }, asked: { imagine: 1 } },
  },
  {
    name: 'a native stream refused with 422 that says overloaded is tried again',
    source: 'vendors behind gateways: their own clients',
    pipeline: nativeStep('stream: true'),
    exchanges: [['stream', { status: 422, body: { detail: 'The model is overloaded.' } }, { times: 1 }]],
    verdict: { exit: 0, rows: { done: 1 }, asked: { stream: 2 } },
  },
  {
    name: 'a film whose link names its own machine is asked for at the base address',
    source: 'new-api of 11 April 2025, ServerAddress as it is installed',
    pipeline: after('video'),
    service: {
      script: (task) =>
        task.kind !== 'video'
          ? undefined
          : {
              answer: () => ({
                videoUrl: `http://localhost:3000/images/${task.id}-1.mp4?ex=${task.link}`,
                videoUrls: [],
              }),
            },
    },
    verdict: { exit: 0, rows: { done: 2 }, asked: { video: 1, image: 2 } },
  },
  {
    name: 'a grid to be cut whose link names a loopback host over TLS is asked for at the base address',
    source: 'new-api of 11 April 2025, ServerAddress as it is installed',
    pipeline: 'steps: { grid: { imagine: a fox, grid: split } }\n',
    service: {
      script: (task) => ({
        answer: () => ({ imageUrl: `https://127.0.0.2:8443/images/${task.id}.png?ex=${task.link}` }),
      }),
    },
    verdict: { exit: 0, rows: { done: 5 }, asked: { imagine: 1, image: 1 } },
  },
  ...(['action', 'describe', 'video'] as const).map((what) => {
    const isIt = { action: 'action', describe: 'describe', video: 'video' } as const;
    return one(
      'a failed task fails its row in whatever words',
      'gateways that name states otherwise',
      what,
      page,
      { exit: 1, rows: { done: 1, failed: 1 }, codes: { 'task.rejected': 1 }, says: ['Invalid parameter'] },
      {
        exchanges: [],
        service: {
          script: (task) =>
            task.kind === isIt[what]
              ? { answer: () => ({ status: 'Error', failReason: 'Invalid parameter' }) }
              : undefined,
        },
      },
    );
  }),
  ...(
    [
      ['speed: fast', /^\/mj-fast\/mj\//, 'fast'],
      ['speed: turbo', /^\/mj-turbo\/mj\//, 'turbo'],
    ] as const
  ).map(
    ([speed, path, column]): Stranger => ({
      name: `a click and a film of ${speed} carry its prefix too`,
      source: 'one-hub of February 2026',
      pipeline:
        'steps:\n  grid: { imagine: a fox, path: U1 }\n  film: { from: grid/U1, video: { image: parent, batchSize: 1 } }\n',
      serviceSettings: `${family}, ${speed}`,
      service: gateway,
      exchanges: [
        ['submit', { code: 4, description: 'PREFIX' }, { match: (asked) => !path.test(asked.path) }],
      ],
      verdict: { exit: 0, rows: { done: 3 }, first: { speed: column } },
    }),
  ),
  {
    name: 'no speed in the file sends a click and a film without a prefix',
    source: 'one-hub of February 2026: no prefix is fast',
    pipeline:
      'steps:\n  grid: { imagine: a fox, path: U1 }\n  film: { from: grid/U1, video: { image: parent, batchSize: 1 } }\n',
    serviceSettings: family,
    service: gateway,
    exchanges: [
      [
        'submit',
        { code: 4, description: 'PREFIX' },
        { match: ({ path }) => !path.startsWith('/mj/submit/') },
      ],
    ],
    verdict: { exit: 0, rows: { done: 3 }, first: { speed: '' } },
  },
  {
    name: 'a gateway that reads the key of native texts in its header alone works with auth: header, streamed',
    source: 'litellm proxy 1.108.7 (its pass-through)',
    pipeline: nativeStep('stream: true'),
    serviceSettings: `${family}, auth: header`,
    service: { ...gateway, auth: 'header' },
    verdict: { exit: 0, rows: { done: 1 }, asked: { stream: 1 } },
  },
  {
    name: 'a proxy that reads Authorization without Bearer alone serves fast grids, clicks and films',
    source: 'midjourney-proxy (novicezk) 2.6.3 with a secret',
    pipeline:
      'steps:\n  grid: { imagine: a fox, path: U1 }\n  film: { from: grid/U1, video: { image: parent, batchSize: 1 } }\n',
    serviceSettings: `${family}, speed: fast`,
    service: { ...gateway, auth: 'raw' },
    verdict: { exit: 0, rows: { done: 3 }, asked: { action: 1, video: 1 }, neverSays: ['test-key'] },
  },
  {
    name: 'a click that timed out at the gateway is made once more, and the summary says so',
    source: 'midjourney-proxy (novicezk) 2.6.3',
    pipeline: after('action'),
    service: {
      script: (task) =>
        task.kind === 'action'
          ? { answer: () => ({ status: 'FAILURE', failReason: '任务超时', imageUrl: null }) }
          : undefined,
    },
    verdict: {
      exit: 1,
      rows: { done: 1, failed: 1 },
      asked: { imagine: 1, action: 2 },
      says: ['1 task timed out at the gateway and was paid again'],
    },
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
];
