import { readConnectionError } from '../../../service/http/connect/connection-error.ts';
import { isPassingStatus } from '../../../service/http/statuses.ts';
import { shownWords } from '../../failure.ts';
import type { SaveFailure } from '../../writer.ts';
import { type S3Address, shownS3Address } from './address.ts';
import type { S3Settings } from './settings.ts';
import { textOf } from './xml.ts';

/** An answer other than a success. */
export interface S3Problem {
  readonly status: number;
  /** S3's own code; empty if the answer has no document. */
  readonly code: string;
  readonly message: string;
  /** Region of the bucket. */
  readonly region?: string;
  /** Clock of the store, in Unix ms. */
  readonly serverTime?: number;
  readonly retryAfterMs?: number;
}

/** A temporary failure: the same request is sent again. */
export class PassingFailure extends Error {
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options);
    this.name = 'PassingFailure';
    this.retryAfterMs = options.retryAfterMs;
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const header = (headers: Headers, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
};

/** Reads the document of an error, if there is one. */
export function readProblem(status: number, headers: Headers, body: string): S3Problem {
  const region = textOf(body, 'Region') ?? header(headers, 'x-amz-bucket-region');
  const time = Date.parse(header(headers, 'date') ?? '');
  const seconds = Number(header(headers, 'retry-after') ?? Number.NaN);
  return {
    status,
    code: shownWords(textOf(body, 'Code') ?? ''),
    message: shownWords(textOf(body, 'Message') ?? ''),
    ...(region === undefined ? {} : { region: shownWords(region) }),
    ...(Number.isNaN(time) ? {} : { serverTime: time }),
    ...(seconds > 0 && seconds < 3600 ? { retryAfterMs: seconds * 1000 } : {}),
  };
}

const passingCodes = new Set([
  'SlowDown',
  'RequestTimeout',
  'InternalError',
  'ServiceUnavailable',
  'OperationAborted',
  'ConditionalRequestConflict',
  'Throttling',
  'ThrottlingException',
  'RequestLimitExceeded',
  // The body arrived differently from how it was sent.
  'XAmzContentSHA256Mismatch',
  'BadDigest',
  'IncompleteBody',
]);

/** Whether the same request may succeed a little later. */
export const isPassing = ({ status, code }: S3Problem): boolean =>
  passingCodes.has(code) || isPassingStatus(status);

const credentialCodes = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidToken',
  'ExpiredToken',
  'TokenRefreshRequired',
  'InvalidSecurity',
]);

const fullCodes = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientCapacity']);

/**
 * Returns the failure of a lasting answer. It stops the run: the next file would fail too, and everything paid is in the state.
 *
 * @param doing the action: `write "images/ab/abc-1.png"`
 */
export function s3Failure(
  problem: S3Problem,
  doing: string,
  store: Pick<S3Settings, 'origin' | 'style' | 'sessionToken'> & {
    readonly address: S3Address;
    readonly now: number;
  },
): SaveFailure {
  const { status, code, message } = problem;
  const said = `${code === '' ? status : code}${message === '' ? '' : `: ${message.replace(/\.$/, '')}`}`;
  const place = shownS3Address(store.address);
  const stop = (reason: SaveFailure['code'], words: string): SaveFailure => ({
    code: reason,
    class: 'stop',
    message: words,
    status,
  });
  if (code === 'NoSuchBucket')
    return stop(
      's3.no-bucket',
      `There is no bucket "${store.address.bucket}" at ${store.origin}. Make it first, or name another one with --out.${store.style === 'path' ? ' If it exists, the store may want it in its host name: AWS_S3_ADDRESSING_STYLE=virtual.' : ''}`,
    );
  if (code === 'RequestTimeTooSkewed') {
    const off =
      problem.serverTime === undefined ? undefined : Math.round((store.now - problem.serverTime) / 1000);
    const words = off === undefined ? '' : ` by ${Math.abs(off)} s (it is ${off > 0 ? 'ahead' : 'behind'})`;
    return stop(
      's3.clock',
      `This machine's clock differs from that of ${store.origin}${words}. Set it right.`,
    );
  }
  // Answers to HEAD have no document: such a 400 means an unknown session token.
  if (credentialCodes.has(code) || (status === 400 && code === '' && store.sessionToken !== undefined))
    return stop(
      's3.credentials',
      `${store.origin} does not accept the keys (${said}). Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN where the keys are temporary: those run out.`,
    );
  if (isElsewhere(problem)) {
    const { region } = problem;
    return stop(
      's3.region',
      `The bucket "${store.address.bucket}" is not in this region (${said}). Set AWS_REGION${region === undefined ? ' to the one it lies in' : `=${region}`}.`,
    );
  }
  if (fullCodes.has(code) || status === 507)
    return stop('s3.full', `${place} has no room (${said}). Make room there.`);
  if (status === 401 || status === 403)
    return stop(
      's3.denied',
      `${store.origin} does not let these keys ${doing} in ${place} (${said}). They need s3:GetObject, s3:PutObject and s3:DeleteObject for the objects there, and s3:ListBucket for the bucket.`,
    );
  return stop('s3.failed', `${store.origin} could not ${doing} in ${place} (${said}).`);
}

const isElsewhere = ({ status, code, region }: S3Problem): boolean =>
  status === 301 ||
  status === 307 ||
  code === 'IllegalLocationConstraintException' ||
  (code === 'AuthorizationHeaderMalformed' && region !== undefined);

/** Reads an error of the connection. @returns a lasting failure for an error of trust, a temporary one for any other */
export function readBroken(error: unknown, origin: string): SaveFailure | PassingFailure {
  const { failure } = readConnectionError(error, 'unknown');
  const message = `${origin}: ${failure.what}`;
  if (failure.lasting) return { code: 's3.unreachable', class: 'stop', message: `${message}.`, cause: error };
  return new PassingFailure(message, { cause: error });
}
