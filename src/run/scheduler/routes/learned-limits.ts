import type { Route } from '../../events.ts';
import { learnedContent, learnedText } from '../../limits/learned.ts';

/** What a run found out about the limits of its service, for the next run. */
export interface LearnedLimits {
  /** Tasks that the service accepts at a time; absent: it refused none. */
  readonly tasks?: number;
  /** Requests a minute that the service accepts, by route. */
  readonly perMinute: Readonly<Partial<Record<Route, number>>>;
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
const routes = ['submit', 'text', 'poll', 'download'] as const satisfies readonly Route[];
export const noLimits: LearnedLimits = { perMinute: {} };

/** The document that keeps these limits. */
export const limitsText = (limits: LearnedLimits): string => learnedText(version, limits);

/** Reads a kept document. What is not as it is written counts for nothing. */
export const readLimits = (text: string | undefined): LearnedLimits =>
  learnedContent(text, version, (content): LearnedLimits | undefined => {
    if (typeof content !== 'object' || content === null) return undefined;
    const { tasks, perMinute } = content as Readonly<Record<string, unknown>>;
    const rates = typeof perMinute === 'object' && perMinute !== null ? perMinute : {};
    const found = routes.flatMap((route) => {
      const rate = (rates as Readonly<Record<string, unknown>>)[route];
      return isCount(rate) ? [[route, rate] as const] : [];
    });
    return {
      ...(isCount(tasks) ? { tasks: Math.max(1, Math.floor(tasks)) } : {}),
      perMinute: Object.fromEntries(found),
    };
  }) ?? noLimits;

/** The document that keeps this. */
export const serviceText = (service: LearnedService): string =>
  learnedText(version, { ...service, served: service.served.slice(0, mostServed) });

/** Reads what is kept of this very address. */
export const readService = (text: string | undefined, address: string): LearnedService =>
  learnedContent(text, version, (content): LearnedService | undefined => {
    if (typeof content !== 'object' || content === null) return undefined;
    const { served, ...seen } = content as Readonly<Record<string, unknown>>;
    if (seen['address'] !== address) return undefined;
    return {
      address,
      served: Array.isArray(served) ? served.filter(isName).slice(0, mostServed) : [],
      hasAnswered: seen['hasAnswered'] === true,
      showsButtons: seen['showsButtons'] === true,
    };
  }) ?? { address, served: [], hasAnswered: false, showsButtons: false };

/** How many kinds are kept. */
const mostServed = 200;

const isName = (value: unknown): value is string => typeof value === 'string' && value.length <= 200;

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
