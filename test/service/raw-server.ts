import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** A server that writes what it is told, HTTP or not, to whoever has sent a whole request head. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Connections so far. */
  readonly connections: number;
  /** Request heads so far, as text. */
  readonly heads: readonly string[];
}

export async function rawServer(
  onHead: (socket: Socket, head: string) => void,
  onConnection?: (socket: Socket) => void,
): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const heads: string[] = [];
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    onConnection?.(socket);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      heads.push(text);
      const head = text;
      text = '';
      onHead(socket, head);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    heads,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A port of 127.0.0.1 on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = await rawServer(() => undefined);
  await server[Symbol.asyncDispose]();
  return server.port;
}
