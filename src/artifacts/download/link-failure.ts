import { certificateError } from '../../service/http/connect/certificate.ts';
import { isOfNetwork } from '../../service/http/connect/connection-error.ts';
import { ProxyError } from '../../service/http/connect/proxies.ts';
import { readRetryAfter } from '../../service/http/retry-after.ts';
import { isOneOf, isPassingStatus, statuses } from '../../service/http/statuses.ts';
import { aborted, SaveError, shownLink } from '../failure.ts';
import type { SaveFailure } from '../writer.ts';
import { AddressError } from './address-policy.ts';
import { type Deadline, TimedOut } from './deadline.ts';

/** Returns the failure of a link that holds a secret. `giver`: who gave the link. */
export const holdsSecret = (giver: string): SaveFailure => ({
  code: 'download.address',
  class: 'permanent',
  lasting: true,
  message: `${giver} gave a link that holds the API key or another secret of yours: it is neither followed nor kept.`,
});

/** Returns the failure of a link that the rule for addresses forbids. */
export const forbidden = (url: URL, why: string, cause?: unknown): SaveFailure => ({
  code: 'download.address',
  class: 'permanent',
  lasting: true,
  message:
    `The link ${url.protocol.startsWith('http') ? shownLink(url) : `(${url.protocol}…)`} is not followed: ` +
    `${why}. Links may lead to public addresses and to the service's base address.`,
  cause,
});

/** Returns the failure for an error of the connection. Rethrows bugs unchanged. */
export function interruptionFailure(
  url: URL,
  cause: unknown,
  deadline: Deadline,
  code: 'download.connection' | 'download.truncated',
): unknown {
  if (cause instanceof SaveError) return cause;
  const addressError = addressErrorIn(cause);
  if (addressError !== undefined) return new SaveError(forbidden(url, addressError.message, cause));
  if (deadline.signal.aborted) {
    const { reason } = deadline.signal;
    if (!(reason instanceof TimedOut)) return new SaveError(aborted(cause));
    return new SaveError({
      code: 'download.connection',
      class: 'retry',
      message: `The download of ${shownLink(url)} was given up: ${reason.message}.`,
      cause: reason,
    });
  }
  if (!(cause instanceof Error) || !isOfNetwork(cause)) return cause;
  return new SaveError({
    code,
    // The next file would fail the same way.
    class: cause instanceof ProxyError && cause.lasting ? 'stop' : 'retry',
    message:
      code === 'download.truncated'
        ? `The file at ${shownLink(url)} broke off (${cause.message}).`
        : `${shownLink(url)} could not be reached (${certificateError(cause) ?? (cause.message || codeOf(cause))}).`,
    cause,
  });
}

const codeOf = (error: object): string => ('code' in error ? String(error.code) : 'no reason given');

/** Finds the address error. Node joins the failures of several addresses in one AggregateError. */
function addressErrorIn(failure: unknown): AddressError | undefined {
  if (failure instanceof AddressError) return failure;
  if (!(failure instanceof Error)) return undefined;
  const inner: readonly unknown[] = failure instanceof AggregateError ? failure.errors : [failure.cause];
  return inner.map((error) => (error === failure ? undefined : addressErrorIn(error))).find(Boolean);
}

interface RejectedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Words of its body, safe to show. */
  readonly words: string | undefined;
}

/**
 * Returns the failure of a response without a file, of any status. `now`: Unix ms, the reference for a Retry-After date when the
 * response has no Date of its own.
 */
export function statusFailure(
  url: URL,
  { status, headers, words }: RejectedResponse,
  now: number,
): SaveFailure {
  const header = (name: string): string | null => [headers[name] ?? []].flat()[0] ?? null;
  const wait = readRetryAfter(header, () => now);
  const base = { status, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
  const link = shownLink(url);
  // Cloudflare's mark of a page that asks a browser to prove that a person uses it.
  if (header('cf-mitigated') === 'challenge')
    return {
      ...base,
      code: 'download.refused',
      class: 'fresh-link',
      lasting: true,
      message: `${link} was answered with ${status} and a challenge page for browsers (cf-mitigated): the host of the link takes this machine for a robot. The link has not expired; have its owner let this machine in, or have the gateway serve its images itself.`,
    };
  if (isPermanentStatus(status)) {
    const why = words === undefined ? ': the link has probably expired' : ` (${words})`;
    const message = `${link} was refused with ${status}${why}.`;
    return {
      ...base,
      code: 'download.refused',
      class: 'fresh-link',
      ...(status === 400 ? {} : { lasting: true }),
      message,
    };
  }
  const isLate = status >= 500 && words !== undefined && lagWords.test(words);
  const kind = isLate
    ? 'fresh-link'
    : isOneOf(statuses.throttled, status)
      ? 'throttle'
      : isPassing(status)
        ? 'retry'
        : 'permanent';
  const said = words === undefined ? '' : ` (${words})`;
  return {
    ...(isLate && { retryAfterMs: lagMs }),
    ...base,
    code: 'download.status',
    class: kind,
    message: `${link} was answered with ${status}${said}.`,
  };
}

/**
 * Words of an image route whose copy of the task is behind, as after a modal (gateway 3.5): about that file only. The route refreshes
 * its tasks every 15 s.
 */
const lagWords = /http_get_image_failed/;
const lagMs = 5000;

/** Whether the link itself is refused. 400 is the answer of image routes for a task that they do not know, or not yet (gateway 4.7). */
const isPermanentStatus = (status: number): boolean => [400, 401, 403, 404, 410].includes(status);

/** Whether the download is tried again. The file is paid for, so every 5xx is. */
const isPassing = (status: number): boolean =>
  status >= 500 || isPassingStatus(status) || isOneOf(statuses.filling, status);
