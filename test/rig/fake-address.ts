import type { FakeTask } from './fake-task.ts';
import { locateText, type TextAddress } from './fake-text.ts';
import type { FakeRequest } from './faults.ts';

/** Where a request leads. */
export interface Address {
  readonly route: FakeRequest['route'];
  readonly speed: FakeTask['speed'];
  /** The path names its speed. */
  readonly prefixed?: true;
  /** Of a fetch, an image or a film. */
  readonly id: string;
  /** Of a film: which one of the task's, from 1. */
  readonly output?: number;
  readonly text?: TextAddress;
}

/** Submissions of image work: the last part of their paths (gateway 2.1). */
export const submitRoutes = [
  'imagine',
  'action',
  'change',
  'modal',
  'blend',
  'describe',
  'video',
  'edits',
] as const;

export type SubmitRoute = (typeof submitRoutes)[number];

export const isSubmitRoute = (word: string | undefined): word is SubmitRoute =>
  (submitRoutes as readonly (string | undefined)[]).includes(word);

const nowhere: Address = { route: 'unknown', speed: 'relax', id: '' };

/**
 * @param path as it was asked for
 * @param basePath the path that the API lies under
 * @param word the first part of image paths: `img` or `mj`
 */
export function locate(path: string, basePath: string, word: string): Address {
  const [, film, output] = /^\/images\/([^/]+)-(\d+)\.mp4/.exec(path) ?? [];
  if (film !== undefined) return { ...nowhere, route: 'image', id: film, output: Number(output) };
  if (path.startsWith('/images/'))
    return { ...nowhere, route: 'image', id: path.slice(8).split(/[.?]/, 1)[0] ?? '' };
  if (path.startsWith('/site/')) return { ...nowhere, route: 'site' };
  if (!path.startsWith(`${basePath}/`)) return nowhere;
  const text = locateText(path.slice(basePath.length));
  if (text !== undefined) return { ...nowhere, route: text.endpoint, text };
  const parts = path.slice(basePath.length + 1).split('/');
  const prefixed = (['fast', 'turbo', 'relax'] as const).find((mode) => parts[0] === `${word}-${mode}`);
  const speed = prefixed ?? 'relax';
  if (prefixed !== undefined) parts.shift();
  const [first, kind, second, third] = parts;
  if (first !== word) return nowhere;
  if (kind === 'submit' && parts.length === 3 && isSubmitRoute(second))
    return { route: second, speed, id: '', ...(prefixed && { prefixed: true }) };
  if (kind !== 'task') return nowhere;
  if (parts.length === 4 && third === 'fetch')
    return { route: 'fetch', speed, id: decodeURIComponent(second ?? '') };
  return parts.length === 3 && (second === 'list-by-condition' || second === 'list')
    ? { route: 'list', speed, id: second }
    : nowhere;
}
