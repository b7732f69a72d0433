import { exchange, receiveWhole, type Transport } from './exchange.ts';
import type { ConnectionFailure } from './reply.ts';
import { systemTimer } from './timeout.ts';

/** When the free requests go out, in ms after the one before: a server that is just being started speaks by then. */
const restsMs = [0, 5_000, 5_000];

/** Bound of each of them, in ms. */
const longestMs = 10_000;

/** Why nothing can come of an address. */
interface WrongPort {
  readonly failure: ConnectionFailure;
  /** Proven: nobody there can have read a request in HTTP. */
  readonly isCertain: boolean;
}

/**
 * What an address speaks that has never answered in HTTP, asked by requests that cost nothing and carry no key, when the first real one was
 * reset or answered by something else.
 */
export class FirstContact {
  readonly #url: URL;
  readonly #transport: Transport;
  #asking: Promise<WrongPort | undefined> | undefined;

  constructor(baseUrl: string, transport: Transport) {
    this.#url = new URL('/', baseUrl);
    this.#transport = transport;
  }

  /** @returns undefined: it speaks HTTP, or nobody can tell. Who asks meanwhile waits for the same answer */
  wrongPort(after: ConnectionFailure, signal: AbortSignal): Promise<WrongPort | undefined> {
    this.#asking ??= this.#ask(after, signal).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask({ code, cause }: ConnectionFailure, signal: AbortSignal): Promise<WrongPort | undefined> {
    const isSecure = this.#url.protocol === 'https:';
    if (code === 'connection.refused') {
      // TLS was begun and broken off, as servers do that do not know it.
      if (!isSecure || (cause as { code?: unknown })?.code !== 'ECONNRESET') return undefined;
      const plain = await this.#get('http:', signal);
      // 400 is what servers with TLS say of a plain request.
      return plain.ok && plain.value.status !== 400
        ? wrong('this port speaks plain HTTP: try http://')
        : undefined;
    }
    // It has answered in HTTP, though not with what was asked for.
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
      'what listens there has not answered in HTTP once: check the host and the port of the base address',
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
