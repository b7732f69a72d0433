import { unitOf } from '../seeded.ts';

/** The submissions of gateway 2.1, with the old forms of a click. */
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
export const isSubmit = (name: string): name is (typeof submissionRoutes)[number] =>
  submissionRoutes.some((submit) => submit === name);

/** The routes that a fault can name: `submit` is every submission of images, `text` generate and chat, `any` every route. */
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

type FaultRoute = (typeof faultRoutes)[number];

/** What goes wrong with a request. `after`: its work was done, but the response does not say so. */
export type FaultEffect =
  /** An error status with its envelope (gateway 8.2); `retryAfter` in seconds. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly after: boolean;
      readonly retryAfter?: number;
    }
  /** Waits before the request is read. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Sends the body of the response in pieces over this time. */
  | { readonly kind: 'drip'; readonly ms: number }
  /** Cuts the connection instead of a response. */
  | { readonly kind: 'reset'; readonly after: boolean }
  /** Answers in another protocol, as a wrong port does: a line of a mail server, an alert of TLS, the settings of HTTP/2. */
  | { readonly kind: 'no-http'; readonly speaks: 'mail' | 'tls' | 'http2' }
  /** Cuts the connection in the middle of the body, whose whole length was announced, or of a stream. */
  | { readonly kind: 'truncate' }
  /** A web page with status 200 (gateway 8.3). */
  | { readonly kind: 'html' }
  /** 301 to the web host (gateway 8.3). */
  | { readonly kind: 'redirect' }
  /** Submit only: answers with the 400 and code 5 that hide a time-out (gateway 3.3). */
  | { readonly kind: 'hidden-timeout'; readonly after: boolean }
  /** 500 with code `invalid_request`, which must not be retried (gateway 8.4). */
  | { readonly kind: 'invalid-request' }
  /** A refusal in the words of a gateway of the family. */
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  /** Fetch only: gives wrong links of a finished task. */
  | { readonly kind: 'link'; readonly link: LinkFault }
  /** Fetch only: gives an unfinished task a status that no documentation names. */
  | { readonly kind: 'status-word'; readonly word: string }
  /** Forgets every earlier task, as a restarted proxy does. */
  | { readonly kind: 'forget' }
  /** Image only: answers with a challenge page for browsers and status 403 (`cf-mitigated`). */
  | { readonly kind: 'challenge' }
  /** Image only: sends a JPEG without its lower half, with the right length and end mark. */
  | { readonly kind: 'half-jpeg' }
  /** Image only: answers with JSON and this status (gateway 4.7). */
  | { readonly kind: 'json'; readonly status: number }
  /**
   * Action only: refuses the click because its parent is not ready, in the words of the gateway or of a proxy (gateway 3.5, 5.6).
   * `button`: refuses the customId as outdated, with a bare 400.
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

/** When a fault strikes, counted over the requests of its route. */
export type FaultTiming =
  | { readonly kind: 'probability'; readonly share: number }
  | { readonly kind: 'every'; readonly count: number }
  | { readonly kind: 'first'; readonly count: number }
  | { readonly kind: 'at'; readonly number: number };

/** A fault that somebody asked for. `text` is how it was written, for messages and the request log. */
export interface Fault {
  readonly route: FaultRoute;
  readonly effect: FaultEffect;
  readonly when: FaultTiming;
  readonly text: string;
}

/** Returns the only routes on which an effect is possible, or undefined for all routes. */
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
 * Wrong links. `loopback` and `path` come from gateways whose own address is not set or empty (gateway 4.7). `stale-videos`: the links
 * of `videoUrls` have expired, `videoUrl` works.
 */
export const linkFaults = ['expired', 'foreign', 'missing', 'loopback', 'path', 'stale-videos'] as const;

type LinkFault = (typeof linkFaults)[number];

/** Decides which faults strike, by the number of requests so far and the seed: the same sequence of requests meets the same faults. */
export class FaultDeck {
  readonly #faults: readonly Fault[];
  readonly #seed: string;
  readonly #counts: number[];

  constructor(faults: readonly Fault[], seed: string) {
    this.#faults = faults;
    this.#seed = seed;
    this.#counts = faults.map(() => 0);
  }

  /** Returns the faults that strike the next request of a route, in the order in which they were given; none for the route `''`. */
  draw(route: string): readonly Fault[] {
    if (route === '') return [];
    return this.#faults.filter((fault, index) => {
      if (!meets(fault, route)) return false;
      const number = (this.#counts[index] ?? 0) + 1;
      this.#counts[index] = number;
      return strikes(fault, number, `${this.#seed} ${index} ${fault.text} ${number}`);
    });
  }
}

function meets(fault: Fault, route: string): boolean {
  const submission = isSubmit(route);
  const only = routesOf(fault.effect);
  if (only === 'submit' ? !submission : only !== undefined && route !== only) return false;
  const text = route === 'generate' || route === 'chat';
  return (
    fault.route === 'any' ||
    fault.route === route ||
    (fault.route === 'submit' && submission) ||
    (fault.route === 'text' && text)
  );
}

function strikes({ when }: Fault, number: number, draw: string): boolean {
  switch (when.kind) {
    case 'probability':
      return unitOf(draw) < when.share;
    case 'every':
      return number % when.count === 0;
    case 'first':
      return number <= when.count;
    case 'at':
      return number === when.number;
  }
}

/** The `failReason` texts of the family, by the names that marks and faults use (gateway 4.8). */
export const failReasons: Readonly<Record<string, string>> = {
  'invalid-parameter': '[Invalid parameter] Invalid value provided for argument',
  'banned-prompt': '[Banned prompt detected] The prompt is not allowed',
  'invalid-link': '[Invalid link] Could not fetch the image',
  'queue-full': '[Queue full] The queue is full, please try again later',
  'internal-error': '[Internal error] Something went wrong',
  'failed-command': 'Failed to process your command :c',
  'output-filters': 'Request cancelled due to output filters',
  'image-denied': 'Image denied, the result does not meet the guidelines',
  sensitive: '可能包含敏感词',
  'task-timeout': '任务超时',
  'run-timeout': '执行超时 5 分钟',
  'submit-timeout': '任务提交超时',
  'instance-gone': '实例不可用',
  'service-error': '服务异常，请稍后重试',
  cancelled: '取消任务',
  deleted: '删除任务',
  'cancelled-by-force': '强制取消',
  'pending-mod': 'Pending mod message',
  subscription: 'Subscription required',
  'internal-server-error': '[Internal Server Error] 500 Internal Server Error',
  'upstream-timeout': '上游任务超时（超过1小时）',
  'rate-limited': 'You are being rate limited.',
  unauthorized: '401 Unauthorized: [no body]',
  captcha: '[Verify you are human] Please complete the captcha',
  blocked: '[Blocked] You have been blocked',
  credits: '[Credits exhausted] You have run out of credits',
  'missing-access': 'Missing Access',
  'upload-failed': '上传图片到discord失败',
};

/** A refusal whose words mean more than its status. */
interface Refusal {
  readonly status: number;
  readonly body: object;
  /** The work was done all the same. */
  readonly after?: true;
}

const flat = (code: number, description: string, type = 'upstream_error'): Refusal => ({
  status: 400,
  body: { description, type, code },
});
const proxys = (code: number, description: string): Refusal => ({
  status: 200,
  body: { code, description, result: null, properties: {} },
});
const envelope = (status: number, message: string, type = 'new_api_error', code = ''): Refusal => ({
  status,
  body: { error: { message, type, code } },
});

/** The statuses that a fault can answer with, and the messages of their error envelopes (gateway 8.2). */
export const statusTexts: ReadonlyMap<number, string> = new Map([
  [400, 'the request was not accepted'],
  [401, 'invalid token'],
  [403, 'the request was blocked'],
  [404, 'not found'],
  [408, 'request timeout'],
  [410, 'gone'],
  [413, 'request entity too large'],
  [425, 'too early'],
  [429, 'rate limit reached, please try again later'],
  [500, 'internal server error'],
  [502, 'bad gateway'],
  [503, 'the service is temporarily unavailable'],
  [504, 'gateway timeout'],
  [520, 'the origin returned an unknown error'],
  [521, 'the origin is down'],
  [522, 'connection timed out'],
  [523, 'the origin is unreachable'],
  [524, 'a timeout occurred'],
]);

/** Refusals of gateways and proxies of the family, by the names that faults use (gateway 3.2, 3.3, 8.4). */
export const refusals: Readonly<Record<string, Refusal>> = {
  'not-noted': { ...flat(4, 'insert_midjourney_task_failed '), after: true },
  'no-channel': envelope(503, '当前分组 default 下对于模型 mj_imagine 无可用渠道'),
  'no-channel-400': flat(5, '当前分组 default 下对于模型 mj_imagine 无可用渠道 ', 'internal_error'),
  'channel-disabled': flat(4, '该任务所属渠道已被禁用 '),
  'not-supported': proxys(9, '当前账号不支持编辑/重绘任务'),
  'queue-limit': proxys(4, '队列数已达上限'),
  'daily-limit': proxys(4, '用户今日绘图次数已达上限'),
  quota: envelope(402, 'Insufficient credits'),
  'quota-400': flat(4, 'user quota is not enough '),
  budget: envelope(422, 'Budget has been exceeded!', 'budget_exceeded', '422'),
  key: envelope(401, '无效的令牌'),
  'key-model': envelope(403, '该令牌无权访问模型 mj_imagine'),
  'no-path': { status: 404, body: { detail: 'Not Found' } },
};
