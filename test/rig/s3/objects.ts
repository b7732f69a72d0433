import { createHash } from 'node:crypto';
import type { S3Request } from './fake-s3.ts';
import type { Refusal } from './signature.ts';

export interface StoredObject {
  readonly content: Buffer;
  readonly etag: string;
  /** `content-type` and `x-amz-meta-*`. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly content?: Buffer;
}

const md5 = (content: Buffer): string => createHash('md5').update(content).digest('hex');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const xml = (text: string): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  content: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`),
});

/** What a bucket holds, and its answers to requests that are signed and whole. */
export class ObjectTable {
  readonly objects = new Map<string, StoredObject>();
  readonly #bucket: string;
  readonly #honoursConditions: boolean;

  constructor(options: { readonly bucket: string; readonly honoursConditions: boolean }) {
    this.#bucket = options.bucket;
    this.#honoursConditions = options.honoursConditions;
  }

  put(key: string, content: Buffer, headers: Readonly<Record<string, string>>): string {
    const etag = `"${md5(content)}"`;
    this.objects.set(key, { content, etag, headers });
    return etag;
  }

  answer(request: S3Request, body: Buffer): Answer | Refusal {
    const { method, key, query } = request;
    if (key === '') return method === 'GET' ? this.#list(query) : { status: 405, code: 'MethodNotAllowed' };
    switch (method) {
      case 'PUT':
        return (
          this.#refused(request) ?? { status: 200, headers: { etag: this.put(key, body, kept(request)) } }
        );
      case 'GET':
      case 'HEAD':
        return this.#read(request);
      case 'DELETE':
        this.objects.delete(key);
        return { status: 204 };
      default:
        return { status: 405, code: 'MethodNotAllowed' };
    }
  }

  /** By `If-None-Match: *` and `If-Match`. */
  #refused({ key, headers }: S3Request): Refusal | undefined {
    if (!this.#honoursConditions) return undefined;
    const found = this.objects.get(key);
    if (headers['if-none-match'] === '*' && found !== undefined)
      return { status: 412, code: 'PreconditionFailed' };
    if (headers['if-match'] === undefined) return undefined;
    if (found === undefined) return { status: 404, code: 'NoSuchKey' };
    return headers['if-match'] === found.etag ? undefined : { status: 412, code: 'PreconditionFailed' };
  }

  #read({ key, headers }: S3Request): Answer | Refusal {
    const found = this.objects.get(key);
    if (found === undefined) return { status: 404, code: 'NoSuchKey' };
    const { content, etag, headers: own } = found;
    if (headers['if-match'] !== undefined && headers['if-match'] !== etag)
      return { status: 412, code: 'PreconditionFailed' };
    const said = { ...own, etag, 'accept-ranges': 'bytes' };
    const [, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
    if (from === '') return { status: 200, headers: said, content };
    if (Number(from) >= content.length) return { status: 416, code: 'InvalidRange' };
    const end = to === '' ? content.length : Math.min(content.length, Number(to) + 1);
    const range = `bytes ${from}-${end - 1}/${content.length}`;
    return {
      status: 206,
      headers: { ...said, 'content-range': range },
      content: content.subarray(Number(from), end),
    };
  }

  #list(query: URLSearchParams): Answer | Refusal {
    if (query.get('list-type') !== '2') return { status: 400, code: 'InvalidArgument' };
    const prefix = query.get('prefix') ?? '';
    const most = Math.min(1000, Number(query.get('max-keys') ?? 1000));
    const token = query.get('continuation-token');
    const after =
      token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString();
    const written = query.get('encoding-type') === 'url' ? encodeURIComponent : escaped;
    // Keys sort by their bytes.
    const all = [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const page = all.slice(0, most);
    const isCut = all.length > page.length;
    const next = Buffer.from(page.at(-1) ?? '').toString('base64url');
    const contents = page.map((key) => {
      const { content, etag } = this.objects.get(key) as StoredObject;
      return `<Contents><Key>${written(key)}</Key><ETag>${escaped(etag)}</ETag><Size>${content.length}</Size></Contents>`;
    });
    return xml(
      `<ListBucketResult><Name>${this.#bucket}</Name><EncodingType>${query.get('encoding-type') ?? ''}</EncodingType><IsTruncated>${isCut}</IsTruncated>${
        isCut ? `<NextContinuationToken>${next}</NextContinuationToken>` : ''
      }${contents.join('')}</ListBucketResult>`,
    );
  }
}

const kept = ({ headers }: S3Request): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === 'content-type' || name.startsWith('x-amz-meta-')),
  ) as Readonly<Record<string, string>>;
