import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';

import { connectionPool } from './pool.ts';

/** The proxy variables of an environment; lower case wins over upper case, as in curl. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

export interface DispatcherOptions {
  /** Connections per origin at most: the requests in flight that the pipeline allows. */
  readonly connections: number;
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
 * What requests go out through. The environment is given, not read: only the command line knows the process. Extra
 * certificate authorities (NODE_EXTRA_CA_CERTS) are Node's own work, done before any code runs. The creator of a dispatcher
 * closes it. Throws a {@link ProxyAddressError}.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { connections, env, connectMs } = options;
  const agent: Agent.Options = {
    factory: connectionPool,
    connections,
    pipelining: 1,
    // An idle connection is closed by us before the service does: a request on one it has closed would be in doubt.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    connect: { timeout: connectMs },
  };
  const httpProxy = proxyAddress(env, 'http_proxy');
  const httpsProxy = proxyAddress(env, 'https_proxy');
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
}

/** `proxy:3128` is what many environments say. */
function proxyAddress(env: ProxyEnvironment | undefined, name: string): string {
  const text = (env?.[name] ?? env?.[name.toUpperCase()])?.trim() ?? '';
  if (text === '') return '';
  const address = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new ProxyAddressError(name);
  return address;
}
