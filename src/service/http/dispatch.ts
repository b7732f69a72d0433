import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

import { acceptedCodings, decoded } from './body/content-coding.ts';
import { IncomingBody } from './body/incoming.ts';
import type { ByteStream } from './body/read.ts';
import { isOfNetwork } from './connect/connection-error.ts';
import { BrokenConnection, currentReading } from './connect/reading.ts';
import type { NamedHeaders } from './told.ts';

/** The members of a response with a status that are used; undici's and Node's Response have them too. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: NamedHeaders;
  /** Body after content decoding. */
  readonly body: (ByteStream & { cancel(): Promise<void>; readonly hasEnded?: boolean }) | null;
}

/** A request as it is put on a connection. */
export interface Outbound {
  readonly method: 'GET' | 'POST' | 'HEAD' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Body of the request; the length of a stream is in the headers. */
  readonly body?: string | Uint8Array | Readable | undefined;
}

interface Awaiting {
  /** Cancels the request, even while it waits for a connection. */
  readonly signal: AbortSignal;
  /** Longest silence of the connection, in ms; absent: only the signal limits it. */
  readonly idleMs?: number;
  /** Called when the first byte is about to leave: a failure before that has left nothing at the service. */
  readonly onStart?: () => void;
}

/** A response as the connection brings it. */
export interface OpenResponse {
  readonly status: number;
  /** Headers by lower-case name; a list where a header is repeated. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Body before content decoding. */
  readonly body: IncomingBody;
}

/** Options for sending a request. */
export interface Dispatching extends Awaiting {
  /** Largest compressed body, before and between its codings, in bytes. */
  readonly maxBytes: number;
}

/** Most informational answers to one request: a server that sends more is not going to answer. */
const maxInformational = 1000;

/**
 * Sends one request through a dispatcher and returns the response when its status has arrived. Nothing is repeated, no redirect is
 * followed, and informational answers (1xx) are skipped (RFC 9110 15.2). Rejects with the connection's error; if the body breaks off,
 * reading it rejects.
 */
export async function dispatchRequest(
  dispatcher: Dispatcher,
  request: Outbound,
  dispatching: Dispatching,
): Promise<HttpResponse> {
  const { method, url, body: sent } = request;
  const headers = { ...request.headers, 'accept-encoding': acceptedCodings };
  const opened = await openResponse(dispatcher, { method, url, headers, body: sent }, dispatching);
  const { status, body } = opened;
  const get = (name: string): string | null => {
    const value = opened.headers[name];
    return (Array.isArray(value) ? value.join(', ') : value) || null;
  };
  const keys = (): readonly string[] => Object.keys(opened.headers);
  const response = (read: HttpResponse['body']): HttpResponse => ({
    status,
    headers: { get, keys },
    body: read,
  });
  try {
    const plain = decoded(body, get('content-encoding'), dispatching.maxBytes);
    return response(plain === undefined ? body : decodedStream(plain, body));
  } catch (error) {
    await body.cancel();
    return response(brokenBody(error));
  }
}

/** Sends a request as `dispatchRequest` does, but returns the body undecoded and requests only the codings that the headers name. */
export function openResponse(
  dispatcher: Dispatcher,
  { method, url, headers, body }: Outbound,
  awaiting: Awaiting,
): Promise<OpenResponse> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(
      {
        origin,
        path: `${pathname}${search}`,
        method,
        headers,
        // An exchange has its own limits: undici's 300 s would cut off a model that thinks for longer.
        headersTimeout: awaiting.idleMs ?? 0,
        bodyTimeout: awaiting.idleMs ?? 0,
        body: body ?? null,
      },
      new ResponseHandler(awaiting, resolve, reject),
    );
  });
}

class TooManyAnswers extends Error {
  readonly code = 'ERR_INFORMATIONAL';

  constructor() {
    super(`more than ${maxInformational} informational answers came`);
  }
}

/** Receives the events of one request, from its first byte to the last byte of its response. */
class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #awaiting: Awaiting;
  readonly #resolve: (response: OpenResponse) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: IncomingBody | undefined;
  #informational = 0;
  /** Whether our own code failed, and not the connection. */
  #isOurs = false;

  constructor(
    awaiting: Awaiting,
    resolve: (response: OpenResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#awaiting = awaiting;
    this.#resolve = resolve;
    this.#reject = reject;
    const { signal } = awaiting;
    signal.addEventListener('abort', this.#giveUp, { once: true });
    if (signal.aborted) this.#giveUp();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { signal, onStart } = this.#awaiting;
    if (signal.aborted) return controller.abort(reasonOf(signal));
    this.#controller = controller;
    try {
      onStart?.();
    } catch (error) {
      this.#isOurs = true;
      throw error;
    }
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: OpenResponse['headers'],
  ): void {
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > maxInformational) controller.abort(new TooManyAnswers());
      return;
    }
    const reading = currentReading();
    const body = new IncomingBody({
      hold: () => reading?.hold(),
      release: () => reading?.release(),
      abort: (reason) => controller.abort(reason),
    });
    this.#body = body;
    this.#resolve({ status, headers, body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#stopListening();
    this.#body?.end();
  }

  onResponseError(_controller: unknown, thrown: Error): void {
    this.#stopListening();
    // Errors during an event of a connection come from undici, which passes them on without their origin.
    const isUndici = currentReading() !== undefined && !this.#isOurs && !isOfNetwork(thrown);
    const error = isUndici ? new BrokenConnection(thrown) : thrown;
    this.#body?.end({ error });
    // Has no effect if the status has arrived.
    this.#reject(error);
  }

  readonly #giveUp = (): void => {
    const reason = reasonOf(this.#awaiting.signal);
    // A request that waits for a connection ends when its turn comes; no caller waits for that.
    if (this.#controller === undefined) return this.#reject(reason);
    try {
      this.#controller.abort(reason);
    } catch (error) {
      // What undici throws on a cancelled request does not concern the canceller: a timer or the end of the run.
      this.onResponseError(undefined, new BrokenConnection(error));
    }
  };

  #stopListening(): void {
    this.#awaiting.signal.removeEventListener('abort', this.#giveUp);
  }
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error('the request was given up');

/** Returns a body whose reading fails, because it cannot be decoded. */
function brokenBody(error: unknown): IncomingBody {
  const body = new IncomingBody({ hold: () => {}, release: () => {}, abort: () => {} });
  body.end({ error });
  return body;
}

/** Returns a readable body. `cancel` releases the connection, even before the first read. */
function decodedStream(plain: AsyncGenerator<Uint8Array>, body: IncomingBody): HttpResponse['body'] {
  const cancel = async (reason?: unknown): Promise<void> => {
    await body.cancel(reason);
    await plain.return(undefined);
  };
  const read = async (): Promise<{ readonly done: boolean; readonly value?: unknown }> => {
    const { done, value } = await plain.next();
    return { done: done === true, value };
  };
  return { cancel, getReader: () => ({ read, cancel }) };
}
