import { setMaxListeners } from 'node:events';

import { Agent, type Dispatcher } from 'undici';

import type { Answer, ImageService, SubmitAnswer, Task } from './answer.ts';
import { BodyPool } from './body-pool.ts';
import { connectionFailure, type RequestFacts } from './classify.ts';
import { makeClean } from './display.ts';
import { readApiKey, readBaseUrl } from './endpoint.ts';
import type { Names } from './names.ts';
import type { Reply } from './reply.ts';
import { exchange, type Transport } from './request.ts';
import { largestPart } from './request-size.ts';
import { maskOf } from './secrets.ts';
import { readSubmit } from './submit.ts';
import { readTask } from './task.ts';
import { isUsableTaskId } from './task-id.ts';
import type { Timer } from './time-out.ts';
import type { WireActionRequest } from './wire.ts';

export interface ImageServiceOptions {
  /** As `readBaseUrl` gives it; a path and trailing slashes are fine. */
  readonly baseUrl: string;
  /** As `readApiKey` gives it. */
  readonly apiKey: string;
  /** Where the key came from, for the message about a refused one: `PROMPTPRESS_API_KEY`. Never the key. */
  readonly keySource?: string;
  /** What besides the key may neither be shown nor kept, wherever the service repeats it. */
  readonly secrets?: readonly string[];
  readonly names: Names;
  /** Of `createDispatcher`; stays open on `close`. Without it and without `fetch` the service has one of its own. */
  readonly dispatcher?: Dispatcher;
  /** Instead of undici's. What it cannot prove unsent counts as sent. */
  readonly fetch?: typeof globalThis.fetch;
  /** Bound of one request, from connecting to the last byte, in ms. */
  readonly requestMs: number;
  /** For `User-Agent: promptpress/<version>`. */
  readonly version?: string;
  /** Wall time in Unix ms, for a Retry-After date without a Date header. Default Date.now. */
  readonly now?: () => number;
  /** Default setTimeout; a test's own needs no waiting. */
  readonly timer?: Timer;
  /** Milliseconds since whenever, never going back. Default performance.now. */
  readonly elapsed?: () => number;
  /** Bound of an answer after decompression. Default 8 MiB. */
  readonly maxBodyBytes?: number;
  /** Bound of all answers that are being read, shared with whoever else reads answers. Default: 128 MiB for this service. */
  readonly bodies?: BodyPool;
}

type Speed = 'relax' | 'fast' | 'turbo';
type Fields = Readonly<Record<string, unknown>>;

/**
 * The image workflow of service.md 4.1 over HTTP. It never repeats a request: the run is the one owner of retries. A
 * request that was given up by the caller ends as `connection.aborted`: of class `unsent` where it never left, else
 * `lost` (a submission) or `retry` (a fetch).
 *
 * Throws only for a base address or key that `readBaseUrl` and `readApiKey` would have refused.
 */
export function createImageService(options: ImageServiceOptions): ImageService {
  const baseUrl = readBaseUrl(options.baseUrl);
  if (!baseUrl.ok) throw new Error(`Internal error: ${baseUrl.error.message}`);
  const apiKey = readApiKey(options.apiKey);
  if (!apiKey.ok) throw new Error(`Internal error: ${apiKey.error.message}`);

  const ownDispatcher =
    options.dispatcher === undefined && options.fetch === undefined ? new Agent() : undefined;
  const dispatcher = options.dispatcher ?? ownDispatcher;
  const transport: Transport = {
    ...(dispatcher && { dispatcher }),
    ...(options.fetch && { fetch: options.fetch }),
    ...(options.timer && { timer: options.timer }),
    ...(options.elapsed && { elapsed: options.elapsed }),
    maxBodyBytes: options.maxBodyBytes ?? 8 * 1024 * 1024,
    bodies: options.bodies ?? new BodyPool(),
  };
  const mask = maskOf([apiKey.value, ...(options.secrets ?? [])]);
  return new HttpImageService(
    {
      baseUrl: baseUrl.value,
      names: options.names,
      requestMs: options.requestMs,
      headers: {
        authorization: `Bearer ${apiKey.value}`,
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': options.version === undefined ? 'promptpress' : `promptpress/${options.version}`,
      },
      shared: {
        baseUrl: baseUrl.value,
        mask,
        clean: makeClean(mask),
        now: options.now ?? Date.now,
        ...(options.keySource !== undefined && { keySource: options.keySource }),
      },
    },
    transport,
    ownDispatcher,
  );
}

interface Settings {
  readonly baseUrl: string;
  readonly names: Names;
  readonly requestMs: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What is the same for every request. */
  readonly shared: Omit<RequestFacts, 'safe' | 'label'>;
}

class HttpImageService implements ImageService {
  readonly #settings: Settings;
  readonly #transport: Transport;
  readonly #ownDispatcher: Dispatcher | undefined;

  constructor(settings: Settings, transport: Transport, ownDispatcher: Dispatcher | undefined) {
    this.#settings = settings;
    this.#transport = transport;
    this.#ownDispatcher = ownDispatcher;
  }

  /** `extra` has the last word: it may add fields and replace ours, whose names gateways do not agree on. */
  imagine(
    request: { readonly fields: Fields; readonly extra?: Fields; readonly speed: Speed },
    signal: AbortSignal,
  ): Promise<Answer<SubmitAnswer>> {
    const body = { botType: this.#settings.names.botType, ...request.fields, ...request.extra };
    return this.#submit('imagine', request.speed, body, signal);
  }

  action(
    request: {
      readonly taskId: string;
      readonly customId: string;
      readonly enableRemix?: boolean;
      readonly extra?: Fields;
      readonly speed: Speed;
    },
    signal: AbortSignal,
  ): Promise<Answer<SubmitAnswer>> {
    const { taskId, customId, enableRemix, extra, speed } = request;
    const body: WireActionRequest = {
      taskId,
      customId,
      ...(enableRemix !== undefined && { enableRemix }),
      ...extra,
    };
    return this.#submit('action', speed, body, signal);
  }

  async fetchTask(id: string, signal: AbortSignal): Promise<Answer<Task>> {
    if (!isUsableTaskId(id)) {
      const message = `The task id "${this.#settings.shared.clean(id)}" cannot be asked for: an id is one word of at most 256 characters.`;
      return { ok: false, error: { code: 'service.bad-id', class: 'permanent', message } };
    }
    // The speed is a property of the submission: fetch has no prefix (service.md 4.1.5).
    const path = `/${this.#settings.names.path}/task/${encodeURIComponent(id)}/fetch`;
    return this.#request('GET', path, undefined, signal, (reply, facts) => readTask(id, reply, facts));
  }

  async close(): Promise<void> {
    await this.#ownDispatcher?.close();
  }

  #submit(
    what: 'imagine' | 'action',
    speed: Speed,
    body: Fields,
    signal: AbortSignal,
  ): Promise<Answer<SubmitAnswer>> {
    const { names } = this.#settings;
    const prefix = { relax: '', fast: `/${names.fastPrefix}`, turbo: `/${names.turboPrefix}` }[speed];
    const path = `${prefix}/${names.path}/submit/${what}`;
    return this.#request('POST', path, body, signal, readSubmit);
  }

  async #request<T>(
    method: 'GET' | 'POST',
    path: string,
    fields: Fields | undefined,
    signal: AbortSignal,
    read: (reply: Reply, facts: RequestFacts) => Answer<T>,
  ): Promise<Answer<T>> {
    const { baseUrl, headers, requestMs, shared } = this.#settings;
    const facts: RequestFacts = {
      ...shared,
      safe: method === 'GET',
      label: shared.mask(`${method} ${path}`),
      ...(fields !== undefined && { largestPart: () => largestPart(fields) }),
    };
    // One signal serves every request of a run. Each listener goes with its request: many of them are no leak.
    setMaxListeners(0, signal);
    const result = await exchange(
      {
        method,
        url: `${baseUrl}${path}`,
        headers,
        timeoutMs: requestMs,
        ...(fields !== undefined && { body: JSON.stringify(fields) }),
      },
      this.#transport,
      signal,
    );
    return result.ok
      ? read(result.value, facts)
      : { ok: false, error: connectionFailure(result.loss, result.sent, facts) };
  }
}
