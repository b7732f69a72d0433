import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AwsV4Signer } from 'aws4fetch';
import type { Dispatcher } from 'undici';
import { type OpenResponse, openResponse } from '../../../service/http/dispatch.ts';
import type { SealedFile } from '../incoming.ts';
import { filePieces } from '../open-file.ts';
import type { S3Settings } from './settings.ts';

/** One request to a bucket. */
export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Key of the object; absent: the request is about the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | SealedFile;
}

export interface SenderOptions {
  readonly settings: S3Settings;
  readonly dispatcher: Dispatcher;
  /** Returns the time in Unix ms, which a signature contains. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Longest silence of a connection, in ms. */
const idleMs = 60_000;

const empty = createHash('sha256').digest('hex');

/** Signs requests, and sends each once. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #Signer: typeof AwsV4Signer;
  /** Cached keys of the signer. */
  readonly #keys = new Map<string, ArrayBuffer>();

  private constructor(options: SenderOptions, Signer: typeof AwsV4Signer) {
    this.#options = options;
    this.#Signer = Signer;
  }

  /** Opens a sender, and loads the signer. */
  static async open(options: SenderOptions): Promise<Sender> {
    const { AwsV4Signer: Signer } = await import('aws4fetch');
    return new Sender(options, Signer);
  }

  /** The caller reads or cancels the body. @throws SaveError of the sent file; the error of the connection; the signal's reason */
  async send({ method, key, query = {}, headers: more, body }: S3Request): Promise<OpenResponse> {
    const { settings, dispatcher, now, signal } = this.#options;
    const length = body === undefined ? 0 : Buffer.isBuffer(body) ? body.length : body.size;
    const path = key === undefined ? '/' : `/${key.split('/').map(encoded).join('/')}`;
    const search = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
    const url = `${settings.base}${path}${search.length === 0 ? '' : `?${search.join('&')}`}`;
    const { headers } = await new this.#Signer({
      ...settings,
      method,
      url,
      service: 's3',
      cache: this.#keys,
      datetime: new Date(now()).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
      headers: { ...more, 'x-amz-content-sha256': hashOf(body) },
    }).sign();
    return await openResponse(
      dispatcher,
      {
        method,
        url,
        headers: {
          ...Object.fromEntries(headers),
          ...(method === 'PUT' ? { 'content-length': String(length) } : {}),
        },
        ...(body === undefined || length === 0
          ? {}
          : { body: Buffer.isBuffer(body) ? body : streamOf(body) }),
      },
      { signal, idleMs },
    );
  }
}

/** Encodes a text as the signature requires; it must be sent the same way. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const hashOf = (body: S3Request['body']): string => {
  if (body === undefined) return empty;
  return Buffer.isBuffer(body) ? createHash('sha256').update(body).digest('hex') : body.sha256;
};

function streamOf({ path }: SealedFile): Readable {
  const stream = Readable.from(filePieces(path), { objectMode: false });
  // The sender receives its errors; a stream that is cancelled before sending has no listener.
  return stream.on('error', () => undefined);
}
