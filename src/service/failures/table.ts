import { isOneOf, type Statuses, statuses } from '../http/statuses.ts';
import type { About, FailureClass, ServiceCode } from '../result.ts';

/**
 * What every known refusal means, in one table: first the meanings, then the words, codes and statuses by which each is recognised. The
 * first matching row decides. `src/service/README.md` 8.5 is written from it, and a test compares the two.
 */

/** What a refusal means for this request and for others. */
export interface Meaning {
  /** Empty: no refusal. */
  readonly code: ServiceCode | '';
  /** Class of the failure. A request that changes nothing is retried where this is `lost`. */
  readonly class: FailureClass;
  /** What the service made of a submission: nothing for certain, perhaps a task, certainly a task. */
  readonly made: 'nothing' | 'maybe' | 'task';
  readonly about?: About;
  /** A broken connection behind the gateway, reported as a refusal. With `retry.ambiguous: retry` it is handled like a 502. */
  readonly likeBadGateway?: true;
}

const nothing = { made: 'nothing' } as const;
const maybe = { made: 'maybe' } as const;

export const meanings = {
  quota: { code: 'service.quota', class: 'stop', ...nothing, about: 'quota' },
  key: { code: 'service.unauthorized', class: 'stop', ...nothing, about: 'key' },
  account: { code: 'service.rejected', class: 'permanent', ...nothing, about: 'account' },
  'not offered': { code: 'service.not-offered', class: 'permanent', ...nothing, about: 'not-offered' },
  'no channel': { code: 'service.no-channel', class: 'retry', ...nothing, about: 'no-channel' },
  'no account': { code: 'submit.refused', class: 'throttle', ...nothing, about: 'no-channel' },
  'queue full': { code: 'submit.refused', class: 'throttle', ...nothing },
  throttled: { code: 'service.throttled', class: 'throttle', ...nothing },
  busy: { code: 'service.unavailable', class: 'retry', ...nothing },
  'not ready': { code: 'service.not-ready', class: 'retry', ...nothing },
  accepted: { code: '', class: 'retry', made: 'task' },
  modal: { code: '', class: 'retry', made: 'task' },
  'made, not noted': { code: 'service.ambiguous', class: 'lost', made: 'task' },
  'broken behind': { code: 'service.ambiguous', class: 'lost', ...maybe, likeBadGateway: true },
  ambiguous: { code: 'service.ambiguous', class: 'lost', ...maybe },
  unavailable: { code: 'service.unavailable', class: 'retry', ...maybe },
  'untold error': { code: 'service.unavailable', class: 'lost', ...maybe },
  banned: { code: 'task.moderated', class: 'permanent', ...nothing },
  refused: { code: 'service.rejected', class: 'permanent', ...nothing },
  'unknown button': { code: 'service.rejected', class: 'permanent', ...nothing },
  rejected: { code: 'service.rejected', class: 'permanent', ...nothing },
  forbidden: { code: 'service.forbidden', class: 'permanent', ...nothing },
  'no model': { code: 'service.not-found', class: 'permanent', ...nothing },
  'not found': { code: 'service.not-found', class: 'permanent', ...nothing },
  'too large': { code: 'service.too-large', class: 'permanent', ...nothing },
} as const satisfies Readonly<Record<string, Meaning>>;

export type Meant = keyof typeof meanings;

/** The kind of an endpoint: submissions of images, text calls, or reads. */
export type Asking = 'submit' | 'text' | 'read';

/** One way to recognise a meaning: everything that the row names must match. */
export interface Row {
  readonly is: Meant;
  /** Endpoints that the row applies to. Absent: all. */
  readonly on?: readonly Asking[];
  readonly status?: Statuses;
  /** The submit code of an image gateway or proxy (gateway 3.2). */
  readonly submit?: readonly number[];
  /** Machine words, one of which is the error's `code`, `type`, `status` or a detail's `reason`. */
  readonly codes?: readonly string[];
  /** Words, one of which stands in the message, in upper or lower case. */
  readonly words?: readonly (string | RegExp)[];
  readonly from: string;
}

/** Statuses at which a submit code is read (gateway 3.3). */
const answered = [[200, 299], 400, 404] as const;

export const rows: readonly Row[] = [
  // An accepted code, but the words say that the submission was ignored.
  { is: 'not offered', on: ['submit'], submit: [1], status: answered, words: [/^忽略提交/i], from: 'trueai' },
  { is: 'accepted', on: ['submit'], submit: [1, 22], status: [[200, 299]], from: 'gateway 3.2' },
  { is: 'modal', on: ['submit'], submit: [21], status: [[200, 299]], from: 'gateway 3.2' },
  // The message repeats the prompt, which may say anything.
  { is: 'banned', on: ['submit'], submit: [24], status: answered, from: 'gateway 3.2' },

  // Used-up money, at every endpoint and with any status: all further jobs would fail the same way.
  { is: 'quota', status: [402], from: 'openrouter, deepseek' },
  {
    is: 'quota',
    codes: [
      'insufficient_user_quota',
      'pre_consume_token_quota_failed',
      'insufficient_quota',
      'budget_exceeded',
    ],
    from: 'gateway 8.4, new-api, openai, litellm',
  },
  {
    is: 'quota',
    codes: [
      'billing_hard_limit_reached',
      'billing_not_active',
      'insufficient_balance',
      'exceeded_current_quota_error',
      'Arrearage',
    ],
    from: 'openai, moonshot, aliyun',
  },
  {
    is: 'quota',
    words: [
      /\bquota_not_enough\b/i,
      'quota is not enough',
      '用户额度不足',
      '令牌额度不足',
      '令牌额度已用尽',
      '预扣费额度失败',
      '订阅额度不足',
      '余额不足',
    ],
    from: 'gateway 3.3, 8.4, new-api 6306, one-hub',
  },
  { is: 'quota', words: ['绘图次数已达上限', /次数剩余[:：] ?0/i], from: 'trueai, novicezk 282' },
  {
    is: 'quota',
    words: [
      'credit balance is too low',
      'budget has been exceeded',
      'crossed budget',
      /\bexceeded ?budget\b/i,
      'insufficient balance',
      'used all available credits',
      'credits are depleted',
    ],
    from: 'anthropic, litellm 4208, 14144, deepseek, continue 10373, roni 125',
  },

  // The task was made, but the step that should report it failed.
  {
    is: 'made, not noted',
    on: ['submit'],
    words: ['insert_midjourney_task_failed', 'copy_response_body_failed', 'close_response_body_failed'],
    from: 'gateway 3.3, new-api, one-hub',
  },
  {
    is: 'made, not noted',
    on: ['submit'],
    submit: [4],
    status: answered,
    words: ['unmarshal_response_body_failed'],
    from: 'one-hub',
  },

  // The key.
  { is: 'key', status: [401], from: 'gateway 8.2' },
  { is: 'key', status: [400], codes: ['API_KEY_INVALID'], from: 'google' },
  {
    is: 'key',
    status: [403],
    words: [
      /(令牌|密钥).{0,20}(无效|过期|禁用|不存在)|无效的(令牌|密钥)|账号(已禁用|不可用)/i,
      /\b(invalid|expired|revoked|disabled|leaked)\b.{0,40}\b(token|api[ _-]?key)\b/i,
      /\b(token|api[ _-]?key)\b.{0,40}\b(invalid|not valid|expired|revoked|disabled|leaked)\b/i,
      'unregistered callers',
    ],
    from: 'gateway 1.4, new-api, trueai, google',
  },

  // No channel for the model now, or no such model at all.
  { is: 'no model', on: ['text'], codes: ['model_not_found'], from: 'gateway 8.4, new-api' },
  { is: 'no channel', on: ['submit'], codes: ['model_not_found'], from: 'gateway 8.4, new-api' },
  {
    is: 'no channel',
    on: ['submit', 'text'],
    words: ['无可用渠道', '可用渠道不存在', 'no available channel'],
    from: 'gateway 8.4, new-api, one-hub',
  },
  {
    is: 'busy',
    on: ['submit'],
    words: ['该任务所属渠道已被禁用', 'get_channel_info_failed'],
    from: 'gateway 3.3, new-api',
  },
  {
    is: 'account',
    on: ['submit'],
    words: [/(账号|帐号|账户).{0,10}(禁用|封禁)/i, /\baccounts?\b.{0,40}\b(banned|blocked|disabled)\b/i],
    from: 'trueai',
  },
  {
    is: 'not offered',
    on: ['submit'],
    status: [[200, 499]],
    // About the account or its abilities. A refused field or image concerns one request, and so does a task that cannot be repeated.
    words: [
      /^(?!.*(?:remix|该任务|参数|比例|宽高比|尺寸|格式|图片|词|--|\bparam|\b(?:ratios?|sizes?|formats?|prompts?)\b))(?=.*(?:账号|帐号|账户|模式|功能|接口|按钮|操作|\b(?:accounts?|modes?|features?|endpoints?|services?|buttons?|actions?)\b)).*(?:不支持|未启用|未开启|\bdisabled\b|\bnot enabled\b)/i,
    ],
    from: 'gateway 3.2, trueai',
  },
  { is: 'not offered', on: ['submit'], status: [403], words: [/无权(访问|使用)模型/i], from: 'new-api' },

  // Submit codes, and words that say more than the codes.
  {
    is: 'not ready',
    on: ['submit'],
    words: ['task_status_not_success', '关联任务状态错误'],
    from: 'gateway 3.5, 5.6',
  },
  { is: 'unknown button', on: ['submit'], words: [/\bunknown_action\b/i], from: 'gateway 3.5' },
  { is: 'queue full', on: ['submit'], submit: [9, 23], status: answered, from: 'gateway 3.2' },
  {
    is: 'queue full',
    on: ['submit'],
    submit: [4],
    status: answered,
    words: ['并发数已达上限', '队列数已达上限'],
    from: 'gateway 3.2, trueai',
  },
  {
    is: 'no account',
    on: ['submit'],
    submit: [3],
    status: answered,
    words: [/^(?!.*(?:任务|\btasks?\b)).*(?:账号|帐号|账户|实例|\baccounts?\b|\binstances?\b)/i],
    from: 'gateway 3.2',
  },
  { is: 'refused', on: ['submit'], submit: [3, 4], status: answered, from: 'gateway 3.2' },
  { is: 'throttled', submit: [30], from: 'gateway 3.2' },
  { is: 'busy', on: ['submit'], submit: [5], codes: ['internal_error'], from: 'gateway 3.3, one-hub' },
  {
    is: 'busy',
    on: ['submit'],
    submit: [5],
    words: [
      'read_request_body_failed',
      'marshal_request_body_failed',
      'create_request_failed',
      'request_body_not_found',
    ],
    from: 'one-hub',
  },
  { is: 'unavailable', on: ['text'], codes: ['do_request_failed'], from: 'gateway 8.4, new-api' },
  {
    is: 'broken behind',
    submit: [5],
    status: answered,
    words: ['do_request_failed'],
    from: 'gateway 3.3, new-api',
  },
  { is: 'broken behind', status: [400, [200, 299]], codes: ['do_request_failed'], from: 'gateway 3.3' },
  { is: 'ambiguous', submit: [5], status: answered, from: 'gateway 3.3' },

  // Statuses (gateway 8.2), and codes that stand for another status (gateway 8.4).
  {
    is: 'rejected',
    status: [[500, 599]],
    codes: ['invalid_request', 'sensitive_words_detected', 'prompt_blocked', 'access_denied'],
    from: 'gateway 8.4, new-api',
  },
  { is: 'unavailable', on: ['text'], status: [499], from: 'google' },
  {
    is: 'busy',
    on: ['text'],
    status: [400, [403, 412], [414, 428], [430, 498]],
    words: [/\boverloaded\b|\b(?:re)?try (?:again )?(?:later|shortly|soon|in a (?:few|moment|minute))\b/i],
    from: 'vendors behind gateways, llama-cpp-python',
  },
  { is: 'unavailable', status: [503], words: [/reset reason|connection termination/i], from: 'envoy' },
  { is: 'busy', status: statuses.untouched, from: 'gateway 8.2, anthropic' },
  { is: 'unavailable', status: statuses.perhapsDone, from: 'gateway 8.2, cloudflare' },
  { is: 'rejected', status: statuses.unsupported, from: 'gateway 8.2' },
  { is: 'untold error', status: [[500, 599]], from: 'gateway 8.2' },
  { is: 'forbidden', status: [403], from: 'gateway 8.2' },
  { is: 'not found', status: [404], from: 'gateway 8.2' },
  { is: 'too large', status: [413], from: 'gateway 8.2' },
  { is: 'throttled', status: statuses.throttled, from: 'gateway 8.2' },
];

/** Whether a submit code is one of the documented ones. */
export const isKnownCode = (code: number): boolean => rows.some(({ submit }) => submit?.includes(code));

/** The parts of a refusal that are compared with the table. */
export interface Refusal {
  readonly status: number;
  readonly on: Asking;
  readonly message: string;
  readonly codes: readonly string[];
  readonly submit: number | undefined;
}

/** Returns the meaning of a refusal, or undefined if no row matches. @param quotaWords the pipeline's own (`retry.quota`) */
export function meaningOf(refusal: Refusal, quotaWords: readonly string[] = []): Meant | undefined {
  const { message, codes } = refusal;
  const known = rows.find((row) => fits(row, refusal))?.is;
  // What was made is paid for, whatever else the refusal says; a banned message repeats words of the prompt.
  if (known !== undefined && (known === 'banned' || meanings[known].made === 'task')) return known;
  return quotaWords.some((word) => codes.includes(word) || isIn(word, message)) ? 'quota' : known;
}

const fits = (row: Row, { status, on, message, codes, submit }: Refusal): boolean =>
  (row.on?.includes(on) ?? true) &&
  (row.status === undefined || isOneOf(row.status, status)) &&
  (row.submit === undefined || (submit !== undefined && row.submit.includes(submit))) &&
  (row.codes?.some((code) => codes.includes(code)) ?? true) &&
  (row.words?.some((word) => isIn(word, message)) ?? true);

const isIn = (word: string | RegExp, message: string): boolean =>
  typeof word === 'string' ? message.toLowerCase().includes(word.toLowerCase()) : word.test(message);
