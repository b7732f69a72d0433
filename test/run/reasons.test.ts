import { describe, expect, it } from 'vitest';
import { judgeTaskFailure } from '../../src/run/reasons.ts';

// The texts are those of protocol.md 6.3.
describe('judgeTaskFailure', () => {
  it.each([
    ['[Banned prompt detected] The prompt holds a banned word', 'task.moderated', false],
    ['Request cancelled due to output filters', 'task.moderated', false],
    ['Image denied, appeal possible', 'task.moderated', false],
    ['可能包含敏感词', 'task.moderated', false],
    ['[Invalid parameter] Invalid value provided for argument --ar', 'task.rejected', false],
    ['[Invalid link] Could not fetch the image', 'task.rejected', false],
    ['Subscription required', 'task.rejected', false],
    ['取消任务', 'task.cancelled', false],
    ['[Internal error] Something went wrong', 'task.failed', true],
    ['[Internal Server Error] upstream', 'task.failed', true],
    ['Failed to process your command :c', 'task.failed', true],
    ['[Queue full] try later', 'task.failed', true],
    ['任务超时', 'task.failed', true],
    ['执行超时 5 分钟', 'task.failed', true],
    ['实例不可用', 'task.failed', true],
    ['服务异常，请稍后重试', 'task.failed', true],
    ['上游任务超时（超过1小时）', 'task.failed', true],
    ['something nobody has seen', 'task.failed', false],
    ['', 'task.failed', false],
  ])('%s → %s, transient: %s', (reason, code, transient) => {
    const verdict = judgeTaskFailure(reason, 'FAILURE');
    expect([verdict.error.code, verdict.transient]).toEqual([code, transient]);
    expect(verdict.error.message).toContain(reason);
  });

  it('tells a cancelled task from a failed one where the service gives no reason', () => {
    expect(judgeTaskFailure(undefined, 'CANCEL').error.code).toBe('task.cancelled');
  });
});
