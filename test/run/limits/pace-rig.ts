import type { Pace, Refused } from '../../../src/run/limits/pace.ts';
import { seededRandom } from '../../rig/virtual-run.ts';

/** What a server makes of a request: how long its answer takes, and whether it is refused. */
export interface Verdict extends Refused {
  readonly afterMs: number;
  readonly isRefused?: boolean;
  /** Streams under way that it cuts. */
  readonly cuts?: readonly Sent[];
}

/** A request that left. */
export interface Sent {
  readonly key: string;
  readonly kind: string;
  readonly at: number;
  isRefused: boolean;
  endsAt: number;
  refused: Refused;
}

/** @param working what it works on then */
export type Server = (at: number, working: readonly Sent[], random: () => number) => Verdict;

export interface Drive {
  readonly untilMs: number;
  readonly from?: number;
  /** How many may be under way, whatever the pace allows. */
  readonly most?: number;
  /** How many requests leave in all. */
  readonly count?: number;
  readonly seed?: number;
}

/** Sends whenever a pace allows it, in virtual time. @returns what left, in order */
export function drive(
  pace: Pick<Pace, 'nextAt' | 'window' | 'take' | 'served' | 'refused'>,
  server: Server,
  options: Drive,
): readonly Sent[] {
  const { untilMs, from = 0, most = 64, count = Number.POSITIVE_INFINITY, seed = 1 } = options;
  const random = seededRandom(seed);
  const sent: Sent[] = [];
  let underWay: Sent[] = [];
  let now = from;
  while (now < untilMs) {
    const asked = sent.length < count ? pace.nextAt(now) : Number.POSITIVE_INFINITY;
    const at = underWay.length < Math.min(most, pace.window) ? asked : Number.POSITIVE_INFINITY;
    const next = underWay.reduce((least, { endsAt }) => Math.min(least, endsAt), Number.POSITIVE_INFINITY);
    if (at > now || next <= now) {
      now = Math.min(untilMs, Math.max(now, Math.min(at, next)));
      for (const one of underWay.filter(({ endsAt }) => endsAt <= now)) {
        if (one.isRefused) pace.refused(one.key, now, one.refused);
        else pace.served(one.key, now);
      }
      underWay = underWay.filter(({ endsAt }) => endsAt > now);
      continue;
    }
    const key = `${from}-${sent.length}`;
    pace.take(key, now);
    const working = underWay.filter(({ isRefused }) => !isRefused);
    const { afterMs, isRefused = false, cuts = [], ...refused } = server(now, working, random);
    for (const one of cuts) Object.assign(one, { isRefused: true, endsAt: now, refused: { isCut: true } });
    const one = { key, kind: '', at: now, isRefused, endsAt: now + afterMs, refused };
    sent.push(one);
    underWay.push(one);
  }
  return sent;
}

/** Serves so many at once. */
export const atOnce =
  (count: number, servedMs: number, refusal: Refused = {}): Server =>
  (_at, working, random) =>
    working.length < count
      ? { afterMs: servedMs * (0.7 + 0.6 * random()) }
      : { isRefused: true, afterMs: 50 + 50 * random(), ...refusal };

/** Serves so many at once: one more cuts the oldest of them. */
export const cutting =
  (count: number, servedMs: number): Server =>
  (_at, working, random) => ({
    afterMs: servedMs * (0.7 + 0.6 * random()),
    cuts: working.length < count ? [] : working.slice(0, 1),
  });

/** Serves so many in any span of time. */
export function within(count: () => number, perMs: number, servedMs = 300): Server {
  const accepted: number[] = [];
  return (at, _working, random) => {
    while ((accepted[0] ?? at) <= at - perMs) accepted.shift();
    if (accepted.length >= count()) return { isRefused: true, afterMs: 50 + 50 * random() };
    accepted.push(at);
    return { afterMs: servedMs * (0.8 + 0.4 * random()) };
  };
}

/** Refuses this part, whatever is sent. */
export const byChance =
  (part: number, refusal: Refused = {}, servedMs = 300): Server =>
  (_at, _working, random) =>
    random() < part
      ? { isRefused: true, afterMs: 50 + 50 * random(), ...refusal }
      : { afterMs: servedMs * (0.8 + 0.4 * random()) };

/** Refuses everything until a moment, and serves everything from then on. */
export const backAt =
  (moment: number, refusal: Refused = {}, servedMs = 300): Server =>
  (at) =>
    at < moment ? { isRefused: true, afterMs: 100, ...refusal } : { afterMs: servedMs };

/** How many were served and refused of what left within a span of time. */
export function counts(sent: readonly Sent[], from = 0, to = Number.POSITIVE_INFINITY) {
  const those = sent.filter(({ at }) => at >= from && at < to);
  const refused = those.filter(({ isRefused }) => isRefused).length;
  return { sent: those.length, refused, served: those.length - refused };
}
