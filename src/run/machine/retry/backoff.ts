/**
 * Returns the delay before the next try of a request: exponential with full jitter, so that many jobs that failed together do not retry
 * together (gateway 8.2).
 *
 * @param tries number of failed tries, at least 1
 * @param random uniform in [0, 1)
 * @returns milliseconds, at least 1
 */
export function backoffMs(
  tries: number,
  bounds: { readonly baseMs: number; readonly capMs: number },
  random: () => number,
): number {
  const ceiling = Math.min(bounds.capMs, bounds.baseMs * 2 ** Math.min(tries - 1, 30));
  return Math.max(1, Math.round(ceiling * random()));
}
