import { isTextRequest } from '../plan/job-request.ts';
import { furthestFirst, skewMs } from '../run/machine/search/own-tasks.ts';
import type { Answer, ImageService, SubmitAnswer, Task } from '../service/image-service.ts';
import type { StateReader, StateStore } from '../state/store.ts';
import { acceptMissing, type MissingWork, olderState, twice } from './check-age.ts';
import { isObject, jsonFact } from './json-fact.ts';

/** A task of the service's that carries a job's key and that the state knows nothing of. */
type Found = Pick<Task, 'id' | 'state'>;

/** By job key; of each, the task that came furthest first. */
type FoundTasks = Readonly<Record<string, readonly Found[]>>;

/** Where they are kept: the run that goes on with an older state may be killed before it comes to all of them. */
const factName = 'state.found';

/**
 * Looks for the tasks of submissions that an older state does not know, by the tag that they carried, and keeps them. A job that
 * comes to its turn then takes its task on ({@link takingOn}).
 *
 * @param service without `listTasks` where submissions carry no tag
 * @returns for the user: what was found
 * @throws StateError `state.old` where the service's tasks cannot be asked for
 */
export async function findMissing(
  state: StateStore,
  directory: string,
  missing: MissingWork,
  service: Pick<ImageService, 'listTasks'>,
  signal: AbortSignal,
): Promise<string> {
  const listed = await service.listTasks?.(signal);
  if (listed?.ok !== true) {
    const why = listed?.error.message ?? 'The submissions of this pipeline carry no tag (`service.tag`).';
    throw olderState(directory, missing, `What is missing could not be looked for. ${why}`);
  }
  const since = (missing.since ?? 0) - skewMs;
  // Tags are what the service says: `constructor` would be a member that every object has.
  const found = new Map<string, Found[]>();
  for (const { tag, id, state: stage, submittedAt = since } of listed.value.toSorted(furthestFirst)) {
    if (tag === undefined || submittedAt < since || isKnown(state, tag, id)) continue;
    const same = found.get(tag);
    if (same === undefined) found.set(tag, [{ id, state: stage }]);
    else same.push({ id, state: stage });
  }
  state.setFact(factName, JSON.stringify({ ...readFound(state), ...Object.fromEntries(found) }));
  acceptMissing(state);
  return foundText(missing, found.size);
}

/** Going on with an older state as it is. @returns for the user: what it may cost */
export function goOnWithout(state: StateStore, missing: MissingWork): string {
  acceptMissing(state);
  return `--accept-older-state: what is missing in the state counts as never sent. ${twice(missing.submits)}`;
}

function foundText({ submits }: MissingWork, jobs: number): string {
  const sent =
    submits === 0 ? 'what is missing in the state' : `${submits} submissions that are missing in the state`;
  return (
    `--in-doubt find: of ${sent}, the service lists tasks of ${jobs} ${jobs === 1 ? 'job' : 'jobs'}; they are taken on where ` +
    'the run comes to them. Texts are asked for again, and so is what the service no longer lists.'
  );
}

const readFound = (state: StateReader): FoundTasks => jsonFact(state, factName, areFound) ?? {};

const areFound = (value: unknown): value is FoundTasks =>
  isObject(value) &&
  Object.values(value).every(
    (tasks) =>
      Array.isArray(tasks) &&
      tasks.every(
        (task) => isObject(task) && typeof task['id'] === 'string' && typeof task['state'] === 'string',
      ),
  );

const isKnown = (state: StateReader, key: string, id: string): boolean =>
  state.get(key)?.taskId === id || state.attempts(key).some(({ taskId }) => taskId === id);

/**
 * A service to which a job whose task was found is not submitted: it is answered with that task. Each is given once; after the
 * last one the job is submitted. Where nothing was found, it is the service itself.
 */
export function takingOn(service: ImageService, state: StateReader): ImageService {
  const found = readFound(state);
  if (Object.keys(found).length === 0) return service;

  const open = (key: string, isIt: (task: Found) => boolean): Found | undefined =>
    found[key]?.find((task) => isIt(task) && !isKnown(state, key, task.id));
  /** One that waits for the answer of its modal is one of a click alone. */
  const submitted = (key = ''): Answer<SubmitAnswer> | undefined => {
    const task = open(key, ({ state: stage }) => stage !== 'modal');
    return task && accepted(task.id);
  };
  const clicked = (key = ''): Answer<SubmitAnswer> | undefined => {
    const task = open(key, () => true);
    if (task === undefined) return undefined;
    // What went on from its modal is told once the modal is answered: so the run knows that one opened.
    return task.state === 'modal' || answersModal(state, key) ? modalOpen(task.id) : accepted(task.id);
  };
  const answered = (key: string, taskId: string): Answer<SubmitAnswer> | undefined => {
    const task = found[key]?.find(
      ({ id, state: stage }) => stage !== 'modal' && (id === taskId || !isKnown(state, key, id)),
    );
    return task && accepted(task.id);
  };
  return {
    imagine: async (request, signal) => submitted(request.tag) ?? (await service.imagine(request, signal)),
    begin: async (request, signal) => submitted(request.tag) ?? (await service.begin(request, signal)),
    action: async (request, signal) => clicked(request.tag) ?? (await service.action(request, signal)),
    modal: async (request, signal) =>
      answered(request.tag ?? '', request.taskId) ?? (await service.modal(request, signal)),
    fetchTask: (id, signal) => service.fetchTask(id, signal),
    fetchTasks: (ids, signal) => service.fetchTasks(ids, signal),
    listTasks: async (signal) => (await service.listTasks?.(signal)) ?? notListed,
    close: () => service.close(),
  };
}

/** True of a click that says what its modal is answered with. */
function answersModal(state: StateReader, key: string): boolean {
  const request = state.get(key)?.request;
  if (request === undefined || isTextRequest(request) || request.kind !== 'click') return false;
  return request.mask !== undefined || request.fields['prompt'] !== undefined;
}

/** What a service says that has no list of its tasks (`ImageService.listTasks`). */
const notListed: Answer<readonly Task[]> = {
  ok: false,
  error: { code: 'service.no-listing', class: 'permanent', message: 'The gateway does not list its tasks.' },
};

/** Code 1 is what the gateway says of what it takes on, 21 of what waits for its modal (protocol.md 2). */
const accepted = (taskId: string): Answer<SubmitAnswer> => ({
  ok: true,
  value: { kind: 'accepted', taskId, code: 1 },
});
const modalOpen = (taskId: string): Answer<SubmitAnswer> => ({
  ok: true,
  value: { kind: 'modal', taskId, code: 21 },
});
