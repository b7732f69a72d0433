import { readBaseUrl } from '../../service/http/base-url.ts';
import { leastInData, sandboxKey } from '../../service/http/secrets.ts';
import { usageError } from '../errors/cli-error.ts';
import { revaluing } from '../errors/correction.ts';

/**
 * Checks a base address and removes slashes at its end.
 *
 * @param from where it came from, for the message
 * @throws CliError (exit 2) if it is not an address
 */
export function checkBaseUrl(text: string, from: string): string {
  const read = readBaseUrl(text);
  if (read.ok) return read.value;
  const whole = `https://${text.trim()}`;
  const isFlag = from.startsWith('--');
  throw usageError(
    read.error.message,
    `It comes from ${from}.`,
    isFlag && !text.includes('://') && readBaseUrl(whole).ok ? revaluing(from, text, [whole]) : undefined,
  );
}

/**
 * Returns a warning about a suspicious base address. Chat clients use `<address>/v1` (gateway 8.3); the image routes are beside it, so the
 * first request would be redirected or refused.
 */
export function addressWarning(baseUrl: string): string | undefined {
  const [, before, version] = /^(.*)(\/v1(?:beta)?)$/.exec(baseUrl) ?? [];
  return before === undefined
    ? undefined
    : `The base address ends in ${version}, which is the address for chat clients. If the run is stopped, try ${before}`;
}

/** Returns a warning if a key is too short to be masked in responses. */
export function keyWarning(apiKey: string | undefined): string | undefined {
  if (apiKey === undefined) return undefined;
  const { length } = apiKey;
  return length >= leastInData || apiKey === sandboxKey
    ? undefined
    : `The API key has only ${length} characters: in answers that repeat it, it is not masked; keys of ${leastInData} and more are`;
}
