import { isIP, type LookupFunction, Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { isPassingStatus } from '../statuses.ts';
import { type Proxy, ProxyError } from './proxies.ts';

export interface ConnectOptions {
  /** Time limit of each step of a connection: to the host or its proxy, through the proxy, TLS. In ms; default 10 s. */
  readonly timeout?: number;
  /** Looks up host names. Default: the system's look-up. */
  readonly lookup?: LookupFunction;
  /** Trusted certificate authorities. Default: those of Node. */
  readonly ca?: string;
}

/**
 * How long one address of a host that has several is tried before the next, in ms. Node's own 250 ms are less than connecting takes
 * over a satellite or a phone: only the last address would ever be reached.
 */
const attemptMs = 2_500;

class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT';
}

class LookupTimeout extends Error {
  readonly code = 'LOOKUP_TIMEOUT';
}

/** The destination of a connection, as undici names it. */
type Target = Pick<buildConnector.Options, 'hostname' | 'port' | 'protocol' | 'servername'>;

/**
 * Connects for the pools of undici, directly or through a proxy. For `http://` it connects to the proxy only, because the requests name
 * their host; for `https://` it sends `CONNECT`. Its own errors are never ones that undici would retry.
 */
export function connectorOf(options: ConnectOptions, proxy?: Proxy): buildConnector.connector {
  const connections = new Connections(options, proxy);
  return (target, done) => void tell(connections.to(target), done);
}

async function tell(made: Promise<Socket>, done: buildConnector.Callback): Promise<void> {
  const [result] = await Promise.allSettled([made]);
  if (result.status === 'rejected') return done(result.reason as Error, null);
  const socket = result.value;
  // The socket may have ended before anybody could listen.
  if (socket.destroyed) done(socket.errored ?? closedAtOnce(), null);
  else done(null, socket);
}

const closedAtOnce = (): Error =>
  Object.assign(new Error('the connection was closed at once'), { code: 'ECONNRESET' });

class Connections {
  readonly #options: ConnectOptions & { readonly timeout: number };
  readonly #proxy: Proxy | undefined;
  readonly #sessions = new Map<string, Buffer>();

  constructor(options: ConnectOptions, proxy: Proxy | undefined) {
    this.#options = { timeout: 10_000, ...options };
    this.#proxy = proxy;
  }

  async to({ hostname, port, protocol, servername }: Target): Promise<Socket> {
    const proxy = this.#proxy;
    const isTls = protocol === 'https:';
    const at = { hostname, port: Number(port) || (isTls ? 443 : 80) };
    const name = servername || (isIP(hostname) === 0 ? hostname : '');
    if (proxy === undefined) {
      const socket = await this.#open(at);
      return isTls ? await this.#secured(socket, hostname, name) : socket;
    }
    const socket = await this.#toProxy(proxy);
    if (!isTls) return socket;
    await this.#tunnel(socket, proxy, at);
    return await this.#secured(socket, hostname, name);
  }

  async #toProxy(proxy: Proxy): Promise<Socket> {
    const { hostname, isTls, name, variable } = proxy;
    try {
      const socket = await this.#open(proxy);
      return isTls ? await this.#secured(socket, hostname, isIP(hostname) === 0 ? hostname : '') : socket;
    } catch (cause) {
      // A bug of ours is not blamed on the proxy.
      if (!(cause instanceof Error && 'code' in cause)) throw cause;
      const isPlain = isTls && isNoTls(cause);
      const what = isPlain
        ? `does not speak TLS: write http:// in ${variable}`
        : `(${variable}) cannot be reached: ${wordsOf(cause)}`;
      throw new ProxyError(`the proxy ${name} ${what}`, { cause, lasting: isPlain });
    }
  }

  async #open({ hostname, port }: { readonly hostname: string; readonly port: number }): Promise<Socket> {
    const { timeout, lookup } = this.#options;
    const socket = new Socket({ highWaterMark: 65_536 } as object);
    const tried: string[] = [];
    socket.on('connectionAttempt', (ip, at) => tried.push(shownAddress(ip, at)));
    socket.setKeepAlive(true, 60_000).setNoDelay(true);
    socket.connect({
      host: hostname,
      port,
      ...(lookup && { lookup }),
      // With a limit below two tries, the second address would never be tried.
      autoSelectFamilyAttemptTimeout: Math.max(10, Math.min(attemptMs, Math.floor(timeout / 2))),
    });
    const within = `within ${timeout / 1000} s`;
    return await ready(socket, 'connect', timeout, () =>
      tried.length === 0 && isIP(hostname) === 0
        ? new LookupTimeout(`no name server has answered for ${hostname} ${within}`)
        : new ConnectTimeout(`no connection ${within}, tried ${tried.join(', ')}`),
    );
  }

  async #secured(socket: Socket, host: string, servername: string): Promise<TLSSocket> {
    const { timeout, ca } = this.#options;
    const key = servername || host;
    const session = this.#sessions.get(key);
    const options = {
      socket,
      host,
      servername,
      ...(session && { session }),
      ...(ca !== undefined && { ca }),
      ALPNProtocols: ['http/1.1'],
      highWaterMark: 16_384,
    };
    const secure = connectTls(options);
    secure.on('session', (given) => {
      this.#sessions.set(key, given);
      if (this.#sessions.size > maxSessions) this.#sessions.delete([...this.#sessions.keys()][0] ?? '');
    });
    return await ready(
      secure,
      'secureConnect',
      timeout,
      () => new ConnectTimeout(`no TLS within ${timeout / 1000} s`),
    );
  }

  /** Asks a proxy for a connection to a host. */
  async #tunnel(
    socket: Socket,
    proxy: Proxy,
    { hostname, port }: { readonly hostname: string; readonly port: number },
  ): Promise<void> {
    const { timeout } = this.#options;
    const host = shownAddress(hostname, port);
    const login = proxy.authorization === undefined ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`;
    socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n${login}\r\n`);
    try {
      const head = await headOf(socket, proxy, timeout);
      const status = Number(/^HTTP\/1\.[01] +(\d{3})/.exec(head)?.[1]);
      if (Number.isNaN(status)) throw noProxy(proxy, head);
      if (status < 200 || status > 299)
        throw proxyRefusal(proxy, host, status, /^proxy-authenticate:(.*)$/im.exec(head)?.[1]?.trim());
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }
}

const maxSessions = 100;

const shownAddress = (host: string, port: number): string =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;

/** Whether an error of reading or writing proves that the other side does not speak TLS. A troubled service fails otherwise. */
export const isNoTls = (error: unknown): boolean => {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === 'EPROTO'
    ? /wrong version number|packet length too long|http request/.test(String(message))
    : /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/.test(String(code));
};

const wordsOf = (cause: unknown): string => {
  const errors: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return errors.map((error) => (error as Error).message.trim()).join(', ');
};

/** Waits until a socket is set up; destroys it if that fails. */
function ready<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  timeoutMs: number,
  timedOut: () => Error,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(timedOut()), timeoutMs);
    // The listener stays: an error between here and the next listener would end the process.
    socket.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once(event, () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}

/** Longest head of an answer to CONNECT, in bytes. */
const maxHeadBytes = 16_384;

/** Reads the head of a proxy's answer as text; the bytes after it stay in the socket. */
function headOf(socket: Socket, proxy: Proxy, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off('readable', read).off('close', closed);
      settle();
    };
    const closed = (): void =>
      end(() => {
        const what = `the proxy ${proxy.name} closed the connection without an answer`;
        reject(new ProxyError(what, { cause: socket.errored ?? undefined }));
      });
    const silent = (): void =>
      end(() =>
        reject(new ProxyError(`the proxy ${proxy.name} did not answer within ${timeoutMs / 1000} s`)),
      );
    const read = (): void => {
      for (let chunk: unknown = socket.read(); chunk instanceof Buffer; chunk = socket.read())
        bytes = Buffer.concat([bytes, chunk]);
      const length = bytes.indexOf('\r\n\r\n');
      const isHttp = 'HTTP/'.startsWith(bytes.toString('latin1', 0, 5)) && bytes.length <= maxHeadBytes;
      if (length >= 0) socket.unshift(bytes.subarray(length + 4));
      if (length >= 0) end(() => resolve(bytes.toString('latin1', 0, length)));
      else if (!isHttp) end(() => reject(noProxy(proxy, bytes.toString('latin1'))));
    };
    const timer = setTimeout(silent, timeoutMs);
    socket.on('readable', read).on('close', closed);
  });
}

const noProxy = ({ name, variable }: Proxy, head: string): ProxyError =>
  new ProxyError(
    head.startsWith('\u0015\u0003')
      ? `the proxy ${name} speaks TLS: write https:// in ${variable}`
      : `the server at ${name} is not an HTTP proxy: check ${variable}`,
    { lasting: true },
  );

const lasting = (what: string): ProxyError => new ProxyError(what, { lasting: true });

/** Returns the error for a proxy's own status, with what to do. `host`: the host of the request. */
export function proxyRefusal(proxy: Proxy, host: string, status: number, asked?: string): ProxyError {
  const { name, variable, authorization, isTls } = proxy;
  if (status === 407) {
    if (asked !== undefined && asked !== '' && !/\bbasic\b/i.test(asked))
      return lasting(
        `the proxy ${name} asks for a login that promptpress does not know (407, ${/^\S{1,20}/.exec(asked)?.[0]}): only Basic works`,
      );
    return lasting(
      authorization === undefined
        ? `the proxy ${name} asks for a user name and a password (407). Write them into its address: ${variable}=${isTls ? 'https' : 'http'}://USER:PASSWORD@${name}`
        : `the proxy ${name} does not take the user name and the password in ${variable} (407). Check them; signs such as @ and : are written %40 and %3A`,
    );
  }
  if (isPassingStatus(status))
    return new ProxyError(`the proxy ${name} could not connect to ${host} (${status})`);
  if (status === 403)
    return lasting(
      `the proxy ${name} does not let requests to ${host} through (403). Ask its owner to allow ${host}, or write it into NO_PROXY if it can be reached directly`,
    );
  return lasting(
    `the proxy ${name} does not let requests to ${host} through (${status}): check ${variable}, or write ${host} into NO_PROXY if it can be reached directly`,
  );
}
