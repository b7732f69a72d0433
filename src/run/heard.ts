import type { Route, RunEnd, RunEvent } from './event.ts';
import type { JobEvent } from './job.ts';
import { type Reading, readAsk, readFetch, readSave, readSearch, readSubmit, readUnread } from './signals.ts';
import type { Traffic } from './traffic.ts';
import type { RunInput } from './turn.ts';

/** An answer that came in. */
export type AnswerInput = Extract<
  RunInput,
  { readonly type: 'submitted' | 'unread' | 'masked' | 'fetched' | 'listed' | 'searched' | 'saved' | 'asked' }
>;

/** One that is about a single job. */
export type OneAnswer = Exclude<AnswerInput, { readonly type: 'listed' }>;

/** An answer, by what it is to its route, to its job and to the run. */
export interface Heard {
  readonly route: Route;
  readonly event: JobEvent;
  readonly reading: Reading;
}

export function heardOf(input: OneAnswer): Heard {
  switch (input.type) {
    case 'submitted': {
      const { answer } = input;
      return { route: 'submit', event: { type: 'submitted', answer }, reading: readSubmit(answer) };
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
      const { answer, why } = input;
      return { route: 'poll', event: { type: 'fetched', why, answer }, reading: readFetch(answer) };
    }
    case 'searched': {
      const { answer } = input;
      return { route: 'poll', event: { type: 'searched', answer }, reading: readSearch(answer) };
    }
    case 'saved': {
      const { answer } = input;
      return { route: 'download', event: { type: 'saved', answer }, reading: readSave(answer) };
    }
    case 'asked': {
      const { answer } = input;
      return { route: 'text', event: { type: 'asked', answer }, reading: readAsk(answer) };
    }
  }
}

/** True for an answer that only says: later. */
export const putsOff = ({ reading }: Pick<Heard, 'reading'>): boolean =>
  'signal' in reading && reading.signal.kind === 'throttled';

/** What a route takes note of. */
export interface OnRoute extends Pick<Heard, 'route' | 'reading'> {
  /** It is about one job, which the route had not kept waiting before. */
  readonly isFirst: boolean;
}

/** Lets the route of an answer take note of it. @returns why the run must end at once, if it must */
export function noteOnRoute(
  { route: name, reading, isFirst }: OnRoute,
  traffic: Traffic,
  now: number,
  emit: (event: RunEvent) => void,
): RunEnd | undefined {
  if ('end' in reading) return reading.end;
  if (!('signal' in reading)) return undefined;
  const { signal } = reading;
  const { route } = traffic.lanes[name];
  const { pausedUntil, perMinute } = route;
  route.count(signal, isFirst);
  const stop = route.note(signal, now);
  if (route.pausedUntil > pausedUntil && 'reason' in signal)
    emit({ type: 'route:pause', route: name, untilMs: route.pausedUntil, reason: signal.reason });
  if (route.perMinute !== undefined && route.perMinute !== perMinute)
    emit({ type: 'route:rate', route: name, perMinute: route.perMinute });
  return stop === undefined ? undefined : { kind: 'stopped', ...stop };
}
