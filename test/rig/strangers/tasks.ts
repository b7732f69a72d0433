import type { FakeRequest } from '../fake-service.ts';
import type { Stranger } from './stranger.ts';

const imagines = 'matrix: { n: [1, 2, 3] }\nsteps: { grid: { imagine: "a fox {{ n }}" } }\n';
const split = 'matrix: { n: [1, 2, 3] }\nsteps: { grid: { imagine: "a fox {{ n }}", grid: split } }\n';

/** Answers a fetch with a record of its task. @param links so many links of the task's own image */
const record =
  (of: (links: readonly string[]) => Readonly<Record<string, unknown>>) =>
  ({ path, headers }: FakeRequest) => {
    const id = /task\/([^/]+)\/fetch/.exec(path)?.[1] ?? '';
    const links = [1, 2, 3, 4, 5].map((n) => `http://${headers.host}/images/${id}.${n}.png?ex=1`);
    return {
      status: 200,
      body: { id, progress: '100%', buttons: [], ...of(links) },
      when: 'after' as const,
    };
  };

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
  {
    name: 'a gateway with four imageUrls and no imageUrl gives four outputs',
    source: 'midjourney-proxy records without a grid',
    pipeline: imagines,
    service: { polls: 0 },
    exchanges: [['fetch', record((l) => ({ status: 'SUCCESS', imageUrl: null, imageUrls: l.slice(0, 4) }))]],
    verdict: { exit: 0, rows: { done: 12 }, asked: { imagine: 3, image: 12 } },
  },
  {
    name: 'a gateway with four imageUrls and no grid has nothing cut',
    source: 'midjourney-proxy records without a grid',
    pipeline: split,
    service: { polls: 0 },
    exchanges: [
      ['fetch', record((l) => ({ status: 'SUCCESS', imageUrls: l.slice(0, 4).map((url) => ({ url })) }))],
    ],
    verdict: { exit: 0, rows: { done: 12 }, asked: { image: 12 } },
  },
  {
    name: 'a gateway whose imageUrl is the first of its imageUrls gives all of them',
    source: 'midjourney-proxy records without a grid',
    pipeline: imagines,
    service: { polls: 0 },
    exchanges: [['fetch', record((l) => ({ status: 'SUCCESS', imageUrl: l[0], imageUrls: l.slice(0, 2) }))]],
    verdict: { exit: 0, rows: { done: 6 }, asked: { image: 6 } },
  },
  {
    name: 'a gateway with a grid and its four frames gives the frames where they are wanted',
    source: 'midjourney-proxy records with imageUrls',
    pipeline: split,
    service: { polls: 0 },
    exchanges: [['fetch', record((l) => ({ status: 'SUCCESS', imageUrl: l[4], imageUrls: l.slice(0, 4) }))]],
    verdict: { exit: 0, rows: { done: 15 }, asked: { image: 15 } },
  },
  {
    name: 'a gateway with a grid and its four frames gives the grid alone where no frames are wanted',
    source: 'midjourney-proxy records with imageUrls',
    pipeline: imagines,
    service: { polls: 0 },
    exchanges: [['fetch', record((l) => ({ status: 'SUCCESS', imageUrl: l[4], imageUrls: l.slice(0, 4) }))]],
    verdict: { exit: 0, rows: { done: 3 }, asked: { image: 3 } },
  },
  ...['FAILED', 'failed', 'ERROR', ' failure '].map(
    (status): Stranger => ({
      name: `a gateway that says ${JSON.stringify(status)} for a failed task fails its row with the reason`,
      source: 'gateways of the family that name states otherwise',
      pipeline: imagines,
      exchanges: [['fetch', record(() => ({ status, failReason: 'Invalid parameter' }))]],
      verdict: { exit: 1, rows: { failed: 3 }, codes: { 'task.rejected': 3 }, says: ['Invalid parameter'] },
    }),
  ),
  {
    name: 'a gateway that says CANCELED ends its rows as cancelled',
    source: 'gateways of the family that name states otherwise',
    pipeline: imagines,
    exchanges: [['fetch', record(() => ({ status: 'CANCELED' }))]],
    verdict: { exit: 1, rows: { failed: 3 }, codes: { 'task.cancelled': 3 } },
  },
  ...['success', 'Success ', 'COMPLETED', 'succeeded'].map(
    (status): Stranger => ({
      name: `a gateway that says ${JSON.stringify(status)} for a finished task gives its image`,
      source: 'gateways of the family that name states otherwise',
      pipeline: imagines,
      service: { polls: 0 },
      exchanges: [['fetch', record((l) => ({ status, imageUrl: l[0] }))]],
      verdict: { exit: 0, rows: { done: 3 }, asked: { image: 3 } },
    }),
  ),
  {
    name: 'a proxy that matches no message fails its rows after one resubmission, and the summary says that it paid again',
    source: 'midjourney-proxy (novicezk) 2.6.3',
    pipeline: imagines,
    exchanges: [['fetch', record(() => ({ status: 'FAILURE', failReason: '任务超时' }))]],
    verdict: {
      exit: 1,
      rows: { failed: 3 },
      codes: { 'task.failed': 3 },
      asked: { imagine: 6 },
      says: ['3 tasks timed out at the gateway and were paid again', 'double blanks'],
    },
  },
  {
    name: 'a proxy whose record of a timed-out task repeats the prompt with its link fails the row after one resubmission',
    source: 'novicezk/midjourney-proxy 212',
    pipeline: 'steps: { grid: { imagine: "https://x.test/1.jpg A girl, business attire --v 5 --iw 1" } }\n',
    exchanges: [
      [
        'fetch',
        record(() => ({
          action: 'IMAGINE',
          prompt: 'https://x.test/1.jpg A girl, business attire --v 5 --iw 1',
          description: '/imagine https://x.test/1.jpg A girl, business attire --v 5 --iw 1',
          state: null,
          submitTime: 1687918434046,
          startTime: 1687918434065,
          finishTime: 1687918745088,
          imageUrl: null,
          status: 'FAILURE',
          progress: '',
          failReason: '任务超时',
        })),
      ],
    ],
    verdict: { exit: 1, rows: { failed: 1 }, codes: { 'task.failed': 1 }, asked: { imagine: 2 } },
  },
];
