import type { ByteStream } from './read.ts';

/** Bytes that may wait here for their reader before the connection is held. */
const waitingBytes = 64 * 1024;

/** What a body needs of its connection. */
export interface BodyConnection {
  /** Nothing more is to come for now, but for what is on its way here already. */
  hold(): void;
  /** Does nothing where it is not held. */
  release(): void;
  /** Gives the connection up: what is still to come is not read. */
  abort(reason: Error): void;
}

/** A body on its way: what the connection brings waits here until it is read. One reader, one read at a time. */
export class IncomingBody implements ByteStream {
  readonly #connection: BodyConnection;
  readonly #chunks: Uint8Array[] = [];
  #waiting = 0;
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(connection: BodyConnection) {
    this.#connection = connection;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#waiting += chunk.byteLength;
    if (this.#waiting >= waitingBytes) this.#connection.hold();
    this.#wake();
  }

  /** Ends the body. With an error: the body broke off. The reader gets the error after all bytes that came. */
  end(broken?: { readonly error: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = broken ?? {};
    // The connection goes on to its next response, whether this one is read or not.
    if (this.#waiting >= waitingBytes) this.#connection.release();
    this.#wake();
  }

  /** True once nothing more comes; some may still wait to be read. */
  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Rejects with what broke the body. */
  async read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }> {
    for (;;) {
      const value = this.#chunks.shift();
      if (value !== undefined) {
        this.#waiting -= value.byteLength;
        if (this.#waiting < waitingBytes && this.#end === undefined) this.#connection.release();
        return { done: false, value };
      }
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return { done: true };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  cancel(reason?: unknown): Promise<void> {
    this.#chunks.length = 0;
    if (this.#end === undefined) {
      const why = reason instanceof Error ? reason : new Error('the rest of the answer is not wanted');
      this.end({ error: why });
      this.#connection.abort(why);
    }
    return Promise.resolve();
  }

  getReader(): this {
    return this;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const { value } = await this.read();
        if (value === undefined) return;
        yield value;
      }
    } finally {
      await this.cancel();
    }
  }
}
