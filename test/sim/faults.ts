import type { SaveFailure } from '../../src/artifacts/writer.ts';

/** What can happen to a submission, in the words of service.md 7 and protocol.md 2. `-made`: a task exists all the same. */
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
  'code-3-account',
  'code-3-task',
  'code-4',
  'code-24',
  'code-21',
  'refused',
  'reset',
  'reset-made',
  'timeout-made',
  'truncated-made',
  'empty-made',
  'html-502',
  'bare-id',
] as const;
export type SubmitFault = (typeof submitFaults)[number];

/** What can happen to a look at a task. */
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
  'null',
  'html-502',
  'empty-status',
  'null-buttons',
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
