import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { ByMethod } from './by-method.ts';
import { connectionPool } from './pool.ts';

/** The proxy variables of an environment; lower case wins over upper case, as in curl. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

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

/** A proxy variable that holds no address. Its value is not shown: it may carry a password. */
export class ProxyAddressError extends Error {
  readonly code = 'proxy.bad-address';

  constructor(variable: string) {
    super(
      `The value of ${variable} is not an address. Expected something like http://proxy.example.com:3128.`,
    );
    this.name = 'ProxyAddressError';
  }
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
  const httpProxy = proxyAddress(env, 'http_proxy');
  const httpsProxy = proxyAddress(env, 'https_proxy');
  const agentOf = (kept: (typeof idle)['get' | 'post']): Dispatcher => {
    const agent: Agent.Options = {
      factory: connectionPool,
      ...(connections === undefined ? {} : { connections }),
      pipelining: 1,
      ...kept,
      connect: { timeout: connectMs },
    };
    if (httpProxy === '' && httpsProxy === '') return new Agent(agent);
    return new EnvHttpProxyAgent({
      ...agent,
      // The agent reads the process's environment for what is undefined; an empty text means none.
      httpProxy,
      httpsProxy,
      noProxy: env?.['no_proxy'] ?? env?.['NO_PROXY'] ?? '',
      proxyTls: { timeout: connectMs },
      requestTls: { timeout: connectMs },
    });
  };
  return new ByMethod(agentOf(idle.post), agentOf(idle.get));
}

/** `proxy:3128` is what many environments say. */
function proxyAddress(env: ProxyEnvironment | undefined, name: string): string {
  const text = (env?.[name] ?? env?.[name.toUpperCase()])?.trim() ?? '';
  if (text === '') return '';
  const address = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new ProxyAddressError(name);
  return address;
}
