import type { Exchange, Stranger } from './stranger.ts';

const grids = (count: number): string =>
  `matrix: { n: { from: 1, to: ${count} } }\nsteps: { grid: { imagine: "a fox {{ n }}" } }\n`;
const chats = 'matrix: { n: [1, 2] }\nsteps: { one: { chat: { model: text-pro, prompt: "fox {{ n }}" } } }\n';
const generates = chats.replace('chat', 'generate');
const streams = chats.replace('prompt:', 'stream: true, prompt:');

const clicked = 'steps: { grid: { imagine: a fox, path: U1 } }\n';
const answered =
  'steps:\n  one: { chat: { model: text-pro, prompt: a fox } }\n  two: { chat: { model: text-pro, prompt: "{{ steps.one.text }}" } }\n';

/** A refusal as new-api and one-hub give it on image paths. */
const refusal = (code: number, description: string, type = 'upstream_error') => ({
  status: 400,
  body: { description, type, code },
});
const envelope = (status: number, message: string, more: object = {}) => ({
  status,
  body: { error: { message, type: 'new_api_error', code: '', ...more } },
});

/** What a made task that was not noted comes to: it is in doubt, and only the user's word makes another. */
const unnoted = (words: string, body: object, source: string): Stranger => ({
  name: `a gateway that made a task and says ${words} leaves it in doubt, and is not paid again`,
  source,
  pipeline: grids(1),
  exchanges: [['imagine', { status: 400, body, when: 'after' }]],
  verdict: {
    exit: 5,
    rows: { 'in-doubt': 1 },
    codes: { 'service.ambiguous': 1 },
    asked: { imagine: 1 },
  },
  later: [
    {
      flags: ['--retry-failed'],
      verdict: { exit: 5, rows: { 'in-doubt': 1 }, asked: { imagine: 0 } },
    },
  ],
});

/** What a used-up quota comes to: exit 3, nothing failed, and the next run goes on. */
const usedUp = (
  what: string,
  source: string,
  exchange: Exchange,
  pipeline = grids(2),
  more: Partial<Stranger> = {},
): Stranger => ({
  name: `a used-up quota, told as ${what}, stops the run and fails no row`,
  source,
  pipeline,
  exchanges: [exchange],
  verdict: {
    exit: 3,
    rows: { pending: 2 },
    says: ['service.quota', 'refused and put back for a later run, nothing paid'],
  },
  later: [{ verdict: { exit: 0, rows: { done: 2 } } }],
  ...more,
});

const wrongAddress = (
  extra: string,
  answer: string,
  exchange: Exchange,
  says: string,
  more: Partial<Stranger['verdict']> = {},
): Stranger => ({
  name: `a base address with ${extra} at the end, where ${answer}, stops the run and shows the path that was asked`,
  source: 'new-api 2025-04-11, one-hub 2026-02-20, litellm 1.108.7, midjourney-proxy 2.6.3',
  pipeline: grids(1),
  serviceSettings: 'names: midjourney-proxy',
  service: { names: 'midjourney-proxy' },
  baseUrl: (url) => `${url}${extra}`,
  exchanges: [exchange],
  verdict: { exit: 3, rows: { pending: 1 }, says: [`POST ${extra}/mj/submit/imagine`, says], ...more },
});

/** Gateways whose refusals mean another thing than their status. */
export const verdicts: readonly Stranger[] = [
  // These wait for ten seconds and more: they begin first.
  ...(
    [
      ['401', 'action', envelope(401, '无效的令牌'), clicked, 2, 3],
      ['403', 'action', envelope(403, 'Invalid token'), clicked, 2, 1],
      ['401', 'fetch', envelope(401, '无效的令牌'), grids(1), 1, 1],
      ['401', 'chat', envelope(401, 'invalid token'), answered, 2, 1],
    ] as const
  ).map(
    ([status, route, action, pipeline, done, times]): Stranger => ({
      name: `a key that has served and is refused with ${status} for a moment by ${route} is tried again, and no row fails`,
      source: 'new-api 2025-04-11, its database locked for 14 s',
      pipeline,
      exchanges: [[route, action, { skip: route === 'chat' ? 1 : 0, times }]],
      verdict: { exit: 0, rows: { done } },
    }),
  ),
  {
    name: 'a key that may submit and not look is named after the first task, which a later run gets',
    source: 'new-api 2025-04-11',
    pipeline: grids(1),
    exchanges: [
      ['fetch', envelope(403, '该令牌无权访问模型 mj_imagine')],
      ['list', { status: 404 }],
    ],
    verdict: { exit: 3, says: ['but not fetch them'], asked: { imagine: 1 } },
    later: [{ verdict: { exit: 0, rows: { done: 1 }, asked: { imagine: 0 } } }],
  },
  unnoted(
    'insert_midjourney_task_failed',
    refusal(4, 'insert_midjourney_task_failed ').body,
    'new-api 2025-04-11',
  ),
  unnoted('copy_response_body_failed', refusal(4, 'copy_response_body_failed ').body, 'new-api 2025-04-11'),
  unnoted(
    'unmarshal_response_body_failed with code 4',
    refusal(4, 'unmarshal_response_body_failed ').body,
    'one-hub',
  ),
  unnoted(
    'insert_midjourney_task_failed as a submit response',
    { code: 4, description: 'insert_midjourney_task_failed', result: null },
    'one-api-like forks of new-api',
  ),
  {
    name: 'a gateway that could not note the task of a click leaves it in doubt, and is not pressed again',
    source: 'new-api 2025-04-11',
    pipeline: clicked,
    exchanges: [['action', { ...refusal(4, 'close_response_body_failed '), when: 'after' }]],
    verdict: { exit: 5, rows: { done: 1, 'in-doubt': 1 }, asked: { imagine: 1, action: 1 } },
  },
  {
    name: 'a gateway without a channel, told as code 5, has made nothing and is asked again',
    source: 'one-hub 2026-02-20',
    pipeline: grids(2),
    exchanges: [
      [
        'imagine',
        refusal(5, '当前分组 default 下对于模型 mj_imagine 无可用渠道 ', 'internal_error'),
        { times: 1 },
      ],
    ],
    verdict: { exit: 0, rows: { done: 2 }, asked: { imagine: 3 } },
  },
  {
    name: 'a gateway that could not read a request has made nothing and is asked again',
    source: 'one-hub 2026-02-20',
    pipeline: grids(1),
    exchanges: [['imagine', refusal(5, 'read_request_body_failed '), { times: 1 }]],
    verdict: { exit: 0, rows: { done: 1 }, asked: { imagine: 2 } },
  },
  {
    name: 'a connection that broke behind the gateway leaves a submission in doubt',
    source: 'new-api 2025-04-11',
    pipeline: grids(1),
    exchanges: [['imagine', refusal(5, 'do_request_failed ')]],
    verdict: { exit: 5, rows: { 'in-doubt': 1 }, asked: { imagine: 1 } },
  },
  {
    name: 'a connection that broke behind the gateway is met as a 502 where the file says ambiguous: retry',
    source: 'new-api 2025-04-11',
    retry: 'ambiguous: retry',
    pipeline: grids(1),
    exchanges: [['imagine', refusal(5, 'do_request_failed '), { times: 1 }]],
    verdict: { exit: 0, rows: { done: 1 }, asked: { imagine: 2 } },
  },
  ...['并发数已达上限', '队列数已达上限'].map(
    (description): Stranger => ({
      name: `a proxy that says ${description} with code 4 has a full queue`,
      source: 'trueai-org/midjourney-proxy SubmitController.cs',
      pipeline: grids(2),
      exchanges: [['imagine', { code: 4, description }, { times: 1 }]],
      verdict: { exit: 0, rows: { done: 2 }, asked: { imagine: 3 } },
    }),
  ),
  ...['用户今日绘图次数已达上限', '访客今日绘图次数已达上限', '总绘图次数已达上限'].map((description) =>
    usedUp(`code 4 ${description}`, 'trueai-org/midjourney-proxy SubmitController.cs', [
      'imagine',
      { code: 4, description },
    ]),
  ),
  usedUp('402 without a body', 'openrouter', ['chat', { status: 402 }], chats),
  usedUp('402 with a page', 'a gateway behind a payment page', [
    'imagine',
    { status: 402, body: '<p>pay</p>' },
  ]),
  usedUp(
    '422 budget_exceeded',
    'litellm 1.108.7',
    [
      'chat',
      envelope(422, 'Budget has been exceeded! Current cost: 1.2', { type: 'budget_exceeded', code: '422' }),
    ],
    chats,
  ),
  usedUp(
    '429 budget_exceeded',
    'BerriAI/litellm 37000',
    ['generate', envelope(429, 'over', { type: 'budget_exceeded', code: '429' })],
    generates,
  ),
  usedUp(
    '400 of the type auth_error',
    'BerriAI/litellm 4208',
    [
      'chat',
      envelope(400, 'Budget has been exceeded! Current cost: 0.0010747', { type: 'auth_error', code: 400 }),
    ],
    chats,
  ),
  usedUp(
    '400 billing_hard_limit_reached',
    'openai',
    ['chat', envelope(400, 'Billing hard limit has been reached', { code: 'billing_hard_limit_reached' })],
    chats,
  ),
  usedUp(
    '429 insufficient_quota in a stream',
    'langchain-ai/langchainjs 1929',
    ['chat', envelope(429, 'You exceeded your current quota', { code: 'insufficient_quota' })],
    streams,
  ),
  usedUp(
    '400 invalid_request_error with words of a credit balance',
    'anthropics/claude-code 4684',
    [
      'chat',
      envelope(400, 'Your credit balance is too low to access the API.', { type: 'invalid_request_error' }),
    ],
    chats,
  ),
  usedUp(
    'an error inside a 200',
    'converting gateways',
    ['generate', envelope(200, 'x', { code: 'insufficient_user_quota' })],
    generates,
  ),
  usedUp('400 code 4 user quota is not enough', 'one-hub 2026-02-20', [
    'imagine',
    refusal(4, 'user quota is not enough '),
  ]),
  usedUp('401 with words of the token', 'new-api 2025-04-11', ['imagine', envelope(401, '该令牌额度已用尽')]),
  usedUp(
    '403 with words of the user',
    'new-api 2025-04-11',
    ['generate', envelope(403, '用户额度不足')],
    generates,
  ),
  usedUp(
    '403 with words of a team',
    'continuedev/continue 10373, warpdotdev/warp 14867',
    ['chat', envelope(403, 'Your team 16f2151a has either used all available credits or reached its limit.')],
    chats,
  ),
  usedUp('403 with the words of a gateway behind the gateway', 'QuantumNous/new-api 6306', [
    'imagine',
    envelope(403, 'status_code=403, 预扣费额度失败, 用户剩余额度: ¥0.23, 需要预扣费额度: ¥0.29'),
  ]),
  usedUp('code 4 with no tries left', 'novicezk/midjourney-proxy 282', [
    'imagine',
    { code: 4, description: '提交失败，您的绘画试用次数剩余：0次' },
  ]),
  usedUp(
    'words that the pipeline knows',
    'a gateway with points',
    ['imagine', { code: 4, description: 'Your POINTS have run out' }],
    grids(2),
    { retry: 'quota: [points have run out]' },
  ),
  wrongAddress(
    '/mj',
    'a FastAPI program says 404',
    ['unknown', { status: 404, body: { detail: 'Not Found' } }],
    'drop it',
  ),
  wrongAddress('/v1', 'an empty 404 comes', ['unknown', { status: 404 }], 'ends in /v1'),
  wrongAddress(
    '/api',
    'Spring says 404',
    [
      'unknown',
      { status: 404, body: { timestamp: '2026-11-01', status: 404, error: 'Not Found', path: '/x' } },
    ],
    'ends in /api',
  ),
  wrongAddress('/chat', 'an envelope says 404', ['unknown', envelope(404, 'Not found')], 'ends in /chat'),
  wrongAddress(
    '/mj',
    'a static server knows no POST',
    ['unknown', { status: 405, body: '<h1>405 Not Allowed</h1>' }],
    'drop it',
  ),
  wrongAddress(
    '/mj',
    'new-api hands the path on uncut',
    ['unknown', refusal(5, 'unmarshal_response_body_failed ')],
    'ends in /mj',
    { rows: { 'in-doubt': 1 } },
  ),
  {
    name: 'a path that is not there where imagine was answered fails its own jobs, and the rest goes on',
    source: 'new-api 2025-04-11',
    pipeline:
      'steps:\n  grid: { imagine: a fox, path: U1 }\n  film: { from: grid, video: { image: parent } }\n',
    exchanges: [['video', { status: 200, body: '<!doctype html><title>Console</title>' }]],
    verdict: {
      exit: 3,
      rows: { done: 2, failed: 1 },
      codes: { 'service.not-offered': 1 },
      says: ['this gateway does not offer video'],
    },
  },
  {
    name: 'a path that is not there leaves its rows pending where only an earlier run of the directory was answered',
    source: 'one-hub 2026-02-20',
    pipeline: 'steps:\n  grid: { imagine: a fox }\n  film: { from: grid, video: { image: parent } }\n',
    flags: ['--only', 'grid'],
    verdict: { exit: 0, asked: { imagine: 1, video: 0 } },
    later: [
      {
        exchanges: [['video', { status: 404, body: { detail: 'Not Found' } }]],
        verdict: {
          exit: 3,
          rows: { done: 1, pending: 1 },
          asked: { imagine: 0, video: 1 },
          says: ['has served an earlier run'],
        },
      },
    ],
  },
  ...(
    [
      [
        "nginx's page with 404",
        { status: 404, body: '<html><title>404 Not Found</title></html>' },
        'pending',
      ],
      ['a redirect to https', { status: 301, headers: { location: 'https://127.0.0.1' } }, 'pending'],
      ['a JSON 404 of a router', { status: 404, body: { detail: 'Not Found' } }, 'pending'],
      [
        'a maintenance page with 200',
        { status: 200, body: '<html><title>Back soon</title></html>' },
        'in-doubt',
      ],
    ] as const
  ).map(([what, answer, left]): Stranger => {
    const isOpen = left === 'in-doubt';
    return {
      name: `${what} at the start of a later run fails no row: they are ${left}`,
      source: 'nginx 1.28 before a gateway that is restarted',
      pipeline: grids(12),
      flags: ['--limit', '2'],
      verdict: { exit: 0, rows: { done: 2 } },
      later: [
        {
          exchanges: [['any', answer]],
          verdict: {
            exit: 3,
            codes: isOpen ? { 'service.not-json': 10 } : {},
            rows: { done: 2, [left]: 10 },
          },
        },
        ...(isOpen ? [] : [{ verdict: { exit: 0, rows: { done: 12 } } }]),
      ],
    };
  }),
  {
    name: 'a page with 200 to a kind that an earlier run was served leaves a row in doubt, though another kind is served now',
    source: 'nginx 1.28 before one of two gateways that is restarted',
    pipeline:
      'matrix: { n: [1, 2] }\nsteps:\n  words: { generate: { model: text-pro, prompt: "fox {{ n }}" } }\n  grid: { imagine: "{{ steps.words.text }} {{ n }}" }\n',
    flags: ['--limit', '1'],
    verdict: { exit: 0, rows: { done: 2 } },
    later: [
      {
        exchanges: [['imagine', { status: 200, body: '<html><title>Back soon</title></html>' }]],
        verdict: {
          exit: 5,
          rows: { done: 3, 'in-doubt': 1 },
          codes: { 'service.not-json': 1 },
          asked: { imagine: 1 },
        },
      },
    ],
  },
  ...(
    [
      [4, '暂不支持该宽高比', 'submit.refused'],
      [4, 'This image format is disabled', 'submit.refused'],
      [24, '可能包含敏感词: disabled', 'task.moderated'],
      [24, '可能包含敏感词: insufficient balance', 'task.moderated'],
    ] as const
  ).map(
    ([code, description, failed]): Stranger => ({
      name: `one prompt that is refused with code ${code}, ${description}, fails its own row alone`,
      source: 'trueai-org/midjourney-proxy and its forks',
      pipeline: grids(6),
      exchanges: [['imagine', { code, description }, { match: ({ n }) => n === 1 }]],
      verdict: { exit: 1, rows: { done: 5, failed: 1 }, codes: { [failed]: 1 }, asked: { imagine: 6 } },
    }),
  ),
  {
    name: 'a kind that the account does not do fails with a code of its own',
    source: 'trueai-org/midjourney-proxy TaskService.cs',
    pipeline: clicked,
    exchanges: [['action', { code: 9, description: '当前账号不支持编辑/重绘任务' }]],
    verdict: { exit: 3, rows: { done: 1, failed: 1 }, codes: { 'service.not-offered': 1 } },
  },
  {
    name: 'a key that has never served and is refused stops the run at once',
    source: 'new-api 2025-04-11',
    pipeline: grids(2),
    exchanges: [['imagine', envelope(401, '无效的令牌')]],
    verdict: { exit: 3, rows: { pending: 2 }, says: ['Check that it is right'] },
  },
  {
    name: 'a click whose channel is switched off for a moment waits as for a 503, and is no attempt',
    source: 'new-api 2025-04-11',
    pipeline: clicked,
    exchanges: [['action', refusal(4, '该任务所属渠道已被禁用 '), { times: 4 }]],
    verdict: { exit: 0, rows: { done: 2 }, asked: { imagine: 1, action: 5 } },
  },
  {
    name: 'a used-up quota that a fetch tells inside a 200 stops the run and loses no task',
    source: 'one-hub 2026-02-20, converting gateways',
    pipeline: grids(1),
    exchanges: [
      ['fetch', { status: 200, body: { code: 4, description: 'user quota is not enough ' } }],
      ['list', { status: 404 }],
    ],
    verdict: { exit: 3, asked: { imagine: 1 }, says: ['service.quota'] },
    later: [{ verdict: { exit: 0, rows: { done: 1 }, asked: { imagine: 0 } } }],
  },
];
