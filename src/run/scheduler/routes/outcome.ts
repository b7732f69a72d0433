import type { SaveFailure } from '../../../artifacts/writer.ts';
import type { SubmitResult, Task } from '../../../service/image-service.ts';
import type { About, ServiceFailure, ServiceResult } from '../../../service/result.ts';
import type { Route, RunEnd, RunEvent } from '../../events.ts';
import type { RouteSignal } from '../../limits/route.ts';
import type { CallResult, Job, JobEvent, SavedResult } from '../../machine/job.ts';
import { bannedPrompt, isUnmade } from '../../machine/retry/service-failure.ts';
import { hasNoListing } from '../../machine/search/listing.ts';
import type { RunInput } from '../commit.ts';
import type { Lane } from './lanes.ts';
import type { Routes } from './routes.ts';

/** The result of a request. */
export type RequestResult = Extract<
  RunInput,
  { readonly type: 'submitted' | 'unread' | 'masked' | 'fetched' | 'listed' | 'searched' | 'saved' | 'asked' }
>;

/** The result of a request for a single job. */
export type JobResult = Exclude<RequestResult, { readonly type: 'listed' }>;

/** What a result means for its route, its job and the run. */
export interface Outcome {
  readonly route: Route;
  readonly event: JobEvent;
  readonly reading: RouteReading;
}

/**
 * @param isServing others of the route are served: what certainly made nothing (503) is then about the pace, as 429 is, and no attempt
 * (gateway 8.2)
 */
export function outcomeOf(input: JobResult, isServing = false): Outcome {
  const shed: typeof shedAsThrottle = isServing ? shedAsThrottle : (result) => result;
  switch (input.type) {
    case 'submitted': {
      const result = byReach(shed(input.result));
      return { route: 'submit', event: { type: 'submitted', result }, reading: submitReading(result) };
    }
    case 'unread': {
      const { error } = input;
      return { route: 'submit', event: { type: 'unread', error }, reading: readUnread(error) };
    }
    case 'masked': {
      const { error } = input;
      const event: JobEvent = { type: 'masked', ...(error === undefined ? {} : { error }) };
      return {
        route: 'download',
        event,
        reading: error === undefined ? { nothing: true } : readUnread(error),
      };
    }
    case 'fetched': {
      const { why } = input;
      const result = shed(input.result);
      return { route: 'poll', event: { type: 'fetched', why, result }, reading: readFetch(result) };
    }
    case 'searched': {
      const result = shed(input.result);
      return { route: 'poll', event: { type: 'searched', result }, reading: readSearch(result) };
    }
    case 'saved': {
      const result = shed(input.result);
      return { route: 'download', event: { type: 'saved', result }, reading: readSave(result) };
    }
    case 'asked': {
      const { result: own } = input;
      const shedError = (error: ServiceFailure): ServiceFailure =>
        isServing && isShed(error) ? { ...error, class: 'throttle' } : error;
      const result =
        own.kind === 'refused' ? { ...own, error: deferredWithoutChannel(shedError(own.error)) } : own;
      return { route: 'text', event: { type: 'asked', result }, reading: readAsk(result) };
    }
  }
}

/**
 * True for a 503, as proxies before a service refuse what is too much. Of a submission, also for a channel that is closed for the moment,
 * which some gateways report with another status. Files are served by others.
 */
const isShed = (failure: ServiceFailure | SaveFailure): boolean =>
  failure.class === 'retry' &&
  ('unmade' in failure
    ? failure.code === 'service.unavailable' || failure.code === 'service.no-channel'
    : !failure.code.startsWith('service.') && failure.status === 503);

/** A result of a route that serves others, with a 503 as a throttle. */
export const shedAsThrottle = <A extends ServiceResult<unknown> | SavedResult>(answer: A): A =>
  answer.ok || !isShed(answer.error) ? answer : { ...answer, error: { ...answer.error, class: 'throttle' } };

/** Nobody can do it now, and nothing was made: the job waits as for a full queue. */
const deferredWithoutChannel = (error: ServiceFailure): ServiceFailure =>
  error.about === 'no-channel' ? { ...error, class: 'throttle' } : error;

/**
 * The event for a job whose kind rests while others are served: what certainly made nothing was no try of this job. Its kind probes
 * for all its jobs, and closes with them pending.
 */
export function whileKindRests(event: JobEvent): JobEvent {
  if (event.type === 'submitted' && !event.result.ok)
    return { ...event, result: { ok: false, error: deferredUnmade(event.result.error) } };
  if (event.type === 'asked' && event.result.kind === 'refused')
    return { ...event, result: { ...event.result, error: deferredUnmade(event.result.error) } };
  return event;
}

const deferredUnmade = (error: ServiceFailure): ServiceFailure =>
  error.class === 'retry' && isUnmade(error) ? { ...error, class: 'throttle' } : error;

/** A submission that was refused by a code, as a failure where the refusal is not about this job: no such job fails by itself. */
function byReach(result: ServiceResult<SubmitResult>): ServiceResult<SubmitResult> {
  if (!result.ok) return { ok: false, error: deferredWithoutChannel(result.error) };
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
  'signal' in reading && reading.signal.kind === 'throttled';

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
  if (job === undefined || !('signal' in reading) || reading.signal.kind !== 'refused') return outcome;
  const wasPutBack = job.record.putBack === true && kind?.isServed === true;
  const isKnown = job.earlierFailure !== undefined && refusalMessage(event) === job.earlierFailure;
  return wasPutBack || isKnown ? { ...outcome, reading: { signal: { kind: 'refused' } } } : outcome;
}

/** The message of a refusal, as its job's record keeps it; undefined for any other result. */
function refusalMessage(event: JobEvent): string | undefined {
  if (event.type === 'submitted') {
    const { result } = event;
    if (!result.ok) return result.error.message;
    return result.value.kind === 'refused' ? result.value.message : undefined;
  }
  return event.type === 'asked' && event.result.kind === 'refused' ? event.result.error.message : undefined;
}

/** The part of an outcome that a route notes. */
export interface RouteOutcome extends Pick<Outcome, 'route' | 'reading'> {
  /** The result is for one job, which the route had not deferred before. */
  readonly isFirst: boolean;
  /** Of its job; of a list of tasks, of the first one. */
  readonly key: string;
  /** Absent: the only one of its route. */
  readonly lane?: Lane;
}

/** Notes an outcome on its route. @returns why the run must end at once; undefined: it goes on */
export function noteRouteOutcome(
  { route: name, reading, isFirst, key, lane: own }: RouteOutcome,
  routes: Routes,
  now: number,
  emit: (event: RunEvent) => void,
): RunEnd | undefined {
  if ('end' in reading) return reading.end;
  if (!('signal' in reading)) return undefined;
  const { signal } = reading;
  const lanes = routes.queues[name];
  const lane = own ?? lanes.lane();
  const { route } = lane;
  const { pausedUntil } = route;
  route.count(signal, isFirst);
  const stop = lanes.note(lane, signal, now, key);
  const kind = signal.kind === 'unreachable' ? {} : lanes.said(lane);
  if (route.pausedUntil > pausedUntil && 'reason' in signal)
    emit({ type: 'route:pause', route: name, ...kind, untilMs: route.pausedUntil, reason: signal.reason });
  const found = lanes.foundOf(lane);
  if (lane.news.isNews(found, now)) emit({ type: 'route:pace', ...found });
  return stop === undefined ? undefined : { kind: 'stopped', ...stop };
}

/** What a result means beyond its job: for its route, or for the whole run. */
export type RouteReading =
  | { readonly signal: RouteSignal }
  | { readonly end: RunEnd; readonly about?: About }
  | { readonly nothing: true };

const served: RouteReading = { signal: { kind: 'served' } };

/** What the result of a submission means for its route (gateway 8.2, 3.2). */
export function submitReading(result: ServiceResult<SubmitResult>): RouteReading {
  // The state of one parent, which the gateway's copy is behind with, is about its job alone.
  if (!result.ok && result.error.code === 'service.not-ready') return { nothing: true };
  if (!result.ok) return readFailure(result.error);
  const { value } = result;
  if (value.kind === 'queue-full')
    return { signal: { kind: 'throttled', reason: value.message, ...reachOf(value) } };
  // A banned prompt is about that prompt; any other refused code may be the same error in every row.
  if (value.kind === 'refused' && value.code !== bannedPrompt)
    return { signal: { kind: 'refused', words: `code ${value.code}: ${value.message}`, ...reachOf(value) } };
  return served;
}

/** A task that the service does not know says nothing about the route. */
export function readFetch(result: ServiceResult<Task>): RouteReading {
  if (result.ok || result.error.code === 'service.task-unknown') return served;
  return readFailure(result.error);
}

/** A task missing in the list says nothing about the route either. */
export const readList = (result: ServiceResult<readonly Task[]>): RouteReading =>
  result.ok ? served : readFailure(result.error);

/** A missing list of tasks says nothing about the route. */
export const readSearch = (result: ServiceResult<readonly Task[]>): RouteReading =>
  hasNoListing(result) ? { nothing: true } : readList(result);

/** A refused link, or a file that is no image, is about that link; only temporary failures and 429 are about the route. */
export function readSave(result: SavedResult): RouteReading {
  if (result.ok) return served;
  const { error } = result;
  switch (error.class) {
    case 'stop':
      return { end: { kind: 'disk', code: error.code, message: error.message } };
    case 'throttle':
      return {
        signal: {
          kind: 'throttled',
          reason: error.message,
          ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
        },
      };
    case 'retry':
      return { signal: { kind: 'trouble', reason: error.message } };
    case 'fresh-link':
    case 'permanent':
      return served;
  }
}

/** An unusable reply still shows that the route serves. A file that could not be read here says nothing about the route. */
export function readAsk(result: CallResult): RouteReading {
  switch (result.kind) {
    case 'answered':
      return served;
    case 'refused':
      return readFailure(result.error);
    case 'unread':
      return readUnread(result.error);
    case 'unwritten': {
      const reading = readUnread(result.error);
      return 'end' in reading ? reading : served;
    }
  }
}

/** A file that could not be read here says nothing about the route. */
export const readUnread = ({ class: kind, code, message }: SaveFailure): RouteReading =>
  kind === 'stop' ? { end: { kind: 'disk', code, message } } : { nothing: true };

const reachOf = ({ about }: { readonly about?: About }): { readonly about?: About } =>
  about === undefined ? {} : { about };

function readFailure(failure: ServiceFailure): RouteReading {
  const reason = failure.message;
  const reach = reachOf(failure);
  switch (failure.class) {
    case 'stop':
      if (failure.about === 'quota') return { signal: { kind: 'quota', reason, ...reach } };
      return { end: { kind: 'stopped', code: failure.code, message: failure.message }, ...reach };
    case 'throttle':
      return {
        signal: {
          kind: 'throttled',
          reason,
          ...reach,
          ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
        },
      };
    case 'unsent':
      return { signal: { kind: 'unreachable', reason } };
    case 'lost':
    case 'retry':
      return {
        signal: {
          kind: 'trouble',
          reason,
          ...reach,
          ...(failure.code === 'service.ambiguous' && { isUnclear: true as const }),
          ...((failure.class === 'lost' || failure.code === 'stream.truncated') && { isCut: true as const }),
        },
      };
    case 'permanent':
      return {
        signal: {
          kind: 'refused',
          words: `${failure.status ?? failure.code}: ${failure.serviceMessage ?? failure.message}`,
          ...reach,
        },
      };
  }
}
