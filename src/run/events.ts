import { aFlag, aMapping, aText, aWord, either } from '../pipeline/values/shape.ts';
import type { JobError, JobStatus, TokenUsage } from '../plan/job.ts';

/** How a slice ends for a worker. */
export type SliceEnd =
  /** All its cells are closed, and none of its jobs is under way: it is done. */
  | 'closed'
  /** It only waits for jobs of other slices, or for senders to be over: it is given back for a moment, so that it holds no slot. */
  | 'waits'
  /** Somebody has taken it over, and nothing is under way for it any more: what was heard late is kept, and nothing more is sent. */
  | 'lost';

/** The kinds of request that have a rate of their own. */
export type Route = 'submit' | 'text' | 'poll' | 'download';

/** The code of a run's end at `--max-failures`. */
export const maxFailuresCode = 'run.max-failures';

/** The code of a run's end at `--max-duration`. */
export const maxDurationCode = 'run.max-duration';

/** Why a run came to its end. */
export type RunEnd =
  | { readonly kind: 'complete' }
  /** 401, wrong address, the same refusal over and over (exit 3). */
  | { readonly kind: 'stopped'; readonly code: string; readonly message: string }
  /** `budget`, `--max-submits` (exit 4), or `--max-duration`. */
  | { readonly kind: 'budget'; readonly code: string; readonly message: string }
  /** Disk full or not writable (exit 74). */
  | { readonly kind: 'disk'; readonly code: string; readonly message: string }
  /** A signal (exit 130 or 143); `forced` by the second one. */
  | { readonly kind: 'interrupted'; readonly forced: boolean }
  /** `--fail-fast`, `--max-failures`. */
  | { readonly kind: 'fail-fast'; readonly code: string; readonly message: string };

const early = { code: aText, message: aText };

/** Whether a document that was kept is one. */
export const isRunEnd = either(
  aMapping({ kind: aWord('complete') }),
  aMapping({ kind: aWord('stopped', 'budget', 'disk', 'fail-fast'), ...early }),
  aMapping({ kind: aWord('interrupted'), forced: aFlag }),
) as (value: unknown) => value is RunEnd;

/** Everything observable about a run; log, progress and metrics listen. A listener that throws does not change the run. */
export type RunEvent =
  | { readonly type: 'run:start'; readonly at: number }
  | { readonly type: 'cell:open'; readonly cell: number }
  /** Nothing is left to do in the cell: each of its jobs is done, failed or in doubt. */
  | { readonly type: 'cell:close'; readonly cell: number }
  /** The run ends early and leaves work in the cell to a later run. A run that halts emits nothing for cells whose jobs are in flight. */
  | { readonly type: 'cell:left'; readonly cell: number }
  /** A slice has ended for this worker, in a run on several machines. */
  | {
      readonly type: 'slice:end';
      readonly slice: number;
      readonly epoch: number;
      readonly how: SliceEnd;
      /** Of a closed one: jobs were left below a job in doubt, of whichever slice. They are taken up once that is settled. */
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
      /** Of a text job: tokens of all its answers so far. */
      readonly usage?: TokenUsage;
      /** It is submitted again, as its task timed out at the gateway: work for both may have been paid. */
      readonly timedOut?: true;
    }
  /**
   * No job of this run will settle a slot of an open cell, for a reason that arose in this run. `blocked`: a job that it needs
   * failed. `skipped`: its condition, or that of a slot it needs, does not hold. `failed`: its request cannot be made.
   * `pending`: it is left below a job in doubt, and its cell closes. What was so before the run began is not repeated.
   */
  | {
      readonly type: 'slot:status';
      readonly step: string;
      readonly branch: string;
      readonly cell: number;
      readonly status: 'blocked' | 'skipped' | 'failed' | 'pending';
      readonly error?: JobError;
    }
  | {
      readonly type: 'request:end';
      readonly route: Route;
      readonly key: string;
      readonly ms: number;
      readonly outcome: string;
      /** Why it gave no usable result; absent: it gave one. */
      readonly message?: string;
      /** The HTTP status of an answer without a usable result, where there was one. */
      readonly status?: number;
    }
  | {
      /** A grid was cut into frames, or stays whole. */
      readonly type: 'grid:cut';
      readonly key: string;
      readonly ms: number;
      readonly frames: number;
      /** Why it has no frames; absent: it has. */
      readonly error?: Pick<JobError, 'code' | 'message'>;
    }
  | {
      readonly type: 'route:pause';
      readonly route: Route;
      /** The kind of text call that rests; absent: all of its route. */
      readonly kind?: string;
      readonly untilMs: number;
      readonly reason: string;
    }
  /** What the service was found to accept of one kind of request, where a user should hear of it; nothing: what is sent. */
  | {
      readonly type: 'route:pace';
      readonly route: Route;
      /** Of text calls. */
      readonly kind?: string;
      /** So many at once are served, and no more. */
      readonly atOnce?: number;
      /** So many a minute are served, and no more. */
      readonly perMinute?: number;
      /** This part is refused, however few are sent. */
      readonly byChance?: number;
    }
  | { readonly type: 'job:retry'; readonly key: string; readonly inMs: number; readonly error: JobError }
  | {
      readonly type: 'run:waiting';
      readonly sinceMs: number;
      readonly jobs: readonly string[];
      readonly reason: string;
    }
  /** The user should know this once: the run continues in another way. */
  | { readonly type: 'run:notice'; readonly code: string; readonly message: string }
  /** Once a minute, where the ports measure memory: memory in use, and the work that it serves. */
  | ({
      readonly type: 'run:memory';
      /** HTTP requests in flight. */
      readonly requests: number;
      /** Jobs that are being worked on, and the cells that wait for them. */
      readonly jobs: number;
      readonly cells: number;
    } & MemoryReading)
  | {
      readonly type: 'run:stopping';
      readonly end: RunEnd;
      /** Tasks that the service has. */
      readonly tasks: number;
      /** Submissions and text calls without an answer so far: what ends the run may keep them from being sent. */
      readonly requests: number;
    }
  | { readonly type: 'run:end'; readonly end: RunEnd };

export type RunListener = (event: RunEvent) => void;

/**
 * Memory of the process, and the part of it that responses use; in bytes. The limits of a run bound this memory:
 *
 * - responses: the bound of the client's pool and one largest response, besides 64 KiB and a chunk for each of
 *   `limits.requests`; complete responses are parsed one at a time
 * - cells: `tasks` with a task in flight, and `2 × (tasks + requests)` whose images are downloaded; where cells share
 *   jobs, the maximum of open cells
 * - jobs: those of the open cells
 */
export interface MemoryReading {
  /** Resident memory of the process. */
  readonly rssBytes: number;
  /** Used by objects and texts. */
  readonly heapBytes: number;
  /** Outside of the heap, array buffers among them. */
  readonly externalBytes: number;
  readonly arrayBufferBytes: number;
  /** Responses that are being read, without the first 64 KiB of each: now, and the maximum since the run began. */
  readonly answerBytes: number;
  readonly mostAnswerBytes: number;
  /** Responses that wait for room before they are read. */
  readonly answersWaiting: number;
}
