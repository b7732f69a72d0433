/**
 * A scripted gateway on 127.0.0.1: the whole image workflow, generate, chat and models, small and quick,
 * for every test that needs a service. Deterministic: ids are counted, tasks advance by being polled, nothing looks at a clock. It shares
 * no code with src/, so that it cannot share its errors.
 *
 * As a process of its own it prints its address: `npx tsx test/rig/fake-service.ts --port 0 --key test-key --polls 1`;
 * `GET /fake/state` then tells its counters and the tokens of its answers, which it prints as well when it is interrupted.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { type Address, submitRoutes } from './fake-address.ts';
import { FakeGateway } from './fake-gateway.ts';
import type { FakeGatewayOptions } from './fake-options.ts';
import { faultReply, json, type Reply, send, spoil } from './fake-reply.ts';
import type { FakeSubmits } from './fake-submits.ts';
import type { FakeTask } from './fake-task.ts';
import type { FakeTexts } from './fake-text.ts';
import {
  type FakeRequest,
  type FakeRoute,
  type Fault,
  type FaultAction,
  type FaultSchedule,
  type FaultScript,
  fakeRoutes,
  ScriptedFault,
  Tally,
} from './faults.ts';

export type { FakeAsk } from './fake-ask.ts';
export type { FakeSaying, FakeSays } from './fake-saying.ts';
export type { FakeModal, FakeSubmit, FakeSubmits } from './fake-submits.ts';
export type { FakeButton, FakeTask, TaskScript } from './fake-task.ts';
export type { FakeTexts } from './fake-text.ts';
export type { FakeRequest, FakeRoute, Fault, FaultAction, FaultSchedule, FaultScript } from './faults.ts';

export interface FakeServiceOptions extends FakeGatewayOptions {
  /** Default 0: any free one. */
  readonly port?: number;
  /** Files that lie behind the same address: answers a path and says so, and no other knows of it. Default: there are none. */
  readonly files?: (path: string, response: ServerResponse) => boolean;
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
  readonly submits: FakeSubmits;
  readonly texts: FakeTexts;
  /** By task id. */
  readonly tasks: ReadonlyMap<string, FakeTask>;
  /**
   * High-water marks. A task is in flight from its submission until a poll has told its end. Requests are answered at
   * once: to see many of them at the same time, let them `hang`.
   */
  readonly peak: { readonly requests: number; readonly tasks: number };
  /** Requests for images or for the redirect's site that carried the key. */
  readonly strayKeys: number;
  /** Sets a fault. The first set that hits a request wins. `submit` is every submission of image work. */
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

export async function startFakeService(options: FakeServiceOptions = {}): Promise<FakeService> {
  const gateway = new FakeGateway(options);
  const requests: FakeRequest[] = [];
  const tallies = Object.fromEntries(fakeRoutes.map((route) => [route, new Tally()])) as Record<
    FakeRoute,
    Tally
  >;
  const faults: ScriptedFault[] = [];
  let openRequests = 0;
  let peakRequests = 0;
  let strayKeys = 0;

  const serve = async (request: FakeRequest, address: Address, response: ServerResponse): Promise<void> => {
    let hit: { fault: ScriptedFault; action: FaultAction } | undefined;
    for (const fault of faults) {
      const action = fault.take(request);
      if (action !== undefined) {
        hit = { fault, action };
        break;
      }
    }
    // In the same turn as what follows: who waits for the count, or for the fault, finds the request carried out.
    tallies[request.route].add();
    const sendWhole = (reply: Reply): void => {
      gateway.texts.sent(reply, reply.body.length);
      send(response, reply);
    };
    if (hit === undefined) return sendWhole(gateway.answer(request, address));
    const { fault, action } = hit;
    if ('hang' in action) {
      const ready = action.hang === 'after' ? gateway.answer(request, address) : undefined;
      await fault.hold();
      sendWhole(ready ?? gateway.answer(request, address));
    } else if ('says' in action) {
      const { says } = action;
      const instead = typeof says === 'function' ? says : () => says;
      sendWhole(gateway.answer(request, address, instead));
    } else if ('reset' in action) {
      if (action.reset === 'after') gateway.answer(request, address);
      response.socket?.resetAndDestroy();
    } else if ('status' in action) {
      if (action.when === 'after') gateway.answer(request, address);
      send(response, faultReply(action));
    } else if ('code' in action) {
      const { code, description = '', result = null, properties = {} } = action;
      send(response, json({ code, description, result, properties }));
    } else {
      const reply = gateway.answer(request, address);
      gateway.texts.sent(reply, 'truncate' in action ? action.truncate : reply.body.length);
      spoil(response, reply, action);
    }
  };

  const receive = (incoming: IncomingMessage, response: ServerResponse, bytes: Buffer): void => {
    const path = incoming.url ?? '/';
    if (path === '/fake/state') {
      const counts = Object.fromEntries(fakeRoutes.map((route) => [route, tallies[route].count]));
      const { tokens, byName } = gateway.texts;
      const byPath = Object.fromEntries(gateway.byPath);
      return send(response, json({ counts, byPath, byName: Object.fromEntries(byName), tokens }));
    }
    if (options.files?.(path, response)) return;
    const address = gateway.locate(path);
    const { route } = address;
    const n = tallies[route].count + 1;
    const { method = '', headers } = incoming;
    const request: FakeRequest = { route, method, path, headers, body: parseBody(bytes), n };
    if (options.log !== false) requests.push(request);
    const isElsewhere = route === 'image' || route === 'site';
    if (isElsewhere && JSON.stringify(headers).includes(gateway.apiKey)) strayKeys += 1;
    serve(request, address, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  };

  const server = createServer((incoming, response) => {
    openRequests += 1;
    peakRequests = Math.max(peakRequests, openRequests);
    response.once('close', () => {
      openRequests -= 1;
    });
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => response.destroy());
    incoming.on('end', () => receive(incoming, response, Buffer.concat(chunks)));
  });
  // Tests decide when a connection ends; an idle one must not be closed under a client.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  gateway.origin = `http://127.0.0.1:${port}`;

  return {
    url: `${gateway.origin}${gateway.basePath}`,
    port,
    apiKey: gateway.apiKey,
    count: (route) => tallies[route].count,
    reached: (route, n) => tallies[route].reached(n),
    requests,
    submits: gateway,
    texts: gateway.texts,
    tasks: gateway.tasks,
    get peak() {
      return { requests: peakRequests, tasks: gateway.peak };
    },
    get strayKeys() {
      return strayKeys;
    },
    fault(route, action, schedule = {}) {
      const script: FaultScript = typeof action === 'function' ? action : () => action;
      const fault = new ScriptedFault(routesOf(route), script, schedule);
      faults.push(fault);
      return fault;
    },
    finish: (id) => gateway.finish(id),
    renewButtons: (id) => gateway.renewButtons(id),
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await closed;
    },
  };
}

function routesOf(route: FakeRoute | 'submit' | 'any'): readonly FakeRoute[] {
  if (route === 'any') return fakeRoutes;
  return route === 'submit' ? submitRoutes : [route];
}

/** Undefined for what is no JSON object: that is answered with 400. */
function parseBody(bytes: Buffer): FakeRequest['body'] {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8')) as FakeRequest['body'];
  } catch {
    return undefined;
  }
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
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      const counts = Object.fromEntries(fakeRoutes.map((route) => [route, service.count(route)]));
      console.log(JSON.stringify({ counts, tokens: service.texts.tokens }));
      void service.close();
    });
}
