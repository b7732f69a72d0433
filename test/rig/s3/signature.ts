import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface Account {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

/** An answer other than what was asked for. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** More elements of the document. */
  readonly more?: string;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** As the signature counts it: everything but unreserved characters in percent form, in upper case. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const header = (request: IncomingMessage, name: string): string => String(request.headers[name] ?? '');

/**
 * What is wrong with the signature of a request, by the rules of Signature Version 4, computed without the signer that is under test.
 *
 * @param now Unix ms, of the server
 */
export function checkSignature(request: IncomingMessage, account: Account, now: number): Refusal | undefined {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const authorization = header(request, 'authorization');
  const [, key = '', day = '', region = '', service = '', signed = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ?? [];
  if (key === '') return { status: 403, code: 'AccessDenied', message: 'No signature.' };
  if (key !== account.accessKeyId) return { status: 403, code: 'InvalidAccessKeyId' };
  if (service !== 's3' || region !== account.region)
    return {
      status: 400,
      code: 'AuthorizationHeaderMalformed',
      message: `the region '${region}' is wrong; expecting '${account.region}'`,
      more: `<Region>${account.region}</Region>`,
    };
  const date = header(request, 'x-amz-date');
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  if (y === undefined || !date.startsWith(day))
    return { status: 403, code: 'AccessDenied', message: 'No date.' };
  if (Math.abs(Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`) - now) > 900_000)
    return { status: 403, code: 'RequestTimeTooSkewed' };
  if (account.sessionToken !== undefined && header(request, 'x-amz-security-token') !== account.sessionToken)
    return { status: 403, code: 'ExpiredToken' };

  const names = signed.split(';');
  const wanted = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))];
  const isEverySigned = wanted.every((name) => names.includes(name));
  // A path or a query that is written in another way than it is signed is read in two ways by servers.
  const isPlain =
    path ===
    path
      .split('/')
      .map((part) => encoded(decodeURIComponent(part)))
      .join('/');
  const parameters = query === '' ? [] : query.split('&').map((one) => (one.includes('=') ? one : `${one}=`));
  const canonical = [
    request.method,
    path,
    parameters.sort().join('&'),
    ...names.map((name) => `${name}:${header(request, name).replaceAll(/ +/g, ' ').trim()}`),
    '',
    signed,
    header(request, 'x-amz-content-sha256'),
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const signing = ['s3', 'aws4_request'].reduce(
    (from, part) => hmac(from, part),
    hmac(hmac(`AWS4${account.secretAccessKey}`, day), region),
  );
  const isRight = hmac(signing, text).toString('hex') === signature;
  return isRight && isPlain && isEverySigned ? undefined : { status: 403, code: 'SignatureDoesNotMatch' };
}
