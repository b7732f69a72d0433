import type { Dispatcher } from 'undici';

import { acceptedCodings, decoded } from './body/content-coding.ts';
import { IncomingBody } from './body/incoming.ts';
import type { ByteStream } from './body/read.ts';

/** What is needed of a response with a status: undici's and Node's Response have it, too. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** Without its content codings. */
  readonly body: (ByteStream & { cancel(): Promise<void> }) | null;
}

/** A request as it is put on a connection. */
export interface Outbound {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How a request is carried out. */
export interface Dispatching {
  /** Gives the request up, also while it waits for a connection. */
  readonly signal: AbortSignal;
  /** Bound of a compressed body, before and between its codings, in bytes. */
  readonly maxBytes: number;
  /** The first byte is about to leave: whatever fails before that has left nothing at the service. */
  readonly onStart: () => void;
}

/** A server that has more to say before it answers does not mean to answer. */
const mostInformational = 1000;

/**
 * One request through a dispatcher, and the response when its status is there. Nothing is repeated, no redirect is followed,
 * and informational answers (1xx) are passed over (RFC 9110 15.2). Rejects with what the connection says; of a body that breaks
 * off, its reading does.
 */
export function dispatchRequest(
  dispatcher: Dispatcher,
  { method, url, headers, body }: Outbound,
  dispatching: Dispatching,
): Promise<HttpResponse> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(
      {
        origin,
        path: `${pathname}${search}`,
        method,
        headers: { ...headers, 'accept-encoding': acceptedCodings },
        // The bounds of an exchange are its own: undici's 300 s would cut off a model that thinks for longer.
        headersTimeout: 0,
        bodyTimeout: 0,
        ...(body !== undefined && { body }),
      },
      new ResponseHandler(dispatching, resolve, reject),
    );
  });
}

/** Hears of one request, from its first byte to the last one of its response. */
class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #dispatching: Dispatching;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: IncomingBody | undefined;
  #informational = 0;

  constructor(
    dispatching: Dispatching,
    resolve: (response: HttpResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#dispatching = dispatching;
    this.#resolve = resolve;
    this.#reject = reject;
    const { signal } = dispatching;
    signal.addEventListener('abort', this.#giveUp, { once: true });
    if (signal.aborted) this.#giveUp();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { signal, onStart } = this.#dispatching;
    if (signal.aborted) return controller.abort(reasonOf(signal));
    this.#controller = controller;
    onStart();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > mostInformational)
        controller.abort(new Error(`more than ${mostInformational} informational answers came`));
      return;
    }
    const header = (name: string): string | null => {
      const value = headers[name];
      return (Array.isArray(value) ? value.join(', ') : value) || null;
    };
    const body = new IncomingBody(controller);
    this.#body = body;
    const response = (read: HttpResponse['body']): void =>
      this.#resolve({ status, headers: { get: header }, body: read });
    let plain: AsyncGenerator<Uint8Array> | undefined;
    try {
      plain = decoded(body, header('content-encoding'), this.#dispatching.maxBytes);
    } catch (error) {
      const unreadable = new IncomingBody(controller);
      unreadable.end({ error });
      response(unreadable);
      void body.cancel();
      return;
    }
    response(plain === undefined ? body : decodedStream(plain, body));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#stopListening();
    this.#body?.end();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#stopListening();
    this.#body?.end({ error });
    // Without effect where the status has come.
    this.#reject(error);
  }

  readonly #giveUp = (): void => {
    const reason = reasonOf(this.#dispatching.signal);
    // A request that waits for a connection is ended when its turn comes; no caller waits for that.
    if (this.#controller === undefined) this.#reject(reason);
    else this.#controller.abort(reason);
  };

  #stopListening(): void {
    this.#dispatching.signal.removeEventListener('abort', this.#giveUp);
  }
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error('the request was given up');

/** A body that can be read. `cancel` releases the connection, even before the first read. */
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
