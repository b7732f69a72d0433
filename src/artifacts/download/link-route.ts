import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { connectionPool } from '../../service/http/connect/pool.ts';
import { type AddressRule, addressRule } from './address-policy.ts';
import type { DownloadTimeouts } from './deadline.ts';
import type { LinkRoute } from './follow-link.ts';

/** Options for following the links of one run. */
export interface LinkOptions {
  /** The service's base address. Links may lead to it, and to other ports of its host if that is another machine. */
  readonly baseUrl: string;
  /**
   * A proxy of the environment, which then resolves the names: links are judged by name before the request. The caller closes it.
   * Default: direct connections, judged by the address that is connected to.
   */
  readonly dispatcher?: Dispatcher;
  /** Whether the proxy carries a link; other links go directly. Default: all. */
  readonly isProxied?: (url: URL) => boolean;
  /** Default: 60 s for the next byte, 10 min for a whole download. */
  readonly timeouts?: DownloadTimeouts;
  /** Most connections to one host. Default 16. */
  readonly connections?: number;
  /** Default: the system's `dns.lookup`. */
  readonly lookup?: LookupFunction;
  /** Removes secrets from messages, because servers may repeat them. Default: there are none. */
  readonly mask?: (text: string) => string;
  /** Removes credentials from data: kept texts and followed links. Default: as in messages. */
  readonly dataMask?: (text: string) => string;
  /** Called once when links of the service that lead to this machine are followed at the base address instead. */
  readonly notice?: (message: string) => void;
}

export const defaultTimeouts: DownloadTimeouts = { idleMs: 60_000, totalMs: 600_000 };

const defaultConnections = 16;

/** Opens the route of links. The caller closes it when no more links are followed. */
export function openRoute(options: LinkOptions): LinkRoute & { close(): Promise<void> } {
  const { baseUrl, lookup, mask = (text) => text, dataMask = mask } = options;
  const rule = addressRule(baseUrl, lookup);
  const masks = { mask, dataMask, onOwnLink: once(options) };
  const { dispatcher, isProxied = () => true } = options;
  const direct = { dispatcher: directAgent(rule, options), proxied: false };
  const carrier: LinkRoute['carrier'] = (url) =>
    dispatcher !== undefined && isProxied(url) ? { dispatcher, proxied: true } : direct;
  return { rule, carrier, ...masks, close: () => direct.dispatcher.destroy() };
}

/** Reports the first time that links are followed elsewhere. */
function once({ notice, mask = (text) => text }: LinkOptions): (link: string, url: URL) => void {
  let isSaid = false;
  return (link, url) => {
    if (isSaid) return;
    isSaid = true;
    const given = URL.canParse(link)
      ? `lead to ${new URL(link).origin}, which is this machine`
      : 'are only paths';
    notice?.(
      mask(
        `Links of the service ${given}: the same paths are fetched at ${url.origin}, without the key. The gateway can be told its own address (new-api: ServerAddress).`,
      ),
    );
  };
}

function directAgent(rule: AddressRule, options: LinkOptions): Agent {
  const timeout = (options.timeouts ?? defaultTimeouts).idleMs;
  return new Agent({
    factory: (origin, pool: object) =>
      connectionPool(origin, { ...pool, connect: { lookup: rule.lookupFor(origin), timeout } }),
    connections: options.connections ?? defaultConnections,
    pipelining: 1,
    maxHeaderSize: 16_384,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
