import type { CutResult, SaveFailure, SaveResult } from '../../src/artifacts/writer.ts';
import type { Attempt, JobRecord } from '../../src/plan/job.ts';
import { searched, tellsNoSeeds } from '../../src/run/effects/execute.ts';
import type { CallResult, SeenTask } from '../../src/run/machine/job.ts';
import { mayBeShared } from '../../src/run/machine/ownership.ts';
import type { Effect, RunInput } from '../../src/run/scheduler/commit.ts';
import type { SubmitResult, Task } from '../../src/service/image-service.ts';
import type { ServiceResult, Telling } from '../../src/service/result.ts';
import type { TaskClaims } from '../../src/state/store.ts';

/** A result, and how long after the request the run receives it. */
export interface Delivered<T> extends Telling {
  readonly result: T;
  readonly afterMs: number;
}

/** A submission that was answered, or not made for want of an image. */
export type Submitted = ServiceResult<SubmitResult> | { readonly unread: SaveFailure };

/** A service without sockets and promises: it works when it is asked, and the run receives the result later. */
export interface DrivenService {
  submit(record: JobRecord, parentTaskId: string | undefined, now: number): Delivered<Submitted>;
  modal(record: JobRecord, now: number): Delivered<Submitted>;
  /** Why there is no mask for a click; undefined: it fits. */
  mask(record: JobRecord, now: number): Delivered<SaveFailure | undefined>;
  fetch(taskId: string, now: number): Delivered<ServiceResult<Task>>;
  /** Absent: it tells no seeds. */
  seed?(taskId: string): Delivered<ServiceResult<string>>;
  list(taskIds: readonly string[], now: number): Delivered<ServiceResult<readonly Task[]>>;
  /** All its tasks, with their tags. */
  listAll(now: number): Delivered<ServiceResult<readonly Task[]>>;
  save(key: string, output: number): Delivered<SaveResult>;
  /** The frames of a grid: nothing that a service sees. */
  cut(record: JobRecord): Delivered<CutResult>;
  ask(record: JobRecord, now: number): Delivered<CallResult>;
  /** Answers of text calls under way that a later request has cut off: they come now, in place of their own. */
  readonly takeCut?: () => readonly RunInput[];
}

/** What carrying out an effect asks the state for. */
export interface DrivenState {
  get(key: string): JobRecord | undefined;
  attempts(key: string): readonly Attempt[];
  claims(record: JobRecord): TaskClaims;
}

/**
 * Carries out an effect.
 *
 * @returns the result, and how long after the request the run receives it
 */
export function answered(
  { job, send }: Effect,
  service: DrivenService,
  state: DrivenState,
  now: number,
): { readonly input: RunInput; readonly afterMs: number } {
  const { key } = job.record;
  const claimed = (record: JobRecord | undefined, task: Task): SeenTask =>
    record !== undefined && mayBeShared(record, task) ? { ...task, claims: state.claims(record) } : task;
  switch (send.kind) {
    case 'submit': {
      const { result, afterMs, ...telling } = service.submit(job.record, job.parentTaskId, now);
      return { afterMs, input: { ...submittedBy(key, result), ...telling } };
    }
    case 'modal': {
      const { result, afterMs } = service.modal(job.record, now);
      return { afterMs, input: submittedBy(key, result) };
    }
    case 'mask': {
      const { result: error, afterMs } = service.mask(job.record, now);
      return { afterMs, input: { type: 'masked', key, ...(error === undefined ? {} : { error }) } };
    }
    case 'fetch': {
      const { result, afterMs, ...telling } = service.fetch(send.taskId, now);
      const isPoll = send.why === 'poll' && result.ok;
      const shown = isPoll ? { ok: true as const, value: claimed(job.record, result.value) } : result;
      return { afterMs, input: { type: 'fetched', key, why: send.why, result: shown, ...telling } };
    }
    case 'seed': {
      const { result, afterMs } = service.seed?.(send.taskId) ?? { result: tellsNoSeeds, afterMs: 0 };
      return { afterMs, input: { type: 'seed', key, result } };
    }
    case 'list': {
      const { targets } = send;
      const { result, afterMs } = service.list(
        targets.map(({ taskId }) => taskId),
        now,
      );
      const keys = new Map(targets.map((target) => [target.taskId, target.key]));
      const value = result.ok
        ? result.value.map((task) => claimed(state.get(keys.get(task.id) ?? ''), task))
        : [];
      return {
        afterMs,
        input: { type: 'listed', key, targets, result: result.ok ? { ok: true, value } : result },
      };
    }
    case 'search': {
      const { result: listed, afterMs } = service.listAll(now);
      const input = searched(job.record, send.beside, listed, (of) => state.attempts(of));
      return { afterMs, input };
    }
    case 'save': {
      // What is text needs no file.
      if ('isText' in send.source)
        return { afterMs: 0, input: { type: 'saved', key, result: { ok: true, value: undefined } } };
      const { result, afterMs } = service.save(key, send.output);
      return { afterMs, input: { type: 'saved', key, result } };
    }
    case 'cut': {
      const { result, afterMs } = service.cut(job.record);
      return { afterMs, input: { type: 'cut', key, result } };
    }
    case 'ask': {
      const { result, afterMs, ...telling } = service.ask(job.record, now);
      return { afterMs, input: { type: 'asked', key, result, ...telling } };
    }
  }
}

const submittedBy = (key: string, answer: Submitted): RunInput =>
  'unread' in answer
    ? { type: 'unread', key, error: answer.unread }
    : { type: 'submitted', key, result: answer };
