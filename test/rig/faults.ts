import type { IncomingHttpHeaders } from 'node:http';
import type { FakeSaying, FakeSays } from './fake-saying.ts';
import type { FramingName } from './framing.ts';

/** `list`: of several tasks; `image`: of films too; `chat`: streams too; `site`: the web site that redirects lead to; `unknown`: any path the gateway does not have. */
export const fakeRoutes = [
  'imagine',
  'action',
  'change',
  'modal',
  'blend',
  'describe',
  'video',
  'edits',
  'fetch',
  'list',
  'image',
  'generate',
  'stream',
  'chat',
  'models',
  'site',
  'unknown',
] as const;

export type FakeRoute = (typeof fakeRoutes)[number];

/** A request as the fake service saw it. */
export interface FakeRequest {
  readonly route: FakeRoute;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON body of a submission; undefined where there is none or it is not JSON. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Counts the requests of this route from 1. */
  readonly n: number;
}

/**
 * What happens instead of the answer. `before`: the request is not carried out; `after`: it is (a task exists, a
 * poll counts), and only the answer is spoilt.
 */
export type FaultAction =
  /** Another answer. A body that is an object is sent as JSON; a text beginning with `<` as HTML. */
  | {
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      readonly when?: 'before' | 'after';
    }
  /** HTTP 200 with a submit code (gateway 3.2), before the task is made. */
  | {
      readonly code: number;
      readonly description?: string;
      readonly result?: unknown;
      readonly properties?: unknown;
    }
  /** Of a text call: the model says this instead. */
  | { readonly says: FakeSaying | FakeSays }
  /** The connection is reset. */
  | { readonly reset: 'before' | 'after' }
  /** No answer until `release()`; then the proper one. */
  | { readonly hang: 'before' | 'after' }
  /** The proper headers and this many bytes of the proper body; then the connection is cut. */
  | { readonly truncate: number }
  /** The proper answer, whose end is told so. Only for framings that end the connection. */
  | { readonly framed: FramingName }
  /** The proper answer, a byte at a time, with this many milliseconds between them. */
  | { readonly drip: number }
  /** The proper status, then bytes without end. */
  | { readonly endless: true };

/** Which of the matching requests it hits; all of them when nothing is said. */
export interface FaultSchedule {
  /** Lets this many matching requests pass first. */
  readonly skip?: number;
  /** Then hits each nth one. Default 1. */
  readonly every?: number;
  /** At most this often. */
  readonly times?: number;
  readonly match?: (request: FakeRequest) => boolean;
}

/** Decides request by request; undefined lets it pass. */
export type FaultScript = (request: FakeRequest) => FaultAction | undefined;

/** A fault that was set. */
export interface Fault {
  /** Requests it has hit. */
  readonly hits: number;
  /** Requests that hang in it now. */
  readonly hanging: number;
  /** Resolves once it has hit `n` requests. */
  hit(n?: number): Promise<void>;
  /** Lets all that hang go on, and what would hang later pass. */
  release(): void;
  /** Hits nothing more; what hangs goes on hanging until `release`. */
  remove(): void;
}

/** Resolves waiting promises when a counter has grown far enough: the handshake that replaces sleeping. */
export class Tally {
  count = 0;
  #waiting: { n: number; done: () => void }[] = [];

  add(): number {
    this.count += 1;
    if (this.#waiting.length > 0) {
      for (const waiter of this.#waiting) if (waiter.n <= this.count) waiter.done();
      this.#waiting = this.#waiting.filter((waiter) => waiter.n > this.count);
    }
    return this.count;
  }

  reached(n: number): Promise<void> {
    if (this.count >= n) return Promise.resolve();
    return new Promise((done) => {
      this.#waiting.push({ n, done });
    });
  }
}

export class ScriptedFault implements Fault {
  readonly routes: readonly FakeRoute[];
  readonly #script: FaultScript;
  readonly #schedule: FaultSchedule;
  readonly #tally = new Tally();
  readonly #held = new Set<() => void>();
  #seen = 0;
  #active = true;
  #released = false;

  constructor(routes: readonly FakeRoute[], script: FaultScript, schedule: FaultSchedule) {
    this.routes = routes;
    this.#script = script;
    this.#schedule = schedule;
  }

  get hits(): number {
    return this.#tally.count;
  }

  get hanging(): number {
    return this.#held.size;
  }

  hit(n = 1): Promise<void> {
    return this.#tally.reached(n);
  }

  release(): void {
    this.#released = true;
    for (const go of this.#held) go();
    this.#held.clear();
  }

  remove(): void {
    this.#active = false;
  }

  /** The action for this request, if the fault hits it. */
  take(request: FakeRequest): FaultAction | undefined {
    if (!this.#active || !this.routes.includes(request.route)) return undefined;
    const { skip = 0, every = 1, times = Infinity, match } = this.#schedule;
    if (this.hits >= times || (match !== undefined && !match(request))) return undefined;
    this.#seen += 1;
    if (this.#seen <= skip || (this.#seen - skip - 1) % every !== 0) return undefined;
    const action = this.#script(request);
    if (action === undefined) return undefined;
    this.#tally.add();
    return action;
  }

  /** Waits until the fault is released. */
  hold(): Promise<void> {
    if (this.#released) return Promise.resolve();
    return new Promise((go) => {
      this.#held.add(go);
    });
  }
}
