import { classify, isHttpError, rejection, rejectionInside, unusableResponse } from '../failures/classify.ts';
import { readErrorWords, readReplyWords } from '../failures/error-words.ts';
import type { RequestFacts } from '../failures/request-context.ts';
import { withRequestId } from '../failures/request-id.ts';
import { meantBy } from '../failures/verdict.ts';
import { members, readInteger } from '../http/json.ts';
import type { Reply } from '../http/reply.ts';
import type { Task, TaskButton } from '../image-service.ts';
import type { ServiceFailure, ServiceResult } from '../result.ts';
import { splitPrompts } from './prompts.ts';
import { readTaskId } from './task-id.ts';
import { readLinks } from './task-links.ts';

/**
 * Bounds of the kept part of a finished task. Buttons are Discord's: at most 25, their labels 80 characters and their ids
 * 100.
 */
const most = { buttons: 100, label: 200, customId: 1_000, tag: 255, prompt: 8_000, progress: 100 } as const;

/**
 * Reads the response to fetch (gateway 4.1, 4.2). An unknown task is `service.task-unknown` of class `retry`: a new id may lag behind
 * its submission. One more poll costs nothing, while giving up would lose a paid task.
 */
export function readTask(id: string, reply: Reply, facts: RequestFacts): ServiceResult<Task> {
  const { status, body } = reply;
  const isSuccess = status >= 200 && status < 300;
  // The image proxies answer an unknown id with nothing or with null (gateway 4.1).
  const isNothing = body.kind === 'empty' || (body.kind === 'json' && body.value === null);
  if (isSuccess && isNothing) return unknown(id, reply, facts, '');

  const failure = classify(reply, facts);
  if (failure !== undefined) {
    const says = failure.serviceMessage ?? '';
    const isUnknown =
      (status === 400 && saysUnknown(says)) ||
      (failure.code === 'service.not-found' && failure.wrongAddress !== true);
    return isUnknown ? unknown(id, reply, facts, says) : { ok: false, error: failure };
  }
  const record = body.kind === 'json' ? members(body.value) : undefined;
  if (record === undefined || !('status' in record || 'id' in record)) {
    const says = readErrorWords(body.kind === 'json' ? body.value : undefined, facts.clean).message;
    if (saysUnknown(says)) return unknown(id, reply, facts, says);
    // A used-up quota is recognised under any status.
    if (meantBy(reply, readReplyWords(reply, facts.clean), facts) === 'quota')
      return { ok: false, error: rejection(reply, facts) };
    const envelope = members(record?.['error']);
    if (envelope !== undefined && isHttpError(envelope['code']))
      return { ok: false, error: rejectionInside(envelope, reply, facts) };
    return { ok: false, error: unusableResponse(reply, 'but its JSON is not a task', facts) };
  }
  return { ok: true, value: toTask(id, record, facts) };
}

const saysUnknown = (words: string): boolean =>
  /task_no_found|task_not_found|task[^.]{0,600}(not found|not exist)|任务不存在|任务未找到|未找到任务/i.test(
    words,
  );

function unknown(id: string, reply: Reply, facts: RequestFacts, says: string): ServiceResult<Task> {
  const error: ServiceFailure = {
    code: 'service.task-unknown',
    class: 'retry',
    message:
      `${facts.label}: the service does not know the task ${facts.clean(id)} (HTTP ${reply.status}${says === '' ? '' : `: ${says}`}). ` +
      'It may have been deleted, or belong to another key.',
    ...(says !== '' && { serviceMessage: says }),
    status: reply.status,
    ...withRequestId(undefined, reply, facts),
  };
  return { ok: false, error };
}

/**
 * Reads a task record. Its state depends on `status` alone: image and buttons may be there earlier, as a preview (gateway 4.3). An
 * unknown word means not finished; `seems` is the task as it would be if that word meant its end.
 */
export function toTask(id: string, record: Readonly<Record<string, unknown>>, facts: RequestFacts): Task {
  const status = typeof record['status'] === 'string' ? facts.clean(record['status']) : '';
  const stage = stages[status.trim().toUpperCase()];
  const task = taskIn(stateOf(stage), id, status, record, facts);
  if (stage !== undefined) return stage === 'queued' || stage === 'submitted' ? { ...task, stage } : task;
  if (task.progress !== 100) return task;
  const [failed, done] = (['failure', 'success'] as const).map((state) =>
    taskIn(state, id, status, record, facts),
  );
  if (failed?.failReason !== undefined) return { ...task, seems: failed };
  const hasResult =
    done !== undefined && [done.imageUrl, done.videoUrls].some((links) => links !== undefined);
  return hasResult ? { ...task, seems: done } : task;
}

function taskIn(
  state: Task['state'],
  id: string,
  status: string,
  record: Readonly<Record<string, unknown>>,
  facts: RequestFacts,
): Task {
  const progress = readProgress(record['progress']);
  const links = state === 'success' ? readLinks(record, facts) : undefined;
  const prompts = state === 'success' ? readPrompts(record, facts) : [];
  const submitTime = readInteger(record['submitTime']);
  const tag = readTag(record['state'], facts);
  const prompt = tag === '' ? facts.dataMask(textOf(record['prompt'])).slice(0, most.prompt) : '';
  const shownId = readTaskId(record['id']);
  const failReason = state === 'success' ? '' : facts.clean(textOf(record['failReason']));
  return {
    id,
    state,
    status,
    buttons: state === 'success' ? readButtons(record['buttons'], facts) : [],
    ...(progress !== undefined && { progress }),
    ...(state === 'success' && !('buttons' in record) && { buttonless: buttonlessKind(record) }),
    ...links,
    ...(prompts.length > 0 && { prompts }),
    ...(failReason !== '' && { failReason }),
    // Some gateways write 0 or null until it is set (gateway 4.2).
    ...(submitTime !== undefined && submitTime > 0 && { submittedAt: submitTime }),
    ...(tag !== '' && { tag }),
    ...(prompt !== '' && { prompt }),
    ...(shownId !== undefined && shownId !== id && { isOther: true }),
  };
}

/** Returns the kind of a task without buttons, for `change`; without the name of its action it may be a grid (gateway 2.4). */
const buttonlessKind = ({ action }: Readonly<Record<string, unknown>>): 'grid' | 'other' =>
  /^(?:IMAGINE|VARIATION|REROLL|BLEND|)$/i.test(textOf(action).trim()) ? 'grid' : 'other';

type Stage = Task['state'] | 'queued' | 'submitted' | 'working';

const named = (stage: Stage, words: string): readonly (readonly [string, Stage])[] =>
  words.split(' ').map((word) => [word, stage]);

/**
 * The words for states, in capitals, of this family of gateways and of other services (gateway 4.3). `""` is a task that the gateway
 * has just recorded; SUBMITTED is in Discord's queue, or has begun.
 */
const stages: Readonly<Partial<Record<string, Stage>>> = Object.fromEntries([
  ['', 'queued'],
  ...named('queued', 'NOT_START NOT_STARTED QUEUED QUEUEING QUEUE PENDING WAITING WAITING_TO_START CREATED'),
  ...named('submitted', 'SUBMITTED'),
  ...named('working', 'IN_PROGRESS PROCESSING RUNNING STARTED GENERATING'),
  ...named('modal', 'MODAL'),
  ...named('success', 'SUCCESS SUCCEEDED SUCCEED COMPLETED COMPLETE DONE FINISHED'),
  ...named('failure', 'FAILURE FAILED FAIL ERROR CANCEL CANCELED CANCELLED REJECTED ABORTED TIMEOUT'),
]);

const stateOf = (stage: Stage | undefined): Task['state'] =>
  stage === undefined || stage === 'queued' || stage === 'submitted' || stage === 'working'
    ? 'unfinished'
    : stage;

/** Reads progress such as `"93%"`; texts such as "Waiting to start" say nothing. */
function readProgress(value: unknown): number | undefined {
  const text = textOf(value);
  const percent =
    text.length > most.progress ? undefined : /^\s*(\d{1,3}(?:\.\d+)?)\s*(?:%\s*)?$/.exec(text)?.[1];
  return percent === undefined ? undefined : Math.min(100, Number(percent));
}

/**
 * Reads the prompts that a describe or a shorten task found. Other tasks have a `finalPrompt` too, the one that was drawn (gateway
 * 4.5), so that without an action's name only a list counts. Some gateways leave out the properties of a describe: then the task's own
 * prompt is the result. A shorten lists the important words first.
 */
function readPrompts(record: Readonly<Record<string, unknown>>, facts: RequestFacts): readonly string[] {
  const action = textOf(record['action']).trim().toUpperCase();
  if (!['', 'DESCRIBE', 'SHORTEN'].includes(action)) return [];
  const properties = members(record['properties']) ?? {};
  const texts =
    action === 'DESCRIBE'
      ? [properties['finalPrompt'], record['promptEn'], record['prompt'], properties['finalZhPrompt']]
      : [properties['finalPrompt']];
  const text = texts.map(textOf).find((said) => said.trim() !== '') ?? '';
  const prompts = splitPrompts(facts.dataMask(text.split('## Shortened prompts').at(-1) ?? ''));
  return action !== '' || prompts.length > 1 ? prompts : [];
}

/** Reads a tag, to compare it with the sent one; empty for a value that cannot be a tag. */
function readTag(value: unknown, facts: RequestFacts): string {
  const tag = textOf(value);
  return tag.length <= most.tag && facts.clean(tag) === tag ? tag : '';
}

/**
 * Reads the first 100 buttons that may be pressed: those with a customId of a possible length and without a secret (a label is kept, a
 * customId kept and sent).
 */
function readButtons(value: unknown, facts: RequestFacts): TaskButton[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, most.buttons).flatMap((item: unknown) => {
    const button = members(item);
    const customId = textOf(button?.['customId']);
    if (button === undefined || customId === '' || customId.length > most.customId) return [];
    const [label, emoji] = [textOf(button['label']), textOf(button['emoji'])];
    const holdsSecret = [customId, label, emoji].some((text) => facts.dataMask(text) !== text);
    return holdsSecret ? [] : [{ customId, label: cut(label), emoji: cut(emoji) }];
  });
}

const cut = (label: string): string =>
  label.length <= most.label ? label : `${label.slice(0, most.label).replace(/\p{Surrogate}$/u, '')}…`;

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
