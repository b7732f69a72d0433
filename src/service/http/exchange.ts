import type { Dispatcher } from 'undici';

import type { BodyHold, BodyPool } from './body/budget.ts';
import { readBody } from './body/read.ts';
import { isOfNetwork, readConnectionError, type Sent } from './connect/connection-error.ts';
import { dispatchRequest, type HttpResponse, type Outbound } from './dispatch.ts';
import { type ConnectionFailure, type Reply, type ReplyBody, readReplyBody } from './reply.ts';
import { systemTimer, TimeOut, type Timer } from './timeout.ts';

/** How requests leave this machine; tests replace all of it. */
export interface Transport {
  /** A dispatcher (connections, proxies, connect time-out), or a fetch, which does not report when a request leaves. */
  readonly via: { readonly dispatcher: Dispatcher } | { readonly fetch: typeof globalThis.fetch };
  /** Timer of all waits. Default: setTimeout. */
  readonly timer?: Timer;
  /** Monotonic clock in ms. Default: performance.now. */
  readonly elapsed?: () => number;
  /** Largest body after decompression, in bytes. */
  readonly maxBodyBytes: number;
  /** Bound of the bytes of all bodies being read. */
  readonly bodies: BodyPool;
}

export interface HttpRequest extends Outbound {
  /** Time limit of the whole exchange: connecting, sending, headers and body, but not waiting for room in `bodies`. */
  readonly timeoutMs: number;
  /** Limits of the service's silence, if any. */
  readonly silence?: Silence | undefined;
  /** Called when the first byte is about to leave; false stops the request. Only a dispatcher reports that. */
  readonly onLeave?: (() => unknown) | undefined;
}

/** Limits of the service's silence, in ms; waiting for room does not count. */
export interface Silence {
  /** From the start to the first byte of the body. */
  readonly firstByteMs?: number | undefined;
  /** Between two chunks of the body. */
  readonly idleMs: number;
}

export type Exchange<T> =
  | { readonly ok: true; readonly value: T }
  /** No status arrived. `sent`: the request may have left this machine. */
  | { readonly ok: false; readonly failure: ConnectionFailure; readonly sent: boolean };

/** What a reader of a body needs: the count of its bytes, its time limits and its failures. */
export interface Receiving {
  readonly maxBytes: number;
  /** Counts the bytes of the body; waiting for room does not count as time of the exchange. */
  readonly hold: Pick<BodyHold, 'take'>;
  /** Called for each chunk of the body. `idleMs`: another limit of the silence that follows. */
  readonly onBytes: (idleMs?: number) => void;
  /** Returns why reading broke off: the end of the exchange, else the reason in the error. */
  readonly failureOf: (error: unknown) => ConnectionFailure;
}

/** Reads a response whose status is known. Never rejects for an error of the network. */
export type Receive<T> = (response: HttpResponse, receiving: Receiving) => Promise<T>;

/**
 * Sends one request and reads one response: redirects are not followed, nothing is repeated. Never rejects for an error of the network;
 * rejects for any other (a bug, memory that has run out).
 */
export async function exchange<T>(
  request: HttpRequest,
  transport: Transport,
  signal: AbortSignal,
  receive: Receive<T>,
): Promise<Exchange<T>> {
  if (signal.aborted) return { ok: false, failure: aborted(signal), sent: false };
  const giveUp = new AbortController();
  let ended: ConnectionFailure | undefined;
  const end = (failure: ConnectionFailure): void => {
    ended ??= failure;
    giveUp.abort(failure.cause);
  };
  const leave = (): void => end(aborted(signal));
  signal.addEventListener('abort', leave, { once: true });
  const timer = transport.timer ?? systemTimer;
  const elapsed = transport.elapsed ?? (() => performance.now());
  const outOfTime = (what: string) => (): void =>
    end({ code: 'connection.timeout', what, cause: new Error(what) });
  const timeOuts = [
    new TimeOut(
      request.timeoutMs,
      timer,
      elapsed,
      outOfTime(`no answer came within ${request.timeoutMs / 1000} s`),
    ),
  ];
  const { silence } = request;
  let quiet: TimeOut | undefined;
  const hush = (ms: number, what: string): void => {
    quiet = new TimeOut(ms, timer, elapsed, outOfTime(`${what} for ${ms / 1000} s`));
    timeOuts[1] = quiet;
  };
  if (silence?.firstByteMs !== undefined) hush(silence.firstByteMs, 'the answer did not begin');
  let isBegun = false;
  const onBytes = (idleMs = silence?.idleMs): void => {
    if (idleMs === undefined) return;
    if (isBegun) return quiet?.restart(idleMs);
    isBegun = true;
    quiet?.end();
    hush(idleMs, 'the answer had begun, and then nothing came');
  };
  const hold = transport.bodies.open(giveUp.signal);
  const take = (bytes: number): Promise<void> | undefined => {
    const wait = hold.take(bytes);
    if (wait === undefined) return undefined;
    return timeOuts.reduce((waiting, timeOut) => timeOut.except(waiting), wait);
  };

  let sent: Sent = 'dispatcher' in transport.via ? 'no' : 'unknown';
  // An injected fetch may throw anything.
  const isBug = (error: unknown): boolean =>
    ended === undefined && 'dispatcher' in transport.via && !isOfNetwork(error);
  try {
    const response = await send(request, transport, giveUp.signal, () => {
      if (request.onLeave?.() === false) return end(heldBack());
      sent = 'yes';
    });
    const value = await receive(response, {
      maxBytes: transport.maxBodyBytes,
      hold: { take },
      onBytes,
      failureOf: (error) => {
        if (isBug(error)) throw error;
        return ended ?? readConnectionError(error, 'yes').failure;
      },
    });
    return { ok: true, value };
  } catch (error) {
    if (isBug(error)) throw error;
    const reading = readConnectionError(error, sent);
    // With an unknown transport, only an abort before the start certainly came in time.
    return {
      ok: false,
      failure: ended ?? reading.failure,
      sent: ended === undefined ? reading.sent : sent !== 'no',
    };
  } finally {
    for (const timeOut of timeOuts) timeOut.end();
    hold.release();
    signal.removeEventListener('abort', leave);
  }
}

const aborted = (signal: AbortSignal): ConnectionFailure => ({
  code: 'connection.aborted',
  what: 'the request was given up because the run is stopping',
  cause: signal.reason,
});

const heldBack = (): ConnectionFailure => ({
  code: 'connection.aborted',
  what: 'the request was held back before it left',
  cause: new Error('held back'),
});

async function send(
  request: HttpRequest,
  { via, maxBodyBytes }: Transport,
  signal: AbortSignal,
  onStart: () => void,
): Promise<HttpResponse> {
  if ('dispatcher' in via)
    return dispatchRequest(via.dispatcher, request, { signal, maxBytes: maxBodyBytes, onStart });
  const { url, method, headers, body } = request;
  return via.fetch(url, {
    method,
    headers,
    signal,
    redirect: 'manual',
    ...(body !== undefined && { body }),
  });
}

/** Reads the whole body of a response; if it breaks off, the status still counts. */
export const receiveWhole: Receive<Reply> = async (response, receiving) => ({
  status: response.status,
  header: (name) => response.headers.get(name),
  body: await receiveBody(response, receiving),
});

async function receiveBody(response: HttpResponse, receiving: Receiving): Promise<ReplyBody> {
  if (response.status >= 300 && response.status < 400) {
    // The body carries nothing; unread it would block the connection.
    await response.body?.cancel().catch(() => undefined);
    return { kind: 'empty' };
  }
  try {
    const bytes = await readBody(response.body, receiving.maxBytes, receiving.hold);
    return readReplyBody(bytes, response.headers.get('content-type'));
  } catch (error) {
    return { kind: 'unread', failure: receiving.failureOf(error) };
  }
}
