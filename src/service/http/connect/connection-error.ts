import { UnknownCoding } from '../body/content-coding.ts';
import { BodyTooLarge } from '../body/read.ts';
import type { ConnectionFailure } from '../reply.ts';
import { certificateError } from './certificate.ts';
import { BrokenConnection } from './reading.ts';

/**
 * What is known about whether a request left this machine. `unknown` where the transport does not report it (an injected
 * fetch): then the error itself must prove it.
 */
export type Sent = 'yes' | 'no' | 'unknown';

interface Evidence {
  readonly failure: ConnectionFailure;
  /** The error alone proves that nothing was sent. */
  readonly neverSent: boolean;
}

const tlsCode = /^(ERR_TLS_|ERR_SSL_|EPROTO$|UND_ERR_PRX_TLS)/;

/**
 * Reads an error of the transport. `sent` is what the transport itself said, which beats what the error suggests: a
 * reset before the request began is a connection that never came about.
 */
export function readConnectionError(
  error: unknown,
  sent: Sent,
): { readonly failure: ConnectionFailure; readonly sent: boolean } {
  const { failure, neverSent } = evidenceOf(error);
  if (sent === 'no' && failure.code === 'connection.lost')
    return {
      failure: {
        ...failure,
        code: 'connection.refused',
        what: `no connection came about (${innermost(error)})`,
      },
      sent: false,
    };
  return { failure, sent: sent === 'unknown' ? !neverSent : sent === 'yes' };
}

function evidenceOf(error: unknown): Evidence {
  const chain = causesOf(error);
  const distrust = chain.map(certificateError).find((what) => what !== undefined);
  if (distrust !== undefined) return found('connection.certificate', distrust, error, true);
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
  return found('connection.lost', `the connection broke (${innermost(error)})`, error, false);
}

/** Errors of Node's decoders: `Z_DATA_ERROR`, and of Brotli `ERR__ERROR_FORMAT_PADDING_1`. */
const isZlib = (error: Error): boolean => 'code' in error && /^(?:Z_|ERR__ERROR_)/.test(String(error.code));

function oneError(part: unknown, error: unknown): Evidence | undefined {
  const { code, syscall, message } = part as { code?: unknown; syscall?: unknown; message?: unknown };
  if (typeof code !== 'string') return undefined;
  const connecting = syscall === 'connect';
  if (syscall === 'getaddrinfo' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return found('connection.dns', `the host name could not be looked up (${code})`, error, true);
  if (code === 'ECONNREFUSED')
    return found('connection.refused', `the connection was refused (${code})`, error, true);
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || (connecting && code === 'ETIMEDOUT'))
    return found('connection.timeout', `no connection came about in time (${code})`, error, true);
  if (connecting) return found('connection.refused', `no connection came about (${code})`, error, true);
  if (tlsCode.test(code))
    return found('connection.tls', `no secure connection came about (${code})`, error, code !== 'EPROTO');
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return found('response.too-large', "the answer's headers are too large", error, false);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT' || code === 'ETIMEDOUT')
    return found('connection.timeout', `no answer came in time (${code})`, error, false);
  if (/when HTTP Tunneling/.test(String(message)))
    return found(
      'connection.proxy',
      `the proxy did not let the connection through (${String(message)})`,
      error,
      true,
    );
  return undefined;
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

/** An error and what caused it, outermost first; at most eight, for a chain may be a circle. */
function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let e = error; e instanceof Error && chain.length < 8; e = e.cause) chain.push(e);
  return chain;
}

/** The innermost error says most: fetch's own is only "fetch failed". */
function innermost(error: unknown): string {
  const inner = causesOf(error).at(-1);
  if (inner === undefined) return 'no reason given';
  const { code } = inner as { code?: unknown };
  return typeof code === 'string' && !inner.message.includes(code)
    ? `${inner.message}, ${code}`
    : inner.message;
}

/** Codes of Node and undici that say what a caller did wrong. What undici asserts is about a connection, and nobody else asserts. */
const ourCodes =
  /^(?:ERR_(?:INTERNAL|INVALID|MISSING|OUT_OF_RANGE|UNKNOWN)|UND_ERR_(?:INVALID|NOT_SUPPORTED))/;

/**
 * Whether an error is about a connection or about what came over it. Such an error has a code, or one behind it has; what has none is a bug
 * of ours, or memory that has run out, and no wait mends it. A fetch may only say that it failed.
 */
export function isOfNetwork(error: unknown): boolean {
  return causesOf(error).some((e) => {
    if (e instanceof BrokenConnection || e instanceof BodyTooLarge || e instanceof UnknownCoding) return true;
    if (e instanceof AggregateError) return e.errors.every(isOfNetwork);
    if (/^(?:Abort|Timeout|HTTPParser)Error$/.test(e.name) || e.message === 'fetch failed') return true;
    return 'code' in e && typeof e.code === 'string' && !ourCodes.test(e.code);
  });
}
