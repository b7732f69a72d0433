/** What the gateway's answers mean to a run, whatever shape they came in. */

import type { ToldLimit } from './http/told.ts';

/** How a failed request is to be met (gateway 8.2, 3.2). */
export type FailureClass =
  /** Stops the whole run: the key or the address is wrong, or the money is used up. */
  | 'stop'
  /** Fails the job; the same request would fail again. */
  | 'permanent'
  /** The service advises to try again. */
  | 'retry'
  /** 429: the route is paused for every job; not an attempt. */
  | 'throttle'
  /** Nothing left this machine (refused connection, failed look-up). */
  | 'unsent'
  /** It was sent and no status came back, or a status that hides a time-out (400 with code 5). */
  | 'lost';

/**
 * How far a refusal reaches. Absent: the request alone, or the moment.
 *
 * - `key`: the key is not taken. `address`: the base address, or `service.names`, is wrong. `quota`: the money of the account or the
 *   key is used up (code `service.quota`). All three are of class `stop`.
 * - `not-offered`: this gateway, or its account, does not do this kind of request (code `service.not-offered`, class `permanent`).
 * - `no-channel`: nobody behind the gateway can do it now (code `service.no-channel`, class `retry`; nothing was made).
 * - `account`: a state of the account behind the gateway, whatever the request.
 */
export type About = 'key' | 'address' | 'quota' | 'not-offered' | 'no-channel' | 'account';

/** A request that gave no usable response. */
export interface ServiceFailure {
  /**
   * `service.unauthorized` | `service.redirect` | `service.not-json` | `service.rejected` | `service.forbidden` |
   * `service.not-found` | `service.too-large` | `service.throttled` | `service.unavailable` | `service.malformed` |
   * `service.ambiguous` (400 with code 5, or words that a made task was not noted) | `service.not-offered` | `service.no-channel` | `service.quota` (class `stop`: the account's or the key's money is used up) |
   * `service.not-ready` (of a submission; class `retry`: the parent is not finished for the gateway yet, and certainly
   * nothing was made) | `service.task-unknown` (of a fetch; class `retry`, for a new id may lag) | `service.no-listing`
   * (of `fetchTasks`; class `permanent`: the gateway has no such endpoint, so that tasks are fetched one by one) |
   * `service.bad-id` (an id that fits into no address) | `request.too-large` (refused here, before anything left; class
   * `permanent`) | `response.too-large` | `connection.refused` | `connection.dns` |
   * `connection.tls` | `connection.certificate` (class `stop`: every connection would meet the same) | `connection.protocol` (class `stop`: TLS where it was spoken to in plain, or the other way round) | `connection.proxy` (class `stop` where the proxy refuses) | `connection.timeout` | `connection.lost` | `connection.aborted` (the caller
   * gave up). A GET is never `lost`: it is `retry` with the same code.
   */
  readonly code: string;
  readonly class: FailureClass;
  readonly about?: About;
  /** For the user: what happened, with the service's own words, and what to do. Never a secret. */
  readonly message: string;
  /** The service's words alone, without the request id: used to compare twenty rejections in a row. */
  readonly serviceMessage?: string;
  readonly status?: number;
  readonly requestId?: string;
  /** From Retry-After, in ms. */
  readonly retryAfterMs?: number;
  /** A page, a redirect or a missing path: of class `stop`, unless the endpoint has answered well in this run. */
  readonly wrongAddress?: true;
  /** Of class `stop` or `permanent`: the service may have carried the request out all the same, and charged for it. */
  readonly mayBeDone?: true;
  /** Of a stream that said that it was over, and not why: the call is to be made again without streaming. */
  readonly unstreamed?: true;
  /** Of class `retry`: nothing was made for certain, so that the same submission is no second one. */
  readonly unmade?: true;
  /** Of class `lost`: what broke behind the gateway, and a 502 elsewhere. Tried again where the pipeline says `retry.ambiguous: retry`. */
  readonly likeBadGateway?: true;
  /** Tokens that the service counted before a text response broke off. */
  readonly usage?: ReplyUsage;
  readonly cause?: unknown;
}

/**
 * Called when the first byte of a request is handed to the network, and again should the same request be sent once more. A request that
 * fails before that has left nothing at the service.
 *
 * @returns false: it must not leave, and fails as one that never left; anything else is of no meaning
 */
export type OnLeave = () => unknown;

/** Whether a half of the service reports when requests leave. */
export interface TellsLeaving {
  /** True: `onLeave` is called for every request that leaves. Absent: it may never be called. */
  readonly tellsLeaving?: boolean;
}

/** What a reply tells of the service's limits, whatever else it says. */
export interface Telling {
  /** Absent: nothing. */
  readonly told?: readonly ToldLimit[];
}

export type ServiceResult<T> = Telling &
  ({ readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ServiceFailure });

/**
 * Tokens as the service counted them. A count that the service did not give is absent. `total` = prompt + candidates +
 * thoughts + tool + other; without a total from the service, it is their sum.
 */
export interface ReplyUsage {
  readonly prompt?: number;
  readonly cached?: number;
  /** What is seen of the response: thoughts are counted beside it. */
  readonly candidates?: number;
  readonly thoughts?: number;
  readonly tool?: number;
  /** What the service's total has above its parts: nobody knows on which side. Absent: nothing. */
  readonly other?: number;
  readonly total?: number;
}
