import type { FakeRoute, FaultAction } from '../faults.ts';
import type { Stranger, Verdict } from './stranger.ts';
import { chatStep, nativeStep } from './texts.ts';

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
  ...(
    [
      ['by their tags', 'relax', {}],
      ['by their tags, fast', 'fast', {}],
      ['by their prompts', 'relax', { state: '' }],
    ] as const
  ).map(
    ([what, speed, untagged]): Stranger => ({
      name: `of eight tasks with one id the record tells whose it is, ${what}`,
      source: 'midjourney-proxy (novicezk) 2.6.3: ids are the millisecond and three digits',
      pipeline: grids(8),
      serviceSettings: `speed: ${speed}`,
      service: {
        id: () => '1700000000000001',
        polls: 6,
        script: () => ({ answer: () => untagged }),
      },
      verdict: { exit: 5, rows: { done: 1, 'in-doubt': 7 }, asked: { imagine: 8, image: 1 } },
    }),
  ),
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
  ...(
    [
      ['chat', chatStep(), 'HTTP/1.0'],
      ['chat', chatStep('stream: true'), 'no length'],
      ['generate', nativeStep(), 'no length, close'],
      ['stream', nativeStep('stream: true'), 'chunked, close'],
      ['imagine', grids(12), 'HTTP/1.0'],
      ['fetch', grids(12), 'no length'],
    ] as const
  ).map(
    ([route, pipeline, framed]): Stranger => ({
      name: `a gateway that ends its connections (${route}, ${framed}${pipeline.includes('stream') ? ', streamed' : ''}) ends no run`,
      source: 'nodejs/undici 5360',
      pipeline,
      exchanges: [[route, { framed }]],
      verdict: { exit: 0 },
    }),
  ),
  ...(['describe', 'video', 'edits', 'action'] as const).map((what) =>
    one(
      'a quota that is used up for work behind a grid leaves that work for a later run',
      'one-hub 2026-02-20',
      what,
      refusal(4, 'user quota is not enough '),
      { exit: 3, rows: { done: 1, pending: 1 }, codes: {}, says: ['service.quota'] },
      { later: [{ verdict: { exit: 0, rows: { done: 2 }, asked: { imagine: 0 } } }] },
    ),
  ),
  ...['http://0.0.0.0:3000', 'http://[::1]:3000', 'http://127.0.0.1:3000', 'https://localhost'].map(
    (origin): Stranger => ({
      name: `links to ${origin} are followed at the base address`,
      source: 'new-api of 11 April 2025, ServerAddress as it is installed',
      pipeline: 'steps: { grid: { imagine: a fox, path: U1 } }\n',
      service: {
        script: (task) => ({
          answer: () => ({ imageUrl: `${origin}/images/${task.id}.png?ex=${task.link}` }),
        }),
      },
      verdict: { exit: 0, rows: { done: 2 }, asked: { image: 2 } },
    }),
  ),
  {
    name: 'a click that ends with four imageUrls and no imageUrl gives four outputs',
    source: 'midjourney-proxy records without a grid',
    pipeline: 'steps: { grid: { imagine: a fox, path: V1 } }\n',
    service: {
      polls: 0,
      script: (task) =>
        task.kind === 'action'
          ? {
              answer: () => ({
                imageUrl: '',
                imageUrls: [1, 2, 3, 4].map((n) => ({ url: `/images/${task.id}.${n}.png?ex=1` })),
              }),
            }
          : undefined,
    },
    verdict: { exit: 0, rows: { done: 5 }, asked: { action: 1 } },
  },
  {
    name: 'a used-up daily count of clicks leaves the click for a later run',
    source: 'trueai-org/midjourney-proxy SubmitController.cs',
    pipeline: after('action'),
    exchanges: [['action', { code: 4, description: '用户今日绘图次数已达上限' }]],
    verdict: { exit: 3, rows: { done: 1, pending: 1 }, codes: {}, says: ['service.quota'] },
    later: [{ verdict: { exit: 0, rows: { done: 2 }, asked: { imagine: 0, action: 1 } } }],
  },
  ...([409, 422] as const).map(
    (status): Stranger => ({
      name: `a gateway that refuses a shown button with ${status} is pressed again, fast`,
      source: 'a midjourney gateway whose customIds change',
      pipeline: after('action'),
      serviceSettings: 'speed: fast',
      exchanges: [['action', { status, body: { error: { message: 'button expired' } } }, { times: 1 }]],
      verdict: { exit: 0, rows: { done: 2 }, asked: { imagine: 1, action: 2 } },
    }),
  ),
  {
    name: 'a proxy without buttons is clicked by change with auth raw, fast',
    source: 'midjourney-proxy (novicezk) 2.6.3 with a secret',
    pipeline: 'steps: { grid: { imagine: a fox, path: "U1, V2, reroll" } }\n',
    serviceSettings: `${family}, speed: fast`,
    service: { ...gateway, buttonless: true, auth: 'raw' },
    verdict: { exit: 0, rows: { done: 4 }, asked: { change: 3, action: 0 } },
  },
];
