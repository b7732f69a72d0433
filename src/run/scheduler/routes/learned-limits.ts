import type { Route } from '../../events.ts';
import { learnedContent, learnedText } from '../../limits/learned.ts';

/** What a run found out about the limits of its service, for the next run. */
export interface LearnedLimits {
  /** Tasks that the service accepts at a time; absent: it refused none. */
  readonly tasks?: number;
  /** Requests a minute that the service accepts, by route. */
  readonly perMinute: Readonly<Partial<Record<Route, number>>>;
  /** Text calls a minute that it accepts, by their kind; absent: it refused none. */
  readonly lanes?: Readonly<Record<string, number>>;
}

/** What a run saw of the address that it sends to, for the next run at this address: another one begins as unproven. */
export interface LearnedService {
  /** Names the address with all that decides where its endpoints lie. */
  readonly address: string;
  /** Ids of the kinds of request that it was seen to serve. */
  readonly served: readonly string[];
  /** It has answered well: what a page or a missing path means depends on it (gateway 8.3). */
  readonly hasAnswered: boolean;
  /** A task of it has shown buttons. */
  readonly showsButtons: boolean;
}

const version = 1;
const routes = ['submit', 'poll', 'download'] as const satisfies readonly Route[];
export const noLimits: LearnedLimits = { perMinute: {} };

/** The document that keeps these limits, of the first lanes alone where they are many. */
export const limitsText = ({ lanes = {}, ...limits }: LearnedLimits): string => {
  const kept = ratesOf(lanes).slice(0, mostKept);
  return learnedText(version, { ...limits, ...(kept.length > 0 && { lanes: Object.fromEntries(kept) }) });
};

const ratesOf = (rates: unknown): readonly (readonly [string, number])[] =>
  typeof rates === 'object' && rates !== null
    ? Object.entries(rates).filter(
        (entry): entry is [string, number] => isName(entry[0]) && isCount(entry[1]),
      )
    : [];

/** Reads a kept document. What is not as it is written counts for nothing. */
export const readLimits = (text: string | undefined): LearnedLimits =>
  learnedContent(text, version, (content): LearnedLimits | undefined => {
    if (typeof content !== 'object' || content === null) return undefined;
    const { tasks, perMinute, lanes } = content as Readonly<Record<string, unknown>>;
    const found = ratesOf(lanes).slice(0, mostKept);
    return {
      ...(isCount(tasks) ? { tasks: Math.max(1, Math.floor(tasks)) } : {}),
      perMinute: Object.fromEntries(
        ratesOf(perMinute).filter(([name]) => (routes as readonly string[]).includes(name)),
      ),
      ...(found.length > 0 && { lanes: Object.fromEntries(found) }),
    };
  }) ?? noLimits;

/** The document that keeps this. */
export const serviceText = (service: LearnedService): string =>
  learnedText(version, { ...service, served: service.served.slice(0, mostKept) });

/** Reads what is kept of this very address. */
export const readService = (text: string | undefined, address: string): LearnedService =>
  learnedContent(text, version, (content): LearnedService | undefined => {
    if (typeof content !== 'object' || content === null) return undefined;
    const { served, ...seen } = content as Readonly<Record<string, unknown>>;
    if (seen['address'] !== address) return undefined;
    return {
      address,
      served: Array.isArray(served) ? served.filter(isName).slice(0, mostKept) : [],
      hasAnswered: seen['hasAnswered'] === true,
      showsButtons: seen['showsButtons'] === true,
    };
  }) ?? { address, served: [], hasAnswered: false, showsButtons: false };

/** How many kinds are kept. */
const mostKept = 200;

const isName = (value: unknown): value is string => typeof value === 'string' && value.length <= 200;

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
