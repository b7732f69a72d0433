import { submissionRoutes } from '../../faults/fault.ts';
import type { SandboxNames } from '../../names.ts';
import type { Quirk } from '../../quirks.ts';
import type { TaskSpeed } from '../../settings.ts';

/** The names of the endpoints, as counters and faults use them. `counters`, `requests` and `tasks` show what the sandbox did. */
export type RouteName =
  | (typeof submissionRoutes)[number]
  | (
      | 'fetch'
      | 'image-seed'
      | 'list-by-condition'
      | 'list'
      | 'cancel'
      | 'image'
      | 'generate'
      | 'chat'
      | 'models'
    )
  | ('counters' | 'requests' | 'tasks');

/** An endpoint and the values that its path holds. */
export interface Endpoint {
  readonly name: RouteName;
  /** The speed of the path prefix (gateway 1.5). */
  readonly speed: TaskSpeed;
  /** Whether the path has a prefix for the speed. */
  readonly prefixed?: true;
  /** The task of a fetch, a cancel or an image; otherwise empty. */
  readonly taskId: string;
  /** The number of a task's file, from 1; absent for the file of its imageUrl. */
  readonly output?: number;
  /** The model of the native text endpoint, and whether its response is streamed (gateway 6.1). */
  readonly model?: string;
  readonly stream?: boolean;
}

/** Routes beyond the contract, for clients of the family (gateway 2.1). */
const familyRoutes: ReadonlySet<RouteName> = new Set(['change', 'simple-change']);

/** Finds the endpoint of a method and a path without its query, or undefined for a wrong path (gateway 8.3). */
export function endpointOf(method: string, path: string, names: SandboxNames): Endpoint | undefined {
  const fixed = fixedRoute(method, path);
  if (fixed !== undefined) return { name: fixed, speed: 'relax', taskId: '' };
  const native = method === 'POST' ? nativeRoute(path, names) : undefined;
  if (native !== undefined) return native;

  // A name may have several path segments, and may begin like another name.
  const speeds = (['relax', 'fast', 'turbo'] as const).flatMap((speed) => {
    const prefix = names[`${speed}Prefix`];
    return prefix === '' ? [] : [[speed, prefix] as const];
  });
  for (const [speed, prefix] of [...speeds, ['relax', ''] as const]) {
    const root = prefix === '' ? `/${names.path}/` : `/${prefix}/${names.path}/`;
    if (!path.startsWith(root)) continue;
    const route = imageRoute(method, path.slice(root.length), speed, names.familyClients);
    if (route === undefined || (familyRoutes.has(route.name) && !names.familyClients)) return undefined;
    return prefix === '' ? route : { ...route, prefixed: true };
  }
  return undefined;
}

/** The native text endpoint, under each of its paths (gateway 6.1). */
function nativeRoute(path: string, names: SandboxNames): Endpoint | undefined {
  for (const root of names.nativePaths.map((first) => `/${first}/models/`)) {
    const rest = path.startsWith(root) ? path.slice(root.length) : '';
    const [, model, operator] = /^([^/:]+):(generateContent|streamGenerateContent)$/.exec(rest) ?? [];
    if (model !== undefined) {
      const stream = operator === 'streamGenerateContent';
      return { name: 'generate', speed: 'relax', taskId: '', model, stream };
    }
  }
  return undefined;
}

/** Finds an endpoint of the image workflow. `path` follows the workflow's name; `aliases`: whether the family's other names count. */
function imageRoute(method: string, path: string, speed: TaskSpeed, aliases: boolean): Endpoint | undefined {
  const [area, word, last, ...more] = path.split('/');
  if (more.length > 0) return undefined;
  if (method === 'POST' && area === 'submit' && last === undefined) {
    const called = aliases && word === 'edit' ? 'edits' : word;
    const name = submissionRoutes.find((candidate) => candidate === called);
    return name === undefined ? undefined : { name, speed, taskId: '' };
  }
  if (area === 'task' && method === 'POST') {
    if (last === undefined && (word === 'list-by-condition' || word === 'list-by-ids')) {
      return { name: 'list-by-condition', speed, taskId: '' };
    }
    return last === 'cancel' ? { name: 'cancel', speed, taskId: word ?? '' } : undefined;
  }
  if (word === undefined || word === '' || (method !== 'GET' && method !== 'HEAD')) return undefined;
  if (area === 'task' && last === 'fetch') return { name: 'fetch', speed, taskId: word };
  if (area === 'task' && last === 'image-seed') return { name: 'image-seed', speed, taskId: word };
  if (area === 'task' && word === 'list' && last === undefined) return { name: 'list', speed, taskId: '' };
  if (area === 'image' && /^[1-9]$/.test(last ?? '')) {
    return { name: 'image', speed, taskId: word, output: Number(last) };
  }
  if (area === 'image' && last === undefined) return { name: 'image', speed, taskId: word };
  return undefined;
}

function fixedRoute(method: string, path: string): RouteName | undefined {
  if (method === 'POST' && path === '/v1/chat/completions') return 'chat';
  if (method !== 'GET') return undefined;
  switch (path) {
    case '/v1/models':
      return 'models';
    case '/sandbox/counters':
      return 'counters';
    case '/sandbox/requests':
      return 'requests';
    case '/sandbox/tasks':
      return 'tasks';
    default:
      return undefined;
  }
}

/** Routes that a proxy without buttons lacks. */
const buttonRoutes: ReadonlySet<RouteName> = new Set([
  'action',
  'modal',
  'video',
  'edits',
  'list-by-condition',
  'cancel',
  'image-seed',
]);

/** Whether a gateway with these quirks lacks the endpoint. */
export const isMissing = ({ name, prefixed }: Endpoint, quirks: ReadonlySet<Quirk>): boolean =>
  (prefixed === true && quirks.has('no-prefixes')) ||
  (name === 'image-seed' && quirks.has('no-seeds')) ||
  (buttonRoutes.has(name) && quirks.has('no-buttons'));

/** Whether a route needs the key: all do but image links and the sandbox's own routes. */
export function needsKey(name: RouteName): boolean {
  return name !== 'image' && !isSandboxOwn(name);
}

/** Whether a route is the sandbox's own, which no counter counts and no fault strikes. */
export function isSandboxOwn(name: RouteName): boolean {
  return name === 'counters' || name === 'requests' || name === 'tasks';
}
