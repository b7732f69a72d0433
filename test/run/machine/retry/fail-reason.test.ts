import { describe, expect, it } from 'vitest';
import { reasonMatch } from '../../../../src/pipeline/settings/fail-reason.ts';
import { judgeTaskFailure, type OwnReasons } from '../../../../src/run/machine/retry/fail-reason.ts';

const own = (permanent: readonly string[], transient: readonly string[]): OwnReasons => ({
  permanent: permanent.map(reasonMatch),
  transient: transient.map(reasonMatch),
});

describe('judgeTaskFailure', () => {
  it.each([
    // Words of the account behind the gateway (gateway 4.8).
    ['401 Unauthorized: [no body]', 'account'],
    ['[Verify you are human] Please complete the captcha', 'account'],
    ['Verify that you are human, https://…', 'account'],
    ['[Blocked] You have been blocked from accessing Midjourney', 'account'],
    ['Blocked, You have been blocked from accessing Midjourney', 'account'],
    ['[Credits exhausted] You have run out of credits', 'account'],
    ['Missing Access', 'account'],
    ['Pending mod message', 'account'],
    ['Subscription required', 'account'],
    ['The account is banned', 'account'],
    ['Blocked by our AI moderator', undefined],
    ['Invalid request: account banned', undefined],
    ['Banned prompt detected. Your account may be blocked.', undefined],
    ['You are being rate limited.', undefined],
  ])('finds for %j what the failure concerns: %s', (reason, about) => {
    expect(judgeTaskFailure(reason, 'FAILURE').about).toBe(about);
  });

  it.each([
    // Statuses of Discord that a proxy passes on.
    ['You are being rate limited.', 'task.failed', true],
    ['429 Too Many Requests', 'task.failed', true],
    ['502 Bad Gateway: <html>', 'task.failed', true],
    ['503 Service Unavailable', 'task.failed', true],
    ['504 Gateway Timeout', 'task.failed', true],
    ['上传图片到discord失败', 'task.failed', true],
    ['The picture is 500 pixels wide', 'task.failed', false],
    ['401 Unauthorized: [no body]', 'task.rejected', false],
    ['Missing Access', 'task.rejected', false],
    // Every text of gateway 4.8, in its order.
    ['[Invalid parameter] Invalid value provided for argument --ar', 'task.rejected', false],
    ['[Banned prompt detected] The prompt holds a banned word', 'task.moderated', false],
    ['[Invalid link] Could not fetch the image', 'task.rejected', false],
    ['[Queue full] try later', 'task.failed', true],
    ['[Internal error] Something went wrong', 'task.failed', true],
    ['Failed to process your command :c', 'task.failed', true],
    ['Request cancelled due to output filters', 'task.moderated', false],
    ['Image denied, appeal possible', 'task.moderated', false],
    ['可能包含敏感词', 'task.moderated', false],
    ['任务超时', 'task.failed', true],
    ['执行超时 5 分钟', 'task.failed', true],
    ['任务提交超时', 'task.failed', true],
    ['实例不可用', 'task.failed', true],
    ['服务异常，请稍后重试', 'task.failed', true],
    ['取消任务', 'task.cancelled', false],
    ['删除任务', 'task.cancelled', false],
    ['强制取消', 'task.cancelled', false],
    ['Pending mod message', 'task.rejected', false],
    ['Subscription required', 'task.rejected', false],
    ['[Internal Server Error] upstream', 'task.failed', true],
    ['上游任务超时（超过1小时）', 'task.failed', true],
    // The same in the other proxy's form, and other texts of gateway 3.2, 4.8.
    ['Banned prompt detected, blood', 'task.moderated', false],
    ['Invalid parameter, --zoom', 'task.rejected', false],
    ['500 Internal Server Error', 'task.failed', true],
    ['[Action needed to continue] Tap to appeal', 'task.moderated', false],
    ['获取渠道信息失败，请联系管理员', 'task.failed', true],
    ['队列已满，请稍后尝试', 'task.failed', true],
    ['提交失败，系统异常', 'task.failed', true],
    ['无可用的账号实例', 'task.failed', true],
    ['prompt不能为空', 'task.rejected', false],
    // Words that stand in known reasons too, and mean something else here.
    ['The account is banned', 'task.rejected', false],
    ['Banned prompt detected. Your account may be blocked.', 'task.moderated', false],
    ['[Pending mod message] You have a pending moderation message', 'task.rejected', false],
    ['Access denied', 'task.failed', false],
    ['The service is under moderate load, try again', 'task.failed', true],
    ['Demand is moderately high', 'task.failed', false],
    ['Blocked by our AI moderator', 'task.moderated', false],
    ['This image was moderated', 'task.moderated', false],
    ['Content did not pass moderation, please try again later', 'task.moderated', false],
    ['Subscription paused', 'task.rejected', false],
    ['Your subscription has expired, please renew it and try again', 'task.rejected', false],
    ['Subscription expired. Try again later.', 'task.rejected', false],
    ['Renew your subscription to try again', 'task.rejected', false],
    ['You have no active subscription, try again', 'task.rejected', false],
    ['The subscription check timed out', 'task.failed', true],
    // What has to be done first is not done by asking again.
    ['The prompt is too long, shorten it and try again', 'task.failed', false],
    ['Please try again with another image', 'task.failed', false],
    ['Please try again', 'task.failed', true],
    ['Something happened. Please wait a moment and try again', 'task.failed', true],
    ['Too much to do: come back and try again later', 'task.failed', true],
    ['Zoom is unavailable for v8', 'task.failed', false],
    ['something nobody has seen', 'task.failed', false],
    ['', 'task.failed', false],
  ])('gateway 4.8: %s → %s, transient: %s', (reason, code, transient) => {
    const verdict = judgeTaskFailure(reason, 'FAILURE');
    expect([verdict.error.code, verdict.transient]).toEqual([code, transient]);
    expect(verdict.error.message).toContain(reason);
  });

  it('distinguishes a cancelled task from a failed one where the service gives no reason', () => {
    expect(judgeTaskFailure(undefined, 'CANCEL').error.code).toBe('task.cancelled');
    expect(judgeTaskFailure(undefined, 'FAILURE').error.message).toBe(
      'The task ended in FAILURE without a reason.',
    );
  });

  it.each([
    ['a text that nobody knows', own([], ['worker LOST']), 'Worker lost in space', 'task.failed', true],
    ['a pattern', own([], ['/upstream (busy|gone)/']), 'upstream gone', 'task.failed', true],
    ['a known reason that passes here', own([], ['image denied']), 'Image denied', 'task.moderated', true],
    ['a known reason that does not', own(['/timeout|超时/'], []), '任务超时', 'task.failed', false],
    ['both: permanent first', own(['lost'], ['worker lost']), 'worker lost', 'task.failed', false],
    ['neither', own(['a'], ['b']), '任务超时', 'task.failed', true],
    ['everything, and there is no reason', own([], ['/^/']), '', 'task.failed', false],
  ])('the rules of a pipeline precede the table: %s', (_what, extra, reason, code, transient) => {
    const verdict = judgeTaskFailure(reason, 'FAILURE', extra);
    expect([verdict.error.code, verdict.transient]).toEqual([code, transient]);
  });
});
