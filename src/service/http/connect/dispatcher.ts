import { Agent, type Dispatcher } from 'undici';
import { ByMethod } from './by-method.ts';
import { poolsThrough } from './pool.ts';
import { type ProxyEnvironment, proxiesOf } from './proxies.ts';

export interface DispatcherOptions {
  /**
   * Connections per origin at most, those for POST and the others apart: the requests in flight that the pipeline allows. Absent: as
   * many as there are requests.
   */
  readonly connections?: number;
  /** Where `http_proxy`, `https_proxy` and `no_proxy` are looked up; undefined: no proxy. */
  readonly env?: ProxyEnvironment;
  /** Bound of setting up one connection, in ms. */
  readonly connectMs: number;
}

/**
 * How long a connection is kept while nothing is asked on it, in ms. A server closes it after a time of its own, often without a word of it
 * before, and a request that crosses its end is lost.
 */
const idle = {
  /** One that asks again costs nothing, so GETs spare themselves the handshakes. */
  get: { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 30_000 },
  /**
   * A submission would be in doubt. With the way there and back this stays below a second, the shortest time that servers are set to,
   * and a longer one that a server promises is not relied on.
   */
  post: { keepAliveTimeout: 300, keepAliveMaxTimeout: 300 },
} as const;

/**
 * What requests go out through: POSTs over connections that are idle for a moment at most, all else over others. The environment is given, not read: only the command line knows the process. Extra
 * certificate authorities (NODE_EXTRA_CA_CERTS) are Node's own work, done before any code runs. The creator of a dispatcher
 * closes it. Throws a {@link ProxyAddressError}.
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
