import { connectionFailure } from '../../../src/service/failures/classify.ts';
import type { ConnectionFailure } from '../../../src/service/http/reply.ts';
import { readSubmit } from '../../../src/service/image/submit.ts';
import type { Submitted } from '../driven-service.ts';
import { fileFailures, type SubmitFault } from './faults.ts';
import { facts, replyOf } from './reply.ts';

/** A submission that the gateway is to answer, and what it can make of it. */
export interface Accepted {
  readonly key: string;
  /** Counts requests. */
  readonly n: number;
  /** Tasks before it in the queue. */
  readonly queued: number;
  /** Of every answer. Absent: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Carries it out. @returns the id of the task */
  readonly make: () => string;
  /** A task that was made for the job before, or now, and how it stands; `failed`: one that came to nothing. */
  readonly older: (failed: boolean) => { readonly id: string; readonly status: string };
  /** Code of the answer to one that opened a dialog; undefined: it opened none. */
  readonly opened: (id: string) => 1 | 21 | undefined;
}

/** What the gateway says to a submission, in bytes that the client's reader judges. Undefined: it takes it. */
export function resultOf(fault: SubmitFault | undefined, accepted: Accepted): Submitted {
  const { key, n, make } = accepted;
  const reply = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Submitted =>
    readSubmit(replyOf(status, body, { ...accepted.headers, ...headers }), facts(false));
  const code = (number: number, description: string, more: object = {}, status = 200): Submitted =>
    reply(status, { code: number, description, result: null, ...more });
  const flat = (status: number, number: number, description: string): Submitted =>
    reply(status, { description: `${description} `, type: 'upstream_error', code: number });
  const envelope = (status: number, message = 'trouble', errorCode = ''): Submitted =>
    reply(status, {
      error: { code: errorCode, message: `${message} (request id: r${n})`, type: 'svc_api_error' },
    });
  const lost = (loss: ConnectionFailure, sent: boolean): Submitted => ({
    ok: false,
    error: connectionFailure(loss, sent, facts(false)),
  });
  const accept = (said = 1): Submitted => {
    const id = make();
    const opened = accepted.opened(id);
    const properties = opened === undefined ? { numberOfQueues: accepted.queued } : { remix: true };
    return code(opened ?? said, 'ok', { result: id, properties });
  };
  const id = fault?.endsWith('-made') ? make() : '';
  switch (fault) {
    case undefined:
      return accept();
    case '400':
    case '403':
    case '413':
      // Said of this request alone, so that twenty equal ones in a row are another matter.
      return envelope(Number(fault), `not ${key}`);
    case '429':
      return envelope(429);
    case '429-after':
      return reply(429, { error: { code: '', message: 'slower', type: 'x' } }, { 'retry-after': '7' });
    case '500-permanent':
      return envelope(500, `not ${key}`, 'invalid_request');
    case '400-code-5':
    case '400-code-5-made':
      return flat(400, 5, 'do_request_failed');
    case 'unknown-action':
      return flat(400, 4, `unknown_action:${key}`);
    case 'quota':
      return flat(400, 4, 'quota_not_enough');
    case 'unauthorized':
      return envelope(401, 'invalid token');
    case 'redirect':
      return reply(301, '<html></html>', { location: 'https://site.example/' });
    case 'code-22':
      return accept(22);
    case 'code-23':
    case 'code-9':
      return code(Number(fault.slice(5)), '队列已满，请稍后尝试');
    case 'code-9-unsupported':
      return code(9, '当前账号不支持编辑/重绘任务');
    case 'code-30':
      return flat(429, 30, '当前分组负载已饱和，请稍后再试，或升级账户以提升服务质量。');
    case 'code-3-account':
      return code(3, '无可用的账号实例');
    case 'code-3-task':
      return code(3, `关联任务不存在或已失效 ${key}`);
    case 'code-3-404':
      return code(3, `关联任务不存在或已失效 ${key}`, {}, 404);
    case 'code-3-passing':
      return code(3, `关联任务不存在或失效 ${key}`);
    case 'code-4':
      return code(4, `参数错误 ${key}`);
    case 'code-4-flat':
      return flat(400, 4, `prompt_is_required ${key}`);
    case 'code-24':
      return code(24, '可能包含敏感词', { properties: { promptEn: 'a x', bannedWord: 'x' } });
    case 'code-21':
      return code(21, 'Waiting for window confirm', { result: make(), properties: { remix: true } });
    case 'code-21-exists':
    case 'code-21-exists-failed': {
      const { id: result, status } = accepted.older(fault === 'code-21-exists-failed');
      const properties = {
        status,
        imageUrl: status === 'SUCCESS' ? `https://images.example/${result}.png` : '',
      };
      return code(21, '任务已存在', { result, properties });
    }
    case 'code-unknown':
      return code(77, `未知 ${key}`);
    case 'code-unknown-made':
      return code(77, 'ok', { result: id });
    case 'several-made':
      return code(1, 'ok', { result: `${id},9${id}` });
    case 'not-ready':
      return code(4, '关联任务状态错误');
    case 'not-ready-flat':
      return flat(400, 4, 'task_status_not_success');
    case 'unread-retry':
    case 'unread-permanent':
      return { unread: fileFailures[fault] };
    case 'refused':
      return lost({ code: 'connection.refused', what: 'connection refused' }, false);
    case 'reset':
    case 'reset-made':
      return lost({ code: 'connection.lost', what: 'the connection was reset' }, true);
    case 'timeout-made':
      return lost({ code: 'connection.timeout', what: 'no answer in time' }, true);
    case 'truncated-made':
      return readSubmit(
        {
          status: 200,
          header: () => null,
          body: { kind: 'unread', failure: { code: 'connection.lost', what: 'the answer was cut off' } },
        },
        facts(false),
      );
    case 'empty-made':
      return reply(200, '');
    case 'html-502':
      return reply(502, '<html><title>Bad gateway</title></html>');
    case 'bare-id':
      return reply(200, `{"code":1,"description":"ok","result":${make()}}`);
    case '408':
    case '500':
    case '502':
    case '503':
    case '504':
    case '520':
    case '524':
    case '500-made':
    case '504-made':
    case '524-made':
      return envelope(Number(fault.slice(0, 3)));
  }
}
