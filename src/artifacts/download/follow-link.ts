import type { Dispatcher } from 'undici';
import { type OpenResponse, openResponse } from '../../service/http/dispatch.ts';
import { secretMask } from '../../service/http/secrets.ts';
import { fail, shownLink, shownWords } from '../failure.ts';
import type { AddressRule } from './address-policy.ts';
import { body, type DownloadBody } from './body.ts';
import type { Deadline } from './deadline.ts';
import { forbidden, holdsSecret, interruptionFailure, statusFailure } from './link-failure.ts';
import { wordsLength, wordsOfBody } from './verify.ts';

/** Most redirects of a link; links to images have one or two. */
const maxRedirects = 5;
/** Bytes that are read of a body without a file, so that its connection can be used again. */
const dumpedBytes = 65_536;

/** How the links of one run are followed. */
export interface LinkRoute {
  readonly rule: AddressRule;
  /** Returns the dispatcher for a link, and whether it is a proxy: a proxy resolves names, so these are judged before the request. */
  readonly carrier: (url: URL) => { readonly dispatcher: Dispatcher; readonly proxied: boolean };
  /** Removes secrets from a message. */
  readonly mask: (text: string) => string;
  /** Finds credentials; a link that holds one is not followed, because that would pass it on. */
  readonly dataMask: (text: string) => string;
  /** Source of the links, for messages; default: the service, whose links may mean itself. */
  readonly giver?: string;
  /** Called when a link to this machine, or a path alone, was followed at the service instead. */
  readonly onOwnLink?: (link: string, url: URL) => void;
}

/**
 * Requests a link, redirect by redirect, and checks each one. Sends no credentials: the service's key is for the service only, and a
 * link may lead anywhere. @throws SaveError
 */
export async function openLink(
  link: string,
  route: LinkRoute,
  deadline: Deadline,
  now: number,
): Promise<DownloadBody> {
  // A link that came already masked held a secret too.
  if (link === secretMask) fail(holdsSecret(giverOf(route)));
  let url = firstUrl(link, route);
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    await checkAddress(url, route, deadline);
    const response = await get(url, route, deadline);
    deadline.arrived();
    const { status, headers } = response;
    if (status === 200 || status === 203) return continuable(body(url, response), response, route, deadline);
    const words = await wordsOf(response, route.mask);
    const location = headers.location;
    if (![301, 302, 303, 307, 308].includes(status) || typeof location !== 'string') {
      return fail(statusFailure(url, { status, headers, words }, now));
    }
    const next = parseLink(location, route, url);
    url = (url.origin === route.rule.origin ? atService(location, next, route) : undefined) ?? next;
  }
  return fail({
    code: 'download.status',
    class: 'permanent',
    message: `The link was redirected more than ${maxRedirects} times, at last to ${shownLink(url)}.`,
  });
}

/** Returns the first address of a link; a path alone is at the service. */
function firstUrl(link: string, route: LinkRoute): URL {
  if (route.giver === undefined && link.startsWith('/')) {
    const url = parseLink(link, route, route.rule.origin);
    route.onOwnLink?.(link, url);
    return url;
  }
  const url = parseLink(link, route);
  return atService(link, url, route) ?? url;
}

/** Returns the address at the service for a link that means the service, and reports it to the listener. */
function atService(link: string, url: URL, route: LinkRoute): URL | undefined {
  const own = route.giver === undefined ? route.rule.atService(url) : undefined;
  if (own !== undefined) route.onOwnLink?.(link, own);
  return own;
}

const giverOf = ({ giver = 'The service' }: LinkRoute): string => giver;

function parseLink(link: string, route: LinkRoute, base?: URL | string): URL {
  try {
    return new URL(link, base);
  } catch (cause) {
    return fail({
      code: 'download.address',
      class: 'permanent',
      lasting: true,
      message: `${giverOf(route)} gave a link that is not a web address: ${shownWords(link).slice(0, 80)}`,
      cause,
    });
  }
}

async function checkAddress(url: URL, route: LinkRoute, deadline: Deadline): Promise<void> {
  if (route.dataMask(url.href) !== url.href) fail(holdsSecret(giverOf(route)));
  let why: string | undefined;
  try {
    why = route.carrier(url).proxied
      ? await abortable(route.rule.proxiedForbiddenReason(url), deadline.signal)
      : route.rule.forbiddenReason(url);
  } catch (cause) {
    throw interruptionFailure(url, cause, deadline, 'download.connection');
  }
  if (why !== undefined) fail(forbidden(url, why));
}

/** Waits for work until the signal is aborted: a look-up cannot be stopped. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

// Any type: proxies sometimes convert an image to the requested type.
const asked = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'promptpress' };

async function get(
  url: URL,
  route: LinkRoute,
  deadline: Deadline,
  more: Readonly<Record<string, string>> = {},
): Promise<OpenResponse> {
  const headers = { ...asked, ...more };
  try {
    return await openResponse(
      route.carrier(url).dispatcher,
      { method: 'GET', url: url.href, headers },
      deadline,
    );
  } catch (cause) {
    throw interruptionFailure(url, cause, deadline, 'download.connection');
  }
}

/** Makes a file continuable after a broken connection, if something tells it from any other file of its link. */
function continuable(
  whole: DownloadBody,
  { headers }: OpenResponse,
  route: LinkRoute,
  deadline: Deadline,
): DownloadBody {
  const validator = validatorOf(headers);
  if (validator === undefined || !whole.plain) return whole;
  const { url } = whole;
  const rest = async (from: number): Promise<DownloadBody | undefined> => {
    const response = await get(url, route, deadline, { range: `bytes=${from}-`, 'if-range': validator });
    deadline.arrived();
    const { status, headers: said } = response;
    const part = body(url, response);
    // Some servers start earlier, at a block of theirs, and some send a part as 200: its position is the one that they state.
    const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(String(said['content-range'])) ?? [];
    const isSame = (validatorOf(said) ?? validator) === validator && part.plain;
    const fits = total === '*' || whole.contentLength === undefined || Number(total) === whole.contentLength;
    const isPart = (status === 206 || status === 200) && start !== undefined && Number(start) <= from && fits;
    // A server without ranges sends the whole file again.
    const isWhole = status === 200 && said['content-range'] === undefined && validatorOf(said) !== undefined;
    if (isSame && (isPart || isWhole)) return behind(part, from - Number(start ?? 0));
    part.discard();
    return undefined;
  };
  return { ...whole, rest };
}

/** Returns what tells a file from another one under the same link: a strong entity tag, else its date (RFC 9110 13.1.5). */
function validatorOf(headers: OpenResponse['headers']): string | undefined {
  const { etag, 'last-modified': date } = headers;
  if (typeof etag === 'string') return etag.startsWith('"') ? etag : undefined;
  return typeof date === 'string' ? date : undefined;
}

/** Returns a body without its first bytes. */
function behind(whole: DownloadBody, from: number): DownloadBody {
  async function* rest(): AsyncGenerator<Uint8Array> {
    let passed = 0;
    for await (const piece of whole.body) {
      const known = Math.min(piece.byteLength, from - passed);
      passed += known;
      if (known < piece.byteLength) yield piece.subarray(known);
    }
  }
  const { contentLength } = whole;
  return {
    ...whole,
    body: rest(),
    contentLength: contentLength === undefined ? undefined : contentLength - from,
  };
}

/**
 * Reads the words of a response without a file. It is judged by its status: a body that breaks off, or has no end, changes nothing and
 * gives no words.
 */
async function wordsOf(
  { body, headers }: OpenResponse,
  mask: LinkRoute['mask'],
): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > dumpedBytes) break;
      if (size <= wordsLength) pieces.push(chunk);
    }
  } catch {
    return undefined;
  }
  // Content codings were declined. A longer body is a page, and half a message may hold half a secret.
  if (size > wordsLength || headers['content-encoding'] !== undefined) return undefined;
  return wordsOfBody(Buffer.concat(pieces), mask);
}
