import type { Route } from '../../events.ts';
import { learnedContent, learnedText } from '../../limits/learned.ts';

/** What a run found out about the limits of its service, for the next run. */
export interface LearnedLimits {
  /** Tasks that the service accepts at a time; absent: it refused none. */
  readonly tasks?: number;
  /** Requests a minute that the service accepts, by route. */
  readonly perMinute: Readonly<Partial<Record<Route, number>>>;
  /** Ids of the kinds of request that the service was seen to serve. Absent: none. */
  readonly served?: readonly string[];
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
    const { tasks, perMinute, served } = content as Readonly<Record<string, unknown>>;
    const rates = typeof perMinute === 'object' && perMinute !== null ? perMinute : {};
    const found = routes.flatMap((route) => {
      const rate = (rates as Readonly<Record<string, unknown>>)[route];
      return isCount(rate) ? [[route, rate] as const] : [];
    });
    return {
      ...(isCount(tasks) ? { tasks: Math.max(1, Math.floor(tasks)) } : {}),
      perMinute: Object.fromEntries(found),
      ...(Array.isArray(served) ? { served: served.filter(isName).slice(0, mostServed) } : {}),
    };
  }) ?? noLimits;

/** How many kinds are kept. */
export const mostServed = 200;

const isName = (value: unknown): value is string => typeof value === 'string' && value.length <= 200;

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
