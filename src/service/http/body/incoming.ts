import type { ByteStream } from './read.ts';

/** Bytes that may wait for their reader before the connection is paused. */
const waitingBytes = 64 * 1024;

/** The controls of a connection that a body uses. */
export interface BodyConnection {
  /** Pauses the connection; bytes that are already on their way still arrive. */
  hold(): void;
  /** Resumes the connection. Does nothing if it is not paused. */
  release(): void;
  /** Closes the connection without reading the rest. */
  abort(reason: Error): void;
}

/** A body on its way: bytes from the connection are buffered here until they are read. One reader, one read at a time. */
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

  /** Ends the body. With an error, the body broke off; the reader gets the error after all bytes that arrived. */
  end(broken?: { readonly error: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = broken ?? {};
    // The connection continues with its next response, whether this one is read or not.
    if (this.#waiting >= waitingBytes) this.#connection.release();
    this.#wake();
  }

  /** Whether no more bytes will arrive; some may still wait to be read. */
  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Reads the next chunk. Rejects with the error that broke the body off. */
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
      const why = reason instanceof Error ? reason : new Error('the rest of the answer is not needed');
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
