import { fileURLToPath } from 'node:url';
import type { Rate } from '../../src/pipeline/pipeline.ts';
import { type Hint, type LimitedRoute, sendAgainst, sharesOf } from '../rig/limited-route.ts';
import { changing, type LimiterKind, limiters } from '../rig/limiters.ts';
import type { Bench } from './comparison.ts';

const minute = 60_000;
const rates = {
  '10/min': { count: 10, perMs: minute },
  '60/min': { count: 60, perMs: minute },
  '600/min': { count: 600, perMs: minute },
  '20/s': { count: 20, perMs: 1000 },
} as const satisfies Record<string, Rate>;
const hints: readonly Hint[] = ['none', 'whole seconds', 'exact'];
/** How long an accepted request takes, ms: a submission, a text. */
const lasting = [300, 8000] as const;
const kinds = Object.keys(limiters) as LimiterKind[];
const mean = (of: readonly number[]): number => of.reduce((sum, one) => sum + one, 0) / of.length;

interface Found {
  /** Refused behind the warm-up, as a part of all. */
  readonly refused: number;
  /** Accepted behind the warm-up, as a part of what the best fixed setting gets accepted. */
  readonly pace: number;
}

const bests = new Map<string, number>();

/** The most that a fixed rate gets accepted of which no more than 2 % is refused, a ms. */
function bestFixed(kind: LimiterKind, rate: Rate): number {
  const name = `${kind} ${rate.count} ${rate.perMs}`;
  const known = bests.get(name);
  if (known !== undefined) return known;
  const end = Math.max((1500 * rate.perMs) / rate.count, 10 * minute);
  let best = 0;
  for (let part = 0.8; part < 1.04; part += 0.02) {
    const fixed = { count: rate.count * part, perMs: rate.perMs };
    const { refused, perMs } = sharesOf(sendAgainst({ limiter: limiters[kind](rate), fixed }, end), 0, end);
    if (refused <= 0.02) best = Math.max(best, perMs);
  }
  bests.set(name, best);
  return best;
}

/** A route with no limit of its own: ten minutes, or 300 requests, are its warm-up. */
function found(kind: LimiterKind, rate: Rate, hint: Hint): Found {
  const spacing = rate.perMs / rate.count;
  const warm = Math.max(300 * spacing, 10 * minute);
  const end = warm + Math.max(1500 * spacing, 10 * minute);
  const got = lasting.flatMap((servedMs) =>
    [1, 2].map((seed) => {
      const width = Math.max(32, Math.ceil((2 * servedMs) / spacing));
      const sent = sendAgainst({ limiter: limiters[kind](rate), hint, servedMs, width, seed }, end);
      return sharesOf(sent, warm, end);
    }),
  );
  return {
    refused: mean(got.map(({ refused }) => refused)),
    pace: mean(got.map(({ perMs }) => perMs)) / bestFixed(kind, rate),
  };
}

interface Followed {
  /** Until nine tenths of the limit are used, ms. */
  readonly ms: number;
  /** Refused of the 200 requests behind the change. */
  readonly refused: number;
}

/** The limit is changed by a factor in mid-run. */
function followed(kind: LimiterKind, rate: Rate, hint: Hint, factor: number): Followed {
  const spacing = rate.perMs / rate.count;
  const at = Math.max(600 * spacing, 10 * minute);
  const end = at + Math.max(3000 * spacing, 40 * minute);
  const after = { ...rate, count: rate.count * factor };
  const options: LimitedRoute = { limiter: changing(kind, rate, at, after), hint, width: 64, seed: 3 };
  const sent = sendAgainst(options, end).filter((one) => one.at >= at);
  const best = bestFixed(kind, after);
  const window = Math.max(minute, 20 / best);
  let from = at;
  while (from < end - window && sharesOf(sent, from, from + window).perMs < 0.9 * best) from += 10_000;
  return { ms: from - at, refused: sent.slice(0, 200).filter(({ isAccepted }) => !isAccepted).length };
}

const each = (kind: LimiterKind): readonly Found[] =>
  Object.values(rates).flatMap((rate) => hints.map((hint) => found(kind, rate, hint)));

/** Two rows for each kind of limiter: the worst of all rates and hints. */
export const foundRate = Object.fromEntries(
  kinds.flatMap((kind): readonly [string, Bench][] => {
    const once = { rounds: 1, warmUp: false } as const;
    const name = kind.replaceAll(/[ ,]+/g, '-');
    const of = `${kind}, 10/min to 20/s, with and without Retry-After; virtual time`;
    return [
      [
        `429-refused-${name}`,
        {
          asks: `how many requests a service refuses (429) that never told its limit: the worst of ${of}`,
          ...once,
          allowed: { figureAtMost: 0.02 },
          prepare: () => ({
            unit: 'of the requests',
            left: {
              name: 'limit unknown',
              measure: () => Math.max(...each(kind).map(({ refused }) => refused)),
            },
          }),
        },
      ],
      [
        `429-pace-${name}`,
        {
          asks: `and how many it accepts, against the best fixed setting: the worst of ${of}`,
          ...once,
          allowed: { figureAtLeast: 0.95 },
          prepare: () => ({
            unit: 'of the best fixed setting',
            left: { name: 'limit unknown', measure: () => Math.min(...each(kind).map(({ pace }) => pace)) },
          }),
        },
      ],
    ];
  }),
);

const percent = (of: number): string => `${(100 * of).toFixed(1).padStart(5)} %`;

/** Every kind of limiter, rate and hint (`npx tsx test/bench/found-rate.ts`). */
function table(): string {
  const lines = [
    'refused and accepted behind the warm-up, the latter of the best fixed setting; and where the limit is halved, then doubled:',
    'minutes until nine tenths of it are used, and refused of 200 requests',
  ];
  for (const kind of kinds)
    for (const [name, rate] of Object.entries(rates))
      for (const hint of hints) {
        const { refused, pace } = found(kind, rate, hint);
        const changes = [0.5, 2].map((factor) => {
          const change = followed(kind, rate, hint, factor);
          return `${(change.ms / minute).toFixed(1).padStart(5)} min ${String(change.refused).padStart(3)}`;
        });
        lines.push(
          [
            kind.padEnd(26),
            name.padEnd(8),
            hint.padEnd(14),
            percent(refused),
            percent(pace),
            ...changes,
          ].join('  '),
        );
      }
  return lines.join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${table()}\n`);
