import { Agent, type Dispatcher } from 'undici';
import { ByMethod } from './by-method.ts';
import { poolsThrough } from './pool.ts';
import { type ProxyEnvironment, proxiesOf } from './proxies.ts';

export interface DispatcherOptions {
  /**
   * Most connections per origin, counted separately for POST and for other methods: the requests in flight that the pipeline allows.
   * Absent: one for each request.
   */
  readonly connections?: number;
  /** Environment with `http_proxy`, `https_proxy` and `no_proxy`; undefined: no proxy. */
  readonly env?: ProxyEnvironment;
  /** Time limit for setting up one connection, in ms. */
  readonly connectMs: number;
}

/**
 * How long an idle connection is kept open, in ms. A server closes it after a time of its own, often without notice, and a request sent
 * at that moment is lost.
 */
const idle = {
  /** Repeating a GET costs nothing, so connections are kept to save handshakes. */
  get: { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 30_000 },
  /**
   * A lost submission would be unconfirmed. With the round trip this stays below a second, the shortest time that servers are set to; a
   * longer time that a server promises is not relied on.
   */
  post: { keepAliveTimeout: 300, keepAliveMaxTimeout: 300 },
} as const;

/**
 * Creates the dispatcher of all requests: POSTs use connections that are idle for a moment at most, other requests use separate ones.
 * The environment is an argument, because only the command line knows the process. Node itself loads extra certificate authorities
 * (NODE_EXTRA_CA_CERTS) before any code runs. The caller closes the dispatcher. Throws a {@link ProxyAddressError}.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { connections, env, connectMs } = options;
  const proxyFor = proxiesOf(env);
  const factory = poolsThrough(proxyFor);
  const agentOf = (kept: (typeof idle)['get' | 'post']): Dispatcher =>
    new Agent({
      factory,
      ...(connections === undefined ? {} : { connections }),
      pipelining: 1,
      ...kept,
      connect: { timeout: connectMs },
    });
  return new ByMethod(agentOf(idle.post), agentOf(idle.get), proxyFor);
}
