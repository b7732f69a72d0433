import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Studio } from '../draw/studio.ts';
import { FaultDeck } from '../faults/deck.ts';
import type { FaultEffect } from '../faults/fault.ts';
import type { SandboxNames } from '../names.ts';
import { digestOf } from '../seeded.ts';
import type { SandboxSettings } from '../settings.ts';
import type { TaskBook } from '../tasks/book.ts';
import type { TaskDesk } from '../tasks/desk.ts';
import { recordOf } from '../tasks/record.ts';
import { refusalTexts, refused, type Submission } from '../tasks/submission.ts';
import type { TaskOutcome } from '../tasks/task.ts';
import { momentOf } from '../tasks/timeline.ts';
import type { Members } from '../text/ask.ts';
import type { TextDesk } from '../text/desk.ts';
import { modelList } from '../text/models.ts';
import type { Usage } from '../text/tokens.ts';
import { readBody } from './body.ts';
import { deliver } from './deliver.ts';
import type { Ledger } from './ledger.ts';
import { actionOrder, imagineOrder, readMembers } from './orders.ts';
import { errorReply, jsonReply, pageReply, type Reply, redirectReply } from './reply.ts';
import type { RequestIds } from './request-id.ts';
import { isSandboxOwn, needsKey, type Route, routeOf } from './route.ts';
import { statusTexts } from './status-text.ts';
import { streamReply } from './text-reply.ts';
import { Throttle } from './throttle.ts';

/** What the service is made of. */
export interface ServiceParts {
  readonly settings: SandboxSettings;
  readonly names: SandboxNames;
  readonly apiKey: string;
  readonly seed: string;
  readonly now: () => number;
  readonly book: TaskBook;
  readonly desk: TaskDesk;
  readonly texts: TextDesk;
  readonly studio: Studio;
  readonly ledger: Ledger;
  readonly ids: RequestIds;
  /** Aborted when the sandbox closes. */
  readonly closing: AbortSignal;
  /** Ports of the service and of its web host. */
  readonly ports: () => { readonly service: number; readonly site: number };
}

/** One request on its way through. */
interface Visit {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly requestId: string;
  readonly effects: readonly FaultEffect[];
}

/** A connection that is cut instead of an answer. */
const cut = 'cut';

/** Answers requests: route, faults, key, the endpoint, faults again. */
export class Service {
  readonly #parts: ServiceParts;
  readonly #faults: FaultDeck;
  readonly #throttle: Throttle;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#faults = new FaultDeck(parts.settings.faults, parts.seed);
    this.#throttle = new Throttle(parts.settings.submitsPerMinute, parts.now());
  }

  /** Carries out one request to its end. Does not throw: a bug of ours is a 500. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes away while it is answered is no failure of ours, and an error event nobody hears is fatal.
    response.on('error', () => response.destroy());
    const { now, names, ids, ledger, closing } = this.#parts;
    const at = now();
    const requestId = ids.next(at);
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const method = request.method ?? '';
    const route = routeOf(method, path, names);
    const faults = route === undefined || isSandboxOwn(route.name) ? [] : this.#faults.draw(route.name);
    const effects = faults.map((fault) => fault.effect);
    const visit: Visit = { request, path, query: new URLSearchParams(query), requestId, effects };

    let reply: Reply | typeof cut;
    try {
      reply = await this.#answer(route, visit);
    } catch (failure) {
      if (closing.aborted) {
        response.destroy();
        return;
      }
      const detail = failure instanceof Error ? failure.message : String(failure);
      reply = this.#error(500, `Internal error: the sandbox failed: ${detail}`, requestId);
    }
    if (route === undefined || !isSandboxOwn(route.name)) {
      const taskId = (reply === cut ? undefined : reply.taskId) ?? route?.taskId;
      const model = (reply === cut ? undefined : reply.text?.model) ?? route?.model;
      ledger.note({
        at,
        requestId,
        method,
        path: path.slice(0, 200),
        route: route?.name ?? 'unknown',
        status: reply === cut ? 0 : reply.status,
        ...(taskId === undefined || taskId === '' ? {} : { taskId: taskId.slice(0, 40) }),
        ...(model === undefined ? {} : { model: model.slice(0, 100) }),
        ...(faults.length === 0 ? {} : { faults: faults.map((fault) => fault.text) }),
      });
    }
    if (reply === cut) {
      request.socket.destroy();
      return;
    }
    const manner = effects.find(({ kind }) => kind === 'truncate' || kind === 'drip');
    let told: Usage | undefined;
    try {
      told = await deliver(response, reply, requestId, manner, closing);
    } catch {
      // The sandbox is closing or the client has gone: there is nobody left to tell.
      response.destroy();
    }
    if (reply.text !== undefined) ledger.noteText(reply.text.model, reply.text.usage, told);
  }

  async #answer(route: Route | undefined, visit: Visit): Promise<Reply | typeof cut> {
    if (route === undefined) return this.#redirect(visit);
    const { effects, requestId } = visit;
    for (const effect of effects) {
      if (effect.kind === 'latency') await wait(effect.ms, undefined, { signal: this.#parts.closing });
    }
    for (const effect of effects) {
      if (effect.kind === 'status' && !effect.after) return this.#faultStatus(effect, requestId);
      if (effect.kind === 'reset' && !effect.after) return cut;
      if (effect.kind === 'html') return pageReply();
      if (effect.kind === 'redirect') return this.#redirect(visit);
    }
    if (needsKey(route.name) && !this.#hasKey(visit.request, route)) {
      return this.#error(401, 'invalid token', requestId);
    }
    const reply = await this.#endpoint(route, visit);
    const unsaid = (): void => {
      const { text } = reply;
      if (text !== undefined) this.#parts.ledger.noteText(text.model, text.usage, undefined);
    };
    for (const effect of effects) {
      if (effect.kind === 'reset' && effect.after) {
        unsaid();
        return cut;
      }
      if (effect.kind === 'status' && effect.after) {
        unsaid();
        return this.#faultStatus(effect, requestId);
      }
      if (effect.kind === 'hidden-timeout') {
        return jsonReply(400, { description: 'do_request_failed ', type: 'upstream_error', code: 5 });
      }
    }
    return reply;
  }

  #endpoint(route: Route, visit: Visit): Promise<Reply> | Reply {
    const { book, ledger } = this.#parts;
    switch (route.name) {
      case 'imagine':
      case 'action':
        return this.#submit(route, visit);
      case 'fetch':
        return this.#fetch(route.taskId, visit);
      case 'image':
        return this.#image(route.taskId, visit);
      case 'generate':
      case 'chat':
        return this.#text(route, visit);
      case 'models':
        return jsonReply(200, modelList());
      case 'counters':
        return jsonReply(200, ledger.counters());
      case 'requests':
        return jsonReply(200, ledger.requests());
      case 'tasks':
        return jsonReply(
          200,
          book.newest(200).map(({ drawing: _drawing, ...task }) => task),
        );
      default:
        return this.#error(400, `the sandbox does not offer ${route.name} yet`, visit.requestId);
    }
  }

  async #submit(route: Route, { request, effects, requestId }: Visit): Promise<Reply> {
    const { desk, names, now, book, ledger } = this.#parts;
    const seconds = this.#throttle.take(now());
    if (seconds > 0) {
      return this.#error(429, statusTexts[429] ?? '', requestId, { 'retry-after': String(seconds) });
    }
    const members = await this.#members(request, requestId);
    if (!members.ok) return members.error;

    const outcome = outcomeOf(effects);
    const code = effects.find((effect) => effect.kind === 'code');
    let submission: Submission;
    if (route.name === 'imagine') {
      const order = imagineOrder(members.value, names);
      if (!order.ok) return this.#error(400, order.error, requestId);
      submission = code === undefined ? desk.imagine(order.value, route.speed, outcome) : refusal(code.code);
    } else {
      const order = actionOrder(members.value);
      if (!order.ok) return this.#error(400, order.error, requestId);
      submission = code === undefined ? desk.action(order.value, route.speed, outcome) : refusal(code.code);
    }
    const { taskId } = submission;
    const reply = jsonReply(submission.status, submission.body);
    if (taskId === undefined) return reply;
    const task = book.get(taskId);
    if (task !== undefined) ledger.noteTask(task);
    return { ...reply, taskId };
  }

  /** A request's body as an object, or the answer to one that is none. */
  async #members(
    request: IncomingMessage,
    requestId: string,
  ): Promise<{ readonly ok: true; readonly value: Members } | { readonly ok: false; readonly error: Reply }> {
    const { bodyLimit } = this.#parts.settings;
    const body = await readBody(request, bodyLimit);
    if (body.kind === 'too-large') {
      const message = `request body too large: at most ${bodyLimit} bytes`;
      return { ok: false, error: this.#error(413, message, requestId, { connection: 'close' }) };
    }
    if (body.kind === 'lost')
      return { ok: false, error: this.#error(400, 'request body incomplete', requestId) };
    const members = readMembers(body.bytes);
    return members.ok ? members : { ok: false, error: this.#error(400, members.error, requestId) };
  }

  async #text(route: Route, { request, query, requestId }: Visit): Promise<Reply> {
    const { texts, settings, now, closing } = this.#parts;
    const members = await this.#members(request, requestId);
    if (!members.ok) return members.error;
    const stamp = { responseId: digestOf(`response ${requestId}`).slice(0, 24), at: now() };
    const answer =
      route.name === 'generate'
        ? await texts.generate(decoded(route.model ?? ''), route.stream === true, members.value, stamp)
        : await texts.chat(members.value, stamp);
    if (!answer.ok) {
      const { status, message, code } = answer.problem;
      return this.#error(status, message, requestId, {}, code);
    }
    const { model, usage, written, whole, events, spoilt } = answer.value;
    const perToken = settings.tokenLatency * settings.pace;
    const time = settings.textLatency * settings.pace + (events === undefined ? written * perToken : 0);
    if (time > 0) await wait(time, undefined, { signal: closing });
    const text = { model, usage };
    if (events === undefined) return { ...jsonReply(200, whole), text };
    const manner = route.name === 'chat' ? 'chat-events' : query.get('alt') === 'sse' ? 'events' : 'array';
    return { ...streamReply({ events, usage, spoilt }, manner, perToken), text };
  }

  #fetch(taskId: string, { request }: Visit): Reply {
    const { book, settings, names, now } = this.#parts;
    const task = book.get(taskId);
    if (task === undefined) {
      return jsonReply(400, { description: 'task_no_found ', type: 'upstream_error', code: 4 });
    }
    const at = now();
    const origin = `http://${this.#hostOf(request)}:${this.#parts.ports().service}`;
    const linkOf = (id: string, percent: number): string => {
      const query = new URLSearchParams();
      if (settings.linkLife > 0) query.set('ex', String(at + settings.linkLife));
      if (percent < 100) query.set('rand', String(percent));
      return `${origin}/${names.path}/image/${id}${query.size === 0 ? '' : `?${query.toString()}`}`;
    };
    return jsonReply(200, recordOf(task, at, settings, names, linkOf));
  }

  async #image(taskId: string, { query }: Visit): Promise<Reply> {
    const { book, settings, studio, now } = this.#parts;
    const task = book.get(taskId);
    if (task === undefined) return jsonReply(404, { error: 'task_not_found' });
    const at = now();
    const expires = query.get('ex');
    if (settings.linkLife > 0 && (expires === null || !(Number(expires) > at))) {
      return jsonReply(403, { error: 'This content is no longer available.' });
    }
    const { status, percent = 0 } = momentOf(task, at);
    if (status === 'SUCCESS') {
      return { status: 200, type: 'image/png', body: await studio.picture(task.drawing) };
    }
    if (status === 'IN_PROGRESS' && settings.previews) {
      return { status: 200, type: 'image/png', body: await studio.preview(task.drawing, percent) };
    }
    return jsonReply(404, { error: 'image_not_found' });
  }

  /** The name by which the client knows this machine; links must carry the same one. */
  #hostOf(request: IncomingMessage): string {
    return /^localhost(:\d+)?$/i.test(request.headers.host ?? '') ? 'localhost' : '127.0.0.1';
  }

  #redirect({ request, path }: Visit): Reply {
    const site = `http://${this.#hostOf(request)}:${this.#parts.ports().site}`;
    // What a client sends stands in a header here: only plain path characters go back.
    return redirectReply(`${site}${/^\/[\w\-./:~%]{0,500}$/.test(path) ? path : '/'}`);
  }

  /** Bearer everywhere; on the native text endpoint the vendor's header will do as well (service.md 5). */
  #hasKey({ headers }: IncomingMessage, { name }: Route): boolean {
    const { apiKey, names } = this.#parts;
    if (isSame(headers.authorization, `Bearer ${apiKey}`)) return true;
    return name === 'generate' && isSame(headers[names.keyHeader.toLowerCase()], apiKey);
  }

  #faultStatus(effect: FaultEffect & { readonly kind: 'status' }, requestId: string): Reply {
    const headers: Record<string, string> =
      effect.retryAfter === undefined ? {} : { 'retry-after': String(effect.retryAfter) };
    return this.#error(effect.status, statusTexts[effect.status] ?? 'error', requestId, headers);
  }

  #error(
    status: number,
    message: string,
    requestId: string,
    headers: Reply['headers'] = {},
    code = '',
  ): Reply {
    return errorReply(status, message, { requestId, errorType: this.#parts.names.errorType, code }, headers);
  }
}

/** Whether a header is exactly this; how long it takes does not tell how much of it is right. */
function isSame(header: string | readonly string[] | undefined, wanted: string): boolean {
  if (typeof header !== 'string') return false;
  const given = Buffer.from(header);
  const right = Buffer.from(wanted);
  return given.length === right.length && timingSafeEqual(given, right);
}

/** A path segment without its escapes; as it is where they are none. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function refusal(code: number): Submission {
  return refused(code, refusalTexts[code] ?? 'Submit failed');
}

function outcomeOf(effects: readonly FaultEffect[]): TaskOutcome | undefined {
  for (const effect of effects) {
    if (effect.kind === 'stuck') return { kind: 'stuck' };
    if (effect.kind === 'fail') return { kind: 'failure', reason: effect.reason };
  }
  return undefined;
}
