import type { SaveFailure } from '../../artifacts/writer.ts';
import { gridOf } from '../../plan/graph/frames.ts';
import type { Attempt, JobRecord } from '../../plan/job.ts';
import type { SubmitResult, Task } from '../../service/image-service.ts';
import type { ServiceFailure, ServiceResult, Telling } from '../../service/result.ts';
import { StateError } from '../../state/store.ts';
import type { RunEvent } from '../events.ts';
import type { SavedResult, SeenTask, Send } from '../machine/job.ts';
import { mayBeShared } from '../machine/ownership.ts';
import { notListed } from '../machine/search/listing.ts';
import { ownTasks } from '../machine/search/own-tasks.ts';
import type { RunPorts, RunSettings } from '../ports.ts';
import { type Effect, type RunInput, routeOf } from '../scheduler/commit.ts';
import type { RequestResult } from '../scheduler/routes/outcome.ts';
import { InputBudget, type LoadedInputs } from './input-budget.ts';
import { gated, type OnLeft } from './send-gate.ts';
import { checkMask, confirmModal, type SubmitPorts, submit } from './submit.ts';
import { type AskPorts, ask } from './text-call.ts';

/** The result of an effect, for the scheduler and for listeners. */
export interface EffectResult {
  readonly input: RequestResult | GridCut;
  readonly event: RunEvent;
}

type GridCut = Extract<RunInput, { type: 'cut' }>;

/** Runs the effects of commits, each through its port. */
export class Effects {
  readonly #ports: RunPorts;
  readonly #asking: AskPorts;
  readonly #submitting: SubmitPorts;

  constructor(
    given: RunPorts,
    {
      speed,
      retry,
      tag = true,
      limits,
      keepReplies,
    }: Pick<RunSettings, 'speed' | 'retry' | 'tag' | 'keepReplies'> & Partial<Pick<RunSettings, 'limits'>>,
    onLeft?: OnLeft,
  ) {
    const { inputs, store, clock } = given;
    const ports =
      limits === undefined
        ? given
        : {
            ...given,
            ...gated(given, limits, clock, onLeft, {
              ...(given.shared?.sendTimes && { sendTimes: given.shared.sendTimes }),
              ...(given.fence && { fence: given.fence }),
            }),
          };
    const { service, text, artifacts } = ports;
    const shared = { inputs, lookup: (key: string) => store.get(key), inputBudget: new InputBudget() };
    this.#ports = ports;
    this.#asking = {
      text,
      artifacts,
      ...(keepReplies && { keepReplies }),
      writing: { clock, retry },
      ...shared,
    };
    this.#submitting = { service, speed, tags: tag, ...shared };
  }

  /** Runs an effect. @returns the result; undefined where the run aborted the effect and its outcome is unknown */
  async carryOut(effect: Effect, signal: AbortSignal): Promise<EffectResult | undefined> {
    const { clock } = this.#ports;
    const sentAt = clock.now();
    const route = routeOf[effect.send.kind];
    if (route === undefined) return await this.#cut(effect.job, sentAt, signal);
    const input = await this.#send(effect, signal);
    const failure = failureIn(input);
    if (failure !== undefined && isBrokenOff(input, failure)) return undefined;
    const event: RunEvent = {
      type: 'request:end',
      route,
      key: effect.job.record.key,
      ms: clock.now() - sentAt,
      outcome: outcomeWord(input),
      ...(failure === undefined ? {} : { message: failure.message }),
      ...(failure?.status === undefined ? {} : { status: failure.status }),
    };
    return { input, event };
  }

  async #send({ job, send }: Effect, signal: AbortSignal): Promise<RequestResult> {
    const { record } = job;
    const { key } = record;
    switch (send.kind) {
      case 'submit':
        return submittedBy(key, await submit(job, this.#submitting, signal));
      case 'modal':
        return submittedBy(key, await confirmModal(record, this.#submitting, signal));
      case 'mask': {
        const error = await checkMask(record, this.#submitting, signal);
        return { type: 'masked', key, ...(error === undefined ? {} : { error }) };
      }
      case 'fetch': {
        const result = await this.#ports.service.fetchTask(send.taskId, signal);
        const isPoll = send.why === 'poll' && result.ok;
        const shown = isPoll
          ? { ok: true as const, value: await this.#claimed(record, result.value) }
          : result;
        return { type: 'fetched', key, why: send.why, result: shown, ...toldIn(result) };
      }
      case 'list': {
        const { targets } = send;
        const ids = targets.map(({ taskId }) => taskId);
        const result = await this.#ports.service.fetchTasks(ids, signal);
        const told = toldIn(result);
        if (!result.ok) return { type: 'listed', key, targets, result, ...told };
        const keys = new Map(targets.map((target) => [target.taskId, target.key]));
        const value = result.value.map(async (task) => {
          const polled = this.#ports.store.get(keys.get(task.id) ?? '');
          return polled === undefined ? task : await this.#claimed(polled, task);
        });
        const shown = { ok: true as const, value: await Promise.all(value) };
        return { type: 'listed', key, targets, result: shown, ...told };
      }
      case 'seed': {
        const result: ServiceResult<string> =
          (await this.#ports.service.readSeed?.(send.taskId, signal)) ?? tellsNoSeeds;
        return { type: 'seed', key, result, ...toldIn(result) };
      }
      case 'search': {
        const { service, store } = this.#ports;
        const listed: ServiceResult<readonly Task[]> = (await service.listTasks?.(signal)) ?? notListed;
        return {
          ...searched(record, send.beside, listed, (of) => store.attempts(of)),
          ...toldIn(listed),
        };
      }
      case 'save':
        return { type: 'saved', key, result: await this.#save(record, send, signal) };
      case 'cut':
        throw new Error('Internal error: no request cuts a grid.');
      case 'ask': {
        const { told, ...result } = await ask(record, this.#asking, signal);
        return { type: 'asked', key, result, ...toldIn({ told }) };
      }
    }
  }

  async #cut(
    { record }: Effect['job'],
    since: number,
    signal: AbortSignal,
  ): Promise<EffectResult | undefined> {
    const { artifacts, clock } = this.#ports;
    const grid = gridOf(record);
    if (grid?.ok !== true) throw new Error(`Internal error: ${record.key} has no grid to cut.`);
    const { key } = record;
    const result = await artifacts.cut({ key, grid: grid.file }, signal);
    if (!result.ok && result.error.code === 'download.aborted') return undefined;
    const error = result.ok ? undefined : { code: result.error.code, message: result.error.message };
    const event: RunEvent = {
      type: 'grid:cut',
      key,
      ms: clock.now() - since,
      frames: result.ok ? result.value.length : 0,
      ...(error === undefined ? {} : { error }),
    };
    return { input: { type: 'cut', key, result }, event };
  }

  /** When the state is unavailable for a moment, the next poll asks again. A longer outage makes the next commit fail. */
  async #claimed(record: JobRecord, task: Task): Promise<SeenTask> {
    if (!mayBeShared(record, task)) return task;
    try {
      return { ...task, claims: await this.#ports.store.claims(record) };
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      return { ...task, claims: { keys: [], mayGrow: true } };
    }
  }

  async #save(
    { key, artifacts }: JobRecord,
    { source, output }: Extract<Send, { kind: 'save' }>,
    signal: AbortSignal,
  ): Promise<SavedResult> {
    if ('isText' in source) return { ok: true, value: undefined };
    const others = artifacts.map(({ sha256 }) => sha256);
    const request = { key, output, ...source, ...(source.spare === undefined ? {} : { others }) };
    return await this.#ports.artifacts.save(request, signal);
  }
}

/** Returns the result of one list of all tasks, for a job and for the unconfirmed jobs searched for with it. */
export function searched(
  record: JobRecord,
  beside: readonly JobRecord[] | undefined,
  listed: ServiceResult<readonly Task[]>,
  attempts: (key: string) => readonly Attempt[],
): Extract<RunInput, { type: 'searched' }> {
  const ownOf = (one: JobRecord): typeof listed =>
    listed.ok ? { ...listed, value: ownTasks(one, attempts(one.key), listed.value) } : listed;
  return {
    type: 'searched',
    key: record.key,
    result: ownOf(record),
    ...(beside && { beside: beside.map((one) => [one.key, ownOf(one)] as const) }),
  };
}

/** The result of a read of a seed at a service that has no such read. */
export const tellsNoSeeds: ServiceResult<never> = {
  ok: false,
  error: { code: 'service.not-offered', class: 'permanent', message: 'This service tells no seeds.' },
};

const submittedBy = (key: string, loaded: LoadedInputs<ServiceResult<SubmitResult>>): RequestResult =>
  'unread' in loaded
    ? { type: 'unread', key, error: loaded.unread }
    : { type: 'submitted', key, result: loaded.result, ...toldIn(loaded.result) };

const toldIn = ({ told }: { readonly told?: Telling['told'] | undefined }): Telling =>
  told === undefined ? {} : { told };

type Failure = Pick<ServiceFailure | SaveFailure, 'code' | 'class' | 'message' | 'status'>;

/** The reason why a request gave no usable result; undefined where it gave one. */
function failureIn(input: RequestResult): Failure | undefined {
  if (input.type === 'unread' || input.type === 'masked') return input.error;
  if (input.type !== 'asked') return input.result.ok ? undefined : input.result.error;
  return input.result.kind === 'answered' ? undefined : input.result.error;
}

/** Whether the run aborted a request: its outcome is unknown, unless it never left. The next run treats its job as sent. */
const isBrokenOff = (input: RequestResult, failure: Failure): boolean =>
  input.type !== 'unread' &&
  (failure.code === 'connection.aborted' || failure.code === 'download.aborted') &&
  failure.class !== 'unsent';

/** The outcome of a request for the log: an error code, a word, or a count. */
function outcomeWord(input: RequestResult): string {
  const failure = failureIn(input);
  if (failure !== undefined) return failure.code;
  switch (input.type) {
    case 'submitted':
      return input.result.ok ? input.result.value.kind : '';
    case 'unread':
      return input.error.code;
    case 'masked':
      return 'masked';
    case 'fetched':
      return input.result.ok ? input.result.value.status : '';
    case 'listed':
      return `${input.result.ok ? input.result.value.length : 0} of ${input.targets.length} tasks`;
    case 'searched':
      return `${[input.result, ...(input.beside ?? []).map(([, result]) => result)].flatMap((result) => (result.ok ? result.value : [])).length} tasks found`;
    case 'seed':
      return 'seed';
    case 'saved':
      return 'saved';
    case 'asked': {
      if (input.result.kind !== 'answered') return '';
      const { verdict } = input.result.asked;
      return 'error' in verdict ? verdict.error.code : verdict.kind;
    }
  }
}
