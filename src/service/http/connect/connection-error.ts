import { UnknownCoding } from '../body/content-coding.ts';
import { BodyTooLarge } from '../body/read.ts';
import type { ConnectionFailure } from '../reply.ts';
import { certificateError } from './certificate.ts';
import { isNoTls } from './connector.ts';
import { ProxyError } from './proxies.ts';
import { BrokenConnection } from './reading.ts';

/**
 * Whether a request left this machine, as far as is known. `unknown`: the transport does not report it (an injected fetch), so that
 * only the error itself can prove it.
 */
export type Sent = 'yes' | 'no' | 'unknown';

interface Evidence {
  readonly failure: ConnectionFailure;
  /** Whether the error alone proves that nothing was sent. */
  readonly neverSent: boolean;
  /** Bytes may have left, but no server that could process the request has read them. */
  readonly unread?: true;
}

const tlsCode = /^(ERR_TLS_|ERR_SSL_|EPROTO$)/;

/**
 * Reads an error of the transport. `sent` is the transport's own report, which has priority over the error: a reset before the request
 * began means that no connection was made.
 */
export function readConnectionError(
  error: unknown,
  sent: Sent,
): { readonly failure: ConnectionFailure; readonly sent: boolean } {
  const { failure, neverSent, unread } = evidenceOf(error);
  if (unread) return { failure, sent: false };
  if (sent === 'no' && failure.code === 'connection.lost')
    return {
      failure: {
        ...failure,
        code: 'connection.refused',
        what: `no connection was made (${innermost(error)})`,
      },
      sent: false,
    };
  return { failure, sent: sent === 'unknown' ? !neverSent : sent === 'yes' };
}

function evidenceOf(error: unknown): Evidence {
  const chain = causesOf(error);
  const proxy = chain.find((e) => e instanceof ProxyError);
  const distrust = chain.map(certificateError).find((what) => what !== undefined);
  if (distrust !== undefined) {
    const whose = proxy === undefined ? '' : 'of the proxy, ';
    return lasting(found('connection.certificate', `${whose}${distrust}`, error, true));
  }
  if (proxy !== undefined) {
    const evidence = found('connection.proxy', proxy.message, error, true);
    return { ...(proxy.lasting ? lasting(evidence) : evidence), unread: true };
  }
  const otherProtocol = chain.map(protocolError).find((what) => what !== undefined);
  if (otherProtocol !== undefined)
    return { ...lasting(found('connection.protocol', otherProtocol, error, true)), unread: true };
  const tooLarge = chain.find((e) => e instanceof BodyTooLarge);
  if (tooLarge !== undefined) return found('response.too-large', tooLarge.message, error, false);
  if (chain.some((e) => e instanceof UnknownCoding || isZlib(e)))
    return found('response.coding', `the answer cannot be decoded (${innermost(error)})`, error, false);

  for (const e of chain) {
    // Connecting to several addresses fails with one error for each; all of them must have failed the same way.
    const parts = e instanceof AggregateError ? (e.errors as unknown[]) : [e];
    const known = parts.map((part) => oneError(part, error));
    if (known.length > 0 && known.every((k) => k !== undefined))
      return known.find((k) => !k.neverSent) ?? (known[0] as Evidence);
  }
  if (chain.some((e) => 'code' in e && String(e.code).startsWith('HPE_')))
    return found('connection.lost', `the answer is not HTTP (${innermost(error)})`, error, false);
  return found('connection.lost', `the connection broke (${innermost(error)})`, error, false);
}

/** Marks a failure that no wait changes. */
const lasting = ({ failure, ...evidence }: Evidence): Evidence => ({
  ...evidence,
  failure: { ...failure, lasting: true },
});

/** Returns what the port speaks if it does not speak the expected protocol; undefined: the error does not prove that. */
function protocolError(error: Error): string | undefined {
  if (isNoTls(error)) return 'this port does not speak TLS: try http:// in place of https://';
  const { data } = error as { data?: unknown };
  // The bytes at which undici's parser gave up: an alert of TLS (RFC 8446 6), or the settings that begin HTTP/2 (RFC 9113 3.4).
  if (typeof data !== 'string') return undefined;
  if (data.startsWith('\u0015\u0003')) return 'this port speaks TLS: write https:// in place of http://';
  if (data.startsWith('\0\0') && data[3] === '\u0004')
    return 'this port speaks only HTTP/2, and promptpress HTTP/1.1';
  return undefined;
}

/** Whether it is an error of Node's decoders: `Z_DATA_ERROR`, and of Brotli `ERR__ERROR_FORMAT_PADDING_1`. */
const isZlib = (error: Error): boolean => 'code' in error && /^(?:Z_|ERR__ERROR_)/.test(String(error.code));

function oneError(part: unknown, error: unknown): Evidence | undefined {
  const { code, syscall, message } = part as { code?: unknown; syscall?: unknown; message?: unknown };
  if (typeof code !== 'string') return undefined;
  const connecting = syscall === 'connect';
  if (syscall === 'getaddrinfo' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return found(
      'connection.dns',
      `the host name could not be looked up (${code}${code === 'EAI_AGAIN' ? ', no name server answers' : ''})`,
      error,
      true,
    );
  if (code === 'LOOKUP_TIMEOUT') return found('connection.dns', String(message), error, true);
  if (code === 'CONNECT_TIMEOUT') return found('connection.timeout', String(message), error, true);
  const at = connecting ? `${code}${addressesOf(error)}` : code;
  if (code === 'ECONNREFUSED')
    return found('connection.refused', `the connection was refused (${at})`, error, true);
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || (connecting && code === 'ETIMEDOUT'))
    return found('connection.timeout', `no connection was made in time (${at})`, error, true);
  if (connecting) return found('connection.refused', `no connection was made (${at})`, error, true);
  if (tlsCode.test(code))
    return found('connection.tls', `no secure connection was made (${code})`, error, code !== 'EPROTO');
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return found('response.too-large', "the answer's headers are too large", error, false);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT' || code === 'ETIMEDOUT')
    return found('connection.timeout', `no answer came in time (${code})`, error, false);
  return undefined;
}

/** Lists the addresses of a host that were tried, if it has several: one of them may be wrong. */
function addressesOf(error: unknown): string {
  const tried = causesOf(error).flatMap((e) => (e instanceof AggregateError ? (e.errors as unknown[]) : []));
  const addresses = tried.flatMap((one) => {
    const { address, port } = one as { address?: unknown; port?: unknown };
    return typeof address === 'string' ? [`${address}:${String(port)}`] : [];
  });
  return addresses.length === 0 ? '' : `, tried ${addresses.join(', ')}`;
}

const found = (
  code: ConnectionFailure['code'],
  what: string,
  cause: unknown,
  neverSent: boolean,
): Evidence => ({
  failure: { code, what, cause },
  neverSent,
});

/** Lists an error and its causes, outermost first; at most eight, because a chain may be a circle. */
function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let e = error; e instanceof Error && chain.length < 8; e = e.cause) chain.push(e);
  return chain;
}

/** Describes the innermost error, which says most: fetch's own is only "fetch failed". */
function innermost(error: unknown): string {
  const inner = causesOf(error).at(-1);
  if (inner === undefined) return 'no reason given';
  const { code } = inner as { code?: unknown };
  return typeof code === 'string' && !inner.message.includes(code)
    ? `${inner.message}, ${code}`
    : inner.message;
}

/** Codes of Node and undici for mistakes of the caller. Undici's assertions are about a connection, and nobody else asserts. */
const ourCodes =
  /^(?:ERR_(?:INTERNAL|INVALID|MISSING|OUT_OF_RANGE|UNKNOWN)|UND_ERR_(?:INVALID|NOT_SUPPORTED))/;

/**
 * Whether an error comes from a connection or from bytes that it brought. Such an error, or one of its causes, has a code. An error
 * without a code is a bug of ours, or memory that has run out, and no wait mends it. A fetch may only say that it failed.
 */
export function isOfNetwork(error: unknown): boolean {
  return causesOf(error).some((e) => {
    if (e instanceof BrokenConnection || e instanceof BodyTooLarge || e instanceof UnknownCoding) return true;
    if (e instanceof AggregateError) return e.errors.every(isOfNetwork);
    if (/^(?:Abort|Timeout|HTTPParser)Error$/.test(e.name) || e.message === 'fetch failed') return true;
    return 'code' in e && typeof e.code === 'string' && !ourCodes.test(e.code);
  });
}
