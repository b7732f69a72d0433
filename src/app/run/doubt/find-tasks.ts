import { isTextKind } from '../../../pipeline/kinds.ts';
import type { Pipeline } from '../../../pipeline/pipeline.ts';
import { isObject } from '../../../pipeline/values/value.ts';
import type { JobRecord } from '../../../plan/job.ts';
import { jsonFact } from '../../../report/facts/json.ts';
import { type ListFacts, listFacts, listWords } from '../../../report/facts/task-list.ts';
import { shownLine } from '../../../report/text/printable.ts';
import { jobsInDoubt } from '../../../results/sums.ts';
import { furthestFirst, ownTasks, skewMs, unusedTask } from '../../../run/machine/search/own-tasks.ts';
import { priceOfJob } from '../../../run/run-plan.ts';
import type { ImageService, SubmitResult, Task } from '../../../service/image-service.ts';
import type { ServiceResult } from '../../../service/result.ts';
import type { StateReader } from '../../../state/reader.ts';
import type { StateStore } from '../../../state/store.ts';
import {
  acceptMissing,
  type MissingWork,
  type OlderState,
  olderState,
  twice,
} from '../../workspace/checks/stale-state.ts';
import { resolveInDoubt } from './resolution.ts';

/** The result of `--in-doubt find`. */
export interface Findings {
  /** Number of jobs that were in doubt. */
  readonly doubtful: number;
  /** Number of these jobs whose task was found and is now polled. */
  readonly adopted: number;
  /** Further tasks of adopted jobs, which nothing uses: each try of a submission may have made one. */
  readonly unused: readonly { readonly job: string; readonly taskIds: readonly string[] }[];
  /** Why the service could not be asked. */
  readonly unknown?: string;
  /** How complete the service's list of tasks is; only set where jobs stay in doubt. */
  readonly list?: ListFacts;
}

/**
 * Searches the tasks of jobs in doubt by the tag of their submissions (`service.tag`), and adopts them as `promptpress resolve --task`
 * does. A tag is a job's key, which other run directories of the pipeline share: a task that is older than the job's own submission belongs
 * to another directory. Several tasks come from several tries of the same job: the most advanced one is adopted, the others are named and
 * noted in the job's history. For a job whose modal was confirmed, the task that waited for the confirmation and waiting tasks are ignored;
 * if there is no other task, the run polls the first one again.
 *
 * Call this before the run begins, with the directory's lock held.
 *
 * @throws StateError
 */
export const findTasks = (
  state: StateStore,
  service: Pick<ImageService, 'listTasks'>,
  prices: Pipeline['prices'],
  now: () => number,
  signal: AbortSignal,
): Promise<Findings> =>
  searchTasks(state.reader, service, signal, false, (record, task, others) => {
    const decision = { kind: 'task', taskId: task.id } as const;
    const turn = resolveInDoubt(record, decision, priceOfJob(prices, record), now());
    const left = others.map(({ id }) => ({ key: record.key, at: now(), outcome: unusedTask, taskId: id }));
    state.commit({ ...turn, attempts: [...turn.attempts, ...left] });
  });

/**
 * Searches the tasks of jobs in doubt without adopting them.
 *
 * @param running true: a process may still receive answers, so jobs that are being submitted are not in doubt
 * @param adopt called for each job with the found task, and the other tasks that carry its tag
 */
export async function searchTasks(
  reader: StateReader,
  service: Pick<ImageService, 'listTasks'>,
  signal: AbortSignal,
  running: boolean,
  adopt: (record: JobRecord, task: Task, others: readonly Task[]) => void | Promise<void>,
): Promise<Findings> {
  const doubtful: JobRecord[] = [];
  for await (const record of jobsInDoubt(reader, running))
    if (!isTextKind(record.kind)) doubtful.push(record);
  if (doubtful.length === 0) return { doubtful: 0, adopted: 0, unused: [] };
  const listed = await service.listTasks?.(signal);
  const none = { doubtful: doubtful.length, adopted: 0, unused: [] };
  if (listed === undefined) return none;
  if (!listed.ok) return { ...none, unknown: listed.error.message };
  const byTag = new Map<string, Task[]>();
  for (const task of listed.value) {
    if (task.tag === undefined) continue;
    const same = byTag.get(task.tag);
    if (same === undefined) byTag.set(task.tag, [task]);
    else same.push(task);
  }
  const unused: { job: string; taskIds: readonly string[] }[] = [];
  const held: JobRecord[] = [];
  for (const record of doubtful) {
    const tasks = byTag.get(record.key) ?? [];
    const history = tasks.length === 0 ? [] : await reader.attempts(record.key);
    const [task, ...others] = ownTasks(record, history, tasks);
    if (task === undefined) {
      held.push(record);
      continue;
    }
    await adopt(record, task, others);
    if (others.length > 0) unused.push({ job: record.key, taskIds: others.map(({ id }) => id) });
  }
  return {
    doubtful: doubtful.length,
    adopted: doubtful.length - held.length,
    unused,
    ...(held.length === 0 ? {} : { list: listFacts(listed.value, held) }),
  };
}

const jobs = (count: number): string => `${count} ${count === 1 ? 'job' : 'jobs'} in doubt`;

/** Largest number of task ids in a message; the job's history has all of them. */
const maxNamed = 10;

function unusedText({ job, taskIds }: Findings['unused'][number]): string {
  const named = taskIds.slice(0, maxNamed).join(', ');
  const left = taskIds.length - maxNamed;
  return ` Of ${job} the service has made ${taskIds.length + 1} tasks; these are not used, and may have been paid: ${shownLine(named)}${left > 0 ? ` and ${left} more, which are in its history` : ''}.`;
}

/** Formats the findings for the user. */
export function findingsText({ doubtful, adopted, unused, unknown, list }: Findings): string {
  if (unknown !== undefined) {
    return `--in-doubt find: ${jobs(doubtful)} could not be searched. ${unknown}`;
  }
  const held = doubtful - adopted;
  return `--in-doubt find: of ${jobs(doubtful)} ${adopted} had a task, which is adopted${held === 0 ? '' : `; ${held} stay${held === 1 ? 's' : ''} in doubt`}.${list === undefined ? '' : ` ${listWords(list)}`}${unused.map(unusedText).join('')}`;
}

/** A task of the service that carries a job's key and is missing in the state. */
type Found = Pick<Task, 'id' | 'state'>;

/** Found tasks by job key; the most advanced task of a job comes first. */
type FoundTasks = Readonly<Record<string, readonly Found[]>>;

/** Name of the fact that stores found tasks: a run that continues an older state may be killed before it reaches all of them. */
const factName = 'state.found';

/**
 * Searches the tasks of submissions that an older state does not know, by their tag, and stores them. When such a job is next in turn, it
 * adopts its task ({@link takingOn}).
 *
 * @param service without `listTasks` if submissions carry no tag
 * @returns the findings, for the user
 * @throws StateError `state.old` if the service does not list its tasks
 */
export async function findMissing(
  state: OlderState,
  directory: string,
  missing: MissingWork,
  service: Pick<ImageService, 'listTasks'>,
  signal: AbortSignal,
): Promise<string> {
  const listed = await service.listTasks?.(signal);
  if (listed?.ok !== true) {
    const why = listed?.error.message ?? 'The submissions of this pipeline carry no tag (`service.tag`).';
    throw olderState(directory, missing, `What is missing could not be searched. ${why}`);
  }
  const since = (missing.since ?? 0) - skewMs;
  // Tags come from the service: a tag `constructor` would be a member that every object has.
  const found = new Map<string, Found[]>();
  for (const { tag, id, state: stage, submittedAt = since } of listed.value.toSorted(furthestFirst)) {
    if (tag === undefined || submittedAt < since || (await isKnown(state.reader, tag, id))) continue;
    const same = found.get(tag);
    if (same === undefined) found.set(tag, [{ id, state: stage }]);
    else same.push({ id, state: stage });
  }
  await state.setFact(
    factName,
    JSON.stringify({ ...(await readFound(state.reader)), ...Object.fromEntries(found) }),
  );
  await acceptMissing(state);
  return foundText(missing, found.size);
}

/** Continues an older state without a search. @returns a message for the user about the possible cost */
export async function continueWithout(state: OlderState, missing: MissingWork): Promise<string> {
  await acceptMissing(state);
  return `--accept-older-state: what is missing in the state counts as never sent. ${twice(missing.submits)}`;
}

function foundText({ submits }: MissingWork, jobs: number): string {
  const sent =
    submits === 0 ? 'what is missing in the state' : `${submits} submissions that are missing in the state`;
  return (
    `--in-doubt find: of ${sent}, the service lists tasks of ${jobs} ${jobs === 1 ? 'job' : 'jobs'}; they are adopted when ` +
    'the run reaches them. Text calls are repeated, and so are submissions that the service no longer lists.'
  );
}

const readFound = async (state: StateReader): Promise<FoundTasks> =>
  (await jsonFact(state, factName, areFound)) ?? {};

const areFound = (value: unknown): value is FoundTasks =>
  isObject(value) &&
  Object.values(value).every(
    (tasks) =>
      Array.isArray(tasks) &&
      tasks.every(
        (task) => isObject(task) && typeof task['id'] === 'string' && typeof task['state'] === 'string',
      ),
  );

const isKnown = async (state: StateReader, key: string, id: string): Promise<boolean> =>
  (await state.get(key))?.taskId === id || (await state.attempts(key)).some(({ taskId }) => taskId === id);

/**
 * Wraps a service so that a job whose task was found is not submitted: its submission returns that task. Each task is returned once; after
 * that the job is submitted. Without found tasks, the service itself is returned.
 */
export async function takingOn(service: ImageService, state: StateReader): Promise<ImageService> {
  const found = await readFound(state);
  if (Object.keys(found).length === 0) return service;

  const open = async (key: string, isIt: (task: Found) => boolean): Promise<Found | undefined> => {
    for (const task of found[key] ?? []) if (isIt(task) && !(await isKnown(state, key, task.id))) return task;
    return undefined;
  };
  /** Answers the submission of a job with its found task, if there is one. */
  const submitted = async (key = ''): Promise<ServiceResult<SubmitResult> | undefined> => {
    const task = await open(key, ({ state: stage }) => stage !== 'modal');
    return task && accepted(task.id);
  };
  const clicked = async (key = ''): Promise<ServiceResult<SubmitResult> | undefined> => {
    const task = await open(key, () => true);
    if (task === undefined) return undefined;
    // The task after a modal is only known once the modal was confirmed, so the run is told that a modal opened.
    return task.state === 'modal' || (await confirmsModal(state, key))
      ? modalOpen(task.id)
      : accepted(task.id);
  };
  const acceptedResult = async (
    key: string,
    taskId: string,
  ): Promise<ServiceResult<SubmitResult> | undefined> => {
    for (const { id, state: stage } of found[key] ?? [])
      if (stage !== 'modal' && (id === taskId || !(await isKnown(state, key, id)))) return accepted(id);
    return undefined;
  };
  const readSeed = service.readSeed?.bind(service);
  return {
    begin: async (request, signal, onLeave) =>
      (await submitted(request.tag)) ?? (await service.begin(request, signal, onLeave)),
    action: async (request, signal, onLeave) =>
      (await clicked(request.tag)) ?? (await service.action(request, signal, onLeave)),
    modal: async (request, signal, onLeave) =>
      (await acceptedResult(request.tag ?? '', request.taskId)) ??
      (await service.modal(request, signal, onLeave)),
    fetchTask: (id, signal, onLeave) => service.fetchTask(id, signal, onLeave),
    fetchTasks: (ids, signal, onLeave) => service.fetchTasks(ids, signal, onLeave),
    listTasks: async (signal, onLeave) => (await service.listTasks?.(signal, onLeave)) ?? notListed,
    ...(readSeed && { readSeed }),
    ...(service.tellsLeaving === true && { tellsLeaving: true }),
    close: () => service.close(),
  };
}

/** Whether a job is a click that says how its modal is answered. */
async function confirmsModal(state: StateReader, key: string): Promise<boolean> {
  const request = (await state.get(key))?.request;
  if (request?.press === undefined) return false;
  return request.mask !== undefined || request.fields['prompt'] !== undefined;
}

/** The answer of a service without a list of tasks (`ImageService.listTasks`). */
const notListed: ServiceResult<readonly Task[]> = {
  ok: false,
  error: { code: 'service.no-listing', class: 'permanent', message: 'The gateway does not list its tasks.' },
};

/**
 * The gateway responds with code 1 to a submission that it accepts, and with 21 to one that waits for its modal (gateway
 * 3.2).
 */
const accepted = (taskId: string): ServiceResult<SubmitResult> => ({
  ok: true,
  value: { kind: 'accepted', taskId, code: 1 },
});
const modalOpen = (taskId: string): ServiceResult<SubmitResult> => ({
  ok: true,
  value: { kind: 'modal', taskId, code: 21 },
});
