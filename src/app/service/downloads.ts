import type { LinkOptions } from '../../artifacts/download/link-route.ts';
import type { ArtifactWriter } from '../../artifacts/writer.ts';
import type { Clock } from '../../run/clock.ts';
import { createDispatcher } from '../../service/http/connect/dispatcher.ts';
import { proxiesOf } from '../../service/http/connect/proxies.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { Connecting } from './clients.ts';

/** Longest duration of one download, ms, even if data keeps coming; longer if a request may take longer. */
const leastTotalMs = 600_000;

/** Options for downloads, and their clock. */
type Links = LinkOptions & { readonly clock: Clock };

/** Returns options for downloads. A proxy of the environment is used for downloads as for requests. */
export function linkOptions(
  to: {
    readonly baseUrl: string;
    /** Longest time without data from a server, ms. */
    readonly requestMs: number;
    /** Masks secrets in messages about servers. */
    readonly mask: (text: string) => string;
    /** Masks credentials in data from servers. */
    readonly dataMask: (text: string) => string;
    readonly clock: Clock;
    /** Called with messages that are shown once. Default: they are dropped. */
    readonly notice?: (message: string) => void;
  },
  connecting: Connecting,
  disposables: Disposables,
): Links {
  const { baseUrl, requestMs, mask, dataMask, clock, notice } = to;
  const { connections, env } = connecting;
  const timeouts = { idleMs: requestMs, totalMs: Math.max(leastTotalMs, requestMs) };
  const options = { baseUrl, connections, timeouts, mask, dataMask, clock, ...(notice && { notice }) };
  if (env === undefined) return options;
  const proxyFor = proxiesOf(env);
  const dispatcher = createDispatcher(connecting);
  disposables.add(() => dispatcher.destroy());
  return { ...options, dispatcher, isProxied: (url) => proxyFor(url) !== undefined };
}

/**
 * Wraps the downloads of a run in the sandbox. A restarted sandbox has another port, so an earlier link no longer works: each link is
 * rewritten to the sandbox's current address.
 */
export const followedAt = (baseUrl: string, writer: ArtifactWriter): ArtifactWriter => ({
  save: (request, signal) => writer.save({ ...request, url: moved(request.url, baseUrl) }, signal),
  cut: (request, signal) => writer.cut(request, signal),
  keep: (request, signal) => writer.keep(request, signal),
  close: () => writer.close(),
});

function moved(link: string, baseUrl: string): string {
  // The downloader reports a text that is not a link.
  if (!URL.canParse(link)) return link;
  const { pathname, search } = new URL(link);
  return `${baseUrl}${pathname}${search}`;
}
