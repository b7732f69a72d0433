import type { InlineImage, ReplyUsage } from './text-service.ts';

/** What the gateway's answers mean to a run, whatever shape they came in. */

/** How a failed request is to be met (service.md 7.2, protocol.md 2). */
export type FailureClass =
  /** Stops the whole run: the key or the address is wrong, or the money is used up. */
  | 'stop'
  /** Fails the job; the same request would fail again. */
  | 'permanent'
  /** The service advises to try again: 408, 500, 502, 503, 504, 520 to 524. */
  | 'retry'
  /** 429: the route is paused for every job; not an attempt. */
  | 'throttle'
  /** Nothing left this machine: refused connection, failed look-up. */
  | 'unsent'
  /** It was sent and no status came back, or a status that hides a time-out (400 with code 5). */
  | 'lost';

/** A request that gave no usable answer. */
export interface ServiceFailure {
  /**
   * `service.unauthorized` | `service.redirect` | `service.not-json` | `service.rejected` | `service.forbidden` |
   * `service.not-found` | `service.too-large` | `service.throttled` | `service.unavailable` | `service.malformed` |
   * `service.ambiguous` (400 with code 5) | `service.quota` (class `stop`: the account's or the key's money is used up) |
   * `service.not-ready` (of a submission; class `retry`: the parent is not finished for the gateway yet, and certainly
   * nothing was made) | `service.task-unknown` (of a fetch; class `retry`, for a new id may lag) | `service.no-listing`
   * (of `fetchTasks`; class `permanent`: the gateway has no such endpoint, so that tasks are fetched one by one) |
   * `service.bad-id` (an id that fits into no address) | `request.too-large` (refused here, before anything left; class
   * `permanent`) | `response.too-large` | `connection.refused` | `connection.dns` |
   * `connection.tls` | `connection.certificate` (class `stop`: every connection would meet the same) | `connection.proxy` | `connection.timeout` | `connection.lost` | `connection.aborted` (the caller
   * gave up). A GET is never `lost`: it is `retry` with the same code.
   */
  readonly code: string;
  readonly class: FailureClass;
  /** For the user: what happened, with the service's own words, and what to do. Never a secret. */
  readonly message: string;
  /** The service's words alone, without the request id: what twenty refusals in a row are compared by. */
  readonly serviceMessage?: string;
  readonly status?: number;
  readonly requestId?: string;
  /** From Retry-After, in ms. */
  readonly retryAfterMs?: number;
  /** A page, a redirect or a missing path: of class `stop`, unless the endpoint has answered well in this run. */
  readonly wrongAddress?: true;
  /** It ends the run (class `stop`), and the service may have carried the submission out all the same. */
  readonly mayBeDone?: true;
  /** Tokens that the service counted before a text answer broke off. */
  readonly usage?: ReplyUsage;
  readonly cause?: unknown;
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ServiceFailure };

/** The submit codes of protocol.md 2, by what they mean. */
export type SubmitAnswer =
  /** 1, 22; 21 of old gateways, which says that the very same task exists already. */
  | {
      readonly kind: 'accepted';
      readonly taskId: string;
      readonly code: number;
      /** How many tasks go before it, where the service says so (`numberOfQueues`). */
      readonly waiting?: number;
    }
  /** 21: the task exists and wants its modal. */
  | {
      readonly kind: 'modal';
      readonly taskId: string;
      readonly code: number;
      readonly waiting?: number;
    }
  /** 23, 9, and 3 for want of an account: later and slower, not an attempt. */
  | { readonly kind: 'queue-full'; readonly code: number; readonly message: string }
  /** 4, 24 and other 3: fails the job. */
  | {
      readonly kind: 'refused';
      readonly code: number;
      readonly message: string;
      readonly requestId?: string;
      /** Tasks were made all the same, and may be paid for. */
      readonly made?: true;
    };

/** A button as the client reads it: absent texts are empty. */
export interface TaskButton {
  readonly customId: string;
  readonly label: string;
  readonly emoji: string;
}

/** A task as the client reads it. Decided on `status` alone (protocol.md, fact 3). */
export interface Task {
  readonly id: string;
  readonly state: 'unfinished' | 'modal' | 'success' | 'failure';
  /** As the service wrote it. */
  readonly status: string;
  /** 0 to 100 where the service says so. */
  readonly progress?: number;
  /** Only of a finished task; during progress it may be a preview. */
  readonly imageUrl?: string;
  /** Empty until the task is finished. */
  readonly buttons: readonly TaskButton[];
  readonly failReason?: string;
  /** Only of a finished video task: one link each, in order. */
  readonly videoUrls?: readonly string[];
  /** Only of a finished describe task: `properties.finalPrompt`, split (protocol.md 1.4). */
  readonly prompts?: readonly string[];
  /** When the service took its submission on, Unix ms by its clock, where it says so. */
  readonly submittedAt?: number;
  /** The caller's own tag, echoed (protocol.md 1.2): the job's key. */
  readonly tag?: string;
}

/** What every submission has. */
export interface Submission {
  readonly speed: 'relax' | 'fast' | 'turbo';
  /** Sent as `state`, and echoed by the task (protocol.md 1.2). */
  readonly tag?: string;
  /** Merged into the body, member by member, with the last word. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * The image workflow of service.md 4.1 as a run uses it. `fields` are the pipeline's declared fields by their pipeline names;
 * defaults such as botType, and the wire's names, are added here. Images go as data URIs.
 */
export interface ImageService {
  imagine(
    request: Submission & {
      readonly fields: Readonly<Record<string, unknown>>;
      /** Image prompts, as `base64Array`. */
      readonly images?: readonly InlineImage[];
    },
    signal: AbortSignal,
  ): Promise<Answer<SubmitAnswer>>;
  action(
    request: Submission & {
      readonly taskId: string;
      readonly customId: string;
      readonly enableRemix?: boolean;
    },
    signal: AbortSignal,
  ): Promise<Answer<SubmitAnswer>>;
  /**
   * Answers the modal of a task (service.md 2.6). White of the mask is repainted. The new task's id may be the same
   * (protocol.md 3): follow what is answered.
   */
  modal(
    request: Submission & {
      readonly taskId: string;
      readonly prompt?: string;
      /** PNG. */
      readonly mask?: InlineImage;
    },
    signal: AbortSignal,
  ): Promise<Answer<SubmitAnswer>>;
  /**
   * blend, describe, video and edit (service.md 4.1; payloads of protocol.md 3). A video's `extend` counts from 1. A
   * video's `motion` is low unless declared.
   */
  begin(
    request: Submission & {
      readonly kind: 'blend' | 'describe' | 'video' | 'edit';
      readonly fields: Readonly<Record<string, unknown>>;
      /** In order: blend's images; describe's and edit's image; video's first frame, unless it goes on from one, then its last. */
      readonly images: readonly InlineImage[];
      /** Of a video with `extend`: the task whose video goes on. */
      readonly taskId?: string;
      /** Of edit: PNG, transparent where it is edited, as its wire wants it. */
      readonly mask?: InlineImage;
    },
    signal: AbortSignal,
  ): Promise<Answer<SubmitAnswer>>;
  fetchTask(id: string, signal: AbortSignal): Promise<Answer<Task>>;
  /**
   * Several tasks in one request, where the gateway offers it (protocol.md 3), in the order in which they are asked for;
   * what it does not know is not among them. `service.no-listing`: it does not offer it.
   */
  fetchTasks(ids: readonly string[], signal: AbortSignal): Promise<Answer<readonly Task[]>>;
  /**
   * All tasks that the service still shows, where it shows them: image proxies do, API gateways do not (`task/list`,
   * protocol.md 3). For finding one by its tag; where there is no such list, `service.no-listing`.
   */
  listTasks?(signal: AbortSignal): Promise<Answer<readonly Task[]>>;
  close(): Promise<void>;
}
