import type { Stranger } from './stranger.ts';

const oneGrid = 'steps: { grid: { imagine: a fox } }\n';
const rows =
  'matrix: { animal: [fox, owl, lynx, hare, crow, newt] }\nsteps: { grid: { imagine: "{{ animal }}" } }\n';
const ten = 'matrix: { n: { from: 1, to: 10 } }\nsteps: { grid: { imagine: "fox {{ n }}"';
const family = 'names: midjourney-proxy';
const gateway = { names: 'midjourney-proxy' } as const;

/** How a gateway is reached: where it reads the key, which words of the family it knows, how it is clicked. */
export const reach: readonly Stranger[] = [
  {
    name: 'a gateway that reads the key of image paths in mj-api-secret alone works without a setting',
    source: 'one-hub of February 2026',
    pipeline: rows,
    serviceSettings: family,
    service: { ...gateway, auth: 'header' },
    verdict: { exit: 0, rows: { done: 6 }, asked: { imagine: 6 }, neverSays: ['refused the key'] },
  },
  {
    name: 'a proxy that reads Authorization without Bearer alone is found by the first refusal, which is said',
    source: 'midjourney-proxy (novicezk) 2.6.3 with a secret',
    pipeline: oneGrid,
    serviceSettings: family,
    service: { ...gateway, auth: 'raw' },
    verdict: {
      exit: 0,
      rows: { done: 1 },
      asked: { imagine: 2 },
      says: ['refused the key', 'service.auth: raw'],
      neverSays: ['test-key'],
    },
  },
  {
    name: 'several requests that are refused at once share one search for the form of the key',
    source: 'midjourney-proxy (novicezk) 2.6.3 with a secret',
    pipeline: rows,
    serviceSettings: family,
    service: { ...gateway, auth: 'raw', refusal: 'mute' },
    verdict: { exit: 0, rows: { done: 6 }, says: [/(?:refused the key)(?![^]*refused the key)/] },
  },
  {
    name: 'auth raw sends the key as such a proxy wants it at once',
    source: 'midjourney-proxy (novicezk) 2.6.3 with a secret',
    pipeline: rows,
    serviceSettings: `${family}, auth: raw`,
    service: { ...gateway, auth: 'raw' },
    verdict: { exit: 0, rows: { done: 6 }, asked: { imagine: 6 }, neverSays: ['refused the key'] },
  },
  {
    name: 'a wrong key is looked for once in each form, which are named, and no row fails for it',
    source: 'one-hub of February 2026',
    pipeline: oneGrid,
    serviceSettings: family,
    service: { ...gateway, auth: 'header' },
    env: { PROMPTPRESS_API_KEY: 'another-key' },
    verdict: {
      exit: 3,
      rows: { pending: 1 },
      asked: { imagine: 1 },
      says: ['mj-api-secret alone', 'without Bearer'],
      neverSays: ['another-key'],
    },
  },
  {
    name: 'an empty 403 for three jobs before any success is a wrong key, and fails no row',
    source: 'a stock proxy of the family with a secret',
    pipeline: rows,
    serviceSettings: family,
    service: { ...gateway, auth: 'header', refusal: 'mute' },
    env: { PROMPTPRESS_API_KEY: 'another-key' },
    verdict: {
      exit: 3,
      rows: { pending: 6 },
      says: ['without a word', 'mj-api-secret alone'],
      neverSays: ['another-key', 'plain prompt'],
    },
  },
  {
    name: 'an empty 403 to the only text is a wrong key too',
    source: 'a stock proxy of the family with a secret',
    pipeline: 'steps: { one: { generate: { model: text-pro, prompt: a fox } } }\n',
    service: { refusal: 'mute' },
    env: { PROMPTPRESS_API_KEY: 'another-key' },
    verdict: { exit: 3, rows: { pending: 1 }, asked: { generate: 6 }, says: ['service.auth: header'] },
  },
  {
    name: 'a 403 without a word to one prompt, where others are served, fails that row alone',
    source: 'a web application firewall before new-api',
    pipeline: rows,
    serviceSettings: family,
    service: gateway,
    exchanges: [['imagine', { status: 403 }, { match: ({ n }) => n === 5 }]],
    verdict: { exit: 1, rows: { done: 5, failed: 1 }, codes: { 'service.forbidden': 1 } },
  },
  {
    name: 'a 403 that names a right to a model is asked in no other form of the key',
    source: 'new-api of April 2025',
    pipeline: oneGrid,
    serviceSettings: family,
    service: gateway,
    exchanges: [
      [
        'imagine',
        {
          status: 403,
          body: { error: { message: '该令牌无权使用模型：mj_imagine', type: 'new_api_error' } },
        },
      ],
    ],
    verdict: { exit: 3, rows: { failed: 1 }, asked: { imagine: 1 } },
  },
  {
    name: 'a native text endpoint that reads x-goog-api-key alone names auth: header',
    source: 'litellm proxy 1.108.7 (its pass-through)',
    pipeline: 'steps: { one: { generate: { model: text-pro, prompt: a fox } } }\n',
    serviceSettings: family,
    service: { ...gateway, auth: 'header' },
    verdict: { exit: 3, rows: { pending: 1 }, asked: { generate: 1 }, says: ['service.auth: header'] },
  },
  {
    name: 'auth none asks for no key and sends none',
    source: 'midjourney-proxy (novicezk) 2.6.3 as it is installed',
    pipeline: rows,
    serviceSettings: `${family}, auth: none`,
    service: { ...gateway, auth: 'none' },
    env: { PROMPTPRESS_API_KEY: undefined },
    verdict: { exit: 0, rows: { done: 6 }, asked: { imagine: 6 } },
  },
  {
    name: 'auth none at a gateway that wants a key says so',
    source: 'new-api of April 2025',
    pipeline: oneGrid,
    serviceSettings: `${family}, auth: none`,
    service: gateway,
    env: { PROMPTPRESS_API_KEY: undefined },
    verdict: { exit: 3, rows: { pending: 1 }, asked: { imagine: 1 }, says: ['service.auth is none'] },
  },
  {
    name: 'no speed in the file leaves the speed to a gateway of the family, and the column empty',
    source: 'one-hub of February 2026: no prefix is fast',
    pipeline: oneGrid,
    serviceSettings: family,
    service: gateway,
    verdict: { exit: 0, first: { speed: '', status: 'done' } },
  },
  {
    name: 'speed relax in the file sends mj-relax',
    source: 'one-hub of February 2026: no prefix is fast',
    pipeline: oneGrid,
    serviceSettings: `${family}, speed: relax`,
    service: gateway,
    exchanges: [
      [
        'imagine',
        { status: 400, body: { code: 4, description: 'PREFIX' } },
        { match: ({ path }) => !path.startsWith('/mj-relax/mj/') },
      ],
    ],
    verdict: { exit: 0, first: { speed: 'relax', status: 'done' } },
  },
  {
    name: 'a neutral gateway keeps relax without a prefix',
    source: 'the contract (gateway 1.5)',
    pipeline: oneGrid,
    exchanges: [
      [
        'imagine',
        { status: 400, body: { code: 4, description: 'PREFIX' } },
        { match: ({ path }) => !path.startsWith('/img/') },
      ],
    ],
    verdict: { exit: 0, first: { speed: 'relax', status: 'done' } },
  },
  {
    name: 'a 404 of a path with a prefix names the speed',
    source: 'midjourney-proxy (novicezk) 2.6.3: 404 page',
    pipeline: oneGrid,
    serviceSettings: `${family}, speed: turbo`,
    service: gateway,
    exchanges: [['imagine', { status: 404, body: '<html><title>404</title></html>' }]],
    verdict: { exit: 3, rows: { pending: 1 }, says: ['mj-turbo', 'leave speed out'] },
  },
  {
    name: 'a proxy without buttons is clicked by change',
    source: 'midjourney-proxy (novicezk) 2.6.3',
    pipeline: 'steps: { grid: { imagine: a fox, path: "U1, U4, V2, reroll, V3" } }\n',
    serviceSettings: family,
    service: { ...gateway, buttonless: true, auth: 'none' },
    verdict: { exit: 0, rows: { done: 6 }, asked: { imagine: 1, change: 5, action: 0 } },
  },
  {
    name: 'a proxy without buttons fans a wildcard out by change',
    source: 'midjourney-proxy (novicezk) 2.6.3',
    pipeline: 'steps: { grid: { imagine: a fox, path: U* } }\n',
    serviceSettings: family,
    service: { ...gateway, buttonless: true },
    verdict: { exit: 0, rows: { done: 5 }, asked: { change: 4 } },
  },
  {
    name: 'a button that change has nothing like fails after one grid, with the reason',
    source: 'midjourney-proxy (novicezk) 2.6.3',
    pipeline: `${ten}, path: Zoom Out 2x } }\n`,
    serviceSettings: family,
    service: { ...gateway, buttonless: true, capacity: 1 },
    verdict: {
      exit: 3,
      codes: { 'button.missing': 1 },
      asked: { change: 0 },
      says: ['submit/change', /[1-3] done, 1 failed/],
    },
  },
  {
    name: 'clicks change presses by change where buttons are shown too',
    source: 'midjourney-proxy (trueai-org)',
    pipeline: 'steps: { grid: { imagine: a fox, path: U1 → Upscale (Subtle) } }\n',
    serviceSettings: `${family}, clicks: change`,
    service: gateway,
    verdict: { exit: 0, rows: { done: 3 }, asked: { change: 1, action: 1 } },
  },
  {
    name: 'a change whose answer never came is in doubt, and code 21 of the next one names the task that it made',
    source: 'novicezk/midjourney-proxy 247',
    pipeline: 'steps: { grid: { imagine: a fox, path: U1 } }\n',
    serviceSettings: family,
    service: { ...gateway, buttonless: true, listing: false },
    exchanges: [['change', { reset: 'after' }, { times: 1 }]],
    verdict: { exit: 5, rows: { done: 1, 'in-doubt': 1 }, asked: { change: 1 } },
    later: [
      {
        flags: ['--in-doubt', 'retry'],
        exchanges: [
          [
            'change',
            {
              code: 21,
              description: '任务已存在',
              result: '1700000000000002',
              properties: { status: 'IN_PROGRESS', imageUrl: '' },
            },
          ],
        ],
        verdict: { exit: 0, rows: { done: 2 }, asked: { imagine: 0, change: 1 } },
      },
    ],
  },
  {
    name: 'a grid of an earlier run is clicked by change, with its speed in the path',
    source: 'midjourney-proxy (novicezk) 2.6.3 behind new-api',
    pipeline: 'steps: { grid: { imagine: a fox }, up: { from: grid, click: U3 } }\n',
    serviceSettings: `${family}, speed: fast`,
    service: { ...gateway, buttonless: true },
    flags: ['--only', 'grid'],
    verdict: { exit: 0, asked: { imagine: 1, change: 0 } },
    later: [
      {
        exchanges: [
          [
            'change',
            { status: 400, body: { code: 4, description: 'SPEED' } },
            { match: ({ path }) => !path.startsWith('/mj-fast/mj/') },
          ],
        ],
        verdict: { exit: 0, rows: { done: 2 }, asked: { imagine: 0, change: 1 } },
      },
    ],
  },
  {
    name: 'a gateway that showed buttons in an earlier run, and leaves them out once, is not taken for one without any',
    source: 'new-api 2025-04-11, whose copy of a task is behind',
    pipeline: 'steps: { grid: { imagine: a fox }, up: { from: grid, click: U3 } }\n',
    serviceSettings: family,
    service: gateway,
    flags: ['--only', 'grid'],
    verdict: { exit: 0, asked: { imagine: 1 } },
    later: [
      {
        exchanges: [
          [
            'fetch',
            ({ path }) => ({
              status: 200,
              body: { id: path.split('/')[3], status: 'SUCCESS', imageUrl: '/x' },
            }),
            { times: 1 },
          ],
        ],
        verdict: {
          exit: 1,
          rows: { done: 1, failed: 1 },
          codes: { 'button.missing': 1 },
          asked: { imagine: 0, change: 0 },
        },
      },
    ],
  },
  {
    name: 'an optional button that change has nothing like is left out, and the grids go on',
    source: 'midjourney-proxy (novicezk) 2.6.3',
    pipeline: `${ten}, path: Zoom Out 2x? } }\n`,
    serviceSettings: family,
    service: { ...gateway, buttonless: true },
    verdict: { exit: 0, rows: { done: 10, skipped: 10 }, asked: { imagine: 10 } },
  },
  {
    name: 'a web client in front that wants an access code of its own is a wrong key, in each form',
    source: 'ChatAnyTeam/ChatAny 48',
    pipeline: rows,
    serviceSettings: family,
    service: gateway,
    exchanges: [['submit', { status: 401, body: { error: true, msg: 'empty access code' } }]],
    verdict: {
      exit: 3,
      rows: { pending: 6 },
      says: ['empty access code', 'mj-api-secret alone'],
      neverSays: ['test-key'],
    },
  },
  {
    name: 'a port for TLS that says so in HTTP ends the run, and no row fails for it',
    source: 'nginx 1.28',
    pipeline: rows,
    exchanges: [
      [
        'any',
        {
          status: 400,
          body: '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>',
        },
      ],
    ],
    verdict: { exit: 3, rows: { pending: 6 }, says: ['write https://'], neverSays: ['in flight'] },
  },
  {
    name: 'a server of Go for TLS alone ends the run of texts, too',
    source: 'net/http of Go 1.25',
    pipeline: 'steps: { note: { generate: { model: text-pro, prompt: hi } } }\n',
    exchanges: [['any', { status: 400, body: 'Client sent an HTTP request to an HTTPS server.\n' }]],
    verdict: { exit: 3, rows: { pending: 1 }, says: ['write https://'] },
  },
];
