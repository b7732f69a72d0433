import { leastInData, sandboxKey } from '../service/http/secrets.ts';

/** What is to be said of a key that is too short to be looked for in what the service gives, if it is. */
export function doubtAboutKey(apiKey: string): string | undefined {
  const { length } = apiKey;
  return length >= leastInData || apiKey === sandboxKey
    ? undefined
    : `The API key has only ${length} characters: in answers that repeat it, it is not masked; keys of ${leastInData} and more are`;
}
