import { leastInData, sandboxKey } from '../service/secrets.ts';

/** What is to be said of a key that is too short to be looked for in what the service gives, if it is. */
export function doubtAboutKey(apiKey: string): string | undefined {
  const { length } = apiKey;
  return length >= leastInData || apiKey === sandboxKey
    ? undefined
    : `The API key has only ${length} characters. Messages and the log do not show it, but in an answer that repeats it it stays: only keys of ${leastInData} characters and more are masked there`;
}
