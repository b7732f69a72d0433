import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { ImageLibraryError } from '../../artifacts/formats/image-library.ts';
import { FaultDeck, type FaultEffect, isSubmit, statusTexts } from '../faults/fault.ts';
import type { SandboxNames } from '../names.ts';
import { modelList, type Usage } from '../text/models.ts';
import {
  deliver,
  emptyReply,
  flatReply,
  jsonReply,
  pageReply,
  redirectReply,
  type SandboxResponse,
} from './reply.ts';
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

/** Length of the shortest key that is masked in addresses: a shorter one may be an ordinary word of a path, such as `sandbox`. */
const leastKey = 8;

/** The outcome of a request whose connection is cut. */
const cut = 'cut';

/** First bytes of ports that speak another protocol. */
const otherProtocols = {
  mail: '220 mail.example.com ESMTP\r\n',
  tls: Buffer.from('15030300020246', 'hex'),
  http2: Buffer.from('000000040000000000', 'hex'),
} as const;

/** Answers requests: route, faults, key, endpoint, faults again. */
export class Service {
  readonly #parts: ServiceParts;
  readonly #faults: FaultDeck;
  readonly #throttle: Throttle;
  /** The names, with `submit/change` for a proxy without buttons. */
  readonly #routeNames: SandboxNames;
  /** The key as it can be written in an address. */
  readonly #keyForms: readonly string[];

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#faults = new FaultDeck(parts.settings.faults, parts.seed);
    this.#throttle = new Throttle(parts.settings.submitsPerMinute, parts.now());
    const { apiKey, names, settings } = parts;
    this.#routeNames = settings.quirks.has('no-buttons') ? { ...names, familyClients: true } : names;
    this.#keyForms = apiKey.length < leastKey ? [] : [apiKey, encodeURIComponent(apiKey)];
  }

  /** Handles one request to its end. Never throws: a bug is answered with a 500. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The client may disconnect during its response, and an unhandled error event would end the process.
    response.on('error', () => response.destroy());
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { now, ids, ledger, closing } = this.#parts;
    const at = now();
    const requestId = ids.next(at);
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const method = request.method ?? '';
    const route = endpointOf(method, path, this.#routeNames);
    // A request for `/` asks what the port speaks; other unknown paths meet no faults.
    const drawnAs = route?.name ?? (path === '/' ? 'root' : '');
    const faults = route !== undefined && isSandboxOwn(route.name) ? [] : this.#faults.draw(drawnAs);
    const effects = faults.map((fault) => fault.effect);
    const visit: Visit = {
      request,
      path,
      query: new URLSearchParams(query),
      requestId,
      effects,
      gone: gone.signal,
    };

    let reply: SandboxResponse | typeof cut;
    try {
      reply = await this.#respond(route, visit);
    } catch (failure) {
      if (closing.aborted) {
        response.destroy();
        return;
      }
      if (failure instanceof ImageLibraryError)
        reply = errorResponse(this.#parts, requestId, 501, `${failure.message} ${failure.hint}`);
      else {
        const detail = failure instanceof Error ? failure.message : String(failure);
        reply = errorResponse(this.#parts, requestId, 500, `Internal error: the sandbox failed: ${detail}`);
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
      return errorResponse(
        this.#parts,
        visit.requestId,
        421,
        'this host name is not that of the sandbox: use 127.0.0.1 or localhost',
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
        return errorResponse(this.#parts, requestId, 500, 'invalid request', {}, 'invalid_request');
      }
      if (effect.kind === 'html') return pageReply();
      if (effect.kind === 'redirect') return this.#redirect(visit);
    }
    const { quirks } = this.#parts.settings;
    // In the form of Spring, which such proxies are written in.
    if (isMissing(route, quirks)) {
      const timestamp = new Date(this.#parts.now()).toISOString();
      return jsonReply(404, { timestamp, status: 404, error: 'Not Found', path: visit.path.slice(0, 200) });
    }
    if (needsKey(route.name) && !hasKey(visit, route, this.#parts)) {
      return quirks.has('mute-refusals')
        ? emptyReply(403)
        : errorResponse(this.#parts, requestId, 401, 'invalid token');
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

  /** Masks the key in a part of an address, for the log. */
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
    return errorResponse(this.#parts, visit.requestId, 429, statusTexts.get(429) ?? '', {
      'retry-after': String(seconds),
    });
  }

  #redirect({ request, path }: Visit): SandboxResponse {
    const site = `http://${hostOf(request)}:${this.#parts.ports().site}`;
    // The path comes from the client and goes into a header: only plain characters are sent back.
    return redirectReply(`${site}${/^\/[\w\-./:~%]{0,500}$/.test(path) ? path : '/'}`);
  }

  #faultStatus(effect: FaultEffect & { readonly kind: 'status' }, requestId: string): SandboxResponse {
    const headers: Record<string, string> =
      effect.retryAfter === undefined ? {} : { 'retry-after': String(effect.retryAfter) };
    return errorResponse(
      this.#parts,
      requestId,
      effect.status,
      statusTexts.get(effect.status) ?? 'error',
      headers,
    );
  }
}

/** Returns the gateway's own time-out, which looks like a permanent refusal (gateway 3.3). */
const hiddenTimeout = (): SandboxResponse => flatReply(400, 'do_request_failed', 5);

/** A token bucket of `perMinute` submissions a minute; at once, a sixth of that. */
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

  /** Takes a token and returns 0, or returns the seconds until there is one (at least 1). */
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

/**
 * Whether a request carries the key where the setting `auth` wants it (gateway 1.4). Bearer works everywhere, the vendor's header too on
 * the native text endpoint. Clients of the midjourney-proxy family may use the header of images, and `?key=` on the native endpoint.
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
  // A proxy in front of another one sends this word in place of a key.
  const isOpen = authorization === undefined || /^(bearer )?(midjourney-proxy)?$/i.test(authorization.trim());
  const secret = named(names.imageKeyHeader);
  return isOpen && typeof secret === 'string' && isSame(secret.replace(/^bearer /i, ''), apiKey);
}

/** Compares two texts in a time that does not show how much of the text is right. */
function isSame(text: string | readonly string[] | null | undefined, wanted: string): boolean {
  if (typeof text !== 'string') return false;
  const given = Buffer.from(text);
  const right = Buffer.from(wanted);
  return given.length === right.length && timingSafeEqual(given, right);
}
