import type { Rate } from '../../src/pipeline/pipeline.ts';
import { Departures } from '../../src/run/limits/departures.ts';
import { changing, countingRefused, type Limiter, limiters } from '../rig/limiters.ts';
import { isPaid, type PaceSetting, pacedLoop, pacedRun, servedIn } from '../rig/paced-run.ts';
import {
  type Asked,
  after,
  allAt,
  atOnce,
  byChance,
  cutting,
  during,
  limited,
  only,
  type PacedServer,
  type RefusalName,
  type Rule,
  refusals,
  tellsRate,
} from '../rig/paced-server.ts';
import type { Bench } from './comparison.ts';
import { maxInWindow } from './known-limits.ts';

/** One line of the table: a setting, what a run got of it, and what a loop got. */
export interface Line {
  readonly setting: string;
  readonly run: string;
  readonly loop: string;
  /** The run's, of what the bound is about. */
  readonly ratio: number;
  readonly bound: string;
  readonly holds: boolean;
}

const seed = Number(process.env['PACE_SEED'] ?? 1);
const second = 1000;
const minute = 60_000;
const chances = [0.1, 0.3, 0.5, 0.8];
const rates = {
  '10/min': { count: 10, perMs: minute },
  '60/min': { count: 60, perMs: minute },
  '600/min': { count: 600, perMs: minute },
  '20/s': { count: 20, perMs: second },
} as const satisfies Record<string, Rate>;
const windows = {
  'fixed window': limiters['fixed window'],
  'sliding window': limiters['sliding window'],
  'token bucket': limiters['bucket, burst of a window'],
  'counts refused too': countingRefused,
} as const satisfies Record<string, (rate: Rate) => Limiter>;

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
const figure = (of: number): string => (of < 10 ? of.toFixed(2) : of.toFixed(0));
const paidIn = ({ log }: PacedServer, from = 0, to = Number.POSITIVE_INFINITY): readonly Asked[] =>
  log.filter((asked) => isPaid(asked) && asked.at >= from && asked.at < to);
const refusedPart = (of: readonly Asked[]): number =>
  of.filter(({ refusal }) => refusal !== undefined).length / Math.max(1, of.length);

/** Both sides of a setting. */
const sides = async (setting: PaceSetting): Promise<readonly [run: PacedServer, loop: PacedServer]> => {
  const seeded = { ...setting, server: { seed, ...setting.server } };
  return [await pacedRun(seeded), pacedLoop(seeded)];
};

const isPoll = ({ route }: Asked): boolean => route === 'poll';
const isText = ({ route }: Asked): boolean => route === 'text';

/** Refusals by chance, on the requests that they are about. */
const byChanceOf = (of: string, part: number): readonly Rule[] => {
  const [name = '', mixed] = of.split(' + 5 % ');
  const rule = byChance(part, refusals[name as RefusalName]);
  const more = mixed === undefined ? [] : [byChance(0.05, refusals[mixed as RefusalName])];
  return [name === 'reset' ? only(isPoll, rule) : only(isPaid, rule), ...more];
};

const served = (server: PacedServer, setting: PaceSetting): number =>
  (servedIn(server, 0, setting.untilMs) * minute) / setting.untilMs;

async function* chance(): AsyncGenerator<Line> {
  const works = {
    texts: ['429', '503', '502', '429 + 5 % 502', '503 + 5 % 502'],
    images: ['429', '503', 'code 23', 'code 9', 'reset'],
  } as const;
  for (const work of ['texts', 'images'] as const)
    for (const of of works[work])
      for (const isLimited of [false, true])
        for (const kinds of [1, 2])
          for (const part of chances) {
            const isImages = work === 'images';
            const rate: Rate = { count: isImages ? 100 : 600, perMs: minute };
            const setting: PaceSetting = {
              work: isImages && kinds === 2 ? 'clicks' : work,
              models: kinds === 2 ? ['text-a', 'text-b'] : ['text-a'],
              jobs: isImages ? 400 : 1200,
              rules: () => byChanceOf(of, part),
              limits: {
                tasks: 12,
                requests: 16,
                ...(isLimited && { [isImages ? 'submit' : 'text']: rate }),
              },
              untilMs: minute,
            };
            let [run, loop, queue, asked, refused] = [0, 0, 0, 0, 0];
            // Of a hundred submissions a minute of which a fifth are served, three seeds show mere luck.
            const seeds = Array.from({ length: isImages ? (part > 0.5 ? 12 : 3) : 1 }, (_, n) => n + 1);
            for (const more of seeds) {
              const one = { ...setting, server: { seed: seed + more } };
              const got = await pacedRun(one);
              const paid = paidIn(got);
              run += served(got, one) / seeds.length;
              asked += paid.length;
              refused += refusedPart(paid) * paid.length;
              loop += served(pacedLoop(one), one) / seeds.length;
              queue += served(pacedLoop(one, false), one) / seeds.length;
            }
            yield {
              setting: `${setting.work} ${of} ${percent(part)}${isLimited ? `, limits ${rate.count}/min` : ''}${kinds === 2 ? ', two kinds' : ''}`,
              run: `${figure(run)}/min, refused ${percent(refused / Math.max(1, asked))}`,
              loop: `${figure(loop)}/min (${figure(queue)} where others take the place)`,
              ratio: run / loop,
              bound: '≥ 0.85 of the loop',
              holds: run >= 0.85 * loop,
            };
          }
}

async function* limitOfRate(): AsyncGenerator<Line> {
  for (const [kind, limiter] of Object.entries(windows))
    for (const [name, rate] of Object.entries(rates))
      for (const known of [
        'not told',
        'not told, limits ten times too high',
        'requests',
        'tokens',
      ] as const) {
        const isTold = known === 'requests' || known === 'tokens';
        const isTooHigh = known === 'not told, limits ten times too high';
        const spacing = rate.perMs / rate.count;
        const from = Math.max(100 * spacing, 2 * minute);
        const untilMs = from + Math.max(200 * spacing, 5 * minute);
        const [run, loop] = await sides({
          work: 'texts',
          jobs: Math.ceil((1.2 * untilMs) / spacing + rate.count),
          rules: () => [limited(limiter(rate), refusals['429'], isTold)],
          ...(isTold && { server: { tells: tellsRate(rate, known) } }),
          limits: { requests: 32, ...(isTooHigh && { text: { ...rate, count: 10 * rate.count } }) },
          untilMs,
        });
        const usedBy = (server: PacedServer): number =>
          (servedIn(server, from, untilMs) * spacing) / (untilMs - from);
        const refusedBy = (server: PacedServer): number => refusedPart(paidIn(server, from));
        // A limit that the user states wrongly costs refusals, but no pace.
        const most = isTooHigh ? 0.2 : 0.05;
        const later = paidIn(run).filter(({ refusal }) => refusal !== undefined).length - 1;
        const used = usedBy(run);
        yield {
          setting: `${kind} ${name}, ${isTold ? `told by headers, of ${known}` : known}`,
          run: `${percent(used)} of the limit, refused ${percent(refusedBy(run))}${isTold ? `, ${later} after the first` : ''}`,
          loop: `${percent(usedBy(loop))}, refused ${percent(refusedBy(loop))}`,
          ratio: used,
          bound: isTold ? '≥ 0.95, none refused after the first' : `≥ 0.95, refused ≤ ${percent(most)}`,
          holds: used >= 0.95 && (isTold ? later <= 0 : refusedBy(run) <= most),
        };
      }
}

/** Requests from the answer to the first refusal on until, of twenty, one is refused at most, at four fifths of the limit. */
function foundAfter(server: PacedServer, at: number, { count, perMs }: Rate): number {
  const first = server.log.find((asked) => asked.at >= at && asked.refusal !== undefined);
  const asked = paidIn(server, first?.endsAt ?? at);
  for (let from = 0; from + 20 <= asked.length; from += 1) {
    const some = asked.slice(from, from + 20);
    const ms = (some.at(-1)?.at ?? 0) - (some[0]?.at ?? 0);
    if (refusedPart(some) <= 0.05 && (19 * perMs) / count >= 0.8 * ms) return from;
  }
  return Number.POSITIVE_INFINITY;
}

async function* changes(): AsyncGenerator<Line> {
  for (const kind of ['fixed window', 'sliding window', 'bucket, burst of a window'] as const)
    for (const name of ['60/min', '600/min'] as const)
      for (const factor of [0.25, 4]) {
        const at = 10 * minute;
        const rate = factor > 1 ? { ...rates[name], count: rates[name].count / 4 } : rates[name];
        const next = { ...rate, count: rate.count * factor };
        const untilMs = at + 20 * minute;
        const [run, loop] = await sides({
          work: 'texts',
          jobs: (2 * untilMs * rates[name].count) / minute,
          rules: () => [limited(changing(kind, rate, at, next))],
          limits: { requests: 32 },
          untilMs,
        });
        const used = (server: PacedServer, from: number): number =>
          (servedIn(server, from, from + minute) * next.perMs) / next.count / minute;
        if (factor < 1) {
          const [mine, other] = [run, loop].map((server) => foundAfter(server, at, next)) as [number, number];
          yield {
            setting: `${kind} ${name} falls to a quarter`,
            run: `${mine} requests`,
            loop: `${other} requests`,
            ratio: mine,
            bound: '≤ 30 requests behind the flight',
            holds: mine <= 30,
          };
          continue;
        }
        let found = at;
        while (found < untilMs - minute && used(run, found) < 0.9) found += 5000;
        const asked = paidIn(run, at, found).length;
        yield {
          setting: `${kind} rises fourfold to ${name}`,
          run: `${((found - at) / minute).toFixed(1)} min, ${asked} requests`,
          loop: `${percent(used(loop, at + minute))} used in the second minute`,
          ratio: asked,
          bound: '≤ 150 requests or 5 min',
          holds: asked <= 150 || found - at <= 5 * minute,
        };
      }
}

async function* both(): AsyncGenerator<Line> {
  for (const [kind, limiter] of Object.entries(windows))
    for (const name of ['60/min', '600/min'] as const) {
      const rate = rates[name];
      const [from, untilMs] = [2 * minute, 10 * minute];
      const [run, loop] = await sides({
        work: 'texts',
        jobs: (2 * untilMs * rate.count) / minute,
        rules: () => [byChance(0.3, refusals['429']), limited(limiter(rate))],
        limits: { requests: 32 },
        untilMs,
      });
      const used = (server: PacedServer): number =>
        (servedIn(server, from, untilMs) * rate.perMs) / rate.count / (untilMs - from);
      yield {
        setting: `429 30 % above ${kind} ${name}`,
        run: `${percent(used(run))} of the limit, refused ${percent(refusedPart(paidIn(run, from)))}`,
        loop: `${percent(used(loop))}, refused ${percent(refusedPart(paidIn(loop, from)))}`,
        ratio: used(run),
        bound: '≥ 0.85',
        holds: used(run) >= 0.85,
      };
    }
}

/** From a moment to the next request of a kind, s. */
const nextAfter = ({ log }: PacedServer, at: number, isOf: (asked: Asked) => boolean): number =>
  ((log.find((asked) => asked.at > at && isOf(asked))?.at ?? Number.POSITIVE_INFINITY) - at) / second;

const isSubmit = ({ route }: Asked): boolean => route === 'submit';
const troubled = {
  texts: {
    isOf: isText,
    bursts: ['reset', '500', '502', '503', '429'],
    outages: ['unreachable', 'reset', '500', '503'],
  },
  polls: { isOf: isPoll, bursts: ['reset', '500', '503'], outages: ['unreachable', '503'] },
  submissions: {
    isOf: isSubmit,
    bursts: ['503', '429', 'code 23'],
    outages: ['unreachable', '503', 'code 9'],
  },
} as const;

async function* rests(): AsyncGenerator<Line> {
  const listed = (all: readonly number[]): string => `${all.map((one) => one.toFixed(1)).join(', ')} s`;
  for (const [what, { isOf, bursts, outages }] of Object.entries(troubled)) {
    const setting: Omit<PaceSetting, 'rules' | 'untilMs'> = {
      work: what === 'texts' ? 'texts' : 'images',
      jobs: 3000,
      limits: { tasks: 12, requests: 16 },
      // Something is to be asked at any moment.
      ...(what === 'polls' && { poll: { minMs: 1000, maxMs: 1000 } }),
      // So long that all of them are under way at any moment.
      server: {
        lasts: {
          submit: what === 'submissions' ? 2000 : 200,
          poll: what === 'polls' ? 5000 : 100,
          task: what === 'polls' ? 60_000 : 3000,
        },
      },
    };
    for (const how of bursts) {
      const moments = [20 * second, 40 * second] as const;
      const rules = (): readonly Rule[] => moments.map((at) => only(isOf, allAt(at, refusals[how])));
      const each = await sides({ ...setting, rules, untilMs: 2 * minute });
      const [run, loop] = each.map((server) => moments.map((at) => nextAfter(server, at, isOf))) as [
        number[],
        number[],
      ];
      const met = each[0]?.log.filter(({ refusal }) => refusal !== undefined).length;
      yield {
        setting: `two bursts of ${how} on all ${what} under way, ${met} in all`,
        run: `asked again after ${listed(run)}`,
        loop: listed(loop),
        ratio: Math.max(...run),
        bound: '≤ 2 s, then ≤ 4 s',
        holds: (run[0] ?? 0) <= 2 && (run[1] ?? 0) <= 4,
      };
    }
    for (const how of outages) {
      const lasting = [1, 3, 7, 30, 120, 600];
      const found: [number[], number[]] = [[], []];
      for (const seconds of lasting) {
        const to = 20 * second + seconds * second;
        const rules = (): readonly Rule[] => [only(isOf, during(20 * second, to, refusals[how]))];
        const each = await sides({ ...setting, rules, untilMs: to + 2 * minute });
        for (const [side, server] of each.entries()) found[side]?.push(nextAfter(server, to, isOf));
      }
      yield {
        setting: `no ${what} (${how}) for ${lasting.join(', ')} s`,
        run: `asked again ${listed(found[0])} behind`,
        loop: listed(found[1]),
        ratio: Math.max(...found[0].map((one, at) => one / Math.max(2, (lasting[at] ?? 0) / 3))),
        bound: '≤ 2 s or a third of it',
        holds: found[0].every((one, at) => one <= Math.max(2, (lasting[at] ?? 0) / 3)),
      };
    }
  }
}

async function* concurrency(): AsyncGenerator<Line> {
  const ways = {
    '429': { work: 'texts', rule: (most: number) => atOnce(most, refusals['429']) },
    '429, Retry-After: 60': {
      work: 'texts',
      rule: (most: number) => atOnce(most, after(refusals['429'], 60)),
    },
    'code 23': { work: 'images', rule: (most: number) => only(isSubmit, atOnce(most, refusals['code 23'])) },
    'cut streams': { work: 'streams', rule: cutting },
  } as const;
  for (const [name, { work, rule }] of Object.entries(ways))
    for (const most of [1, 2, 5]) {
      const isImages = work === 'images';
      const untilMs = (isImages ? 10 : 2) * minute;
      const setting = { work, jobs: 2000, limits: { tasks: 12, requests: 32 }, untilMs } as const;
      const each = await sides({ ...setting, rules: () => [rule(most)] });
      const told = await pacedRun({
        ...setting,
        rules: () => [],
        limits: isImages ? { tasks: most, requests: 32 } : { requests: most },
      });
      const [run, loop] = each.map((server) => {
        const asked = paidIn(server);
        const from = asked[19]?.at ?? untilMs;
        return {
          used: servedIn(server, from, untilMs) / Math.max(1, servedIn(told, from, untilMs)),
          calls: asked.length / Math.max(1, servedIn(server, 0, untilMs)),
        };
      }) as [Used, Used];
      const words = ({ used, calls }: Used): string =>
        `${percent(used)} of a run that is told, ${figure(calls)} calls a row`;
      yield {
        setting: `${most} at once, told by ${name}`,
        run: words(run),
        loop: words(loop),
        ratio: run.used,
        bound: '≥ 0.9, ≤ 1.3 calls a row',
        holds: run.used >= 0.9 && run.calls <= 1.3,
      };
    }
}

interface Used {
  readonly used: number;
  readonly calls: number;
}

async function* refusedKind(): AsyncGenerator<Line> {
  const untilMs = 2 * minute;
  const of = (work: 'texts' | 'images', how: RefusalName | undefined): PaceSetting => ({
    work: work === 'images' && how !== undefined ? 'clicks' : work,
    models: ['text-a', 'text-b', ...(how === undefined ? [] : ['text-c'])],
    jobs: 4000,
    rules: () =>
      how === undefined
        ? []
        : [only(({ kind }) => kind === 'click' || kind === 'text-c', byChance(1, refusals[how]))],
    limits: { tasks: 12, requests: 16 },
    untilMs,
  });
  for (const [work, hows] of [
    ['texts', ['429', '503', '500', 'reset']],
    ['images', ['429', '503', 'code 9']],
  ] as const) {
    const alone = (await sides(of(work, undefined))).map((server) => servedIn(server, 0, untilMs));
    for (const how of hows) {
      const each = (await sides(of(work, how))).map((server) => servedIn(server, 0, untilMs));
      const [run, loop] = each.map((one, side) => one / (alone[side] ?? 1)) as [number, number];
      yield {
        setting: `${work === 'texts' ? 'a third text model' : 'all clicks'} always ${how}`,
        run: `the healthy get ${percent(run)} of what they get alone`,
        loop: percent(loop),
        ratio: run,
        bound: '≥ 0.95',
        holds: run >= 0.95,
      };
    }
  }
}

/** When what the run decided at these moments leaves the process. */
function leavingOf(times: readonly number[], rate: Rate): readonly number[] {
  const departures = new Departures(rate);
  return times.reduce<number[]>((left, decided) => {
    const at = Math.max(decided, left.at(-1) ?? 0, departures.nextAt(Math.max(decided, left.at(-1) ?? 0)));
    departures.pass(at);
    departures.leave(at);
    left.push(at);
    return left;
  }, []);
}

async function* known(): AsyncGenerator<Line> {
  for (const [name, rate] of Object.entries(rates))
    for (const work of ['texts', 'images'] as const) {
      const rules: Readonly<Record<string, () => readonly Rule[]>> = {
        'nothing refused': () => [],
        '429 30 %': () => [only(isPaid, byChance(0.3, refusals['429']))],
        'gone for 30 s': () => [during(minute, 1.5 * minute, refusals.unreachable)],
      };
      for (const [how, make] of Object.entries(rules)) {
        const untilMs = 5 * minute;
        const limits = { tasks: 60, requests: 32, [work === 'texts' ? 'text' : 'submit']: rate };
        const each = await sides({ work, jobs: 7000, rules: make, limits, untilMs });
        const [run, loop] = each.map((server, side) => {
          const times = paidIn(server).map(({ at }) => at);
          return maxInWindow(side === 0 ? leavingOf(times, rate) : times, rate.perMs);
        }) as [number, number];
        yield {
          setting: `limits ${name}, ${work}, ${how}`,
          run: `${run} in a window`,
          loop: `${loop}`,
          ratio: run / rate.count,
          bound: `≤ ${rate.count} in any window`,
          holds: run <= rate.count,
        };
      }
    }
}

/** The lines as a table, beside it how many hold. */
function tableOf(lines: readonly Line[]): string {
  const cells = lines.map(({ setting, run, loop, ratio, bound, holds }) => [
    setting,
    run,
    loop,
    ratio.toFixed(2),
    bound,
    holds ? 'holds' : 'DOES NOT HOLD',
  ]);
  const all = [['setting', 'the run', 'the loop', 'ratio', 'bound', ''], ...cells];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0))) ?? [];
  return all
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Prints the lines to standard error. @returns the part of them that hold */
async function printed(lines: () => AsyncIterable<Line>): Promise<number> {
  const all: Line[] = [];
  for await (const line of lines()) all.push(line);
  console.error(`${tableOf(all)}\n(PACE_SEED=${seed})`);
  return all.filter(({ holds }) => holds).length / all.length;
}

/** A bench whose figure is the part of its lines that hold. */
export const linesBench = (asks: string, lines: () => AsyncIterable<Line>): Bench => ({
  asks,
  allowed: { figureAtLeast: 1 },
  rounds: 1,
  warmUp: false,
  prepare: () => ({ unit: 'of the lines', left: { name: 'hold', measure: () => printed(lines) } }),
});

/** The rule of pace in virtual time, each line beside a careless loop against the same server. */
export const pace = {
  'pace-a': linesBench(
    'refusals by chance: served in a minute, of what a careless loop gets; virtual time',
    chance,
  ),
  'pace-b': linesBench('a limit of rate: served of it, and refused; virtual time', limitOfRate),
  'pace-c': linesBench('a limit that changes: how soon that is found; virtual time', changes),
  'pace-d': linesBench('refusals by chance above a limit of rate; virtual time', both),
  'pace-e': linesBench('bursts and outages: how long it rests; virtual time', rests),
  'pace-f': linesBench('a limit of concurrency: served of what fits, calls a row; virtual time', concurrency),
  'pace-g': linesBench('one kind that is always refused: what the others lose; virtual time', refusedKind),
  'pace-h': linesBench('known limits: the most in any window; virtual time', known),
} as const satisfies Record<string, Bench>;
