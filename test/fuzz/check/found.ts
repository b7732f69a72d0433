import { findingsText, findTasks } from '../../../src/app/run/doubt/find-tasks.ts';
import type { Reply } from '../../../src/service/http/reply.ts';
import { readTaskList } from '../../../src/service/image/task-list.ts';
import type { Task } from '../../../src/service/image-service.ts';
import type { ServiceResult } from '../../../src/service/result.ts';
import { epoch, imagineRecord } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { facts, ids, longestMessage, tags } from './answered.ts';
import { Broken, lawfulText } from './law.ts';

/** The checks of lists of tasks: what is read of one, and which tasks of it jobs in doubt take on. */

const never = new AbortController().signal;

const statesOf = (result: ServiceResult<readonly Task[]>): string =>
  result.ok
    ? result.value
        .map(({ id, state }) => `${id} ${state}`)
        .sort()
        .join()
    : result.error.code;

/** @throws Broken where a task is listed twice, or what it came to depends on where its rows stand */
export function lawfulList(
  asked: readonly string[] | undefined,
  reply: Reply,
): ServiceResult<readonly Task[]> {
  const result = readTaskList(asked, reply, facts);
  const { body } = reply;
  if (!result.ok || body.kind !== 'json' || !Array.isArray(body.value)) return result;
  if (new Set(result.value.map(({ id }) => id)).size < result.value.length)
    throw new Broken('A task is listed twice.');
  const reversed: Reply = { ...reply, body: { ...body, value: (body.value as unknown[]).toReversed() } };
  const other = statesOf(readTaskList(asked, reversed, facts));
  if (body.value.length <= 1000 && other !== statesOf(result))
    throw new Broken(
      `Read from its end it is ${other.slice(0, 300)}, not ${statesOf(result).slice(0, 300)}.`,
    );
  return result;
}

/** One job whose click was lost, and one whose modal was sent. */
const doubtful = [
  imagineRecord({ key: tags[0], status: 'in-doubt', attempts: 3, submittedAt: epoch }),
  imagineRecord({
    key: tags[1],
    status: 'submitting',
    attempts: 1,
    submittedAt: epoch,
    modal: { taskId: ids[0], sent: 1 },
  }),
];

/** What `--in-doubt find` makes of an answer. @throws Broken where a job takes on what cannot be its own */
export async function lawfulFindings(listed: ServiceResult<readonly Task[]>): Promise<readonly string[]> {
  const store = memoryStore();
  store.commit({ records: doubtful, attempts: [] });
  const service = { listTasks: () => Promise.resolve(listed) };
  const found = await findTasks(store, service, { imagine: 1 }, () => epoch, never);
  const text = findingsText(found);
  lawfulText(text, 'What was found');
  if (text.length > longestMessage) throw new Broken(`What was found is said in ${text.length} characters.`);
  if (!listed.ok && found.adopted > 0) throw new Broken('A task is found in no list.');
  const tasks = new Map(listed.ok ? listed.value.map((task) => [task.id, task]) : []);
  let adopted = 0;
  for (const { key, modal } of doubtful) {
    const { status, taskId } = store.get(key) ?? {};
    if (status !== 'running') continue;
    adopted += 1;
    const task = tasks.get(taskId ?? '');
    if (task?.tag !== key) throw new Broken(`${key} takes on ${taskId}, which does not carry its tag.`);
    if (modal !== undefined && (taskId === modal.taskId || task.state === 'modal'))
      throw new Broken(`${key} takes on ${taskId}, whose modal waits, for what answered it.`);
  }
  if (adopted !== found.adopted)
    throw new Broken(`${found.adopted} are said to be taken on, not ${adopted}.`);
  return [found.adopted > 0 ? 'found' : 'not-found', ...(found.unused.length > 0 ? ['unused'] : [])];
}
