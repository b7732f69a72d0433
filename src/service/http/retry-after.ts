/** Longest wait that is accepted, in ms: a longer one would stop a run for a mistake of the service. */
export const longestWaitMs = 3_600_000;

const bounded = (ms: number): number => Math.min(longestWaitMs, Math.max(0, Math.ceil(ms)));

/**
 * Reads how long the service asks to wait, in ms, at most an hour: `retry-after-ms`, which some services send as the more exact value, else
 * `Retry-After` as seconds or as an HTTP date (RFC 9110 10.2.3). A date is compared with the response's `Date` header if it has one, so
 * that a wrong clock on this machine does no harm, else with `now`.
 *
 * @param header returns the header of this name in lower case; null where there is none
 */
export function readRetryAfter(
  header: (name: string) => string | null,
  now: () => number,
): number | undefined {
  const exact = header('retry-after-ms') ?? header('x-ms-retry-after-ms') ?? '';
  if (/^\s*\d{1,15}(\.\d{1,9})?\s*$/.test(exact)) return bounded(Number(exact));
  const text = header('retry-after')?.trim() ?? '';
  if (/^\d{1,12}(\.\d{1,9})?$/.test(text)) return bounded(Number(text) * 1000);
  // Date.parse also takes things such as "1" or "-5"; an HTTP date begins with a day's name.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  const until = Date.parse(text);
  if (Number.isNaN(until)) return undefined;
  const sent = Date.parse(header('date') ?? '');
  return bounded(until - (Number.isNaN(sent) ? now() : sent));
}

/** Reads `retryDelay` of a RetryInfo detail (gateway 8.4): a number of seconds with an `s`, such as `22s` or `0.5s`. */
export function readRetryDelay(delay: unknown): number | undefined {
  const seconds = typeof delay === 'string' ? /^(\d{1,12}(?:\.\d{1,9})?)s$/.exec(delay)?.[1] : undefined;
  return seconds === undefined ? undefined : bounded(Number(seconds) * 1000);
}
