import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ObjectTable, type StoredObject } from './objects.ts';
import { type Account, checkSignature, type Refusal } from './signature.ts';

/** A request as it was counted. */
export interface S3Request {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

/**
 * What happens to a request instead of what should: an error, a connection that breaks before the body is read (`reset`), in the middle
 * of it (`torn`), after it was carried out (`lost`) or in the middle of the answer's body (`cut`), or a wait until it is let go (`held`), after which it is carried out.
 * A connection breaks by its end (FIN), `byReset` by a reset (RST), which the client sees as an error of `read`.
 */
export type S3Fault =
  | Refusal
  | { readonly kind: 'reset' | 'torn' | 'lost' | 'cut'; readonly byReset?: true }
  | { readonly kind: 'held'; readonly until: Promise<void> };

export interface FakeS3Options extends Partial<Account> {
  readonly bucket?: string;
  /** Says what befalls a request; called once for each. */
  readonly fault?: (request: S3Request, count: number) => S3Fault | undefined;
  /** Of the server's clock, in ms. Default: the machine's. */
  readonly now?: () => number;
  /** Conditions of writes are passed over, as by some old servers. */
  readonly ignoresConditions?: boolean;
}

export interface FakeS3 extends AsyncDisposable {
  readonly url: string;
  readonly account: Account;
  readonly bucket: string;
  /** What a client has in its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly objects: ReadonlyMap<string, StoredObject>;
  readonly requests: readonly S3Request[];
  /** Requests by `METHOD` and what they are about: `PUT object`, `GET bucket`. */
  readonly counts: ReadonlyMap<string, number>;
  /** From now on. */
  fault: (request: S3Request, count: number) => S3Fault | undefined;
  /** Puts an object there without a request. */
  store(key: string, content: string | Buffer, headers?: Readonly<Record<string, string>>): void;
  remove(key: string): void;
}

const defaults: Account = {
  accessKeyId: 'AKIAFAKEFAKEFAKEFAKE',
  secretAccessKey: 'fakeSecret/With+Signs0123456789abcdefghij',
  region: 'eu-test-1',
};

/**
 * An S3 server in memory, as strict as the real one in what it is asked here: signatures, hashes and lengths of bodies, conditions.
 * Buckets are in the path.
 */
export async function startFakeS3(options: FakeS3Options = {}): Promise<FakeS3> {
  const { bucket = 'pictures', now = Date.now } = options;
  const account: Account = { ...defaults, ...options };
  const table = new ObjectTable({ bucket, honoursConditions: options.ignoresConditions !== true });
  const requests: S3Request[] = [];
  const counts = new Map<string, number>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://s3');
    const [, name = '', ...rest] = pathname.split('/').map(decodeURIComponent);
    const seen = { method: request.method ?? '', key: rest.join('/'), query, headers: request.headers };
    requests.push(seen);
    const what = `${seen.method} ${kindOf(seen)}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
    const fault = fake.fault(seen, requests.length);
    if (fault !== undefined && 'status' in fault) return refuse(request, response, fault);
    const broken = (): void => breakOff(request, fault);
    if (fault?.kind === 'reset') return broken();
    const refusal = checkSignature(request, account, now()) ?? checkBucket(name, bucket);
    if (refusal !== undefined) return refuse(request, response, refusal);
    if (fault?.kind === 'torn') return void request.once('data', broken);
    const body = await bodyOf(request);
    if (fault?.kind === 'held') await fault.until;
    const claimed = String(request.headers['x-amz-content-sha256']);
    if (createHash('sha256').update(body).digest('hex') !== claimed)
      return refuse(request, response, { status: 400, code: 'XAmzContentSHA256Mismatch' });
    if (seen.method === 'PUT' && request.headers['content-length'] === undefined)
      return refuse(request, response, { status: 411, code: 'MissingContentLength' });
    const said = table.answer(seen, body);
    if (fault?.kind === 'lost') return broken();
    if ('code' in said) return refuse(request, response, said);
    const { status, headers = {}, content = Buffer.alloc(0) } = said;
    response.writeHead(status, { 'x-amz-request-id': 'R1', ...headers, 'content-length': content.length });
    if (seen.method === 'HEAD') return void response.end();
    if (fault?.kind !== 'cut') return void response.end(content);
    response.write(content.subarray(0, Math.floor(content.length / 2)), broken);
  };
  const server = createServer((request, response) => {
    // A client that left in the middle of its body stores nothing.
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fake: FakeS3 = {
    fault: options.fault ?? (() => undefined),
    url,
    account,
    bucket,
    env: {
      AWS_ENDPOINT_URL_S3: url,
      AWS_REGION: account.region,
      AWS_ACCESS_KEY_ID: account.accessKeyId,
      AWS_SECRET_ACCESS_KEY: account.secretAccessKey,
      ...(account.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: account.sessionToken }),
    },
    objects: table.objects,
    requests,
    counts,
    store: (key: string, content: string | Buffer, headers = {}) =>
      table.put(key, Buffer.from(content), headers),
    remove: (key: string) => void table.objects.delete(key),
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return fake;
}

function breakOff({ socket }: IncomingMessage, fault: S3Fault | undefined): void {
  if (fault !== undefined && 'byReset' in fault) socket.resetAndDestroy();
  else socket.destroy();
}

const kindOf = ({ key }: S3Request): string => (key === '' ? 'bucket' : 'object');

const checkBucket = (name: string, bucket: string): Refusal | undefined =>
  name === bucket ? undefined : { status: 404, code: 'NoSuchBucket' };

/** @throws where the connection broke */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const { status, code, message = '', headers = {}, more = '' } = refusal;
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${more}<RequestId>R1</RequestId></Error>`;
  request.resume();
  response.writeHead(status, { 'content-type': 'application/xml', ...headers });
  response.end(request.method === 'HEAD' || status === 304 ? undefined : xml);
}
