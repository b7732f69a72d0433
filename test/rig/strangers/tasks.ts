import type { Stranger } from './stranger.ts';

/** Proxies and gateways whose tasks go otherwise: ids, states, buttons, results. */
export const tasks: readonly Stranger[] = [
  {
    name: 'a gateway that refuses a button which it has just shown with 400 custom_id is pressed again',
    source: 'a midjourney gateway whose customIds change',
    pipeline: 'matrix: { n: [1, 2, 3] }\nsteps: { grid: { imagine: "a fox {{ n }}", path: U1 } }\n',
    exchanges: [
      ['action', { status: 400, body: { error: { message: 'custom_id is not valid' } } }, { times: 1 }],
    ],
    verdict: { exit: 0, rows: { done: 6 }, asked: { imagine: 3, action: 4 } },
  },
];
