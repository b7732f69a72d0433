import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { secretMask } from '../service/secrets.ts';
import { AddressRefused, type AddressRule } from './address.ts';
import { type Deadline, TimedOut } from './deadline.ts';
import { fail, SaveError, shownLink, shownWords } from './failure.ts';
import type { SaveFailure } from './writer.ts';

/** Hops that a link may take; links to images take one or two. */
const mostRedirects = 5;
/** Of a body that is not wanted: this much is read off so that the connection can be used again. */
const dumpedBytes = 65_536;

/** How the links of one run are followed. */
export interface Route {
  readonly rule: AddressRule;
  readonly dispatcher: Dispatcher;
  /** The dispatcher is a proxy: it resolves names, so they are judged before the request. */
  readonly proxied: boolean;
  /** Takes secrets out of a message. */
  readonly mask: (text: string) => string;
  /** Finds credentials; a link that holds one is not followed, for it would hand it on. */
  readonly dataMask: (text: string) => string;
  /** Who gave the links, for messages; default: the service. */
  readonly giver?: string;
}

/** A file on its way. */
export interface Arrival {
  readonly url: URL;
  /** The same, as it may be shown. */
  readonly link: string;
  /** What the server promised, before any content coding. */
  readonly contentLength: number | undefined;
  /** Nothing is between the bytes on the line and these. */
  readonly plain: boolean;
  readonly body: AsyncIterable<Buffer>;
  /** Lets go of the connection, read to the end or not. */
  discard(): void;
}

/**
 * Asks for a link, hop by hop, each one checked. No credentials are sent: the service's key is for the service, and
 * a link may lead anywhere.
 * @throws SaveError
 */
export async function openLink(
  link: string,
  route: Route,
  deadline: Deadline,
  now: number,
): Promise<Arrival> {
  // What came already masked held a secret too.
  if (link === secretMask) fail(holdsSecret(route));
  let url = parseLink(link, route);
  for (let hop = 0; hop <= mostRedirects; hop += 1) {
    await checkAddress(url, route, deadline);
    const response = await get(url, route, deadline);
    deadline.arrived();
    const { statusCode: status, headers } = response;
    if (status === 200 || status === 203) return arrival(url, response);
    await response.body.dump({ limit: dumpedBytes, signal: deadline.signal }).catch(ignore);
    const location = headers.location;
    if (![301, 302, 303, 307, 308].includes(status) || typeof location !== 'string') {
      return fail(refusedStatus(url, status, headers['retry-after'], now));
    }
    url = parseLink(location, route, url);
  }
  return fail({
    code: 'download.status',
    class: 'permanent',
    message: `The link was redirected more than ${mostRedirects} times, at last to ${shownLink(url)}.`,
  });
}

/** For a body that is not wanted: the answer is decided on the status, and what becomes of the rest changes nothing. */
const ignore = (): void => undefined;

const giverOf = ({ giver = 'The service' }: Route): string => giver;

function parseLink(link: string, route: Route, base?: URL): URL {
  try {
    return new URL(link, base);
  } catch (cause) {
    return fail({
      code: 'download.address',
      class: 'permanent',
      message: `${giverOf(route)} gave a link that is no web address: ${shownWords(link).slice(0, 80)}`,
      cause,
    });
  }
}

const holdsSecret = (route: Route): SaveFailure => ({
  code: 'download.address',
  class: 'permanent',
  message: `${giverOf(route)} gave a link that holds the API key or another secret of yours: it is neither followed nor kept.`,
});

const forbidden = (url: URL, why: string, cause?: unknown): SaveFailure => ({
  code: 'download.address',
  class: 'permanent',
  message:
    `The link ${url.protocol.startsWith('http') ? shownLink(url) : `(${url.protocol}…)`} is not followed: ` +
    `${why}. Links may lead to public addresses and to the host of the service's base address.`,
  cause,
});

async function checkAddress(url: URL, route: Route, deadline: Deadline): Promise<void> {
  if (route.dataMask(url.href) !== url.href) fail(holdsSecret(route));
  let why: string | undefined;
  try {
    why = route.proxied
      ? await abortable(route.rule.proxiedRefusal(url), deadline.signal)
      : route.rule.refusal(url);
  } catch (cause) {
    throw interrupted(url, cause, deadline, 'connection');
  }
  if (why !== undefined) fail(forbidden(url, why));
}

/** A look-up cannot be stopped, but nobody has to wait for it. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

async function get(url: URL, route: Route, deadline: Deadline): Promise<Dispatcher.ResponseData> {
  try {
    return await request(url, {
      dispatcher: route.dispatcher,
      signal: deadline.signal,
      // `*/*`: what is asked for by type is sometimes converted to it on the way.
      headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'promptpress' },
      // Deadlines are ours: the total one counts over all hops.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  } catch (cause) {
    throw interrupted(url, cause, deadline, 'connection');
  }
}

/** What an error of the connection means. Bugs come back as they are. */
function interrupted(
  url: URL,
  cause: unknown,
  deadline: Deadline,
  stage: 'connection' | 'truncated',
): unknown {
  if (cause instanceof SaveError) return cause;
  const refused = refusalIn(cause);
  if (refused !== undefined) return new SaveError(forbidden(url, refused.message, cause));
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
  if (!(cause instanceof Error) || !('code' in cause)) return cause;
  return new SaveError({
    code: `download.${stage}`,
    class: 'retry',
    message:
      stage === 'truncated'
        ? `The file at ${shownLink(url)} broke off (${cause.message}).`
        : `${shownLink(url)} could not be reached (${cause.message || String(cause.code)}).`,
    cause,
  });
}

/** The caller gave the download up. */
export const aborted = (cause: unknown): SaveFailure => ({
  code: 'download.aborted',
  class: 'retry',
  message: 'The download was stopped.',
  cause,
});

/** Node joins the failures of several addresses in one AggregateError. */
function refusalIn(failure: unknown): AddressRefused | undefined {
  if (failure instanceof AddressRefused) return failure;
  if (!(failure instanceof Error)) return undefined;
  const inner: readonly unknown[] = failure instanceof AggregateError ? failure.errors : [failure.cause];
  return inner.map((error) => (error === failure ? undefined : refusalIn(error))).find(Boolean);
}

function arrival(url: URL, response: Dispatcher.ResponseData): Arrival {
  const { body, headers } = response;
  const promised = headers['content-length'];
  // Errors are met where the body is read; one that is not read has nobody to tell.
  body.on('error', ignore);
  const decode = decoder(String(headers['content-encoding'] ?? ''), url);
  return {
    url,
    link: shownLink(url),
    contentLength: typeof promised === 'string' && /^\d{1,15}$/.test(promised) ? Number(promised) : undefined,
    plain: decode === undefined,
    body: decode === undefined ? body : piped(body, decode),
    discard: () => body.destroy(),
  };
}

/** Content codings were declined; a server that uses one all the same is understood. */
function decoder(coding: string, url: URL): (() => Transform) | undefined {
  switch (coding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip;
    case 'deflate':
      return createInflate;
    case 'br':
      return createBrotliDecompress;
    default:
      return fail({
        code: 'download.not-image',
        class: 'retry',
        message: `${shownLink(url)} gave its file in a content coding that was not asked for (${shownWords(coding)}).`,
      });
  }
}

/** Decoded as it arrives: what is not read is not decoded, so that a small body cannot fill the memory. */
async function* piped(body: Readable, decode: () => Transform): AsyncGenerator<Buffer> {
  const decoded = decode();
  body.on('error', (error) => decoded.destroy(error));
  try {
    yield* body.pipe(decoded) as AsyncIterable<Buffer>;
  } finally {
    decoded.destroy();
  }
}

/** Reads an arrival chunk by chunk. @throws SaveError */
export async function* chunks(arrival: Arrival, deadline: Deadline): AsyncGenerator<Buffer> {
  let received = 0;
  try {
    for await (const chunk of arrival.body) {
      deadline.arrived();
      received += chunk.length;
      yield chunk;
    }
  } catch (cause) {
    throw interrupted(arrival.url, cause, deadline, 'truncated');
  }
  if (arrival.plain && arrival.contentLength !== undefined && received !== arrival.contentLength) {
    fail({
      code: 'download.truncated',
      class: 'retry',
      message: `The file at ${arrival.link} broke off after ${received} of ${arrival.contentLength} bytes.`,
    });
  }
}

function refusedStatus(
  url: URL,
  status: number,
  retryAfter: string | string[] | undefined,
  now: number,
): SaveFailure {
  const wait = retryAfterMs(retryAfter, now);
  const base = { status, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
  const link = shownLink(url);
  if ([401, 403, 404, 410].includes(status)) {
    const message = `${link} was refused with ${status}: the link has probably expired.`;
    return { ...base, code: 'download.refused', class: 'fresh-link', message };
  }
  const kind = status === 429 ? 'throttle' : isPassing(status) ? 'retry' : 'permanent';
  return { ...base, code: 'download.status', class: kind, message: `${link} was answered with ${status}.` };
}

/** 204 and 206 answer a question that was not asked: some caches do it while they fill. */
const isPassing = (status: number): boolean => status >= 500 || [204, 206, 408, 425].includes(status);

/** RFC 9110, 10.2.3: seconds or a date. */
function retryAfterMs(value: string | string[] | undefined, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
