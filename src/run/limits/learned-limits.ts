import type { Route } from '../events.ts';
import type { FoundPace } from './gate.ts';
import { learnedContent, learnedText } from './learned.ts';

/** What a run found out about the limits of its service, for the next run. */
export interface LearnedLimits {
  /** Tasks that the service accepts at a time; absent: it refused none. */
  readonly tasks?: number;
  /** Requests a minute that the service accepts, by route. */
  readonly perMinute: Readonly<Partial<Record<Route, number>>>;
  /** Text calls a minute that it accepts, by their kind; absent: it refused none. */
  readonly lanes?: Readonly<Record<string, number>>;
  /** Requests that it accepts at a time: `poll`, `download`, or `text/` and the kind; absent: it refused none. */
  readonly atOnce?: Readonly<Record<string, number>>;
  /** The part that it last refused by chance, by the same names and `submit`; the next run begins without. Absent: none. */
  readonly byChance?: Readonly<Record<string, number>>;
}

/** What was found of one lane. */
export interface LanePace extends FoundPace {
  readonly route: Route;
  /** Of text calls. */
  readonly kind?: string;
}

const texts = 'text/';
const routes = ['submit', 'poll', 'download'] as const satisfies readonly Route[];

/** The limits of these lanes, as they are kept. */
export function limitsOf(lanes: readonly LanePace[]): LearnedLimits {
  const named = (name: keyof FoundPace, of: (lane: LanePace) => string | undefined): Record<string, number> =>
    Object.fromEntries(
      lanes.flatMap((lane) => {
        const [key, value] = [of(lane), lane[name]];
        return key === undefined || value === undefined ? [] : [[key, Math.round(100 * value) / 100]];
      }),
    );
  const idOf = ({ route, kind }: LanePace): string => (kind === undefined ? route : `${texts}${kind}`);
  const { submit: tasks, ...atOnce } = named('atOnce', idOf);
  const rates = named('perMinute', ({ kind }) => kind);
  const byChance = named('byChance', idOf);
  return {
    ...(tasks !== undefined && { tasks }),
    perMinute: named('perMinute', ({ route, kind }) => (kind === undefined ? route : undefined)),
    ...(Object.keys(rates).length > 0 && { lanes: rates }),
    ...(Object.keys(atOnce).length > 0 && { atOnce }),
    ...(Object.keys(byChance).length > 0 && { byChance }),
  };
}

/**
 * The lanes of kept limits: image submissions, polls, downloads, and the text calls of each kind. What is not as it is written counts for
 * nothing.
 */
export function lanesOf(
  limits: Readonly<Partial<Record<keyof LearnedLimits, unknown>>>,
): readonly LanePace[] {
  const found = new Map<string, FoundPace>(routes.map((route) => [route, {}]));
  const note = (
    name: keyof FoundPace,
    values: unknown,
    before = '',
    read = (value: number): number => value,
  ): void => {
    for (const [id, value] of countsIn(values))
      found.set(`${before}${id}`, { ...found.get(`${before}${id}`), [name]: read(value) });
  };
  note('atOnce', limits.atOnce, '', whole);
  note('atOnce', { submit: limits.tasks }, '', whole);
  note('perMinute', limits.perMinute);
  note('perMinute', limits.lanes, texts);
  note('byChance', limits.byChance, '', (value) => Math.min(1, value));
  return [...found].flatMap(([id, pace]): LanePace[] => {
    const route = routes.find((name) => name === id);
    if (Object.keys(pace).length === 0) return [];
    if (route !== undefined) return [{ route, ...pace }];
    return id.startsWith(texts) ? [{ route: 'text', kind: id.slice(texts.length), ...pace }] : [];
  });
}

const version = 1;
export const noLimits: LearnedLimits = { perMinute: {} };

/** The document that keeps these limits, of the first lanes alone where they are many. */
export const limitsText = (limits: LearnedLimits): string => learnedText(version, limitsOf(lanesOf(limits)));

/** Reads a kept document. */
export const readLimits = (text: string | undefined): LearnedLimits =>
  learnedContent(text, version, (content) => limitsOf(lanesOf(Object(content) as object))) ?? noLimits;

/** How many kinds are kept. */
const mostKept = 200;

const isName = (value: unknown): value is string => typeof value === 'string' && value.length <= 200;
const whole = (value: number): number => Math.max(1, Math.floor(value));

const countsIn = (values: unknown): readonly (readonly [string, number])[] =>
  Object.entries(Object(values) as object)
    .filter((entry): entry is [string, number] => {
      const [name, value] = entry as readonly [string, unknown];
      return isName(name) && typeof value === 'number' && Number.isFinite(value) && value > 0;
    })
    .slice(0, mostKept);

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
