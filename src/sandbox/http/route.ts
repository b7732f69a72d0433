import type { SandboxNames } from '../names.ts';
import type { Speed } from '../tasks/task.ts';

/** The endpoints the sandbox knows, by the names that counters and faults use. */
export type RouteName =
  | 'imagine'
  | 'action'
  | 'fetch'
  | 'image'
  | 'generate'
  | 'chat'
  | 'models'
  | 'modal'
  | 'blend'
  | 'describe'
  | 'video'
  | 'edits'
  /** Of the family, beyond service.md (protocol.md 3). */
  | 'list-by-condition'
  | 'list'
  | 'cancel'
  /** The sandbox's own: what it has counted. */
  | 'counters'
  | 'requests'
  | 'tasks';

/** A request's path, understood. */
export interface Route {
  readonly name: RouteName;
  /** From the path prefix (service.md 4.1.5). */
  readonly speed: Speed;
  /** Of a fetch, a cancel or an image. */
  readonly taskId: string;
  /** Of an image: which of the task's files, from 1; absent: what its imageUrl shows. */
  readonly output?: number;
  /** Of the native text endpoint: the model, and whether its answer is streamed (service.md 4.2). */
  readonly model?: string;
  readonly stream?: boolean;
}

/** The submissions of service.md 4.1. */
export const submits = ['imagine', 'action', 'modal', 'blend', 'describe', 'video', 'edits'] as const;

/** The route of a method and a path (without its query); undefined is a path mistake (service.md 7.3). */
export function routeOf(method: string, path: string, names: SandboxNames): Route | undefined {
  const parts = path.split('/').slice(1);
  const fixed = fixedRoute(method, parts);
  if (fixed !== undefined) return { name: fixed, speed: 'relax', taskId: '' };
  if (method === 'POST') {
    const [, model, operator] =
      /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(path) ?? [];
    if (model !== undefined) {
      const stream = operator === 'streamGenerateContent';
      return { name: 'generate', speed: 'relax', taskId: '', model, stream };
    }
  }

  const speed: Speed =
    parts[0] === names.fastPrefix ? 'fast' : parts[0] === names.turboPrefix ? 'turbo' : 'relax';
  const [root, area, word, last] = speed === 'relax' ? parts : parts.slice(1);
  const length = parts.length - (speed === 'relax' ? 0 : 1);
  if (root !== names.path) return undefined;
  if (method === 'POST' && area === 'submit' && length === 3) {
    const name = submits.find((candidate) => candidate === word);
    return name === undefined ? undefined : { name, speed, taskId: '' };
  }
  if (area === 'task' && method === 'POST') {
    if (length === 3 && (word === 'list-by-condition' || word === 'list-by-ids')) {
      return { name: 'list-by-condition', speed, taskId: '' };
    }
    return length === 4 && last === 'cancel' ? { name: 'cancel', speed, taskId: word ?? '' } : undefined;
  }
  if (word === undefined || word === '' || (method !== 'GET' && method !== 'HEAD')) return undefined;
  if (area === 'task' && last === 'fetch' && length === 4) return { name: 'fetch', speed, taskId: word };
  if (area === 'task' && word === 'list' && length === 3) return { name: 'list', speed, taskId: '' };
  if (area === 'image' && length === 4 && /^[1-9]$/.test(last ?? '')) {
    return { name: 'image', speed, taskId: word, output: Number(last) };
  }
  if (area === 'image' && length === 3) return { name: 'image', speed, taskId: word };
  return undefined;
}

function fixedRoute(method: string, parts: readonly string[]): RouteName | undefined {
  const path = parts.join('/');
  if (method === 'POST' && path === 'v1/chat/completions') return 'chat';
  if (method !== 'GET') return undefined;
  switch (path) {
    case 'v1/models':
      return 'models';
    case 'sandbox/counters':
      return 'counters';
    case 'sandbox/requests':
      return 'requests';
    case 'sandbox/tasks':
      return 'tasks';
    default:
      return undefined;
  }
}

/** Whether a route is a submission. */
export function isSubmit(name: string): name is (typeof submits)[number] {
  return submits.some((submit) => submit === name);
}

/** Whether a route needs the key: the service's endpoints do, image links and the sandbox's own do not. */
export function needsKey(name: RouteName): boolean {
  return name !== 'image' && !isSandboxOwn(name);
}

/** Whether a route is the sandbox's own: never counted, never met by a fault. */
export function isSandboxOwn(name: RouteName): boolean {
  return name === 'counters' || name === 'requests' || name === 'tasks';
}
