import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { certificates } from './certificates.ts';
import { makePng } from './png.ts';

/** How a server says where its answer ends, and how it ends it. `whole`: all of the answer comes, and the server says so. */
export const framings = {
  length: { whole: true, head: ['Content-Length: N'] },
  'length, close': { whole: true, head: ['Connection: close', 'Content-Length: N'], after: 'end' },
  'length, keep-alive, end': { whole: true, head: ['Content-Length: N'], after: 'end' },
  'HTTP/1.0, length': { whole: true, head: ['Content-Length: N'], old: true, after: 'end' },
  'HTTP/1.0': { whole: true, head: [], old: true, after: 'end' },
  'no length': { whole: true, head: [], after: 'end' },
  'no length, close': { whole: true, head: ['Connection: close'], after: 'end' },
  chunked: { whole: true, head: ['Transfer-Encoding: chunked'], chunks: 'ended' },
  'chunked, close': {
    whole: true,
    head: ['Connection: close', 'Transfer-Encoding: chunked'],
    chunks: 'ended',
    after: 'end',
  },
  'chunked without end': {
    whole: false,
    head: ['Transfer-Encoding: chunked'],
    chunks: 'open',
    after: 'end',
  },
  'too short': { whole: false, head: ['Content-Length: N+9'], after: 'end' },
  reset: { whole: false, head: ['Content-Length: N+9'], after: 'reset' },
} as const satisfies Readonly<Record<string, Framing>>;

interface Framing {
  readonly whole: boolean;
  readonly head: readonly string[];
  readonly old?: boolean;
  readonly chunks?: 'ended' | 'open';
  readonly after?: 'end' | 'reset';
}

export type FramingName = keyof typeof framings;
export const framingNames = Object.keys(framings) as readonly FramingName[];

/** Sizes of bodies at the edges of buffers: of sockets (16 and 64 KiB), of what waits for its reader (64 KiB), and far above. */
export const sizes = [
  0, 1, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 70_000, 131_071, 131_072, 131_073, 1_000_000,
  5_000_000,
] as const;

/** A picture of exactly so many bytes, or what there is room for of its beginning. */
export function pictureOf(size: number, seed = 1): Buffer {
  const picture = makePng(seed, 8, 8);
  if (size < picture.length + 12) return picture.subarray(0, size);
  const text = Buffer.alloc(size - picture.length, 'x');
  text.writeUInt32BE(text.length - 12);
  text.write('prVt', 4);
  // Before the end mark, which is 12 bytes. Its check sum is nobody's: the chunk is private.
  return Buffer.concat([picture.subarray(0, -12), text, picture.subarray(-12)]);
}

/** A body of one framing and size. */
export interface SizedCell {
  readonly framing: FramingName;
  readonly size: (typeof sizes)[number];
}

/** What is answered. */
export interface FramedAnswer {
  readonly bytes: Buffer;
  readonly type: string;
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: readonly string[];
  readonly framing: FramingName;
}

export interface FramingServer extends AsyncDisposable {
  /** `http://127.0.0.1:port`, or `https:` */
  readonly url: string;
  /** Requests so far. */
  readonly asked: number;
}

/** A server that answers each request with what its path and its whole text stand for, framed as that says. */
export async function startFramingServer(
  isTls: boolean,
  answerOf: (path: string, request: string) => FramedAnswer,
): Promise<FramingServer> {
  const sockets = new Set<Socket>();
  let asked = 0;
  const listen = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let heard = '';
    socket.on('data', (data) => {
      heard += data.toString('latin1');
      const end = heard.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(heard)?.[1] ?? 0);
      if (heard.length < end + 4 + length) return;
      const [, path = ''] = heard.split(' ', 2);
      const answer = answerOf(path, heard);
      heard = '';
      asked += 1;
      send(socket, framings[answer.framing], answer);
    });
  };
  const server: Server = isTls
    ? createTlsServer({ key: certificates.key, cert: certificates.good }, listen)
    : createServer(listen);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  return {
    url: `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`,
    get asked() {
      return asked;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Sends an answer over a connection, framed so. */
export function send(
  socket: Socket,
  { head, old, chunks, after }: Framing,
  { bytes, type, status = 200, headers = [] }: Omit<FramedAnswer, 'framing'>,
): void {
  const lines = [
    `HTTP/1.${old === true ? 0 : 1} ${status} OK`,
    `Content-Type: ${type}`,
    ...headers,
    ...head.map((line) => line.replace('N+9', String(bytes.length + 9)).replace('N', String(bytes.length))),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (chunks === undefined) socket.write(bytes);
  else {
    // Chunks that end at no edge of a buffer.
    for (let at = 0; at < bytes.length; at += 60_001) {
      const piece = bytes.subarray(at, at + 60_001);
      socket.write(`${piece.length.toString(16)}\r\n`);
      socket.write(piece);
      socket.write('\r\n');
    }
    if (chunks === 'ended') socket.write('0\r\n\r\n');
  }
  if (after === 'end') socket.end();
  // Only a bare connection can be reset; a secure one ends without TLS saying so.
  if (after === 'reset')
    socket.write('', () => (socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy()));
}
