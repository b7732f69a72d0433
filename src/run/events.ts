import type { EndCode, NoticeCode } from '../pipeline/diagnostics/run-codes.ts';
import { aFlag, aMapping, aText, aWord, either } from '../pipeline/values/shape.ts';
import type { JobError, JobStatus, TokenUsage } from '../plan/job.ts';

/** How a slice ends for a worker. */
export type SliceEnd =
  /** All cells of the slice are closed and none of its jobs is in flight: the slice is done. */
  | 'closed'
  /** It only waits for jobs of other slices, or for earlier senders to be dead: it is given back for a moment, and holds no slot. */
  | 'waits'
  /** Another worker has taken it over, and nothing is in flight for it here: late facts are kept, and nothing more is sent. */
  | 'lost';

/** The kinds of requests that have separate rates. */
export type Route = 'submit' | 'text' | 'poll' | 'download';

/** Error code of a run that ended at `--max-failures`. */
export const maxFailuresCode = 'run.max-failures';

/** Error code of a run that ended at `--max-duration`. */
export const maxDurationCode = 'run.max-duration';

/** The reason why a run ended. */
export type RunEnd =
  | { readonly kind: 'complete' }
  /** A 401, a wrong address, or the same refusal many times in a row (exit 3). */
  | { readonly kind: 'stopped'; readonly code: EndCode; readonly message: string }
  /** Reached `budget` or `--max-submits` (exit 4), or `--max-duration`. */
  | { readonly kind: 'budget'; readonly code: EndCode; readonly message: string }
  /** The disk is full or not writable (exit 74). */
  | { readonly kind: 'disk'; readonly code: EndCode; readonly message: string }
  /** Ended by a signal (exit 130 or 143); `forced` by a second one. */
  | { readonly kind: 'interrupted'; readonly forced: boolean }
  /** Ended by `--fail-fast` or `--max-failures`. */
  | { readonly kind: 'fail-fast'; readonly code: EndCode; readonly message: string };

const early = { code: aText, message: aText };

/** Whether a stored JSON value is a RunEnd. */
export const isRunEnd = either(
  aMapping({ kind: aWord('complete') }),
  aMapping({ kind: aWord('stopped', 'budget', 'disk', 'fail-fast'), ...early }),
  aMapping({ kind: aWord('interrupted'), forced: aFlag }),
) as (value: unknown) => value is RunEnd;

/** An event of a run, for log, progress and metrics. An error thrown by a listener does not change the run. */
export type RunEvent =
  | { readonly type: 'run:start'; readonly at: number }
  | { readonly type: 'cell:open'; readonly cell: number }
  /** All jobs of the cell are done, failed or in doubt. */
  | { readonly type: 'cell:close'; readonly cell: number }
  /** The run ends early and leaves work in the cell to a later run. A run that halts emits nothing for cells whose jobs are in flight. */
  | { readonly type: 'cell:left'; readonly cell: number }
  /** A slice has ended for this worker, in a run on several machines. */
  | {
      readonly type: 'slice:end';
      readonly slice: number;
      readonly epoch: number;
      readonly how: SliceEnd;
      /** For a closed slice: jobs in it wait for an unconfirmed job of any slice, and continue once that one is settled. */
      readonly belowDoubt?: true;
    }
  | {
      readonly type: 'job:status';
      readonly key: string;
      readonly step: string;
      readonly branch: string;
      readonly cell: number;
      readonly from: JobStatus | undefined;
      readonly to: JobStatus;
      readonly taskId?: string;
      readonly error?: JobError;
      readonly cost?: number;
      /** Tokens of all answers to a text job so far. */
      readonly usage?: TokenUsage;
      /** True where the job is submitted again because its task timed out at the gateway: both tasks may cost money. */
      readonly timedOut?: true;
      /** True for a failure that the pipeline accepts (`failures: accept`). */
      readonly accepted?: true;
    }
  /**
   * No job of this run will settle a slot of an open cell, for a reason that arose in this run.
   * `blocked`: a job that it needs failed. `skipped`: its condition, or that of a slot it needs, is false.
   * `failed`: its request cannot be made. `pending`: it waits for an unconfirmed job, and its cell closes. Earlier states are not emitted.
   */
  | {
      readonly type: 'slot:status';
      readonly step: string;
      readonly branch: string;
      readonly cell: number;
      readonly status: 'blocked' | 'skipped' | 'failed' | 'pending';
      readonly error?: JobError;
      /** True for a failure that the pipeline accepts, and for what it blocks. */
      readonly accepted?: true;
    }
  | {
      readonly type: 'request:end';
      readonly route: Route;
      readonly key: string;
      readonly ms: number;
      readonly outcome: string;
      /** The reason why the request gave no usable result; absent where it gave one. */
      readonly message?: string;
      /** HTTP status of a response without a usable result, if there was a response. */
      readonly status?: number;
    }
  | {
      /** A grid was cut into frames, or could not be cut. */
      readonly type: 'grid:cut';
      readonly key: string;
      readonly ms: number;
      readonly frames: number;
      /** The reason why the grid has no frames; absent where it has frames. */
      readonly error?: Pick<JobError, 'code' | 'message'>;
    }
  | {
      readonly type: 'route:pause';
      readonly route: Route;
      /** The kind of text call that is paused; absent: the whole route. */
      readonly kind?: string;
      readonly untilMs: number;
      readonly reason: string;
    }
  /** The limit found for one kind of request; without a field, the service accepts these requests as they are sent. */
  | {
      readonly type: 'route:pace';
      readonly route: Route;
      /** The kind of text call. */
      readonly kind?: string;
      /** Most requests that the service accepts at a time. */
      readonly atOnce?: number;
      /** Most requests that the service accepts a minute. */
      readonly perMinute?: number;
      /** Share of requests that the service refuses at random, at any rate. */
      readonly byChance?: number;
    }
  | { readonly type: 'job:retry'; readonly key: string; readonly inMs: number; readonly error: JobError }
  | {
      readonly type: 'run:waiting';
      readonly sinceMs: number;
      readonly jobs: readonly string[];
      readonly reason: string;
    }
  /** A notice for the user, emitted once: the run continues in another way. */
  | { readonly type: 'run:notice'; readonly code: NoticeCode; readonly message: string }
  /** Memory in use and the work that uses it. Emitted once a minute where the ports measure memory. */
  | ({
      readonly type: 'run:memory';
      /** HTTP requests in flight. */
      readonly requests: number;
      /** Jobs in progress; the field beside it counts the cells that wait for them. */
      readonly jobs: number;
      readonly cells: number;
    } & MemoryReading)
  | {
      readonly type: 'run:stopping';
      readonly end: RunEnd;
      /** Number of tasks on the service. */
      readonly tasks: number;
      /** Submissions and text calls without an answer. The end of the run may keep them from being sent. */
      readonly requests: number;
    }
  | { readonly type: 'run:end'; readonly end: RunEnd };

export type RunListener = (event: RunEvent) => void;

/**
 * Memory of the process and the part of it that responses use, in bytes. The limits of a run bound this memory:
 *
 * - responses: the bound of the client's pool and one largest response, besides 64 KiB and a chunk for each of `limits.requests`; complete
 * responses are parsed one at a time
 * - cells: `tasks` with a task in flight, and `2 × (tasks + requests)` whose images are downloaded; where cells share jobs, the maximum of
 * open cells
 * - jobs: those of the open cells
 */
export interface MemoryReading {
  /** Resident memory of the process. */
  readonly rssBytes: number;
  /** Memory of objects and strings. */
  readonly heapBytes: number;
  /** Memory outside of the heap, including array buffers. */
  readonly externalBytes: number;
  readonly arrayBufferBytes: number;
  /** Size of the responses being read, without the first 64 KiB of each: now, and the maximum since the run began. */
  readonly answerBytes: number;
  readonly maxAnswerBytes: number;
  /** Responses that wait for memory before they are read. */
  readonly answersWaiting: number;
}
