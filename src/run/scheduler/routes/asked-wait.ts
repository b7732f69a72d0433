import type { RunInput } from '../commit.ts';

/**
 * Cuts the Retry-After of a result to the patience of the run. A service that asks for more gets one more request at the end of
 * the patience, and a route that still only refuses then stops the run: an unattended run never waits for longer than its
 * settings allow.
 *
 * @param mostMs `retry.patience`
 */
export function withinPatience(input: RunInput, mostMs: number): RunInput {
  switch (input.type) {
    case 'submitted':
      return input.result.ok ? input : { ...input, result: refusal(input.result, mostMs) };
    case 'fetched':
      return input.result.ok ? input : { ...input, result: refusal(input.result, mostMs) };
    case 'searched':
      return input.result.ok ? input : { ...input, result: refusal(input.result, mostMs) };
    case 'listed':
      return input.result.ok ? input : { ...input, result: refusal(input.result, mostMs) };
    case 'saved':
      return input.result.ok ? input : { ...input, result: refusal(input.result, mostMs) };
    case 'asked':
      return cutAsked(input, mostMs);
    case 'unread':
      return { ...input, error: cut(input.error, mostMs) };
    case 'masked':
      return input.error === undefined ? input : { ...input, error: cut(input.error, mostMs) };
    default:
      return input;
  }
}

function cutAsked(input: Extract<RunInput, { type: 'asked' }>, mostMs: number): RunInput {
  const { result } = input;
  switch (result.kind) {
    case 'answered':
      return input;
    case 'refused':
      return { ...input, result: { ...result, error: cut(result.error, mostMs) } };
    case 'unread':
    case 'unwritten':
      return { ...input, result: { ...result, error: cut(result.error, mostMs) } };
  }
}

const refusal = <F extends { readonly retryAfterMs?: number }>(
  result: { readonly ok: false; readonly error: F },
  mostMs: number,
): { readonly ok: false; readonly error: F } => ({ ok: false, error: cut(result.error, mostMs) });

const cut = <F extends { readonly retryAfterMs?: number }>(failure: F, mostMs: number): F =>
  failure.retryAfterMs === undefined || failure.retryAfterMs <= mostMs
    ? failure
    : { ...failure, retryAfterMs: mostMs };
