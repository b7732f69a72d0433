import { DecoratorHandler, type Dispatcher, fetch as undiciFetch } from 'undici';

import type { BodyHold, BodyPool } from './body-pool.ts';
import { readConnectionError, type Sent } from './connection.ts';
import { type ByteStream, readBody } from './read-body.ts';
import { type Loss, type Reply, type ReplyBody, readReplyBody } from './reply.ts';
import { systemTimer, TimeOut, type Timer } from './time-out.ts';

/** How requests leave this machine; everything a test replaces. */
export interface Transport {
  /** Connections, proxies, connect time-out. Without it: undici's global one. */
  readonly dispatcher?: Dispatcher;
  /** Instead of undici's, and then `dispatcher` is not used. */
  readonly fetch?: typeof globalThis.fetch;
  /** Default: setTimeout. */
  readonly timer?: Timer;
  /** Milliseconds since whenever, never going back. Default: performance.now. */
  readonly elapsed?: () => number;
  /** Bound of a body after decompression, in bytes. */
  readonly maxBodyBytes: number;
  /** Bound of all bodies that are being read. */
  readonly bodies: BodyPool;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Bound of the whole exchange: connecting, sending, headers and body, but for waiting until there is room for that. */
  readonly timeoutMs: number;
}

export type Exchange =
  | { readonly ok: true; readonly value: Reply }
  /** No status came. `sent`: the request may have left this machine. */
  | { readonly ok: false; readonly loss: Loss; readonly sent: boolean };

/** One request, one answer: redirects are not followed, nothing is repeated. Never rejects for what the network does. */
export async function exchange(
  request: HttpRequest,
  transport: Transport,
  signal: AbortSignal,
): Promise<Exchange> {
  if (signal.aborted) return { ok: false, loss: aborted(signal), sent: false };
  const giveUp = new AbortController();
  let ended: Loss | undefined;
  const end = (loss: Loss): void => {
    ended ??= loss;
    giveUp.abort(loss.cause);
  };
  const onAbort = (): void => end(aborted(signal));
  signal.addEventListener('abort', onAbort, { once: true });
  const timeOut = new TimeOut(
    request.timeoutMs,
    transport.timer ?? systemTimer,
    transport.elapsed ?? (() => performance.now()),
    () => {
      const what = `no answer came within ${request.timeoutMs / 1000} s`;
      end({ code: 'connection.timeout', what, cause: new Error(what) });
    },
  );
  const hold = transport.bodies.open(giveUp.signal);
  const take = (bytes: number): Promise<void> | undefined => {
    const wait = hold.take(bytes);
    return wait === undefined ? undefined : timeOut.except(wait);
  };

  const tells = transport.fetch === undefined && transport.dispatcher !== undefined;
  let sent: Sent = tells ? 'no' : 'unknown';
  try {
    const response = await send(request, transport, giveUp.signal, () => {
      sent = 'yes';
    });
    const body = await receive(response, transport.maxBodyBytes, { take }, () => ended);
    return {
      ok: true,
      value: { status: response.status, header: (name) => response.headers.get(name), body },
    };
  } catch (error) {
    const reading = readConnectionError(error, sent);
    // With an unknown transport only an abort before the start is certain to have come in time.
    return {
      ok: false,
      loss: ended ?? reading.loss,
      sent: ended === undefined ? reading.sent : sent !== 'no',
    };
  } finally {
    timeOut.end();
    hold.release();
    signal.removeEventListener('abort', onAbort);
  }
}

const aborted = (signal: AbortSignal): Loss => ({
  code: 'connection.aborted',
  what: 'the request was given up because the run is stopping',
  cause: signal.reason,
});

/** What is needed of undici's and of Node's Response. */
interface Response {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: (ByteStream & { cancel(): Promise<void> }) | null;
}

async function send(
  request: HttpRequest,
  transport: Transport,
  signal: AbortSignal,
  onSent: () => void,
): Promise<Response> {
  const { url, method, headers, body } = request;
  const init = { method, headers, signal, redirect: 'manual', ...(body !== undefined && { body }) } as const;
  if (transport.fetch !== undefined) return transport.fetch(url, init);
  const { dispatcher } = transport;
  return undiciFetch(url, {
    ...init,
    ...(dispatcher && { dispatcher: dispatcher.compose(noteStart(onSent)) }),
  });
}

/**
 * Tells when undici begins to write a request: it does so when the connection stands, right before the first byte.
 * An error before that, whatever its kind, left nothing at the service. It also holds fetch to one request: the fetch
 * standard would repeat one that was answered with 421, a submission too.
 */
function noteStart(onSent: () => void): Dispatcher.DispatcherComposeInterceptor {
  let asked = false;
  return (dispatch) => (options, handler) => {
    if (asked) throw new Error('the service asked for another connection (HTTP 421)');
    asked = true;
    const noting: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
    const start = noting.onRequestStart?.bind(noting);
    noting.onRequestStart = (controller, context) => {
      onSent();
      start?.(controller, context);
    };
    return dispatch(options, noting);
  };
}

/** Reads the body; where it breaks, the status still counts. */
async function receive(
  response: Response,
  maxBytes: number,
  hold: Pick<BodyHold, 'take'>,
  ended: () => Loss | undefined,
): Promise<ReplyBody> {
  if (response.status >= 300 && response.status < 400) {
    // Its body says nothing; unread it would hold the connection.
    await response.body?.cancel().catch(() => undefined);
    return { kind: 'empty' };
  }
  try {
    return readReplyBody(await readBody(response.body, maxBytes, hold), response.headers.get('content-type'));
  } catch (error) {
    return { kind: 'unread', loss: ended() ?? readConnectionError(error, 'yes').loss };
  }
}
