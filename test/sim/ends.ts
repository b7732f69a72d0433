import type { FailedEnd } from '../rig/gateway/made-tasks.ts';

/** How simulated tasks end in failure: the words of gateway 3.5, 4.8, by what a new submission may come to. */

const failures = (...reasons: readonly string[]): readonly FailedEnd[] =>
  reasons.map((failReason) => ({ status: 'FAILURE', failReason }));

/** A new submission may succeed. */
export const passing: readonly FailedEnd[] = failures(
  '[Internal error] Something went wrong',
  '[Internal Server Error] 500',
  '[Queue full] Try again later',
  'Failed to process your command :c',
  '任务超时',
  '执行超时 5 分钟',
  '任务提交超时',
  '上游任务超时（超过1小时）',
  '实例不可用',
  '服务异常，请稍后重试',
  '获取渠道信息失败，请联系管理员，渠道ID：7',
);

/** It would be refused again, or nobody knows: it is not paid for twice on a guess. */
export const lasting: readonly FailedEnd[] = [
  ...failures(
    '[Banned prompt detected] no',
    'Banned prompt detected, no',
    '[Invalid parameter] Invalid value for --ar',
    '[Invalid link] Could not fetch it',
    'Image denied, no',
    'Request cancelled due to output filters',
    '可能包含敏感词',
    'Action needed to continue',
    'Pending mod message',
    'Subscription required',
    '取消任务',
    '删除任务',
    '强制取消',
    'Nobody has seen these words before',
    '',
  ),
  { status: 'FAILURE', failReason: null },
  { status: 'CANCEL', failReason: null },
  { status: 'CANCEL', failReason: '取消任务' },
];

const passes = new Set(passing.map(({ failReason }) => failReason));

/** Whether a task that ended so may be submitted again: by the table, and not by what the run makes of the words. */
export const mayPass = (failReason: string | undefined): boolean => passes.has(failReason ?? '');
