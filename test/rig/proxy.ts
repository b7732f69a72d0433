import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { certificates } from './certificates.ts';

/** A proxy as companies have them: it opens tunnels, and sends on requests that name their host. */
export interface TestProxy extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** `CONNECT host:port`, `POST http://host:port/path`, in the order in which they came. */
  readonly asked: readonly string[];
  /** Credentials that came with them. */
  readonly logins: readonly (string | undefined)[];
}

export interface ProxyRules {
  /** `user:password`: whoever does not say it is refused with 407. */
  readonly login?: string;
  /** It is spoken to over TLS. */
  readonly tls?: boolean;
  /** Answers what it is asked with these bytes, and closes: nothing, `HTTP/1.1 403 …`. */
  readonly says?: (asked: string) => string | undefined;
}

export async function startProxy(rules: ProxyRules = {}): Promise<TestProxy> {
  const asked: string[] = [];
  const logins: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const expected = rules.login && `Basic ${Buffer.from(rules.login).toString('base64')}`;
  /** Answers in the proxy's own name. @returns whether it has */
  const refuses = ({ method, url, headers }: IncomingMessage, socket: Duplex): boolean => {
    asked.push(`${method} ${url}`);
    logins.push(headers['proxy-authorization']);
    const said =
      rules.says?.(asked.at(-1) ?? '') ??
      (expected === undefined || headers['proxy-authorization'] === expected
        ? undefined
        : 'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="x"\r\ncontent-length: 0\r\n\r\n');
    if (said !== undefined) socket.end(said);
    return said !== undefined;
  };
  const forward = (incoming: IncomingMessage, response: ServerResponse): void => {
    if (refuses(incoming, incoming.socket)) return;
    if (incoming.url?.startsWith('http://') !== true) return void response.writeHead(400).end();
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const onward = request(incoming.url, { method: incoming.method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  };
  const server = rules.tls
    ? createTlsServer({ key: certificates.key, cert: certificates.good }, forward)
    : createServer(forward);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  });
  server.on('connect', (incoming: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    if (refuses(incoming, socket)) return;
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const onward = connect(Number(port) || 80, hostname.replace(/^\[(.*)\]$/, '$1'));
    sockets.add(onward);
    onward.on('error', () => socket.destroy());
    onward.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${rules.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    asked,
    logins,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
