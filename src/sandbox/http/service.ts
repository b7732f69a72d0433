import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { ImageLibraryError } from '../../artifacts/formats/image-library.ts';
import { FaultDeck, type FaultEffect, isSubmit } from '../faults/fault.ts';
import type { SandboxNames } from '../names.ts';
import { modelList, type Usage } from '../text/models.ts';
import { deliver, flatReply, jsonReply, pageReply, redirectReply, type SandboxResponse } from './reply.ts';
import { type Endpoint, endpointOf, isMissing, isSandboxOwn, needsKey } from './routes/route.ts';
import { respondToText } from './routes/say.ts';
import {
  respondToCancel,
  respondToFetch,
  respondToImage,
  respondToImageSeed,
  respondToList,
  respondToListByCondition,
} from './routes/show.ts';
import { respondToSubmit } from './routes/submit.ts';
import { errorResponse, hostOf, isForUs, type ServiceParts, type Visit } from './visit.ts';

/** Shortest key that is looked for in addresses: shorter ones are words that stand there anyway, as `sandbox` does. */
const leastKey = 8;

/** A connection that is cut instead of a response. */
const cut = 'cut';

/** What ports say that speak no HTTP/1.1. */
const otherProtocols = {
  mail: '220 mail.example.com ESMTP\r\n',
  tls: Buffer.from('15030300020246', 'hex'),
  http2: Buffer.from('000000040000000000', 'hex'),
} as const;

/** By what name faults meet a request: one for `/` asks what the port speaks, and other unknown paths meet none. */
const drawnAs = (route: Endpoint | undefined, path: string): string =>
  route?.name ?? (path === '/' ? 'root' : '');

/** Answers requests: route, faults, key, the endpoint, faults again. */
export class Service {
  readonly #parts: ServiceParts;
  readonly #faults: FaultDeck;
  readonly #throttle: Throttle;
  /** A proxy without buttons has what its clients click by instead. */
  readonly #routeNames: SandboxNames;
  /** The key as it can stand in an address; one that is as short as a word is not looked for. */
  readonly #keyForms: readonly string[];

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#faults = new FaultDeck(parts.settings.faults, parts.seed);
    this.#throttle = new Throttle(parts.settings.submitsPerMinute, parts.now());
    const { apiKey, names, settings } = parts;
    this.#routeNames = settings.quirks.has('no-buttons') ? { ...names, familyClients: true } : names;
    this.#keyForms = apiKey.length < leastKey ? [] : [apiKey, encodeURIComponent(apiKey)];
  }

  /** Carries out one request to its end. Does not throw: a bug of ours is a 500. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes away during its response is no failure of ours, and an unhandled error event is fatal.
    response.on('error', () => response.destroy());
    const { now, ids, ledger, closing } = this.#parts;
    const at = now();
    const requestId = ids.next(at);
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const method = request.method ?? '';
    const route = endpointOf(method, path, this.#routeNames);
    const faults =
      route !== undefined && isSandboxOwn(route.name) ? [] : this.#faults.draw(drawnAs(route, path));
    const effects = faults.map((fault) => fault.effect);
    const visit: Visit = { request, path, query: new URLSearchParams(query), requestId, effects };

    let reply: SandboxResponse | typeof cut;
    try {
      reply = await this.#respond(route, visit);
    } catch (failure) {
      if (closing.aborted) {
        response.destroy();
        return;
      }
      if (failure instanceof ImageLibraryError)
        reply = this.#error(501, `${failure.message} ${failure.hint}`, requestId);
      else {
        const detail = failure instanceof Error ? failure.message : String(failure);
        reply = this.#error(500, `Internal error: the sandbox failed: ${detail}`, requestId);
      }
    }
    if (route === undefined || !isSandboxOwn(route.name)) {
      const taskId = (reply === cut ? undefined : reply.taskId) ?? route?.taskId;
      const model = (reply === cut ? undefined : reply.text?.model) ?? route?.model;
      ledger.note({
        at,
        requestId,
        method,
        path: this.#withoutKey(path).slice(0, 200),
        route: route?.name ?? 'unknown',
        status: reply === cut ? 0 : reply.status,
        ...(taskId === undefined || taskId === '' ? {} : { taskId: this.#withoutKey(taskId).slice(0, 40) }),
        ...(model === undefined ? {} : { model: this.#withoutKey(model).slice(0, 100) }),
        ...(faults.length === 0 ? {} : { faults: faults.map((fault) => fault.text) }),
      });
    }
    if (reply === cut) {
      const other = effects.find(({ kind }) => kind === 'no-http');
      if (other?.kind === 'no-http') request.socket.end(otherProtocols[other.speaks]);
      else request.socket.destroy();
      return;
    }
    const manner = effects.find(({ kind }) => kind === 'truncate' || kind === 'drip');
    let usage: Usage | undefined;
    try {
      usage = await deliver(response, reply, requestId, manner, closing);
    } catch {
      // The sandbox is closing or the client has gone: nobody is left to receive it.
      response.destroy();
    }
    if (reply.text !== undefined) ledger.noteText(reply.text.model, reply.text.usage, usage);
  }

  async #respond(route: Endpoint | undefined, visit: Visit): Promise<SandboxResponse | typeof cut> {
    if (!isForUs(visit.request))
      return this.#error(
        421,
        'this host name is not that of the sandbox: use 127.0.0.1 or localhost',
        visit.requestId,
      );
    const { effects, requestId } = visit;
    if (effects.some(({ kind }) => kind === 'no-http')) return cut;
    if (route === undefined)
      return effects.some((effect) => effect.kind === 'reset') ? cut : this.#redirect(visit);
    for (const effect of effects) {
      if (effect.kind === 'latency') await wait(effect.ms, undefined, { signal: this.#parts.closing });
    }
    for (const effect of effects) {
      if (effect.kind === 'status' && !effect.after) return this.#faultStatus(effect, requestId);
      if (effect.kind === 'reset' && !effect.after) return cut;
      if (effect.kind === 'hidden-timeout' && !effect.after) return hiddenTimeout();
      if (effect.kind === 'refuse' && !effect.refusal.after)
        return jsonReply(effect.refusal.status, effect.refusal.body);
      if (effect.kind === 'invalid-request') {
        return this.#error(500, 'invalid request', requestId, {}, 'invalid_request');
      }
      if (effect.kind === 'html') return pageReply();
      if (effect.kind === 'redirect') return this.#redirect(visit);
    }
    const { quirks } = this.#parts.settings;
    // As Spring says it, which such proxies are written in.
    if (isMissing(route, quirks)) {
      const timestamp = new Date(this.#parts.now()).toISOString();
      return jsonReply(404, { timestamp, status: 404, error: 'Not Found', path: visit.path.slice(0, 200) });
    }
    if (needsKey(route.name) && !hasKey(visit, route, this.#parts)) {
      return quirks.has('mute-refusals')
        ? { status: 403, type: 'application/json; charset=utf-8', body: '' }
        : this.#error(401, 'invalid token', requestId);
    }
    if (effects.some(({ kind }) => kind === 'forget')) this.#parts.book.forget();
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
      if (effect.kind === 'hidden-timeout') return hiddenTimeout();
      if (effect.kind === 'refuse' && effect.refusal.after) {
        unsaid();
        return jsonReply(effect.refusal.status, effect.refusal.body);
      }
    }
    return reply;
  }

  /** A part of an address as the log may keep it: a client can have put the key anywhere. */
  #withoutKey(text: string): string {
    return this.#keyForms.reduce((kept, form) => kept.replaceAll(form, '[key]'), text);
  }

  #endpoint(route: Endpoint, visit: Visit): Promise<SandboxResponse> | SandboxResponse {
    const { book, ledger } = this.#parts;
    if (isSubmit(route.name)) return this.#submit(route, visit);
    switch (route.name) {
      case 'fetch':
        return respondToFetch(this.#parts, route, visit);
      case 'image-seed':
        return respondToImageSeed(this.#parts, route);
      case 'list-by-condition':
        return respondToListByCondition(this.#parts, route, visit);
      case 'list':
        return respondToList(this.#parts, route, visit);
      case 'cancel':
        return respondToCancel(this.#parts, route);
      case 'image':
        return respondToImage(this.#parts, route, visit);
      case 'generate':
      case 'chat':
        return respondToText(this.#parts, route, visit);
      case 'models':
        return jsonReply(200, modelList());
      case 'counters':
        return jsonReply(200, ledger.counters());
      case 'requests':
        return jsonReply(200, ledger.requests());
      case 'tasks':
        return jsonReply(
          200,
          book.newest(200).map(({ drawing: _drawing, films: _films, ...task }) => task),
        );
    }
  }

  #submit(route: Endpoint, visit: Visit): Promise<SandboxResponse> | SandboxResponse {
    const seconds = this.#throttle.take(this.#parts.now());
    if (seconds === 0) return respondToSubmit(this.#parts, route, visit);
    return this.#error(429, statusTexts[429] ?? '', visit.requestId, { 'retry-after': String(seconds) });
  }

  #redirect({ request, path }: Visit): SandboxResponse {
    const site = `http://${hostOf(request)}:${this.#parts.ports().site}`;
    // What a client sends stands in a header here: only plain path characters go back.
    return redirectReply(`${site}${/^\/[\w\-./:~%]{0,500}$/.test(path) ? path : '/'}`);
  }

  #faultStatus(effect: FaultEffect & { readonly kind: 'status' }, requestId: string): SandboxResponse {
    const headers: Record<string, string> =
      effect.retryAfter === undefined ? {} : { 'retry-after': String(effect.retryAfter) };
    return this.#error(effect.status, statusTexts[effect.status] ?? 'error', requestId, headers);
  }

  #error(
    status: number,
    message: string,
    requestId: string,
    headers: SandboxResponse['headers'] = {},
    code = '',
  ): SandboxResponse {
    return errorResponse(this.#parts, requestId, status, message, headers, code);
  }
}

/** The gateway's own time-out, which looks permanent but is not (gateway 3.3). */
const hiddenTimeout = (): SandboxResponse => flatReply(400, 'do_request_failed', 5);

/** A token bucket of `perMinute` submissions a minute, and as many at once as fit in ten seconds. */
class Throttle {
  readonly #perMinute: number;
  readonly #size: number;
  #tokens: number;
  #at: number;

  constructor(perMinute: number, now: number) {
    this.#perMinute = perMinute;
    this.#size = Math.max(1, perMinute / 6);
    this.#tokens = this.#size;
    this.#at = now;
  }

  /** 0 where the request may pass, else the seconds until one may (at least 1). */
  take(now: number): number {
    if (this.#perMinute <= 0) return 0;
    const gained = (Math.max(0, now - this.#at) / 60_000) * this.#perMinute;
    this.#tokens = Math.min(this.#size, this.#tokens + gained);
    this.#at = now;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil(((1 - this.#tokens) / this.#perMinute) * 60));
  }
}

/** Messages of the error envelopes that faults answer with (gateway 8.2). */
const statusTexts: Readonly<Record<number, string>> = {
  400: 'the request was not accepted',
  401: 'invalid token',
  403: 'the request was blocked',
  404: 'not found',
  408: 'request timeout',
  410: 'gone',
  413: 'request entity too large',
  429: 'rate limit reached, please try again later',
  500: 'internal server error',
  502: 'bad gateway',
  503: 'the service is temporarily unavailable',
  504: 'gateway timeout',
  520: 'the origin returned an unknown error',
  521: 'the origin is down',
  522: 'connection timed out',
  523: 'the origin is unreachable',
  524: 'a timeout occurred',
};

/**
 * Whether a request carries the key where the settings want it (gateway 1.4). `bearer` is as Bearer everywhere; on the native text
 * endpoint in the vendor's header too. Clients of the midjourney-proxy family also send it in the header of images, and to the
 * native endpoint as `?key=`.
 */
function hasKey(
  { request: { headers }, query }: Pick<Visit, 'request' | 'query'>,
  { name }: Pick<Endpoint, 'name'>,
  { apiKey, names, settings: { auth } }: Pick<ServiceParts, 'apiKey' | 'names' | 'settings'>,
): boolean {
  const { authorization } = headers;
  if (auth === 'none') return true;
  const isNative = name === 'generate';
  const isImage = !isNative && name !== 'chat' && name !== 'models';
  const named = (header: string): string | readonly string[] | undefined => headers[header.toLowerCase()];
  const alone = isNative ? names.keyHeader : isImage ? names.imageKeyHeader : '';
  if (auth === 'header' && alone !== '') return isSame(named(alone), apiKey);
  if (auth === 'raw' && isImage) return isSame(authorization, apiKey);
  if (isSame(authorization, `Bearer ${apiKey}`)) return true;
  if (isNative && isSame(named(names.keyHeader), apiKey)) return true;
  if (!names.familyClients) return false;
  if (isNative && isSame(query.get('key'), apiKey)) return true;
  // A proxy that stands before another one passes this word on in place of a key.
  const isOpen = authorization === undefined || /^(bearer )?(midjourney-proxy)?$/i.test(authorization.trim());
  const secret = named(names.imageKeyHeader);
  return isOpen && typeof secret === 'string' && isSame(secret.replace(/^bearer /i, ''), apiKey);
}

/** Whether two texts are equal. The time does not show how much of the text is right. */
function isSame(text: string | readonly string[] | null | undefined, wanted: string): boolean {
  if (typeof text !== 'string') return false;
  const given = Buffer.from(text);
  const right = Buffer.from(wanted);
  return given.length === right.length && timingSafeEqual(given, right);
}
