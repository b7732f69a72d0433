/** Reasons for which tasks of the family fail, by the names that marks and faults use (gateway 4.8). */
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

/** A refusal in words that mean more than its status. */
export interface Refusal {
  readonly status: number;
  readonly body: object;
  /** The request was carried out all the same. */
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
