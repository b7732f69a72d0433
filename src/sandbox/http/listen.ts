import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An open server on 127.0.0.1. */
export interface Listening {
  readonly port: number;
  /** Cuts every connection and frees the port. */
  close(): Promise<void>;
}

/**
 * Opens an HTTP server on 127.0.0.1 that a slow or hostile client cannot hold: headers and whole requests have
 * deadlines, connections a number.
 * @throws the listening error, for example EADDRINUSE
 */
export async function listen(port: number, listener: RequestListener): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 30_000,
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: 16_384,
    },
    listener,
  );
  server.maxConnections = 2_000;
  server.on('clientError', (_error, socket) => {
    if (socket.writable)
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
