/**
 * A scripted gateway on 127.0.0.1: imagine, action, fetch and the images, small and quick, for every test that needs
 * a service. Deterministic: ids are counted, tasks advance by being polled, nothing looks at a clock. It shares
 * no code with src/, so that it cannot share its mistakes.
 *
 * As a process of its own it prints its address: `npx tsx test/rig/fake-service.ts --port 0 --key test-key --polls 1`;
 * `GET /fake/state` then tells its counters.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { buttonsAfter, type FakeButton, type FakeTask, type TaskScript, wantsModal } from './fake-task.ts';
import {
  type FakeRequest,
  type FakeRoute,
  type Fault,
  type FaultAction,
  type FaultSchedule,
  type FaultScript,
  ScriptedFault,
  Tally,
} from './faults.ts';
import { makePng } from './png.ts';

export type { FakeButton, FakeTask, TaskScript } from './fake-task.ts';
export type { FakeRequest, FakeRoute, Fault, FaultAction, FaultSchedule, FaultScript } from './faults.ts';

export interface FakeServiceOptions {
  /** Default 0: any free one. */
  readonly port?: number;
  /** Default `test-key`. */
  readonly apiKey?: string;
  /** Path the API lies under, for example `/proxy/v2`. Default none. */
  readonly basePath?: string;
  /** Default `neutral`: `/img`, `IMG::`; `midjourney-proxy`: `/mj`, `MJ::`. */
  readonly names?: 'neutral' | 'midjourney-proxy';
  /** Polls that see a task unfinished before one sees it finished. Default 1. */
  readonly polls?: number;
  /** How single tasks go. Called once, when the task is made. */
  readonly script?: (task: FakeTask) => TaskScript | undefined;
  /** Pixels of the images. Default 8 by 8. */
  readonly image?: { readonly width: number; readonly height: number };
  /** A link answers this often, then 403 until the task is fetched again (which gives a fresh link). Default always. */
  readonly downloads?: number;
  /** Task ids by number. Default 16 digits, counted. */
  readonly id?: (n: number) => string;
  /** Ids leave as bare JSON numbers. */
  readonly bareIds?: boolean;
  /** More tasks than this in flight are refused with code 23. Default no limit. */
  readonly capacity?: number;
  /** Keep `requests`; off for the big runs. Default true. */
  readonly log?: boolean;
}

/** A submission that made a task. */
export interface FakeSubmit {
  readonly task: FakeTask;
  readonly route: 'imagine' | 'action';
  readonly body: Readonly<Record<string, unknown>>;
}

export interface FakeService {
  /** `http://127.0.0.1:<port>`, with `basePath`. */
  readonly url: string;
  readonly port: number;
  readonly apiKey: string;
  /** Requests that arrived on a route, whatever was answered. `site`: followed redirects. */
  count(route: FakeRoute): number;
  /** Resolves once `n` requests have arrived on the route. */
  reached(route: FakeRoute, n: number): Promise<void>;
  /** All requests in order of arrival (unless `log: false`). */
  readonly requests: readonly FakeRequest[];
  readonly submits: {
    /** In order; only those that made a task. */
    readonly all: readonly FakeSubmit[];
    /** Prompt of an imagine → tasks made of it. */
    readonly byPrompt: ReadonlyMap<string, number>;
    /** `<parent task id> <customId>` → tasks made of it. */
    readonly byClick: ReadonlyMap<string, number>;
    /** `<prompt> > <path of labels>` → tasks made of it: the same click, whatever the ids. */
    readonly byPath: ReadonlyMap<string, number>;
  };
  readonly tasks: ReadonlyMap<string, FakeTask>;
  /** High-water marks. A task is in flight from its submission until a poll has told its end. */
  readonly peak: { readonly requests: number; readonly tasks: number };
  /** Requests for images or for the redirect's site that carried the key. */
  readonly strayKeys: number;
  /** Sets a fault. The first set that hits a request wins. `submit` is imagine and action. */
  fault(
    route: FakeRoute | 'submit' | 'any',
    action: FaultAction | FaultScript,
    schedule?: FaultSchedule,
  ): Fault;
  /** Ends a task (all tasks) at the next poll, whatever its script says. */
  finish(id?: string): void;
  /** Gives a task new customIds: those read before are outdated. */
  renewButtons(id: string): void;
  /** Cuts every connection and stops listening. */
  close(): Promise<void>;
}

/** An answer that is ready to be sent. */
interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const words = {
  neutral: { path: 'img', prefix: 'IMG', errorType: 'svc_api_error' },
  'midjourney-proxy': { path: 'mj', prefix: 'MJ', errorType: 'new_api_error' },
} as const;

const json = (value: unknown, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: Buffer.from(JSON.stringify(value)),
});

const html = (text: string, status: number, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
  body: Buffer.from(text),
});

const refused = (code: number, description: string): Reply =>
  json({ code, description, result: null, properties: {} });

const increment = (map: Map<string, number>, key: string): void => {
  map.set(key, (map.get(key) ?? 0) + 1);
};

interface Address {
  readonly route: FakeRoute | undefined;
  readonly speed: 'relax' | 'fast' | 'turbo';
  readonly id: string;
}

export async function startFakeService(options: FakeServiceOptions = {}): Promise<FakeService> {
  const {
    apiKey = 'test-key',
    basePath = '',
    downloads = Infinity,
    capacity = Infinity,
    log = true,
  } = options;
  const { path: word, prefix, errorType } = words[options.names ?? 'neutral'];
  const size = options.image ?? { width: 8, height: 8 };
  const makeId = options.id ?? ((n: number): string => String(1_700_000_000_000_000 + n));

  const tasks = new Map<string, FakeTask>();
  const all: FakeSubmit[] = [];
  const byPrompt = new Map<string, number>();
  const byClick = new Map<string, number>();
  const byPath = new Map<string, number>();
  const requests: FakeRequest[] = [];
  const tallies: Record<FakeRoute, Tally> = {
    imagine: new Tally(),
    action: new Tally(),
    fetch: new Tally(),
    image: new Tally(),
    site: new Tally(),
  };
  const faults: ScriptedFault[] = [];
  const peak = { requests: 0, tasks: 0 };
  let strayKeys = 0;
  let openRequests = 0;
  let openTasks = 0;
  let requestIds = 0;
  let port = 0;

  const nextRequestId = (): string => `20261101${String(++requestIds).padStart(10, '0')}`;
  const refuse = (status: number, text: string): Reply =>
    json(
      { error: { code: '', message: `${text} (request id: ${nextRequestId()})`, type: errorType } },
      status,
    );

  /** Ids may be sent as bare numbers, which JSON.stringify cannot write beyond 2^53. */
  const withId = (key: string, id: string, rest: object): Reply => {
    if (options.bareIds !== true) return json({ ...rest, [key]: id });
    const text = JSON.stringify({ ...rest, [key]: '@id' }).replace('"@id"', id);
    return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(text) };
  };

  const locate = (path: string): Address => {
    const none: Address = { route: undefined, speed: 'relax', id: '' };
    if (path.startsWith('/images/'))
      return { ...none, route: 'image', id: path.slice(8).split(/[.?]/, 1)[0] ?? '' };
    if (path.startsWith('/site/')) return { ...none, route: 'site' };
    if (!path.startsWith(`${basePath}/`)) return none;
    const parts = path.slice(basePath.length + 1).split('/');
    let speed: Address['speed'] = 'relax';
    if (parts[0] === `${word}-fast` || parts[0] === `${word}-turbo`) {
      speed = parts[0] === `${word}-fast` ? 'fast' : 'turbo';
      parts.shift();
    }
    if (parts[0] !== word) return none;
    if (parts[1] === 'submit' && parts.length === 3 && (parts[2] === 'imagine' || parts[2] === 'action')) {
      return { route: parts[2], speed, id: '' };
    }
    if (parts[1] === 'task' && parts.length === 4 && parts[3] === 'fetch') {
      return { route: 'fetch', speed, id: decodeURIComponent(parts[2] ?? '') };
    }
    return none;
  };

  const makeTask = (
    route: 'imagine' | 'action',
    speed: Address['speed'],
    body: Readonly<Record<string, unknown>>,
    parent?: FakeTask,
    pressed?: FakeButton,
  ): FakeTask => {
    const number = tasks.size + 1;
    const step = pressed === undefined ? '' : pressed.label || pressed.emoji;
    const task: FakeTask = {
      id: makeId(number),
      number,
      kind: route,
      speed,
      prompt: parent?.prompt ?? String(body['prompt']),
      ...(parent && { parent }),
      ...(pressed && { pressed }),
      path: parent?.path ? `${parent.path}/${step}` : step,
      script: {},
      buttons: buttonsAfter(pressed, number, prefix),
      polls: 0,
      ended: false,
      released: false,
      link: 1,
      downloads: 0,
    };
    const script = options.script?.(task);
    if (script !== undefined) Object.assign(task, { script, buttons: script.buttons ?? task.buttons });
    tasks.set(task.id, task);
    all.push({ task, route, body });
    if (parent === undefined) increment(byPrompt, task.prompt);
    else increment(byClick, `${parent.id} ${pressed?.customId}`);
    increment(byPath, task.path === '' ? task.prompt : `${task.prompt} > ${task.path}`);
    openTasks += 1;
    peak.tasks = Math.max(peak.tasks, openTasks);
    return task;
  };

  const submitted = (task: FakeTask): Reply =>
    task.pressed && wantsModal(task.pressed)
      ? withId('result', task.id, {
          code: 21,
          description: 'Waiting for window confirm',
          properties: { finalPrompt: task.prompt, remix: true },
        })
      : withId('result', task.id, { code: 1, description: 'Submit success', properties: {} });

  const imagine = (request: FakeRequest, speed: Address['speed']): Reply => {
    const { body } = request;
    if (typeof body?.['prompt'] !== 'string' || body['prompt'] === '')
      return refused(4, 'prompt_is_required');
    if (openTasks >= capacity) return refused(23, '队列已满，请稍后尝试');
    return submitted(makeTask('imagine', speed, body));
  };

  const action = (request: FakeRequest, speed: Address['speed']): Reply => {
    const { body } = request;
    const parent = tasks.get(String(body?.['taskId']));
    if (body === undefined || parent === undefined) return refused(3, '关联任务不存在或已失效');
    if (!parent.ended) return refused(4, '关联任务状态错误');
    const pressed = parent.buttons.find((b) => b.customId === body['customId']);
    if (pressed === undefined) return refused(4, 'customId is outdated');
    if (openTasks >= capacity) return refused(23, '队列已满，请稍后尝试');
    return submitted(makeTask('action', speed, body, parent, pressed));
  };

  const fetchTask = (id: string): Reply => {
    const task = tasks.get(id);
    if (task === undefined)
      return json({ description: 'task_no_found ', type: 'upstream_error', code: 4 }, 400);
    task.polls += 1;
    const { script } = task;
    const modal = task.pressed !== undefined && wantsModal(task.pressed) && script.status === undefined;
    const done = !modal && (task.released || task.polls > (script.polls ?? options.polls ?? 1));
    if (done && !task.ended) {
      task.ended = true;
      openTasks -= 1;
    }
    const status = done ? (script.status ?? 'SUCCESS') : modal ? 'MODAL' : 'IN_PROGRESS';
    const success = status === 'SUCCESS';
    if (success && task.downloads >= downloads) {
      task.link += 1;
      task.downloads = 0;
    }
    const link = `http://127.0.0.1:${port}/images/${encodeURIComponent(task.id)}.png?ex=${task.link}`;
    return withId('id', task.id, {
      action: task.kind === 'imagine' ? 'IMAGINE' : 'ACTION',
      status,
      progress: done ? '100%' : `${Math.min(99, task.polls * 15)}%`,
      prompt: task.prompt,
      imageUrl: success ? (script.imageUrl ?? link) : '',
      failReason: done && !success ? (script.failReason ?? '[Internal error] Something went wrong') : '',
      buttons: success ? task.buttons : [],
      ...script.answer?.(task.polls),
    });
  };

  const image = (request: FakeRequest, id: string): Reply => {
    const task = tasks.get(decodeURIComponent(id));
    if (task === undefined) return json({ error: 'midjourney_task_not_found' }, 404);
    if (!request.path.endsWith(`?ex=${task.link}`) || task.downloads >= downloads) {
      return json({ error: 'This content is no longer available.' }, 403);
    }
    task.downloads += 1;
    const body = task.script.image ?? makePng(task.number, size.width, size.height);
    return { status: 200, headers: { 'content-type': 'image/png' }, body };
  };

  /** The proper answer; carries the request out. */
  const answer = (request: FakeRequest, address: Address): Reply => {
    if (request.route === 'site') return html('<!doctype html><title>Welcome</title>', 200);
    if (request.route === 'image') return image(request, address.id);
    if (request.headers.authorization !== `Bearer ${apiKey}`) return refuse(401, 'invalid token');
    if (request.route === 'fetch') return fetchTask(address.id);
    if (request.method !== 'POST' || request.body === undefined) return refuse(400, 'invalid request');
    return request.route === 'imagine' ? imagine(request, address.speed) : action(request, address.speed);
  };

  const server: Server = createServer((incoming, response) => {
    openRequests += 1;
    peak.requests = Math.max(peak.requests, openRequests);
    response.once('close', () => {
      openRequests -= 1;
    });
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => response.destroy());
    incoming.on('end', () => {
      const path = incoming.url ?? '/';
      if (path === '/fake/state') {
        const counts = Object.fromEntries(Object.entries(tallies).map(([route, t]) => [route, t.count]));
        send(response, json({ counts, peak, byPath: Object.fromEntries(byPath) }));
        return;
      }
      const address = locate(path);
      if (address.route === undefined) {
        // service.md 7.3: an unknown path leads to the public web site.
        const location = `http://127.0.0.1:${port}/site${path}`;
        send(response, html('<title>301</title>', 301, { location }));
        return;
      }
      const request = read(incoming, address.route, chunks);
      serve(request, address, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error(String(error)));
      });
    });
  });
  // Tests decide when a connection ends; an idle one must not be closed under a client.
  server.keepAliveTimeout = 600_000;

  const read = (incoming: IncomingMessage, route: FakeRoute, chunks: readonly Buffer[]): FakeRequest => {
    let body: FakeRequest['body'];
    if (chunks.length > 0) {
      try {
        body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as NonNullable<FakeRequest['body']>;
      } catch {
        body = undefined; // a malformed body is a test's subject, answered 400
      }
    }
    const request: FakeRequest = {
      route,
      method: incoming.method ?? '',
      path: incoming.url ?? '/',
      headers: incoming.headers,
      body,
      n: tallies[route].count + 1,
    };
    if (log) requests.push(request);
    if (
      (route === 'image' || route === 'site') &&
      Object.values(incoming.headers).some((v) => String(v).includes(apiKey))
    ) {
      strayKeys += 1;
    }
    return request;
  };

  const serve = async (request: FakeRequest, address: Address, response: ServerResponse): Promise<void> => {
    let hit: { fault: ScriptedFault; action: FaultAction } | undefined;
    for (const fault of faults) {
      const action = fault.take(request);
      if (action !== undefined) {
        hit = { fault, action };
        break;
      }
    }
    // Counted after the faults are chosen and in the same turn as the answer: who waits for the count finds both done.
    tallies[request.route].add();
    if (hit === undefined) {
      send(response, answer(request, address));
      return;
    }
    const { fault, action } = hit;
    if ('hang' in action) {
      const ready = action.hang === 'after' ? answer(request, address) : undefined;
      await fault.hold();
      send(response, ready ?? answer(request, address));
    } else if ('reset' in action) {
      if (action.reset === 'after') answer(request, address);
      response.socket?.resetAndDestroy();
    } else if ('status' in action) {
      if (action.when === 'after') answer(request, address);
      send(response, faultReply(action));
    } else if ('code' in action) {
      const { code, description = '', result = null, properties = {} } = action;
      send(response, json({ code, description, result, properties }));
    } else {
      spoil(response, answer(request, address), action);
    }
  };

  server.listen(options.port ?? 0, '127.0.0.1');
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  port = (server.address() as AddressInfo).port;

  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    port,
    apiKey,
    count: (route) => tallies[route].count,
    reached: (route, n) => tallies[route].reached(n),
    requests,
    submits: { all, byPrompt, byClick, byPath },
    tasks,
    peak,
    get strayKeys() {
      return strayKeys;
    },
    fault(route, action, schedule = {}) {
      const routes: FakeRoute[] =
        route === 'any'
          ? ['imagine', 'action', 'fetch', 'image', 'site']
          : route === 'submit'
            ? ['imagine', 'action']
            : [route];
      const fault = new ScriptedFault(routes, typeof action === 'function' ? action : () => action, schedule);
      faults.push(fault);
      return fault;
    },
    finish(id) {
      for (const task of id === undefined ? tasks.values() : [tasks.get(id)]) {
        if (task === undefined) throw new Error(`no task ${id}`);
        task.released = true;
      }
    },
    renewButtons(id) {
      const task = tasks.get(id);
      if (task === undefined) throw new Error(`no task ${id}`);
      const generation = Number.parseInt(task.buttons[0]?.customId.split('::').at(3) ?? '0', 16) + 1;
      task.buttons = buttonsAfter(task.pressed, task.number, prefix, generation);
    },
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, { ...reply.headers, 'content-length': reply.body.length });
  response.end(reply.body);
}

function faultReply(action: {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}): Reply {
  const { status, body, headers = {} } = action;
  const plain =
    Buffer.isBuffer(body) || typeof body === 'string' || body === undefined
      ? Buffer.from(body ?? '')
      : undefined;
  const type =
    plain === undefined ? 'application/json' : plain[0] === 0x3c /* < */ ? 'text/html' : 'application/json';
  return {
    status,
    headers: { 'content-type': type, ...headers },
    body: plain ?? Buffer.from(JSON.stringify(body)),
  };
}

/** Sends a proper answer badly. */
function spoil(
  response: ServerResponse,
  reply: Reply,
  action: { readonly truncate: number } | { readonly drip: number } | { readonly endless: true },
): void {
  if ('endless' in action) {
    response.writeHead(reply.status, reply.headers);
    const block = Buffer.alloc(64 * 1024, 0x20);
    const pump = (): void => {
      while (!response.destroyed && response.write(block));
    };
    response.on('drain', pump);
    response.on('error', () => response.destroy());
    pump();
    return;
  }
  response.writeHead(reply.status, { ...reply.headers, 'content-length': reply.body.length });
  if ('truncate' in action) {
    response.write(reply.body.subarray(0, action.truncate), () => response.socket?.destroy());
    return;
  }
  let sent = 0;
  const timer = setInterval(() => {
    if (sent >= reply.body.length) {
      clearInterval(timer);
      response.end();
    } else {
      response.write(reply.body.subarray(sent, ++sent));
    }
  }, action.drip);
  response.once('close', () => clearInterval(timer));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      key: { type: 'string', default: 'test-key' },
      polls: { type: 'string', default: '1' },
      names: { type: 'string', default: 'neutral' },
    },
  });
  const service = await startFakeService({
    port: Number(values.port),
    apiKey: values.key,
    polls: Number(values.polls),
    names: values.names === 'midjourney-proxy' ? 'midjourney-proxy' : 'neutral',
    log: false,
  });
  console.log(service.url);
}
