import { longestWaitMs, readRetryAfter } from './retry-after.ts';

/** One of the service's limits as a reply reports it. It is not certain: gateways pass on the headers of others. */
export interface ToldLimit {
  readonly of: 'requests' | 'tokens';
  readonly limit?: number;
  readonly remaining?: number;
  /** Time from now until the limit is reset or has room again, in ms. */
  readonly resetMs?: number;
}

/** Headers of a response, by their names in lower case. */
export interface NamedHeaders {
  get(name: string): string | null;
  keys(): Iterable<string>;
}

type Words = readonly [limit: string | null, remaining: string | null, reset: string | null];

/** Longest window that is used as a pace, in ms: some services limit the requests of a day. */
const longestMs = 86_400_000;

/** Longest list of limits that is read, in characters. */
const maxCharacters = 2000;

/**
 * Reads the limits in the headers of a reply (gateway 9.2). If several families of headers report the same limit, the one that names
 * what it counts has priority. A limit with an impossible value is left out.
 */
export function readTold(headers: NamedHeaders, nowMs: number): readonly ToldLimit[] {
  if (!tellsLimits(headers)) return none;
  const sent = Date.parse(headers.get('date') ?? '');
  const now = Number.isNaN(sent) ? nowMs : sent;
  const read = (of: ToldLimit['of'], names: (word: string) => string): readonly ToldLimit[] => {
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((word) => headers.get(names(word)));
    return limitIn(of, [limit ?? null, remaining ?? null, reset ?? null], now);
  };
  const anthropic = (of: ToldLimit['of'], what: string): readonly ToldLimit[] =>
    read(of, (word) => `anthropic-ratelimit-${what}-${word}`);
  const requests = [
    () => read('requests', (word) => `x-ratelimit-${word}-requests`),
    () => anthropic('requests', 'requests'),
    () => listed(headers.get('ratelimit'), headers.get('ratelimit-policy'), now),
    () => read('requests', (word) => `ratelimit-${word}`),
    () => read('requests', (word) => `x-ratelimit-${word}`),
  ];
  const tokens = [
    () => read('tokens', (word) => `x-ratelimit-${word}-tokens`),
    // Their header for all tokens repeats whichever limit is the closest.
    () => [...anthropic('tokens', 'input-tokens'), ...anthropic('tokens', 'output-tokens')],
    () => anthropic('tokens', 'tokens'),
  ];
  const header = (name: string): string | null => headers.get(name);
  const waitMs = readRetryAfter(header, () => nowMs) ?? longestWaitMs;
  return [...firstOf(requests), ...firstOf(tokens)].map((one) => {
    const { resetMs = 0, ...rest } = one;
    // The reset of a limit that is used up is when all of it is back, or another service's: who is asked to come sooner is served.
    const isSooner = rest.remaining === 0 && waitMs < Math.min(longestWaitMs, resetMs / 2);
    return isSooner || (rest.of === 'tokens' && resetMs > longestWaitMs) ? rest : one;
  });
}

const none: readonly ToldLimit[] = [];

function tellsLimits(headers: NamedHeaders): boolean {
  for (const name of headers.keys()) if (name.includes('ratelimit')) return true;
  return false;
}

function firstOf(families: readonly (() => readonly ToldLimit[])[]): readonly ToldLimit[] {
  for (const family of families) {
    const found = family();
    if (found.length > 0) return found;
  }
  return none;
}

function limitIn(of: ToldLimit['of'], words: Words, now: number): readonly ToldLimit[] {
  const [limit, remaining] = [countIn(words[0]), countIn(words[1])];
  const resetMs = resetIn(words[2], now);
  const given = [limit, remaining, resetMs].filter((value) => value !== undefined);
  const isSound =
    given.length > 0 &&
    given.every((value) => value >= 0) &&
    !((remaining ?? 0) > (limit ?? Number.POSITIVE_INFINITY)) &&
    (resetMs ?? 0) <= longestMs;
  if (!isSound) return none;
  return [
    {
      of,
      ...(limit !== undefined && { limit }),
      ...(remaining !== undefined && { remaining }),
      ...(resetMs !== undefined && { resetMs }),
    },
  ];
}

/** Reads a count; NaN: not a number. Earlier drafts add the policies behind the limit: `100, 100;w=60`. */
function countIn(text: string | null): number | undefined {
  if (text === null) return undefined;
  const number = /^\s*(\d{1,15}(?:\.\d{1,9})?)\s*(?:[,;]|$)/.exec(text.slice(0, maxCharacters))?.[1];
  return number === undefined ? Number.NaN : Number(number);
}

const units = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

/** Reads a time of reset; NaN: not a time. Seconds, a duration (`6m0s`), a Unix time in seconds or milliseconds, or a date. */
function resetIn(text: string | null, now: number): number | undefined {
  const word = text?.trim().slice(0, 64);
  if (word === undefined || word === '') return undefined;
  if (/^\d{1,15}(?:\.\d{1,9})?$/.test(word)) {
    const number = Number(word);
    if (number <= 1e9) return Math.ceil(number * 1000);
    return Math.max(0, Math.ceil(number * (number > 1e12 ? 1 : 1000) - now));
  }
  if (/^(?:\d{1,9}(?:\.\d{1,9})?(?:h|ms|m|s))+$/.test(word)) {
    const parts = word.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g);
    return Math.ceil([...parts].reduce((sum, part) => sum + Number(part[1]) * units[part[2] as 'h'], 0));
  }
  return /^\d{4}-\d\d-\d\dT|^[A-Z][a-z]{2},? /.test(word) ? Math.max(0, Date.parse(word) - now) : Number.NaN;
}

type Item = readonly [name: string, parameters: ReadonlyMap<string, string>];

/** Reads the items of a structured list: `"burst";r=50;t=30, "day";r=900`. */
const itemsIn = (text: string | null): readonly Item[] =>
  ((text ?? '').slice(0, maxCharacters).match(/(?:"[^"]*"|[^,"])+/g) ?? []).map((item) => {
    const name = /^\s*(?:"[^"]*"|[^;]*)/.exec(item)?.[0] ?? '';
    const rest = item.slice(name.length).matchAll(/;\s*(\w+)=("[^"]*"|[^;"]*)/g);
    return [
      name.trim().replaceAll('"', ''),
      new Map([...rest].map(([, key = '', value = '']) => [key, value.replaceAll('"', '').trim()])),
    ];
  });

/** Units of a policy that stand for requests; a policy without a unit counts requests too. */
const countsRequests = /^requests?$/;

/** Reads `RateLimit` and `RateLimit-Policy`: one item for each policy; in draft 07 one limit, with its values as members. */
function listed(text: string | null, policy: string | null, now: number): readonly ToldLimit[] {
  if (text === null) return none;
  const policies = new Map(itemsIn(policy));
  const items = itemsIn(text);
  const value = (name: string): string | null =>
    items.find(([item]) => item.startsWith(`${name}=`))?.[0].slice(name.length + 1) ?? null;
  if (value('limit') !== null || value('remaining') !== null)
    return limitIn('requests', [value('limit'), value('remaining'), value('reset')], now);
  return items.flatMap(([name, said]) => {
    const known = policies.get(name);
    if (!countsRequests.test(known?.get('qu') ?? 'requests')) return none;
    return limitIn('requests', [known?.get('q') ?? null, said.get('r') ?? null, said.get('t') ?? null], now);
  });
}
