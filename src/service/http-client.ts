import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';

import type { Dispatcher } from 'undici';
import { classify, connectionFailure } from './failures/classify.ts';
import { KnownEndpoints } from './failures/known-endpoints.ts';
import type { RequestFacts } from './failures/request-context.ts';
import { readApiKey, readBaseUrl } from './http/base-url.ts';
import { BodyPool } from './http/body/budget.ts';
import { amount } from './http/body/read.ts';
import { createDispatcher } from './http/connect/dispatcher.ts';
import { exchange, type Receive, receiveWhole, type Silence, type Transport } from './http/exchange.ts';
import { FirstContact } from './http/first-contact.ts';
import { writeJson } from './http/json.ts';
import type { ConnectionFailure } from './http/reply.ts';
import { makeClean } from './http/sanitize.ts';
import { dataMaskOf, secretMaskOf } from './http/secrets.ts';
import type { Timer } from './http/timeout.ts';
import { readTold, type ToldLimit } from './http/told.ts';
import { type Auth, KeyForms, type KeyPlace } from './key-forms.ts';
import type { Names } from './names.ts';
import type { OnLeave, ServiceCode, ServiceFailure, ServiceResult } from './result.ts';
import type { JsonObject } from './text-service.ts';

/** Options of the service's client, for its image half and its text half alike. */
export interface ServiceOptions {
  /** The address as `readBaseUrl` returns it; a path and trailing slashes are allowed. */
  readonly baseUrl: string;
  /** The key as `readApiKey` returns it. Absent: no key. */
  readonly apiKey?: string;
  /** How the key is sent. Default `bearer`. */
  readonly auth?: Auth;
  /** Receives words for the user once image paths, which refuse the key as `auth` sends it, accept it in another form. */
  readonly onKeyForm?: (words: string) => void;
  /** Where the key came from, for the message about a refused key: `PROMPTPRESS_API_KEY`. Never the key. */
  readonly keySource?: string;
  /** Texts besides the key that are hidden wherever the service repeats them in its messages. */
  readonly secrets?: readonly string[];
  /** The secrets that give access, as the key does: these are not kept in data either. */
  readonly credentials?: readonly string[];
  readonly names: Names;
  /** What is known of the address, shared by both halves of a service. Default: each half has its own. */
  readonly endpoints?: KnownEndpoints;
  /** Additional words that mean a used-up quota (`retry.quota`). */
  readonly quotaWords?: readonly string[];
  /** Dispatcher made by `createDispatcher`; it stays open on `close`. Without it and without `fetch` the service makes its own. */
  readonly dispatcher?: Dispatcher;
  /**
   * Replaces the dispatcher. A request that it cannot prove unsent counts as sent. It handles informational answers (1xx) itself, and
   * some of Node's break on one.
   */
  readonly fetch?: typeof globalThis.fetch;
  /** Time limit of one request other than a text call, from connecting to the last byte, in ms. */
  readonly requestMs: number;
  /** For `User-Agent: promptpress/<version>`. */
  readonly version?: string;
  /** Wall clock in Unix ms, for a Retry-After date without a Date header. Default Date.now. */
  readonly now?: () => number;
  /** Timer of all waits. Default setTimeout; tests replace it to avoid waiting. */
  readonly timer?: Timer;
  /** Monotonic clock in ms. Default performance.now. */
  readonly elapsed?: () => number;
  /** Largest response after decompression, in bytes. Default 8 MiB, for text responses 64 MiB. */
  readonly maxBodyBytes?: number;
  /** Bound of the bytes of all responses being read, shared with other readers. Default: 128 MiB for this service. */
  readonly bodies?: BodyPool;
}

/** One request of either half of the service. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST';
  /** Path that begins with `/`; every part is escaped. */
  readonly path: string;
  /** Name of the endpoint without the ids in its path: requests to one endpoint share the verdict on its address. */
  readonly endpoint: string;
  /** Body as JSON text. */
  readonly body?: string | undefined;
  /** The place that decides where the key is sent. */
  readonly place: KeyPlace;
  readonly accept?: string | undefined;
  readonly timeoutMs: number;
  readonly silence?: Silence | undefined;
  readonly onLeave?: OnLeave | undefined;
  /** Largest response after decompression, in bytes, where it differs from the general limit. */
  readonly maxBodyBytes?: number;
  /** Context of failures, as in `RequestFacts`. */
  readonly facts: Pick<RequestFacts, 'safe' | 'on' | 'offer' | 'model' | 'largestPart' | 'advise'>;
}

/** Sends the requests of both halves of the service with the key, and keeps the key out of failures. */
export class HttpClient {
  readonly names: Names;
  readonly requestMs: number;
  /** Facts that are the same for every request. */
  readonly shared: Omit<RequestFacts, 'safe' | 'on' | 'offer' | 'label'>;
  readonly #baseUrl: string;
  readonly #keys: KeyForms;
  readonly #userAgent: string;
  readonly #transport: Transport;
  readonly #ownDispatcher: Dispatcher | undefined;
  readonly #basePath: string;
  readonly endpoints: KnownEndpoints;
  readonly #firstContact: FirstContact;

  /** @throws only for a base address or key that `readBaseUrl` and `readApiKey` would have refused */
  constructor(options: ServiceOptions, maxBodyBytes: number) {
    const baseUrl = readBaseUrl(options.baseUrl);
    if (!baseUrl.ok) throw new Error(`Internal error: ${baseUrl.error.message}`);
    const apiKey = options.apiKey === undefined ? undefined : readApiKey(options.apiKey);
    if (apiKey?.ok === false) throw new Error(`Internal error: ${apiKey.error.message}`);
    const key = apiKey?.value ?? '';
    this.names = options.names;
    this.requestMs = options.requestMs;
    this.#baseUrl = baseUrl.value;
    const { pathname } = new URL(baseUrl.value);
    this.#basePath = pathname === '/' ? '' : pathname;
    this.endpoints = options.endpoints ?? new KnownEndpoints();
    this.#keys = new KeyForms(key, options.names, options.auth ?? 'bearer', options.onKeyForm);
    this.#userAgent = options.version === undefined ? 'promptpress' : `promptpress/${options.version}`;
    const via = viaOf(options);
    this.#ownDispatcher =
      'dispatcher' in via && options.dispatcher === undefined ? via.dispatcher : undefined;
    this.#transport = {
      via,
      ...(options.timer && { timer: options.timer }),
      ...(options.elapsed && { elapsed: options.elapsed }),
      maxBodyBytes: options.maxBodyBytes ?? maxBodyBytes,
      bodies: options.bodies ?? new BodyPool(),
    };
    this.#firstContact = new FirstContact(baseUrl.value, this.#transport);
    const mask = secretMaskOf([key, ...(options.secrets ?? [])]);
    this.shared = {
      baseUrl: baseUrl.value,
      mask,
      dataMask: dataMaskOf([key, ...(options.credentials ?? [])]),
      clean: makeClean(mask),
      now: options.now ?? Date.now,
      ...(options.quotaWords !== undefined && { quotaWords: options.quotaWords }),
      ...(options.keySource !== undefined && { keySource: options.keySource }),
    };
  }

  /** Makes one request: `receive` reads the response from the network, `read` judges it. */
  async request<R, T>(
    request: ServiceRequest,
    signal: AbortSignal,
    receive: Receive<R>,
    read: (received: R, facts: RequestFacts) => ServiceResult<T>,
  ): Promise<ServiceResult<T>> {
    const { method, path, endpoint, body, timeoutMs, silence, onLeave, maxBodyBytes } = request;
    const facts: RequestFacts = {
      ...this.shared,
      ...request.facts,
      label: this.shared.mask(`${method} ${this.#basePath}${path}`),
      standing: () => this.endpoints.standing(endpoint),
      hasSpokenHttp: () => this.endpoints.hasSpokenHttp,
    };
    // One signal serves every request of a run: many listeners are not a leak.
    setMaxListeners(0, signal);
    const headers = {
      'content-type': 'application/json',
      accept: request.accept ?? 'application/json',
      'user-agent': this.#userAgent,
    };
    const isKnown = (): boolean => this.endpoints.hasSpokenHttp || facts.standing?.() !== 'unknown';
    return await this.#keys.send<T>(
      request.place,
      signal,
      async (key) => {
        let told: readonly ToldLimit[] = [];
        const url = `${this.#baseUrl}${path}`;
        const result = await exchange(
          { method, url, headers: { ...key, ...headers }, timeoutMs, silence, onLeave, body },
          maxBodyBytes === undefined ? this.#transport : { ...this.#transport, maxBodyBytes },
          signal,
          (response, receiving) => {
            told = readTold(response.headers, this.shared.now());
            return receive(response, receiving);
          },
        );
        if (!result.ok) return { ok: false, error: await this.#unanswered(result, isKnown, facts, signal) };
        const outcome = read(result.value, facts);
        this.endpoints.hasSpokenHttp ||= outcome.ok || outcome.error.code !== 'connection.protocol';
        this.endpoints.note(endpoint, outcome);
        return told.length === 0 ? outcome : { ...outcome, told };
      },
      () =>
        createHash('sha256')
          .update(`${method} ${path}\n`)
          .update(body ?? '')
          .digest('hex'),
      request.facts.safe || request.place !== 'image'
        ? undefined
        : (key) => this.#look({ ...key, ...headers }, facts, signal),
    );
  }

  /** Fetches a task that nobody has, to see whether the key is accepted. */
  async #look(
    headers: Readonly<Record<string, string>>,
    facts: RequestFacts,
    signal: AbortSignal,
  ): Promise<ServiceResult<undefined>> {
    const url = `${this.#baseUrl}/${this.names.path}/task/0/fetch`;
    const request = { method: 'GET', url, headers, timeoutMs: this.requestMs } as const;
    const result = await exchange(request, this.#transport, signal, receiveWhole);
    const own = {
      ...facts,
      safe: true,
      on: 'read',
      offer: 'fetch',
      label: `${facts.label} (a look)`,
    } as const;
    const error = result.ok
      ? classify(result.value, own)
      : connectionFailure(result.failure, result.sent, own);
    return error === undefined ? { ok: true, value: undefined } : { ok: false, error };
  }

  /** Handles a request without an answer. If the address has never answered, it finds out what the port speaks. */
  async #unanswered(
    { failure, sent }: { readonly failure: ConnectionFailure; readonly sent: boolean },
    isKnown: () => boolean,
    facts: RequestFacts,
    signal: AbortSignal,
  ): Promise<ServiceFailure> {
    const wrong =
      this.tellsLeaving && !isKnown() ? await this.#firstContact.wrongPort(failure, signal) : undefined;
    return wrong === undefined
      ? connectionFailure(failure, sent, facts)
      : connectionFailure(wrong.failure, sent && !wrong.isCertain, facts);
  }

  /** Whether the client knows when a request leaves. */
  get tellsLeaving(): boolean {
    return 'dispatcher' in this.#transport.via;
  }

  async close(): Promise<void> {
    await this.#ownDispatcher?.close();
  }
}

/** Returns the failure of a request that is refused before it is sent. */
export const refusedHere = (code: ServiceCode, message: string): ServiceResult<never> => ({
  ok: false,
  error: { code, class: 'permanent', message },
});

/** Returns the failure of a request that is larger than the service accepts. @param largest its largest part, in words */
export const tooLarge = (maxBytes: number, largest: string | undefined): ServiceResult<never> =>
  refusedHere(
    'request.too-large',
    `The request is too large: the service takes at most ${amount(maxBytes)}, and ${largest}. Shorten it, or send fewer or smaller images.`,
  );

/**
 * Writes the body of a request, or returns undefined if it is larger than the service accepts. The images are checked before: the text of
 * many large images would exceed the longest possible string.
 */
export function bodyWithin(maxBytes: number, imageBytes: number, body: () => JsonObject): string | undefined {
  if (imageBytes > maxBytes) return undefined;
  const text = writeJson(body());
  return Buffer.byteLength(text) > maxBytes ? undefined : text;
}

/** Time limit for setting up a connection of our own dispatcher, in ms. */
const ownConnectMs = 10_000;

const viaOf = ({ fetch, dispatcher }: ServiceOptions): Transport['via'] =>
  fetch === undefined
    ? { dispatcher: dispatcher ?? createDispatcher({ connectMs: ownConnectMs }) }
    : { fetch };
