/** Which requests a fault meets: `submit` is imagine and action, `text` generate and chat, `any` every route of the service. */
export type FaultRoute =
  | 'imagine'
  | 'action'
  | 'submit'
  | 'fetch'
  | 'image'
  | 'generate'
  | 'chat'
  | 'text'
  | 'models'
  | 'any';

/** What goes wrong. `after` means after the request was carried out: the client cannot know that it was. */
export type FaultEffect =
  /** An error status with its envelope (service.md 7.2); `retryAfter` in seconds. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly after: boolean;
      readonly retryAfter?: number;
    }
  /** Waits before the request is looked at. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Sends the answer's body in pieces over this time. */
  | { readonly kind: 'drip'; readonly ms: number }
  /** Cuts the connection instead of an answer. */
  | { readonly kind: 'reset'; readonly after: boolean }
  /** Promises the whole body and cuts the connection in its middle; a stream is cut there too. */
  | { readonly kind: 'truncate' }
  /** A web page with status 200 (protocol.md 6.3, no. 8). */
  | { readonly kind: 'html' }
  /** 301 to the web host (service.md 7.3). */
  | { readonly kind: 'redirect' }
  /** The task is made and the answer is the 400 with code 5 that hides a time-out (protocol.md, fact 7). */
  | { readonly kind: 'hidden-timeout' }
  /** Submit only: HTTP 200 with this code and no task (protocol.md 2). */
  | { readonly kind: 'code'; readonly code: number }
  /** Submit only: the task is made and never finishes. */
  | { readonly kind: 'stuck' }
  /** Submit only: the task is made and fails with this reason. */
  | { readonly kind: 'fail'; readonly reason: string };

/** When a fault strikes, counted over the requests that it could meet. */
export type FaultTiming =
  | { readonly kind: 'probability'; readonly share: number }
  | { readonly kind: 'every'; readonly count: number }
  | { readonly kind: 'first'; readonly count: number }
  | { readonly kind: 'at'; readonly number: number };

/** One fault on demand. `text` is how it was written, for messages and the request log. */
export interface Fault {
  readonly route: FaultRoute;
  readonly effect: FaultEffect;
  readonly when: FaultTiming;
  readonly text: string;
}

/** Effects that only a submission can have. */
export function isSubmitOnly(effect: FaultEffect): boolean {
  return (
    effect.kind === 'code' ||
    effect.kind === 'stuck' ||
    effect.kind === 'fail' ||
    effect.kind === 'hidden-timeout'
  );
}
