import { expect, test } from 'vitest';

import { imagine, respondingWith } from '../scripted-fetch.ts';

const id = '1700000000000001';

interface Row {
  readonly what: string;
  /** Raw JSON: ids may be numbers that JSON.stringify cannot write. */
  readonly body: string;
  readonly answer: object;
}

const submit = (code: unknown, description: string, result = 'null', properties = '{}'): string =>
  `{"code":${String(code)},"description":${JSON.stringify(description)},"result":${result},"properties":${properties}}`;

const accepted = (taskId: string, code = 1): object => ({
  ok: true,
  value: { kind: 'accepted', taskId, code },
});
const modal = { ok: true, value: { kind: 'modal', taskId: id, code: 21 } };
const queueFull = (code: number): object => ({ ok: true, value: { kind: 'queue-full', code } });
const refused = (code: number): object => ({ ok: true, value: { kind: 'refused', code } });
const lost = { ok: false, error: { code: 'service.malformed', class: 'lost', status: 200 } };

const rows: readonly Row[] = [
  { what: 'accepted', body: submit(1, '提交成功', `"${id}"`), answer: accepted(id) },
  { what: 'only code and result', body: `{"code":1,"result":"${id}"}`, answer: accepted(id) },
  { what: 'the code as a text', body: submit('"1"', '', `"${id}"`), answer: accepted(id) },
  {
    what: 'in queue',
    body: submit(22, '排队中，前面还有3个任务', `"${id}"`, '{"numberOfQueues":3}'),
    answer: { ok: true, value: { kind: 'accepted', taskId: id, code: 22, waiting: 3 } },
  },
  {
    what: 'in queue, with its number as a text',
    body: submit(22, '', `"${id}"`, '{"numberOfQueues":"12","discordInstanceId":"d"}'),
    answer: { ok: true, value: { kind: 'accepted', taskId: id, code: 22, waiting: 12 } },
  },
  {
    what: 'in queue, rewritten to 1 by a gateway',
    body: submit(1, '提交成功', `"${id}"`, '{"numberOfQueues":2}'),
    answer: { ok: true, value: { kind: 'accepted', taskId: id, code: 1, waiting: 2 } },
  },
  { what: 'a bare number', body: submit(1, '', id), answer: accepted(id) },
  {
    what: 'a bare number of 17 digits',
    body: submit(1, '', '14001929738841620'),
    answer: accepted('14001929738841620'),
  },
  {
    what: 'a bare number of 30 digits',
    body: submit(1, '', '140019297388416201234567890123'),
    answer: accepted('140019297388416201234567890123'),
  },
  {
    what: 'a UUID',
    body: submit(1, '', '"0b1f1a5e-9d5c-4a55-8a1c-0d6b3f0f9a11"'),
    answer: accepted('0b1f1a5e-9d5c-4a55-8a1c-0d6b3f0f9a11'),
  },
  { what: 'white space around the id', body: submit(1, '', `" ${id}\\n"`), answer: accepted(id) },
  { what: 'accepted, but null', body: submit(1, ''), answer: lost },
  { what: 'accepted, but an empty text', body: submit(1, '', '""'), answer: lost },
  { what: 'accepted, but a list', body: submit(1, '', `["${id}"]`), answer: lost },
  // gateway 3.4: they are made, so nothing is in doubt, and a job is one of them.
  { what: 'accepted, but a comma list', body: submit(1, '', `"${id}, 17${id}"`), answer: refused(1) },
  { what: 'queued, but a list of several', body: submit(22, '', `["${id}",17${id}]`), answer: refused(22) },
  { what: 'accepted, but words with a comma', body: submit(1, '', '"wait,please"'), answer: lost },
  { what: 'accepted, but a rounded number', body: submit(1, '', '1.4001929738841620e16'), answer: lost },
  { what: 'accepted, but a fraction', body: submit(1, '', '1.5'), answer: lost },
  { what: 'accepted, but a path', body: submit(1, '', '".."'), answer: lost },
  { what: 'accepted, but a control character', body: submit(1, '', '"17\\u000000"'), answer: lost },
  { what: 'accepted, but a lone surrogate', body: submit(1, '', '"17\\ud800"'), answer: lost },
  { what: 'accepted, but too long', body: submit(1, '', `"${'1'.repeat(257)}"`), answer: lost },
  { what: 'accepted, but an object', body: submit(1, '', '{}'), answer: lost },
  { what: 'accepted, but nothing', body: '{"code":1}', answer: lost },
  { what: 'no code', body: `{"result":"${id}"}`, answer: lost },
  { what: 'queued, but null', body: submit(22, ''), answer: lost },
  {
    what: 'waits for its modal',
    body: submit(21, 'Waiting for window confirm', `"${id}"`, '{"finalPrompt":"x","remix":true}'),
    answer: modal,
  },
  { what: 'waits for its modal, without properties', body: submit(21, '', `"${id}"`, 'null'), answer: modal },
  { what: 'waits for its modal, but null', body: submit(21, ''), answer: lost },
  {
    what: 'exists already (old gateways)',
    body: submit(21, '任务已存在', `"${id}"`, '{"status":"SUCCESS","imageUrl":"https://x/y.png"}'),
    answer: accepted(id, 21),
  },
  {
    what: 'exists already, by its image alone',
    body: submit(21, '任务已存在', `"${id}"`, '{"status":null,"imageUrl":"https://x/y.png"}'),
    answer: accepted(id, 21),
  },
  {
    what: 'exists already, still at work',
    body: submit(21, '任务已存在', `"${id}"`, '{"status":"IN_PROGRESS","imageUrl":null}'),
    answer: accepted(id, 21),
  },
  {
    what: 'waits for its modal, with its status',
    body: submit(21, '', `"${id}"`, '{"status":"MODAL","imageUrl":"https://x/preview.png"}'),
    answer: modal,
  },
  {
    what: 'waits for its modal, with remix and a status',
    body: submit(21, '', `"${id}"`, '{"status":"SUBMITTED","remix":true}'),
    answer: modal,
  },
  {
    what: 'waits for its modal, with properties that say nothing',
    body: submit(21, '', `"${id}"`, '{"status":"","imageUrl":"","finalPrompt":"x"}'),
    answer: modal,
  },
  { what: 'queue full', body: submit(23, '队列已满，请稍后尝试'), answer: queueFull(23) },
  { what: 'queue full, with an id', body: submit(23, '队列已满', `"${id}"`), answer: queueFull(23) },
  { what: 'system error', body: submit(9, '提交失败，系统异常'), answer: queueFull(9) },
  { what: 'queue full as 9', body: submit(9, '提交失败，队列已满，请稍后重试'), answer: queueFull(9) },
  { what: 'no account (Chinese)', body: submit(3, '无可用的账号实例'), answer: queueFull(3) },
  { what: 'no account (English)', body: submit(3, 'No available account instance'), answer: queueFull(3) },
  { what: 'missing task (Chinese)', body: submit(3, '关联任务不存在或已失效'), answer: refused(3) },
  {
    what: 'missing task (English)',
    body: submit(3, 'The related task does not exist or has expired'),
    answer: refused(3),
  },
  {
    what: "a missing task's account",
    body: submit(3, 'task not found for this account'),
    answer: refused(3),
  },
  { what: 'code 3 without words', body: submit(3, ''), answer: refused(3) },
  { what: 'bad parameter', body: submit(4, 'customId错误'), answer: refused(4) },
  {
    what: 'a parent that is not finished yet (gateway 5.6)',
    body: submit(4, '关联任务状态错误'),
    answer: { ok: false, error: { code: 'service.not-ready', class: 'retry' } },
  },
  {
    what: 'no money left',
    body: submit(4, 'quota_not_enough '),
    answer: { ok: false, error: { code: 'service.quota', class: 'stop' } },
  },
  { what: 'an account in a bad parameter', body: submit(4, '当前账号不支持 remix'), answer: refused(4) },
  {
    what: 'banned',
    body: submit(24, '可能包含敏感词', 'null', '{"bannedWord":"blood"}'),
    answer: refused(24),
  },
  {
    what: 'code 5',
    body: submit(5, 'do_request_failed'),
    answer: { ok: false, error: { code: 'service.ambiguous', class: 'lost' } },
  },
  {
    what: 'code 30',
    body: submit(30, '当前分组负载已饱和'),
    answer: { ok: false, error: { code: 'service.throttled', class: 'throttle' } },
  },
  { what: 'an unknown code', body: submit(77, 'who knows'), answer: refused(77) },
  {
    what: 'an unknown code with words as result',
    body: submit(77, '', '"no such thing"'),
    answer: refused(77),
  },
  {
    what: 'an unknown code with an id, whatever its words',
    body: submit(2, '任务已提交，remix 不支持', `"${id}"`),
    answer: accepted(id, 2),
  },
  {
    what: "a refusal in the gateway's own shape with 200",
    body: '{"description":"customId错误","type":"upstream_error","code":4}',
    answer: refused(4),
  },
  { what: 'an unknown code with an id', body: submit(2, '', `"${id}"`), answer: accepted(id, 2) },
];

test.each(rows)('submit code: $what', async ({ body, answer }) => {
  const got = await imagine(respondingWith(200, body));
  expect(got).toMatchObject(answer);
  expect(got.ok && 'waiting' in got.value).toBe(
    'value' in answer && /"waiting"/.test(JSON.stringify(answer)),
  );
});

test.each([-1, 1.5, 'many', null, {}])('does not report a queue of %j', async (numberOfQueues) => {
  const body = { code: 22, description: '', result: id, properties: { numberOfQueues } };
  expect(await imagine(respondingWith(200, body))).toEqual(accepted(id, 22));
});

test('a rejection names its reason and the banned word', async () => {
  const result = await imagine(respondingWith(200, rows.find((row) => row.what === 'banned')?.body ?? ''));
  expect(result).toEqual({
    ok: true,
    value: {
      kind: 'refused',
      code: 24,
      message: 'The service refused the prompt (code 24): 可能包含敏感词 (banned word: blood)',
    },
  });
});

test('submit codes are read under a 404 and a 400 too', async () => {
  const missing = submit(3, '关联任务不存在或已失效');
  expect(await imagine(respondingWith(404, missing))).toMatchObject(refused(3));
  for (const code of [9, 23])
    expect(await imagine(respondingWith(400, submit(code, '队列已满')))).toMatchObject(queueFull(code));
  for (const code of [4, 24])
    expect(await imagine(respondingWith(400, submit(code, 'no')))).toMatchObject(refused(code));
  expect(await imagine(respondingWith(503, missing))).toMatchObject({ error: { class: 'retry' } });
});
