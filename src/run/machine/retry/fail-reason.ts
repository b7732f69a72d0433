import type { ReasonMatch, RetrySettings } from '../../../pipeline/pipeline.ts';
import { reasonMatches } from '../../../pipeline/settings/fail-reason.ts';
import type { JobError } from '../../../plan/job.ts';

/** The verdict on a failed task. */
export interface TaskVerdict {
  /**
   * `task.moderated`: the prompt or image was refused for its content; `task.rejected`: for its form, or because the account lacks
   * permission; `task.cancelled`; `task.failed`: anything else.
   */
  readonly error: JobError;
  /** Set where the reason concerns the account behind the gateway: every task of this kind may fail for it. */
  readonly about?: 'account';
  /** True where a new submission may succeed. It costs a new generation, so only reasons known to pass are retried. */
  readonly transient: boolean;
  /** True where the gateway received nothing of the task before its timeout. */
  readonly isUnmatched?: true;
}

/** The pipeline's own rules for failure reasons (`retry.permanent`, `retry.transient`). */
export type OwnReasons = Pick<RetrySettings, 'permanent' | 'transient'>;

interface Reason {
  readonly code: JobError['code'];
  readonly transient: boolean;
  readonly about?: 'account';
  readonly pattern: RegExp;
}

/**
 * Failure reasons that gateways of this family give (gateway 4.8, 3.5); the first match applies. The Chinese texts are those of the proxies
 * and gateways: contains sensitive words; prompt must not be empty, account does not support; task cancelled, deleted, forced to end; timed
 * out (task, execution, submission, upstream), no usable instance or account, service or system error, queue full, channel not found, image
 * not uploaded to Discord.
 */
const reasons: readonly Reason[] = [
  {
    // Discord and Midjourney refuse the account, not the prompt.
    code: 'task.rejected',
    transient: false,
    about: 'account',
    pattern:
      /\b401\b.{0,3}unauthorized|\bcaptcha\b|verify (that )?you are (a )?human|^\W*blocked\b(?! (prompt|word|content|by))|you have been blocked|\bcredits? exhausted\b|\bmissing (access|permissions)\b/i,
  },
  {
    code: 'task.rejected',
    transient: false,
    about: 'account',
    pattern:
      /pending mod message|\bsubscription\b.{0,40}\b(required|paused|expired|ended|lapsed|inactive|suspended|cancell?ed)\b|\b(no|without an?|renew( your)?) (active |valid )?subscription\b/i,
  },
  {
    code: 'task.moderated',
    transient: false,
    pattern:
      /banned (prompt|word|phrase)|^(?!.*\baccount).*\bbanned\b|(image|prompt|job|request|content) denied|output filters?|sensitive (word|content)|\bmoderat(ed|ion|ors?)\b|action needed to continue|敏感词/i,
  },
  {
    code: 'task.rejected',
    transient: false,
    about: 'account',
    pattern:
      /^(?!.*invalid (parameter|link|request|value|prompt)).*\baccounts?\b.{0,600}\b(banned|blocked|disabled)\b/i,
  },
  {
    code: 'task.rejected',
    transient: false,
    pattern:
      /invalid (parameter|link|request|value|prompt)|unrecognized param|empty prompt|prompt不能为空|参数错误|当前账号不支持/i,
  },
  {
    code: 'task.cancelled',
    transient: false,
    pattern: /^\W*cancell?(ed)?\b|取消任务|删除任务|强制取消/i,
  },
  {
    code: 'task.failed',
    transient: true,
    pattern:
      /timed?[ -]?out|超时|internal (server )?error|queue (is )?full|something went wrong|failed to process your command|(service|server|temporarily|currently) unavailable|实例不可用|无可用的账号|服务异常|系统异常|队列已满|获取渠道信息失败/i,
  },
  {
    // What Discord returns with 429 and 500 to 504, or when an image could not be uploaded to it.
    code: 'task.failed',
    transient: true,
    pattern:
      /\brate[ -]?limit(ed|s|ing)?\b|too many requests|\bbad gateway\b|\bgateway time-?out\b|\b50[0234]\b.{0,3}(internal|bad|service|gateway)|上传图片到discord失败/i,
  },
  {
    // Transient only where the user need not change anything: after "shorten it and try again" or "try again with another image" the same
    // request would fail again.
    code: 'task.failed',
    transient: true,
    pattern:
      /\bwait\b.{0,40}\btry again\b|(?<!\b(and|then|to) )\btry again\b(?! (with|using)\b)|\btry again (later|soon|shortly|in)\b/i,
  },
];

const none: OwnReasons = { permanent: [], transient: [] };

/**
 * Judges a task that ended in FAILURE or CANCEL. The pipeline's rules come first, `permanent` before `transient`: they decide whether to
 * submit again, while the code follows the known reason. An unknown reason is not retried: a retry costs, and may not succeed.
 */
export function judgeTaskFailure(
  failReason: string | undefined,
  status: string,
  own: OwnReasons = none,
): TaskVerdict {
  const said = failReason?.trim() ?? '';
  const known = reasons.find(({ pattern }) => pattern.test(said));
  const ended = /^\s*cancel/i.test(status) ? 'task.cancelled' : 'task.failed';
  const message =
    said === '' ? `The task ended in ${status} without a reason.` : `The service failed the task: ${said}`;
  return {
    transient: ownVerdict(said, own) ?? known?.transient ?? false,
    error: { code: known?.code ?? ended, message },
    ...(unmatched.test(said) && { isUnmatched: true }),
    ...(known?.about && { about: known.about }),
  };
}

/**
 * The message of a proxy about a task of which it received nothing (`Task timeout`): usually it could not match the task by its prompt. The
 * task may have been done and paid, so it is submitted again only once.
 */
const unmatched = /^\W*task timed?[ -]?out|任务超时/i;

/** Advice to the user for a proxy that could not match a task with its message. */
export const unmatchedAdvice =
  'Links, double blanks, line ends and parameters at their default (--q 1) in the prompt often cause that: the gateway finds its tasks by their prompts.';

/** Code of the history entry of a task that is submitted again after it timed out at the gateway. */
export const unmatchedCode = 'task.unmatched';

/** Whether a new submission may succeed, by the pipeline's rules; undefined where no rule matches. */
function ownVerdict(said: string, { permanent, transient }: OwnReasons): boolean | undefined {
  const isOneOf = (matches: readonly ReasonMatch[]): boolean =>
    said !== '' && matches.some((match) => reasonMatches(match, said));
  if (isOneOf(permanent)) return false;
  return isOneOf(transient) ? true : undefined;
}
