import { connectionFailure } from '../../../src/service/failures/classify.ts';
import type { ConnectionFailure } from '../../../src/service/http/reply.ts';
import { readTask } from '../../../src/service/image/task.ts';
import type { Task } from '../../../src/service/image-service.ts';
import type { ServiceResult } from '../../../src/service/result.ts';
import type { FetchFault } from './faults.ts';
import { facts, replyOf } from './reply.ts';

/** A task record as a gateway writes it. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };

/** Status words that no list of them has: of a task that is not finished (gateway 4.3). */
export const unknownStatuses = ['QUEUED', 'PENDING', 'WAITING_TO_START', 'PAUSED', 'LINGERING'] as const;

/** What a poll comes to that gives no record. Undefined: it gives one. */
export function pollFailure(id: string, fault: FetchFault | undefined): ServiceResult<Task> | undefined {
  const reply = (status: number, body: unknown): ServiceResult<Task> =>
    readTask(id, replyOf(status, body), facts(true));
  const lost = (loss: ConnectionFailure): ServiceResult<Task> => ({
    ok: false,
    error: connectionFailure(loss, true, facts(true)),
  });
  switch (fault) {
    case '429':
    case '500':
    case '502':
    case '503':
    case '504':
    case '524':
      return reply(Number(fault), { error: { code: '', message: 'trouble', type: 'svc_api_error' } });
    case 'reset':
      return lost({ code: 'connection.lost', what: 'the connection was reset' });
    case 'timeout':
      return lost({ code: 'connection.timeout', what: 'no answer in time' });
    case 'truncated': {
      const loss = { code: 'connection.lost', what: 'cut off' } as const;
      return readTask(
        id,
        { status: 200, header: () => null, body: { kind: 'unread', failure: loss } },
        facts(true),
      );
    }
    case 'html-502':
      return reply(502, '<html></html>');
    case 'broken-json':
      return reply(200, '{"id":"');
    case 'unknown':
    case '404':
    case '204':
    case 'null':
      return noTask(id, fault);
    default:
      return undefined;
  }
}

/** Ways to say that there is no such task (gateway 4.1). */
export const noTaskWords = ['unknown', '404', '204', 'null'] as const;

export function noTask(id: string, how: (typeof noTaskWords)[number]): ServiceResult<Task> {
  const reply = (status: number, body: unknown): ServiceResult<Task> =>
    readTask(id, replyOf(status, body), facts(true));
  switch (how) {
    case 'unknown':
      return reply(400, { description: 'task_no_found ', type: 'upstream_error', code: 4 });
    case '404':
      return reply(404, { code: 3, description: '任务不存在', result: null });
    case '204':
      return reply(204, '');
    case 'null':
      return reply(200, 'null');
  }
}

/** A record as a fault leaves it; the same one where it has nothing that the fault is about. */
export function oddRow(fault: FetchFault | undefined, row: Row, word: string): Row {
  const { id, status } = row;
  const isDone = status === 'SUCCESS';
  const { imageUrl, videoUrls, properties, ...rest } = row;
  switch (fault) {
    case 'empty-status':
      return { id, status: '', progress: '0%', buttons: null, imageUrl: '' };
    case 'unknown-status':
      return { ...rest, id, status: word, buttons: [] };
    case 'odd-progress':
      return { ...row, progress: isDone ? '' : 'Waiting to start' };
    case 'null-buttons':
      return isDone ? row : { ...row, buttons: null };
    case 'no-link':
      return isDone && (imageUrl !== undefined || videoUrls !== undefined)
        ? {
            ...rest,
            id,
            status,
            imageUrl: '',
            videoUrls: null,
            ...(properties !== undefined && { properties }),
          }
        : row;
    case 'no-videos':
      return isDone && videoUrls !== undefined ? { ...row, videoUrls: null } : row;
    case 'no-prompts':
      return isDone && properties !== undefined ? { ...row, properties: null } : row;
    case 'listed-link':
      return isDone && imageUrl !== undefined
        ? {
            ...rest,
            id,
            status,
            imageUrl: null,
            imageUrls: [{ url: imageUrl, thumbnail: null }],
            videoUrls,
            properties,
          }
        : row;
    default:
      return row;
  }
}
