import type { SaveAnswer, SaveFailure } from '../artifacts/writer.ts';
import type { Answer, ServiceFailure, SubmitAnswer, Task } from '../service/answer.ts';
import type { RunEnd } from './event.ts';
import type { AskAnswer } from './job.ts';
import { hasNoListing } from './listing.ts';
import type { RouteSignal } from './route.ts';
import { bannedPrompt } from './trouble.ts';

/** What an answer means beyond its job: for the route it came by, and for the run as a whole. */
export type Reading =
  | { readonly signal: RouteSignal }
  | { readonly end: RunEnd }
  | { readonly nothing: true };

const served: Reading = { signal: { kind: 'served' } };

/** service.md 7.2, protocol.md 2. */
export function readSubmit(answer: Answer<SubmitAnswer>): Reading {
  if (!answer.ok) return readFailure(answer.error);
  const { value } = answer;
  if (value.kind === 'queue-full') return { signal: { kind: 'throttled', reason: value.message } };
  // A banned prompt is about that prompt; any other refused code may be the same mistake in every row.
  if (value.kind === 'refused' && value.code !== bannedPrompt)
    return { signal: { kind: 'refused', words: `code ${value.code}: ${value.message}` } };
  return served;
}

/** A task that the service does not know says nothing about the route. */
export function readFetch(answer: Answer<Task>): Reading {
  if (answer.ok || answer.error.code === 'service.task-unknown') return served;
  return readFailure(answer.error);
}

/** What is not listed says nothing about the route either. */
export const readList = (answer: Answer<readonly Task[]>): Reading =>
  answer.ok ? served : readFailure(answer.error);

/** That a gateway has no list of its tasks says nothing about the route. */
export const readSearch = (answer: Answer<readonly Task[]>): Reading =>
  hasNoListing(answer) ? { nothing: true } : readList(answer);

/** A link that is refused or no image is about that link; only trouble and 429 are about the route. */
export function readSave(answer: SaveAnswer): Reading {
  if (answer.ok) return served;
  const { error } = answer;
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

/** An answer that cannot be used is still one that the route gave. What could not be read here says nothing about it. */
export function readAsk(answer: AskAnswer): Reading {
  switch (answer.kind) {
    case 'answered':
      return served;
    case 'refused':
      return readFailure(answer.error);
    case 'unread':
      return readUnread(answer.error);
    case 'unwritten': {
      const reading = readUnread(answer.error);
      return 'end' in reading ? reading : served;
    }
  }
}

/** A file that could not be read here says nothing about the route. */
export const readUnread = ({ class: kind, code, message }: SaveFailure): Reading =>
  kind === 'stop' ? { end: { kind: 'disk', code, message } } : { nothing: true };

function readFailure(failure: ServiceFailure): Reading {
  const reason = failure.message;
  switch (failure.class) {
    case 'stop':
      return { end: { kind: 'stopped', code: failure.code, message: failure.message } };
    case 'throttle':
      return {
        signal: {
          kind: 'throttled',
          reason,
          ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
        },
      };
    case 'unsent':
      return { signal: { kind: 'unreachable', reason } };
    case 'lost':
    case 'retry':
      return { signal: { kind: 'trouble', reason } };
    case 'permanent':
      return {
        signal: {
          kind: 'refused',
          words: `${failure.status ?? failure.code}: ${failure.serviceMessage ?? failure.message}`,
        },
      };
  }
}
