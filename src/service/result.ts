/** The meaning of the gateway's answers for a run, in one form for all endpoints. */

import type { ConnectionFailure } from './http/reply.ts';
import type { ToldLimit } from './http/told.ts';

/** How a failed request is handled (gateway 8.2, 3.2). */
export type FailureClass =
  /** Stops the whole run: the key or the address is wrong, or the money is used up. */
  | 'stop'
  /** Fails the job; the same request would fail again. */
  | 'permanent'
  /** Retried later. */
  | 'retry'
  /** 429: the route is paused for every job; not an attempt. */
  | 'throttle'
  /** Nothing left this machine (refused connection, failed look-up). */
  | 'unsent'
  /** Sent, but no status came back, or one that hides a time-out (400 with code 5). */
  | 'lost';

/**
 * How far a refusal reaches. Absent: this request, or this moment.
 *
 * - `key`: the key is refused. `address`: the base address, or `service.names`, is wrong. `quota`: the money of the account or the key
 *   is used up (code `service.quota`). All three are of class `stop`.
 * - `not-offered`: this gateway, or its account, does not offer this kind of request (code `service.not-offered`, class `permanent`).
 * - `no-channel`: no channel behind the gateway can do it now (code `service.no-channel`, class `retry`; nothing was made).
 * - `account`: a state of the account behind the gateway, whatever the request.
 */
export type About = 'key' | 'address' | 'quota' | 'not-offered' | 'no-channel' | 'account';

/**
 * Every code of a failed request. A service's own words are mapped to these (`failures/`). A GET is never `lost`: it is `retry` with the
 * same code.
 */
export type ServiceCode =
  | ConnectionFailure['code']
  /** Refused here, before it was sent (class `permanent`). */
  | 'request.too-large'
  /** An id that fits into no address. */
  | 'service.bad-id'
  /** 400 with code 5, or words that a made task was not recorded. */
  | 'service.ambiguous'
  | 'service.forbidden'
  | 'service.malformed'
  | 'service.no-channel'
  /** `fetchTasks`, class `permanent`: fetch tasks one by one. */
  | 'service.no-listing'
  | 'service.not-found'
  | 'service.not-json'
  | 'service.not-offered'
  /** A submission, class `retry`: the gateway's copy of the parent is not finished, and nothing was made. */
  | 'service.not-ready'
  /** The gateway shows another task (found by the run). */
  | 'service.other-task'
  | 'service.quota'
  | 'service.redirect'
  | 'service.rejected'
  /** A fetch, class `retry`: a new id may lag. */
  | 'service.task-unknown'
  | 'service.throttled'
  | 'service.too-large'
  | 'service.unauthorized'
  | 'service.unavailable'
  | 'stream.truncated'
  | 'submit.refused'
  | 'task.moderated';

/** A request that gave no usable response. */
export interface ServiceFailure {
  readonly code: ServiceCode;
  readonly class: FailureClass;
  readonly about?: About;
  /** For the user: what happened, with the service's own words, and what to do. Never a secret. */
  readonly message: string;
  /** The service's words alone, without the request id: used to compare twenty rejections in a row. */
  readonly serviceMessage?: string;
  readonly status?: number;
  readonly requestId?: string;
  /** Wait of the Retry-After header, in ms. */
  readonly retryAfterMs?: number;
  /** A page, a redirect or a missing path: of class `stop`, unless the endpoint has answered well in this run. */
  readonly wrongAddress?: true;
  /** For class `stop` or `permanent`: the service may have processed the request all the same, and charged for it. */
  readonly mayBeDone?: true;
  /** A stream ended without giving a reason: repeat the call without streaming. */
  readonly unstreamed?: true;
  /** For class `retry`: certainly nothing was made, so that the same submission does not make a second task. */
  readonly unmade?: true;
  /** For class `lost`: the connection behind the gateway broke, or a 502 came. Retried where the pipeline says `retry.ambiguous: retry`. */
  readonly likeBadGateway?: true;
  /** Tokens that the service counted before a text response broke off. */
  readonly usage?: ReplyUsage;
  readonly cause?: unknown;
}

/**
 * Called when the first byte of a request is handed to the network, and again if the same request is sent once more. A request that
 * fails before that has left nothing at the service.
 *
 * @returns false: the request must not leave, and fails as unsent; any other value is ignored
 */
export type OnLeave = () => unknown;

/** Whether a half of the service reports when requests leave. */
export interface TellsLeaving {
  /** True: `onLeave` is called for every request that leaves. Absent: it may never be called. */
  readonly tellsLeaving?: boolean;
}

/** The limits that a reply reports, whatever its outcome. */
export interface Telling {
  /** Absent: none. */
  readonly told?: readonly ToldLimit[];
}

export type ServiceResult<T> = Telling &
  ({ readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ServiceFailure });

/**
 * Token counts of the service. A count that it did not give is absent. `total` = prompt + candidates + thoughts + tool + other; without
 * a total from the service, it is their sum.
 */
export interface ReplyUsage {
  readonly prompt?: number;
  readonly cached?: number;
  /** Tokens of the visible response; thoughts are counted separately. */
  readonly candidates?: number;
  readonly thoughts?: number;
  readonly tool?: number;
  /** Tokens in the service's total beyond its parts; their side is unknown. Absent: none. */
  readonly other?: number;
  readonly total?: number;
}
