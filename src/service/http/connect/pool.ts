import type { Socket } from 'node:net';

import { type buildConnector, type Dispatcher, Pool } from 'undici';
import { type ConnectOptions, connectorOf } from './connector.ts';
import type { ProxyFor } from './proxies.ts';
import { guardReading } from './reading.ts';

/** Options of a pool, as undici's agents pass them on. */
type PoolOptions = Omit<Pool.Options, 'connect'> & {
  readonly connect?: ConnectOptions | buildConnector.connector;
};

/**
 * Makes the connections to one origin, through its proxy if it has one: the `factory` of undici's agents. `100 Continue` is skipped
 * like other informational answers. A client must accept one that it did not request (RFC 9110 15.2), and some servers and proxies send
 * one before every response to a POST; undici would break the connection, which leaves a paid submission unconfirmed.
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
          // A failure has no socket, not even null.
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

/** Replaces the status 100 with 102, which undici skips. */
function passOverContinue(socket: Socket): void {
  const heads = new ResponseHeads();
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...written: unknown[]) => boolean;
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (chunk instanceof Uint8Array) heads.rewrite(chunk);
    return chunk;
  };
  // A response begins after its request is written: a connection carries one request at a time.
  socket.write = (...written: unknown[]): boolean => {
    heads.expect();
    return write(...written);
  };
}

/** Position of the status's first digit in `HTTP/1.1 100`. */
const firstDigit = 9;
const lastDigit = 11;

const [lineFeed, carriageReturn, zero, one, two] = [0x0a, 0x0d, 0x30, 0x31, 0x32];

/** Follows the heads of one response, the informational ones and its own, across chunks. */
export class ResponseHeads {
  /** Position of the next byte in the head; undefined: in the body of a response, or behind it. */
  #at: number | undefined;
  #isInformational = false;
  #isContinue = false;
  #isLineEmpty = false;

  /** Expects a new response in the next bytes. */
  expect(): void {
    this.#at ??= 0;
  }

  /** Changes each 100 in the heads of a chunk into a 102, in place. */
  rewrite(chunk: Uint8Array): void {
    for (let place = 0; place < chunk.length && this.#at !== undefined; place += 1) {
      const byte = chunk[place];
      // A surplus line end after the previous response (RFC 9112 2.2).
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
