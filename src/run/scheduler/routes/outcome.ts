import type { SaveFailure } from '../../../artifacts/writer.ts';
import type { JobError } from '../../../plan/job.ts';
import type { SubmitResult } from '../../../service/image-service.ts';
import type { About, ServiceFailure, ServiceResult } from '../../../service/result.ts';
import type { Route, RunEnd } from '../../events.ts';
import type { Job, JobEvent, SavedResult } from '../../machine/job.ts';
import { bannedPrompt } from '../../machine/retry/service-failure.ts';
import { hasNoListing } from '../../machine/search/listing.ts';
import type { RunInput } from '../commit.ts';

/** The result of a request. */
export type RequestResult = Extract<
  RunInput,
  {
    readonly type:
      | 'submitted'
      | 'unread'
      | 'masked'
      | 'fetched'
      | 'listed'
      | 'searched'
      | 'seed'
      | 'saved'
      | 'asked';
  }
>;

/** The result of a request for a single job. */
export type JobResult = Exclude<RequestResult, { readonly type: 'listed' }>;

/** What a result means for the requests beside it. */
export type RouteSignal =
  /** `served`: the service handled the request, whatever the result for the job. `full`: its queue is full of tasks of this run. */
  | { readonly kind: 'served' | 'full' }
  /**
   * 400, 403, 413: `words` are compared with those of the refusal before of its kind. Absent where the same job met the same refusal
   * in an earlier run: that says nothing new.
   */
  | { readonly kind: 'refused'; readonly words?: string; readonly about?: About | undefined }
  | FailedSignal;

/** Something is not served now. */
export interface FailedSignal {
  /**
   * `throttled`: 429, or its queue is full without a task of this run. `trouble`: a status that the service advises to retry, or none at
   * all. `unreachable`: refused connection, failed look-up. `quota`: no money is left for it.
   */
  readonly kind: 'throttled' | 'trouble' | 'unreachable' | 'quota';
  readonly reason: string;
  readonly about?: About | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The service does not know itself what became of it (400 with code 5): each one leaves a job in doubt. */
  readonly isUnclear?: boolean;
  /** It was broken off while it was worked on. */
  readonly isCut?: boolean;
  /** It certainly made nothing. */
  readonly isUnmade?: boolean | undefined;
}

/** What a result means beyond its job: for its route and kind, or that the run must end; neither: nothing. */
export interface RouteReading {
  readonly signal?: RouteSignal;
  readonly end?: RunEnd;
  /** Of the end. */
  readonly about?: About | undefined;
}

/** What a result means for its route, its job and the run. */
export interface Outcome {
  readonly route: Route;
  readonly event: JobEvent;
  readonly reading: RouteReading;
}

const routeOfResult = {
  submitted: 'submit',
  unread: 'submit',
  masked: 'download',
  fetched: 'poll',
  searched: 'poll',
  seed: 'poll',
  saved: 'download',
  asked: 'text',
} as const satisfies Record<JobResult['type'], Route>;

/**
 * @param isServing others are served meanwhile: what certainly made nothing is then about the pace, or about its kind alone, and no attempt
 * (gateway 8.2)
 */
export function outcomeOf(input: JobResult, isServing = false): Outcome {
  const event = eventOf(input, isServing);
  return { route: routeOfResult[event.type], event, reading: readingOf(event) };
}

type ResultEvent = Extract<JobEvent, { readonly type: JobResult['type'] }>;

function eventOf(input: JobResult, isServing: boolean): ResultEvent {
  const { key: _, ...event } = input;
  switch (event.type) {
    case 'unread':
    case 'masked':
      return event;
    case 'submitted':
      return { ...event, result: deferred(byReach(event.result), isServing) };
    case 'fetched':
      return { ...event, result: deferred(event.result, isServing) };
    case 'searched':
      return { ...event, result: deferred(event.result, isServing) };
    case 'seed':
      return { ...event, result: ofSeed(event.result, isServing) };
    case 'saved':
      return { ...event, result: deferred(event.result, isServing) };
    case 'asked': {
      const { result } = event;
      if (result.kind !== 'refused') return event;
      const { error } = deferred({ ok: false, error: result.error }, isServing);
      return { ...event, result: { ...result, error } };
    }
  }
}

/** A failure as a throttle: nobody can do it now, or, where others are served, it certainly made nothing. Its job waits as for a full queue. */
export const deferred = <A extends ServiceResult<unknown> | SavedResult>(answer: A, isServing: boolean): A =>
  answer.ok || !isDeferred(answer.error, isServing)
    ? answer
    : { ...answer, error: { ...answer.error, class: 'throttle' } };

/**
 * A refused read of a seed counts as a try of its job and slows down nobody: gateways differ in whether they tell seeds at all. A refused
 * key or quota ends the run where no poll was served lately, so that it may be true.
 */
const ofSeed = (answer: ServiceResult<string>, isServing: boolean): ServiceResult<string> =>
  answer.ok || answer.error.class === 'unsent' || (answer.error.class === 'stop' && !isServing)
    ? answer
    : { ...answer, error: { ...answer.error, class: 'permanent' } };

/** The state of one parent is about its job alone. Files are served by others, which shed load with a 503. */
function isDeferred(failure: ServiceFailure | SaveFailure, isServing: boolean): boolean {
  if ('about' in failure && failure.about === 'no-channel') return true;
  if (!isServing || failure.class !== 'retry') return false;
  return 'unmade' in failure
    ? failure.code !== 'service.not-ready'
    : !failure.code.startsWith('service.') && failure.status === 503;
}

/** A submission that was refused by a code, as a failure where the refusal is not about this job: no such job fails by itself. */
function byReach(result: ServiceResult<SubmitResult>): ServiceResult<SubmitResult> {
  if (!result.ok) return result;
  const { value } = result;
  if (value.kind !== 'refused' || value.made) return result;
  const { about, message, requestId } = value;
  if (about !== 'quota' && about !== 'not-offered' && about !== 'no-channel') return result;
  const kind = { quota: 'stop', 'not-offered': 'permanent', 'no-channel': 'throttle' } as const;
  return {
    ok: false,
    error: {
      code: `service.${about}`,
      class: kind[about],
      about,
      message,
      serviceMessage: message,
      ...(requestId === undefined ? {} : { requestId }),
    },
  };
}

/** True for a result that only asks to wait. */
export const isDeferral = ({ reading }: Pick<Outcome, 'reading'>): boolean =>
  reading.signal?.kind === 'throttled';

/**
 * The outcome without the words of a refusal that its job met in an earlier run as well. Jobs that are tried again on the user's
 * word come first, and would otherwise close their kind before the others begin; one that an earlier run put back is refused for
 * itself where others of its kind are served now.
 */
export function withoutKnownWords(
  outcome: Outcome,
  job: Job | undefined,
  kind: { readonly isServed: boolean } | undefined,
): Outcome {
  const { event, reading } = outcome;
  if (job === undefined || reading.signal?.kind !== 'refused') return outcome;
  const wasPutBack = job.record.putBack === true && kind?.isServed === true;
  const isKnown = job.earlierFailure !== undefined && refusalMessage(event) === job.earlierFailure;
  return wasPutBack || isKnown ? { ...outcome, reading: { signal: { kind: 'refused' } } } : outcome;
}

/** The message of a refusal, as its job's record keeps it; undefined for any other result. */
function refusalMessage(event: JobEvent): string | undefined {
  if (event.type !== 'submitted' || !event.result.ok) return failureOf(event)?.message;
  return event.result.value.kind === 'refused' ? event.result.value.message : undefined;
}

/** How a submission or a text call has failed; undefined for any other result. */
export function failureOf(event: JobEvent): ServiceFailure | undefined {
  if (event.type === 'asked') return event.result.kind === 'refused' ? event.result.error : undefined;
  return event.type === 'submitted' && !event.result.ok ? event.result.error : undefined;
}

const served: RouteReading = { signal: { kind: 'served' } };
const nothing: RouteReading = {};

/**
 * What the result of a request means for its route. A task, a link or a file that is not as it should be is about that alone, and so is
 * what a job could not read here; an unusable reply still shows that the route serves.
 */
function readingOf(event: ResultEvent): RouteReading {
  switch (event.type) {
    case 'submitted':
      return submitReading(event.result);
    case 'unread':
    case 'masked':
      return event.error === undefined ? nothing : readFile(event.error, nothing);
    case 'fetched':
      return !event.result.ok && event.result.error.code === 'service.task-unknown'
        ? served
        : readResult(event.result);
    case 'searched':
      return hasNoListing(event.result) ? nothing : readResult(event.result);
    case 'seed':
      // A refusal is about seeds, not about polls.
      return !event.result.ok && event.result.error.class === 'permanent'
        ? nothing
        : readResult(event.result);
    case 'saved': {
      const { result } = event;
      if (result.ok) return served;
      const { class: kind } = result.error;
      const mayPass = kind === 'retry' || kind === 'throttle';
      return mayPass ? readFailure({ ...result.error, class: kind }) : readFile(result.error, served);
    }
    case 'asked': {
      const { result } = event;
      if (result.kind === 'answered') return served;
      if (result.kind === 'refused') return readFailure(result.error);
      return readFile(result.error, result.kind === 'unread' ? nothing : served);
    }
  }
}

/** What the result of a submission means for its route (gateway 8.2, 3.2). */
function submitReading(result: ServiceResult<SubmitResult>): RouteReading {
  // The state of one parent, which the gateway's copy is behind with, is about its job alone.
  if (!result.ok) return result.error.code === 'service.not-ready' ? nothing : readFailure(result.error);
  const { value } = result;
  if (value.kind === 'queue-full')
    return { signal: { kind: 'throttled', reason: value.message, about: value.about } };
  // A banned prompt is about that prompt; any other refused code may be the same error in every row.
  if (value.kind !== 'refused' || value.code === bannedPrompt) return served;
  return { signal: { kind: 'refused', words: `code ${value.code}: ${value.message}`, about: value.about } };
}

/** The same of a request of which any good answer is as good. */
export const readResult = (result: ServiceResult<unknown>): RouteReading =>
  result.ok ? served : readFailure(result.error);

const readFile = ({ class: kind, code, message }: SaveFailure, otherwise: RouteReading): RouteReading =>
  kind === 'stop' ? { end: { kind: 'disk', code, message } } : otherwise;

function readFailure(failure: Omit<ServiceFailure, 'code'> & Pick<JobError, 'code'>): RouteReading {
  const { code, about, message: reason, retryAfterMs } = failure;
  switch (failure.class) {
    case 'stop':
      if (about === 'quota') return { signal: { kind: 'quota', reason } };
      return { end: { kind: 'stopped', code, message: reason }, about };
    case 'throttle':
      return { signal: { kind: 'throttled', reason, about, retryAfterMs } };
    case 'unsent':
      return { signal: { kind: 'unreachable', reason } };
    case 'lost':
    case 'retry': {
      const isCut = failure.class === 'lost' || code === 'stream.truncated';
      const isUnclear = code === 'service.ambiguous';
      return { signal: { kind: 'trouble', reason, about, isUnclear, isCut, isUnmade: failure.unmade } };
    }
    case 'permanent': {
      const words = `${failure.status ?? code}: ${failure.serviceMessage ?? reason}`;
      return { signal: { kind: 'refused', words, about } };
    }
  }
}
