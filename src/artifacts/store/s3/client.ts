import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import type { Dispatcher } from 'undici';
import { isOfNetwork } from '../../../service/http/connect/connection-error.ts';
import type { OpenResponse } from '../../../service/http/dispatch.ts';
import { aborted, fail, SaveError } from '../../failure.ts';
import { type S3Address, shownS3Address } from './address.ts';
import { isPassing, PassingFailure, readBroken, readProblem, type S3Problem, s3Failure } from './failure.ts';
import { type S3Request, Sender } from './send.ts';
import type { S3Settings } from './settings.ts';

export interface S3Ask extends Omit<S3Request, 'key'> {
  /** Name within the prefix of the place; absent: the request is about the bucket. */
  readonly name?: string;
  /** The action, for messages: `write "images/ab/abc-1.png"`. */
  readonly doing: string;
  /** Whether the caller handles an answer other than a success. */
  readonly accepts?: (problem: S3Problem) => boolean;
  /** Largest body that is read, in bytes. Default 16 MiB: more than any document of S3 has. */
  readonly maxBytes?: number;
}

/** The clock and timer of a run; tests replace them. */
export interface StoreClock {
  /** Returns the time in Unix milliseconds. */
  now(): number;
  /** Calls back once, no sooner than `atMs`; the result cancels it. */
  at(atMs: number, call: () => void): () => void;
}

export interface S3Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Empty if it is too large. */
  readonly body: Buffer;
  readonly isTooLarge: boolean;
  /** A problem that the caller accepts. */
  readonly problem?: S3Problem;
}

export interface S3ClientOptions {
  readonly address: S3Address;
  readonly settings: S3Settings;
  /** Dispatcher of all requests. The caller closes it, after the client. */
  readonly dispatcher: Dispatcher;
  readonly clock: StoreClock;
  /** Returns a random number from 0 to below 1. */
  readonly random: () => number;
  /** Ends all requests and all waits. */
  readonly signal: AbortSignal;
  /** How long a request is repeated before it is given up, in ms. */
  readonly patienceMs: number;
}

/** Most requests in flight. */
export const requestsAtOnce = 16;

const documentBytes = 16 * 1024 * 1024;

/** Time without any answer to requests of a kind after which the store is away, in ms. */
const awayAfterMs = 5000;

const backoff = { firstMs: 200, maxMs: 20_000 } as const;

/** How often and how long one request has failed. */
interface Trouble {
  tries: number;
  since: number | undefined;
}

/** Since when all requests of one kind fail, in Unix ms. */
interface Silence {
  readonly since: number;
  reason: string;
  isTold: boolean;
}

/** Reads and writes are watched separately: a store may be full, or read-only. */
type AskKind = 'read' | 'write';

const kindOf = ({ method }: Pick<S3Ask, 'method'>): AskKind =>
  method === 'GET' || method === 'HEAD' ? 'read' : 'write';

/**
 * Sends requests to an S3 store, and is the only one to repeat those that failed temporarily. Lasting failures, and those that outlast
 * its patience, are SaveErrors of the class `stop`: the run ends and can be continued.
 */
export class S3Client {
  readonly #options: S3ClientOptions;
  readonly #sender: Sender;
  readonly #limit = pLimit({ concurrency: requestsAtOnce, rejectOnClear: true });
  readonly #end: AbortController;
  readonly #silences = new Map<AskKind, Silence>();
  /** How long a request is repeated before it is given up, in ms. */
  patienceMs: number;
  /** Called when no request of a kind was answered for five seconds, with the reason; and with undefined when one is answered again. */
  onAway: ((why: string | undefined) => void) | undefined;

  private constructor(options: S3ClientOptions, sender: Sender, end: AbortController) {
    this.#options = options;
    this.#sender = sender;
    this.#end = end;
    this.patienceMs = options.patienceMs;
  }

  /** Opens a client, and loads the signer. */
  static async open(options: S3ClientOptions): Promise<S3Client> {
    const end = new AbortController();
    setMaxListeners(0, end.signal);
    const { signal, settings, dispatcher, clock } = options;
    if (signal.aborted) end.abort(signal.reason);
    else signal.addEventListener('abort', () => end.abort(signal.reason), { once: true, signal: end.signal });
    const sender = await Sender.open({ settings, dispatcher, now: () => clock.now(), signal: end.signal });
    return new S3Client(options, sender, end);
  }

  get address(): S3Address {
    return this.#options.address;
  }

  /** Why the store is away; undefined: it is not, or for less than five seconds. */
  get away(): string | undefined {
    return [...this.#silences.values()].find(({ isTold }) => isTold)?.reason;
  }

  get now(): number {
    return this.#options.clock.now();
  }

  /** Origin for messages, without anything after the host. */
  get origin(): string {
    return this.#options.settings.origin;
  }

  /** @param name within the prefix */
  keyOf(name: string): string {
    const { prefix } = this.address;
    return prefix === '' ? name : `${prefix}/${name}`;
  }

  /** Sends a request. @throws SaveError */
  async ask(ask: S3Ask): Promise<S3Answer> {
    const trouble: Trouble = { tries: 0, since: undefined };
    for (;;) {
      try {
        const answer = await this.#limit(() => this.#once(ask));
        this.#answered(kindOf(ask));
        return answer;
      } catch (error) {
        await this.#pause(error, trouble, ask);
      }
    }
  }

  /**
   * Reads the bytes of an object from one position to before another, in pieces. If a connection breaks, requests the rest.
   *
   * @param etag of the object, because the pieces of a replaced object would not fit @throws SaveError
   */
  async *pieces(name: string, etag: string, from: number, before: number): AsyncGenerator<Buffer> {
    const trouble: Trouble = { tries: 0, since: undefined };
    const doing = `read "${name}"`;
    for (let at = from; at < before; ) {
      try {
        const headers = { range: `bytes=${at}-${before - 1}`, 'if-match': etag };
        const {
          status,
          headers: said,
          body,
        } = await this.#limit(() => this.#send({ method: 'GET', name, headers, doing }));
        try {
          if (status !== 206) throw this.#failed(readProblem(status, said, await textOf(body)), doing);
          for await (const chunk of body) {
            at += chunk.length;
            trouble.since = undefined;
            this.#answered('read');
            yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
          }
        } finally {
          await body.cancel();
        }
        if (at < before) throw new PassingFailure('The answer ended early.');
      } catch (error) {
        await this.#pause(error, trouble, { method: 'GET', doing });
      }
    }
  }

  /** Ends all requests in flight. */
  close(): void {
    this.#end.abort(new Error('The store is closed.'));
  }

  async #once(ask: S3Ask): Promise<S3Answer> {
    const { status, headers, body } = await this.#send(ask);
    try {
      const isSuccess = status >= 200 && status < 300;
      const most = isSuccess ? (ask.maxBytes ?? documentBytes) : documentBytes;
      if (ask.method !== 'HEAD' && Number(headers['content-length'] ?? 0) > most)
        return { headers, body: Buffer.alloc(0), isTooLarge: true };
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of body) {
        size += chunk.length;
        if (size > most) return { headers, body: Buffer.alloc(0), isTooLarge: true };
        chunks.push(chunk);
      }
      const content = Buffer.concat(chunks);
      if (isSuccess) return { headers, body: content, isTooLarge: false };
      const problem = readProblem(status, headers, content.toString());
      if (ask.accepts?.(problem) === true) return { headers, body: content, isTooLarge: false, problem };
      throw this.#failed(problem, ask.doing);
    } finally {
      await body.cancel();
    }
  }

  #failed(problem: S3Problem, doing: string): Error {
    if (isPassing(problem)) {
      const { retryAfterMs, status, code } = problem;
      return new PassingFailure(
        `${this.origin} answers ${status}${code === '' ? '' : ` (${code})`}`,
        retryAfterMs === undefined ? {} : { retryAfterMs },
      );
    }
    const { address, origin, now } = this;
    return new SaveError(s3Failure(problem, doing, { ...this.#options.settings, address, origin, now }));
  }

  #send({ name, ...ask }: S3Ask): Promise<OpenResponse> {
    return this.#sender.send({ ...ask, ...(name === undefined ? {} : { key: this.keyOf(name) }) });
  }

  /** Waits before the next try. @throws SaveError if there is none */
  async #pause(error: unknown, trouble: Trouble, ask: Pick<S3Ask, 'method' | 'doing'>): Promise<void> {
    const { signal } = this.#end;
    if (signal.aborted) fail(aborted(signal.reason));
    // An error of the disk that a body is read from, or a lasting answer; anything else is a bug of this program.
    if (error instanceof SaveError) throw error;
    if (!(error instanceof PassingFailure || isOfNetwork(error))) throw error;
    const passing = error instanceof PassingFailure ? error : orFailed(readBroken(error, this.origin));
    if (!(passing instanceof PassingFailure)) throw passing;
    const { clock, random } = this.#options;
    const { patienceMs } = this;
    const now = clock.now();
    trouble.since ??= now;
    trouble.tries += 1;
    const most = Math.min(backoff.maxMs, backoff.firstMs * 2 ** (trouble.tries - 1));
    const waitMs = Math.max(passing.retryAfterMs ?? 0, most * (0.5 + random() / 2));
    if (now + waitMs - trouble.since > patienceMs)
      fail({
        code: 's3.unreachable',
        class: 'stop',
        message: `The store could not ${ask.doing} in ${shownS3Address(this.address)} for ${Math.round(patienceMs / 1000)} s: ${passing.message}. Check the network and AWS_ENDPOINT_URL; the same command continues where this one stopped.`,
        cause: passing.cause ?? passing,
      });
    const kind = kindOf(ask);
    const silence = this.#silences.get(kind) ?? { since: now, reason: '', isTold: false };
    silence.reason = passing.message;
    this.#silences.set(kind, silence);
    const awayAt = silence.since + awayAfterMs;
    if (!silence.isTold && now + waitMs >= awayAt) {
      await this.#wait(awayAt);
      this.#tellAway(kind, silence);
    }
    await this.#wait(now + waitMs);
  }

  #tellAway(kind: AskKind, silence: Silence): void {
    if (silence.isTold || this.#silences.get(kind) !== silence) return;
    const isKnown = this.away !== undefined;
    silence.isTold = true;
    if (!isKnown) this.onAway?.(silence.reason);
  }

  #answered(kind: AskKind): void {
    const silence = this.#silences.get(kind);
    if (silence === undefined) return;
    this.#silences.delete(kind);
    if (silence.isTold && this.away === undefined) this.onAway?.(undefined);
  }

  async #wait(until: number): Promise<void> {
    const { signal } = this.#end;
    if (until <= this.#options.clock.now()) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.#options.clock.at(until, done);
      signal.addEventListener('abort', done, { once: true });
    });
    if (signal.aborted) fail(aborted(signal.reason));
  }
}

const orFailed = (found: ReturnType<typeof readBroken>): Error =>
  found instanceof PassingFailure ? found : new SaveError(found);

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > documentBytes) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
