/**
 * How long to rest before try number `tries + 1` of a request: exponential with full jitter, so that many jobs
 * that failed together do not come back together (gateway 8.2).
 *
 * @param tries how many tries have failed, at least 1
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
