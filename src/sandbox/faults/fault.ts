import type { Refusal } from './fail-reasons.ts';

/** The submissions of gateway 2.1; the old forms of a click, and shorten (gateway 2.1). */
export const submissionRoutes = [
  'imagine',
  'action',
  'modal',
  'blend',
  'describe',
  'video',
  'edits',
  'change',
  'simple-change',
  'shorten',
] as const;

/** Whether a route is a submission. */
export function isSubmit(name: string): name is (typeof submissionRoutes)[number] {
  return submissionRoutes.some((submit) => submit === name);
}

/** Which requests a fault meets: `submit` is every submission of image work, `text` generate and chat, `any` every route of the service. */
export const faultRoutes = [
  ...submissionRoutes,
  'submit',
  'fetch',
  'list-by-condition',
  'cancel',
  'image',
  'generate',
  'chat',
  'text',
  'models',
  'any',
] as const;

export type FaultRoute = (typeof faultRoutes)[number];

/** What goes wrong. `after` means after the request was carried out: the client cannot know that it was. */
export type FaultEffect =
  /** An error status with its envelope (gateway 8.2); `retryAfter` in seconds. */
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
  /** Answers with what is no HTTP, as a wrong port does: a line of a mail server, an alert of TLS, the settings of HTTP/2. */
  | { readonly kind: 'no-http'; readonly speaks: 'mail' | 'tls' | 'http2' }
  /** Promises the whole body and cuts the connection in its middle; a stream is cut there too. */
  | { readonly kind: 'truncate' }
  /** A web page with status 200 (gateway 8.3). */
  | { readonly kind: 'html' }
  /** 301 to the web host (gateway 8.3). */
  | { readonly kind: 'redirect' }
  /** Submit only: the answer is the 400 with code 5 that hides a time-out (gateway 3.3); after: the task is made. */
  | { readonly kind: 'hidden-timeout'; readonly after: boolean }
  /** 500 with code `invalid_request`, which must not be retried (gateway 8.4). */
  | { readonly kind: 'invalid-request' }
  /** A refusal in the words of a gateway of the family. */
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  /** Fetch only: what is wrong with the links of a finished task. */
  | { readonly kind: 'link'; readonly link: LinkFault }
  /** Fetch only: the status of a task that is not finished, in a word that nobody has described. */
  | { readonly kind: 'status-word'; readonly word: string }
  /** Every task that was made before is forgotten, as by a proxy that was started anew. */
  | { readonly kind: 'forget' }
  /** Image only: a page for browsers with status 403 (`cf-mitigated`). */
  | { readonly kind: 'challenge' }
  /** Image only: a JPEG without its lower half, whose length and end mark are right. */
  | { readonly kind: 'half-jpeg' }
  /** Image only: JSON with this status in place of the file (gateway 4.7). */
  | { readonly kind: 'json'; readonly status: number }
  /**
   * Action only: the parent's state is wrong or its task missing, and right the next time: in the gateway's words, or the
   * proxy's two (gateway 3.5, 5.6). `button`: its customId is refused as outdated, with a bare 400.
   */
  | { readonly kind: 'not-ready'; readonly words: 'gateway' | 'status' | 'missing' | 'button' }
  /** Submit only: HTTP 200 with this code and no task, or 429 with 30 (gateway 3.2). */
  | { readonly kind: 'code'; readonly code: number }
  /** Submit only: the task is made and never finishes. */
  | { readonly kind: 'stuck' }
  /** Submit only: the task is made and ends in CANCEL. */
  | { readonly kind: 'cancel' }
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

/** The routes that alone can have an effect; undefined where every one can. */
export function routesOf(effect: FaultEffect): 'submit' | 'action' | 'fetch' | 'image' | undefined {
  switch (effect.kind) {
    case 'code':
    case 'stuck':
    case 'fail':
    case 'cancel':
    case 'hidden-timeout':
      return 'submit';
    case 'not-ready':
      return 'action';
    case 'link':
    case 'status-word':
      return 'fetch';
    case 'json':
    case 'challenge':
    case 'half-jpeg':
      return 'image';
    default:
      return undefined;
  }
}

/**
 * `loopback`: of a gateway that was not told its own address; `path`: of one whose own address is empty (gateway 4.7). `stale-videos`:
 * the links of `videoUrls` have expired, and `videoUrl` has not.
 */
export const linkFaults = ['expired', 'foreign', 'missing', 'loopback', 'path', 'stale-videos'] as const;

export type LinkFault = (typeof linkFaults)[number];
