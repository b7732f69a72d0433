import type { JobError } from '../plan/job.ts';

/** What a finished task's failure asks for. */
export interface TaskVerdict {
  readonly error: JobError;
  /** A new submission may succeed; it costs a new generation, so only reasons known to pass are retried. */
  readonly transient: boolean;
}

interface Reason {
  readonly code: string;
  readonly transient: boolean;
  readonly pattern: RegExp;
}

/**
 * The reasons that gateways of this family give (protocol.md 6.3), first match wins. The texts in Chinese are those
 * of the proxies: sensitive words; task, execution and submission time-outs; no instance; service error; cancelled,
 * deleted, forced.
 */
const reasons: readonly Reason[] = [
  {
    code: 'task.moderated',
    transient: false,
    pattern: /banned|denied|output filters|sensitive|moderat|action needed|可能包含敏感词/i,
  },
  {
    code: 'task.rejected',
    transient: false,
    pattern: /invalid (parameter|link|request)|subscription required|prompt不能为空/i,
  },
  {
    code: 'task.cancelled',
    transient: false,
    pattern: /^\s*(cancel|canceled|cancelled)\b|取消任务|删除任务|强制取消/i,
  },
  {
    code: 'task.failed',
    transient: true,
    pattern:
      /time(d)?[ -]?out|超时|internal (server )?error|queue full|something went wrong|failed to process your command|实例不可用|服务异常|unavailable|try again/i,
  },
];

/**
 * Judges a task that ended in FAILURE or CANCEL. A reason that is not in the table is not retried: what it would
 * cost is known, what it would bring is not.
 */
export function judgeTaskFailure(failReason: string | undefined, status: string): TaskVerdict {
  const said = failReason?.trim() ?? '';
  const reason = reasons.find(({ pattern }) => pattern.test(said));
  if (reason !== undefined)
    return {
      transient: reason.transient,
      error: { code: reason.code, message: `The service failed the task: ${said}` },
    };
  const code = status.toUpperCase() === 'CANCEL' ? 'task.cancelled' : 'task.failed';
  return {
    transient: false,
    error: {
      code,
      message:
        said === ''
          ? `The task ended in ${status} without a reason.`
          : `The service failed the task: ${said}`,
    },
  };
}
