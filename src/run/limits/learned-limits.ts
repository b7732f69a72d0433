import type { Route } from '../events.ts';
import type { FoundPace } from './found-limit.ts';
import { learnedContent, learnedText } from './learned.ts';

/** Limits of the service that a run discovered, for the next run. */
export interface LearnedLimits {
  /** Most tasks that the service accepts at a time; absent where it refused none. */
  readonly tasks?: number;
  /** Most requests a minute that the service accepts, by route. */
  readonly perMinute: Readonly<Partial<Record<Route, number>>>;
  /** Most text calls a minute that the service accepts, by their kind; absent where it refused none. */
  readonly lanes?: Readonly<Record<string, number>>;
  /** Most requests that the service accepts at a time, by `poll`, `download`, or `text/` and the kind; absent where it refused none. */
  readonly atOnce?: Readonly<Record<string, number>>;
  /** Share of requests that the service last refused at random, by the same names and `submit`. The next run starts without it. */
  readonly byChance?: Readonly<Record<string, number>>;
}

/** The pace found for one lane. */
export interface LanePace extends FoundPace {
  readonly route: Route;
  /** The kind of text call. */
  readonly kind?: string;
}

const texts = 'text/';
const routes = ['submit', 'poll', 'download'] as const satisfies readonly Route[];

/** Converts the paces of lanes into limits to save. */
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

/** Reads the lanes of saved limits: image submissions, polls, downloads, and each kind of text call. Ignores malformed entries. */
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

/** Serializes limits; where there are too many lanes, only the first ones. */
export const limitsText = (limits: LearnedLimits): string => learnedText(version, limitsOf(lanesOf(limits)));

/** Reads saved limits. */
export const readLimits = (text: string | undefined): LearnedLimits =>
  learnedContent(text, version, (content) => limitsOf(lanesOf(Object(content) as object))) ?? noLimits;

/** Largest number of kinds that are saved. */
const maxKept = 200;

const isName = (value: unknown): value is string => typeof value === 'string' && value.length <= 200;
const whole = (value: number): number => Math.max(1, Math.floor(value));

const countsIn = (values: unknown): readonly (readonly [string, number])[] =>
  Object.entries(Object(values) as object)
    .filter((entry): entry is [string, number] => {
      const [name, value] = entry as readonly [string, unknown];
      return isName(name) && typeof value === 'number' && Number.isFinite(value) && value > 0;
    })
    .slice(0, maxKept);

/** What a run observed about the service's address, for the next run at the same address. Another address starts as unknown. */
export interface LearnedService {
  /** Identifies the address together with everything that decides where its endpoints are. */
  readonly address: string;
  /** Ids of the kinds of request that the service has served. */
  readonly served: readonly string[];
  /** True where the service has answered successfully. The meaning of an HTML page or a missing path depends on it (gateway 8.3). */
  readonly hasAnswered: boolean;
  /** True where a task of the service has shown buttons. */
  readonly showsButtons: boolean;
}

/** Serializes what is known of a service. */
export const serviceText = (service: LearnedService): string =>
  learnedText(version, { ...service, served: service.served.slice(0, maxKept) });

/** Reads what is known of a service; nothing where it was saved for another address. */
export const readService = (text: string | undefined, address: string): LearnedService =>
  learnedContent(text, version, (content): LearnedService | undefined => {
    if (typeof content !== 'object' || content === null) return undefined;
    const { served, ...seen } = content as Readonly<Record<string, unknown>>;
    if (seen['address'] !== address) return undefined;
    return {
      address,
      served: Array.isArray(served) ? served.filter(isName).slice(0, maxKept) : [],
      hasAnswered: seen['hasAnswered'] === true,
      showsButtons: seen['showsButtons'] === true,
    };
  }) ?? { address, served: [], hasAnswered: false, showsButtons: false };
