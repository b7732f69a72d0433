import type { Socket } from 'node:net';

import { type buildConnector, type Dispatcher, Pool } from 'undici';
import { type ConnectOptions, connectorOf } from './connector.ts';
import type { ProxyFor } from './proxies.ts';
import { guardReading } from './reading.ts';

/** What a pool is made with, as undici's agents hand it on. */
type PoolOptions = Omit<Pool.Options, 'connect'> & {
  readonly connect?: ConnectOptions | buildConnector.connector;
};

/**
 * Makes the connections to one origin: for `factory` of undici's agents. They go through the proxy of the origin, where it has
 * one. `100 Continue` is passed over as other informational answers are: a client must be able to read one that it did not ask for (RFC
 * 9110 15.2), some servers and proxies send one before every response to a POST, and undici breaks the connection for it, which would
 * leave a paid submission in doubt.
 */
export const poolsThrough =
  (proxyFor: ProxyFor) =>
  (origin: string | URL, { connect, ...options }: PoolOptions): Dispatcher => {
    const connector =
      typeof connect === 'function' ? connect : connectorOf(connect ?? {}, proxyFor(new URL(origin)));
    const pooled: Pool.Options = {
      ...options,
      connect: (target, done) =>
        connector(target, (...made) => {
          const [, socket] = made;
          // Of a failure there is none, not even null.
          if (socket) {
            passOverContinue(socket);
            guardReading(socket);
          }
          done(...made);
        }),
    };
    return new Pool(origin, pooled);
  };

export const connectionPool = poolsThrough(() => undefined);

/** Writes 102, which undici passes over, where the service says 100. */
function passOverContinue(socket: Socket): void {
  const heads = new ResponseHeads();
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...written: unknown[]) => boolean;
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (chunk instanceof Uint8Array) heads.rewrite(chunk);
    return chunk;
  };
  // A response begins after its request has been written, for there is one at a time on a connection.
  socket.write = (...written: unknown[]): boolean => {
    heads.expect();
    return write(...written);
  };
}

/** `HTTP/1.1 100`: where the digits of the status stand. */
const firstDigit = 9;
const lastDigit = 11;

const [lineFeed, carriageReturn, zero, one, two] = [0x0a, 0x0d, 0x30, 0x31, 0x32];

/** Follows the heads of one response, the informational ones and its own, in whatever chunks they come. */
export class ResponseHeads {
  /** Byte of the head that is next; undefined: in the body of a response, or behind it. */
  #at: number | undefined;
  #isInformational = false;
  #isContinue = false;
  #isLineEmpty = false;

  /** What comes next begins a response. */
  expect(): void {
    this.#at ??= 0;
  }

  /** Makes each 100 in the heads of a chunk a 102, in its place. */
  rewrite(chunk: Uint8Array): void {
    for (let place = 0; place < chunk.length && this.#at !== undefined; place += 1) {
      const byte = chunk[place];
      // A line end too many behind the response before (RFC 9112 2.2).
      if (this.#at === 0 && (byte === lineFeed || byte === carriageReturn)) continue;
      if (this.#at === firstDigit) this.#isInformational = this.#isContinue = byte === one;
      else if (this.#at > firstDigit && this.#at <= lastDigit) this.#isContinue &&= byte === zero;
      if (this.#at === lastDigit && this.#isContinue) chunk[place] = two;
      this.#at += 1;
      if (byte === lineFeed) {
        if (this.#isLineEmpty) this.#at = this.#isInformational ? 0 : undefined;
        this.#isLineEmpty = this.#at !== undefined && this.#at > 0;
      } else if (byte !== carriageReturn) this.#isLineEmpty = false;
    }
  }
}
