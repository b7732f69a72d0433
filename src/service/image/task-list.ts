import { classify, rejectionInside } from '../failures/classify.ts';
import type { RequestFacts } from '../failures/request-context.ts';
import { members } from '../http/json.ts';
import type { Reply } from '../http/reply.ts';
import type { Task } from '../image-service.ts';
import type { ServiceFailure, ServiceResult } from '../result.ts';
import { toTask } from './task.ts';
import { readTaskId } from './task-id.ts';

/**
 * Reads the response to list-by-condition (gateway 4.1): tasks in any order. Only requested tasks count; unknown ones are missing. The
 * response to task/list, which requests none (`ids` undefined), is read the same way.
 *
 * The endpoint is not part of the contract. A redirect, a page or a refusal from a gateway without it is `service.no-listing` of class
 * `permanent`: single fetches show the failure, if there is one. Only a refused key, a pause and a passing failure are reported as
 * such.
 */
export function readTaskList(
  ids: readonly string[] | undefined,
  reply: Reply,
  facts: RequestFacts,
): ServiceResult<readonly Task[]> {
  const { status, body } = reply;
  if (body.kind === 'empty' && status >= 200 && status < 300) {
    const what = `${facts.label}: HTTP ${status}, but its body is empty.`;
    return { ok: false, error: noListing(ids, what, status) };
  }
  const failure = classify(reply, facts);
  if (failure !== undefined) return { ok: false, error: listingFailure(ids, failure) };
  const value = body.kind === 'json' ? body.value : undefined;
  // Some languages write a list that was never filled as null.
  if (value === null) return { ok: true, value: [] };
  if (Array.isArray(value)) return { ok: true, value: tasksIn(value, ids, facts) };
  const envelope = members(members(value)?.['error']);
  const error =
    envelope === undefined
      ? noListing(ids, `${facts.label}: HTTP ${status}, but its JSON is not a list.`, status)
      : listingFailure(ids, rejectionInside(envelope, reply, facts));
  return { ok: false, error };
}

function listingFailure(ids: readonly string[] | undefined, failure: ServiceFailure): ServiceFailure {
  const isOfAllRequests = failure.about === 'key' || failure.about === 'quota';
  // A record may repeat the images it was made from: several are too large together, one may not be.
  const isTooLarge = failure.code === 'response.too-large';
  const isRejected = failure.class === 'stop' || failure.class === 'permanent' || isTooLarge;
  if (isOfAllRequests || !isRejected) return failure;
  const { message, about: _, ...facts } = failure;
  return { ...facts, ...noListing(ids, message, failure.status, isTooLarge) };
}

function noListing(
  ids: readonly string[] | undefined,
  what: string,
  status: number | undefined,
  isTooLarge = false,
): ServiceFailure {
  const why =
    ids === undefined
      ? isTooLarge
        ? 'The list of the service\u2019s tasks is too large to be read, so no task can be found by its tag: look for it there, by its prompt.'
        : 'The service does not list its tasks, so none can be found by its tag: look for it where the service shows them to you.'
      : isTooLarge
        ? 'The service\u2019s response about several tasks at once is too large: each task is polled by itself.'
        : 'The service does not list several tasks at once: each task is polled by itself.';
  return {
    code: 'service.no-listing',
    class: 'permanent',
    message: `${why} ${what}`,
    ...(status !== undefined && { status }),
  };
}

/** Returns the tasks in the requested order, or all of them as they come if none was requested. */
function tasksIn(
  list: readonly unknown[],
  ids: readonly string[] | undefined,
  facts: RequestFacts,
): readonly Task[] {
  const asked = ids === undefined ? undefined : new Set(ids);
  const found = new Map<string, Task>();
  for (const item of list) {
    const record = members(item);
    const id = readTaskId(record?.['id']);
    if (record === undefined || id === undefined || asked?.has(id) === false) continue;
    const task = toTask(id, record, facts);
    const before = found.get(id);
    if (before === undefined || order[task.state] > order[before.state]) found.set(id, task);
  }
  return (ids ?? [...found.keys()]).flatMap((id) => found.get(id) ?? []);
}

/**
 * Progress of the states. A gateway that keeps the click and its modal as two tasks of one id lists both, and only one advances
 * (gateway 3.5): the more advanced one counts.
 */
const order: Readonly<Record<Task['state'], number>> = { modal: 0, unfinished: 1, failure: 2, success: 3 };
