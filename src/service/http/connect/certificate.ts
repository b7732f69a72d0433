/** Errors of a certificate, by Node's code (X509 errors of OpenSSL, and Node's own for the host name). */
const errors: readonly { readonly code: RegExp; readonly what: string }[] = [
  {
    code: /^CERT_HAS_EXPIRED$/,
    what: "it has expired. Its owner has to renew it, or this machine's clock is wrong",
  },
  { code: /^CERT_NOT_YET_VALID$/, what: "it is not valid yet. This machine's clock may be wrong" },
  {
    code: /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    what: 'it is for another host name. Check the base address',
  },
  {
    code: /^DEPTH_ZERO_SELF_SIGNED_CERT$/,
    what: 'it is self-signed. If it is your own, set NODE_EXTRA_CA_CERTS to its PEM file',
  },
  {
    code: /^(?:SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:GET_ISSUER_CERT(?:_LOCALLY)?|VERIFY_LEAF_SIGNATURE)|CERT_UNTRUSTED)$/,
    what:
      'no authority known here has issued it. For an authority of your own (also of a company proxy) set NODE_EXTRA_CA_CERTS ' +
      'to the PEM file of its certificate',
  },
  {
    code: /^(?:CERT_|CRL_|ERROR_IN_C|UNABLE_TO_|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$)/,
    what: 'it cannot be verified',
  },
];

/**
 * Returns why a certificate is not trusted and what to do, as a clause for a message. Undefined: the error is not about a certificate.
 * It occurs before a request is sent, and on every further connection.
 */
export function certificateError(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return undefined;
  const match = errors.find((known) => known.code.test(code));
  return match && `the certificate is not trusted (${code}): ${match.what}`;
}
