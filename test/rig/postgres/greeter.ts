import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** A server that greets like PostgreSQL and wants a password in clear: what is sent to it is what a stranger would have. */
export interface Greeter extends AsyncDisposable {
  readonly port: number;
  /** Connections that were made. */
  readonly connections: () => number;
  /** Passwords that were sent, in order. */
  readonly passwords: readonly string[];
}

const wantsPassword = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);

const refusal = ((): Buffer => {
  const text = Buffer.from('SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0\0');
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
})();

/** Starts one on a port of its own of 127.0.0.1. It refuses every password. */
export async function startGreeter(): Promise<Greeter> {
  let connections = 0;
  const passwords: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    let received = Buffer.alloc(0);
    let isGreeted = false;
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (!isGreeted && received.length >= 4 && received.length >= received.readInt32BE(0)) {
        received = received.subarray(received.readInt32BE(0));
        isGreeted = true;
        socket.write(wantsPassword);
      }
      if (!isGreeted || received.length < 5 || received.length < received.readInt32BE(1) + 1) return;
      passwords.push(received.subarray(5, received.readInt32BE(1)).toString());
      socket.end(refusal);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    passwords,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
