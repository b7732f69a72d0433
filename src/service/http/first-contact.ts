import { exchange, receiveWhole, type Transport } from './exchange.ts';
import type { ConnectionFailure } from './reply.ts';
import { systemTimer } from './timeout.ts';

/** Pauses before each of the free requests, in ms: a server that is just starting speaks by then. */
const restsMs = [0, 5_000, 5_000];

/** Time limit of each free request, in ms. */
const longestMs = 10_000;

/** Why an address cannot work. */
interface WrongPort {
  readonly failure: ConnectionFailure;
  /** Whether it is proven that nobody there can have read an HTTP request. */
  readonly isCertain: boolean;
}

/**
 * Finds out what an address speaks that has never answered in HTTP. It sends free requests without a key, after the first real request
 * was reset or answered in another protocol.
 */
export class FirstContact {
  readonly #url: URL;
  readonly #transport: Transport;
  #asking: Promise<WrongPort | undefined> | undefined;

  constructor(baseUrl: string, transport: Transport) {
    this.#url = new URL('/', baseUrl);
    this.#transport = transport;
  }

  /** @returns undefined: the address speaks HTTP, or it cannot be told. Callers meanwhile wait for the same answer */
  wrongPort(after: ConnectionFailure, signal: AbortSignal): Promise<WrongPort | undefined> {
    this.#asking ??= this.#ask(after, signal).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask({ code, cause }: ConnectionFailure, signal: AbortSignal): Promise<WrongPort | undefined> {
    const isSecure = this.#url.protocol === 'https:';
    if (code === 'connection.refused') {
      // TLS was begun and broken off, as by servers that do not speak it.
      if (!isSecure || (cause as { code?: unknown })?.code !== 'ECONNRESET') return undefined;
      const plain = await this.#get('http:', signal);
      // Servers with TLS answer a plain request with 400.
      return plain.ok && plain.value.status !== 400
        ? wrong('this port speaks plain HTTP: try http://')
        : undefined;
    }
    // The server answered in HTTP, though not as requested.
    if (code !== 'connection.lost' || /informational|upgrade/.test(String(cause))) return undefined;
    for (const restMs of restsMs) {
      await this.#rest(restMs, signal);
      if (signal.aborted) return undefined;
      const asked = await this.#get(this.#url.protocol, signal);
      if (asked.ok) return undefined;
      if (asked.failure.code === 'connection.protocol') return { failure: asked.failure, isCertain: true };
      if (asked.failure.code !== 'connection.lost') return undefined;
    }
    if (!isSecure) {
      const secure = await this.#get('https:', signal);
      if (secure.ok || secure.failure.code === 'connection.certificate')
        return wrong('this port seems to speak TLS: write https://');
    }
    return wrong(
      'the server there has never answered in HTTP: check the host and the port of the base address',
      { isCertain: false, cause },
    );
  }

  async #get(protocol: string, signal: AbortSignal) {
    // A scheme cannot be set where the port is the usual one of the other.
    const url = `${protocol}//${this.#url.hostname}:${this.#url.port || (this.#url.protocol === 'https:' ? 443 : 80)}/`;
    const headers = { 'user-agent': 'promptpress' };
    const request = { method: 'GET', url, headers, timeoutMs: longestMs } as const;
    return await exchange(request, this.#transport, signal, receiveWhole);
  }

  #rest(ms: number, signal: AbortSignal): Promise<void> {
    if (ms === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        stop();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const stop = (this.#transport.timer ?? systemTimer)(ms, end);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

const wrong = (
  what: string,
  { isCertain = true, cause }: { readonly isCertain?: boolean; readonly cause?: unknown } = {},
): WrongPort => ({ failure: { code: 'connection.protocol', what, lasting: true, cause }, isCertain });
