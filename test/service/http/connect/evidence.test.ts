import { describe, expect, test } from 'vitest';

import { certificateError } from '../../../../src/service/http/connect/certificate.ts';
import { readConnectionError } from '../../../../src/service/http/connect/connection-error.ts';

const coded = (code: string, syscall?: string): Error =>
  Object.assign(new Error(`it says ${code}`), { code, syscall });

test.each([
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['CERT_NOT_YET_VALID', 'not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'another host name'],
  ['HOSTNAME_MISMATCH', 'another host name'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'no authority'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'no authority'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'no authority'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'no authority'],
  ['CERT_UNTRUSTED', 'no authority'],
  ['CERT_REVOKED', 'cannot be verified'],
  ['CRL_HAS_EXPIRED', 'cannot be verified'],
  ['ERROR_IN_CERT_NOT_AFTER_FIELD', 'cannot be verified'],
  ['UNABLE_TO_GET_CRL', 'cannot be verified'],
  ['INVALID_CA', 'cannot be verified'],
  ['INVALID_PURPOSE', 'cannot be verified'],
  ['PATH_LENGTH_EXCEEDED', 'cannot be verified'],
])('a certificate with %s is not trusted, and stops the run', (code, what) => {
  expect(certificateError(coded(code))).toContain(what);
  expect(readConnectionError(new Error('fetch failed', { cause: coded(code) }), 'unknown')).toMatchObject({
    failure: { code: 'connection.certificate' },
    sent: false,
  });
});

test.each(['ECONNRESET', 'EPROTO', 'INVALID_ARGUMENT', 'X_CERT_HAS_EXPIRED'])(
  '%s is not about a certificate',
  (code) => {
    expect(certificateError(coded(code))).toBeUndefined();
  },
);

describe('with a transport that does not report what has left', () => {
  test.each<readonly [string, Error, string, boolean]>([
    ['a broken handshake or record', coded('EPROTO'), 'connection.tls', true],
    [
      'a plain answer to a handshake, when more of it is written',
      Object.assign(new Error('write EPROTO 80A:error:0A00010B:SSL routines::wrong version number'), {
        code: 'EPROTO',
      }),
      'connection.protocol',
      false,
    ],
    ['a silent body', coded('UND_ERR_BODY_TIMEOUT'), 'connection.timeout', true],
    ['a broken Brotli', coded('ERR__ERROR_FORMAT_PADDING_1'), 'response.coding', true],
    ['several addresses without an error', new AggregateError([]), 'connection.lost', true],
    [
      'addresses of which one may have got it',
      new AggregateError([coded('ECONNREFUSED', 'connect'), coded('UND_ERR_HEADERS_TIMEOUT')]),
      'connection.timeout',
      true,
    ],
  ])('%s', (_what, error, code, sent) => {
    expect(readConnectionError(error, 'unknown')).toMatchObject({ failure: { code }, sent });
  });

  test('an error that is its own cause is read once', () => {
    const error = new Error('round');
    error.cause = error;
    expect(readConnectionError(error, 'unknown')).toMatchObject({
      failure: { code: 'connection.lost', what: 'the connection broke (round)', cause: error },
      sent: true,
    });
  });

  test('a code is shown once', () => {
    const what = (error: Error): string => readConnectionError(error, 'yes').failure.what;
    expect(what(coded('EPIPE'))).toBe('the connection broke (it says EPIPE)');
    expect(what(Object.assign(new Error('gone'), { code: 'EPIPE' }))).toBe(
      'the connection broke (gone, EPIPE)',
    );
  });
});
