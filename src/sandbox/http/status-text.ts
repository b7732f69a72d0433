/** Messages of the error envelopes that faults answer with (service.md 7.2). */
export const statusTexts: Readonly<Record<number, string>> = {
  400: 'the request was not accepted',
  401: 'invalid token',
  403: 'the request was blocked',
  404: 'not found',
  408: 'request timeout',
  413: 'request entity too large',
  429: 'rate limit reached, please try again later',
  500: 'internal server error',
  502: 'bad gateway',
  503: 'the service is temporarily unavailable',
  504: 'gateway timeout',
  520: 'the origin returned an unknown error',
  521: 'the origin is down',
  522: 'connection timed out',
  523: 'the origin is unreachable',
  524: 'a timeout occurred',
};
