import type { SaveFailure } from '../../../src/artifacts/writer.ts';

/**
 * What can happen to a submission, in the words of its refusals (gateway 3.2, 8). `-made`: a task exists all the same;
 * `-flat`: in the gateway's own shape of a refusal, `{description, type, code}`; `exists`: code 21 of a gateway that has made
 * the task before, and that of one whose task has failed.
 */
export const submitFaults = [
  '400',
  '403',
  '413',
  '429',
  '429-after',
  '408',
  '500',
  '500-made',
  '502',
  '503',
  '504',
  '504-made',
  '520',
  '524',
  '524-made',
  '400-code-5',
  '400-code-5-made',
  'code-22',
  'code-23',
  'code-9',
  'code-9-unsupported',
  'code-3-account',
  'code-3-task',
  'code-3-404',
  'code-3-passing',
  'code-4',
  'code-4-flat',
  'code-24',
  'code-21',
  'code-21-exists',
  'code-21-exists-failed',
  'code-30',
  'code-unknown',
  'code-unknown-made',
  'several-made',
  '500-permanent',
  'unknown-action',
  'quota',
  'unauthorized',
  'redirect',
  'refused',
  'reset',
  'reset-made',
  'timeout-made',
  'truncated-made',
  'empty-made',
  'html-502',
  'bare-id',
  'not-ready',
  'not-ready-flat',
  'unread-retry',
  'unread-permanent',
] as const;
export type SubmitFault = (typeof submitFaults)[number];

/** What can happen to the mask of a click before that is sent. */
export const maskFaults = ['unread-retry', 'unread-permanent'] as const;
export type MaskFault = (typeof maskFaults)[number];

/**
 * What can happen to a poll of a task (gateway 4.3, 4.1): no answer, one that there is no such task, or what is said of the
 * task is odd or not all. `no-link`, `no-videos` and `no-prompts` are of finished tasks.
 */
export const fetchFaults = [
  '429',
  '500',
  '502',
  '503',
  '504',
  '524',
  'reset',
  'timeout',
  'truncated',
  'unknown',
  '404',
  '204',
  'null',
  'html-502',
  'empty-status',
  'unknown-status',
  'odd-progress',
  'null-buttons',
  'no-link',
  'no-videos',
  'no-prompts',
  'listed-link',
  'broken-json',
] as const;
export type FetchFault = (typeof fetchFaults)[number];

/** What can happen to a download. */
export const saveFaults = ['fresh-link', 'retry', 'throttle', 'permanent', 'disk'] as const;
export type SaveFault = (typeof saveFaults)[number];

/** The writer's answer to each. */
export const saveFailures: Readonly<Record<SaveFault, SaveFailure>> = {
  'fresh-link': { code: 'download.refused', class: 'fresh-link', message: 'HTTP 403', status: 403 },
  retry: { code: 'download.truncated', class: 'retry', message: 'It ended early.' },
  throttle: {
    code: 'download.status',
    class: 'throttle',
    message: 'HTTP 429',
    status: 429,
    retryAfterMs: 2000,
  },
  permanent: { code: 'download.not-image', class: 'permanent', message: 'It is a page.' },
  disk: { code: 'disk.full', class: 'stop', message: 'No space left.' },
};

/** What can happen to a text call; `-counted`: the service worked all the same, and nobody hears of it. */
export const askFaults = [
  '400',
  '403',
  '413',
  '429',
  '429-retry-info',
  '500',
  '503',
  '504-counted',
  '524-counted',
  'html-502',
  'refused',
  'reset',
  'reset-counted',
  'timeout-counted',
  'truncated',
  'cut-event',
  'in-stream-503',
  'in-stream-429',
  'blocked',
  'filtered',
  'max-tokens',
  'all-thought',
  'empty',
  'bad-call',
  'stranger-call',
  'endless-calls',
  'not-json',
  'schema',
  'unread-retry',
  'unread-permanent',
  'unwritten-retry',
  'unwritten-permanent',
  'unwritten-disk',
] as const;
export type AskFault = (typeof askFaults)[number];

/**
 * What can be said to every request of one kind for a while: each leads to its closing, or to its rest. By the answer to a submission: what
 * a text call is answered meanwhile.
 */
export const spells = {
  'code-9-unsupported': '403',
  'code-3-account': '503',
  quota: '403',
  'code-4': '403',
  '503': '503',
} as const satisfies Readonly<Partial<Record<SubmitFault, AskFault>>>;
export type Spell = keyof typeof spells;

/** What the readers of inputs and the writer of answers say. */
export const fileFailures = {
  'unread-retry': { code: 'download.connection', class: 'retry', message: 'It broke off.' },
  'unread-permanent': { code: 'input.changed', class: 'permanent', message: 'It is another file.' },
  'unwritten-retry': { code: 'disk.io', class: 'retry', message: 'It was not written.' },
  'unwritten-permanent': { code: 'download.not-image', class: 'permanent', message: 'It is no image.' },
  'unwritten-disk': { code: 'disk.full', class: 'stop', message: 'No space left.' },
} as const satisfies Readonly<Partial<Record<AskFault, SaveFailure>>>;

const named = (what: string, kinds: readonly string[]): readonly string[] =>
  kinds.map((kind) => `${what}:${kind}`);

/** Every kind of trouble that histories are to meet, as the gateway counts them. */
export const faultNames: readonly string[] = [
  ...named('submit', submitFaults),
  ...named('mask', maskFaults),
  ...named('fetch', fetchFaults),
  ...named('save', saveFaults),
  ...named('ask', askFaults),
  // Of what a task shows: where there was something that it is about.
  ...named('row', ['empty-status', 'unknown-status', 'odd-progress', 'null-buttons', 'listed-link']),
  ...named('row', ['no-link', 'missing', 'stale', 'strange']),
  ...named('task list', ['none', 'misses', 'lags', 'untagged', 'newest']),
  ...named('id', ['shared']),
  ...named('modal', ['over', 'begun in vain']),
  ...named('spell', Object.keys(spells)),
  ...named('end', ['transient', 'permanent', 'stuck', 'lost', 'linkless']),
];
