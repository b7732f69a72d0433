import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { isWhole, type Round, type RoundOptions } from './round.ts';

/** Figures of a round that add up. */
const counted = [
  ...([
    'kills',
    'ledAgain',
    'stops',
    'beyond',
    'cuts',
    'cutsBeyond',
    'gatewayCuts',
    'restarts',
    'serverKills',
  ] as const),
  ...([
    'missed',
    'restores',
    'unknown',
    'redos',
    'strangers',
    'jobs',
    'submissions',
    'doubts',
    'found',
  ] as const),
  ...(['neverSent', 'open', 'lateFacts', 'textsAgain', 'textsCounted'] as const),
] as const;

/** What one round came to, as a line of JSON: rounds of several sittings add up. */
export interface RoundLine extends Readonly<Record<(typeof counted)[number], number>> {
  /** When it ended, ISO 8601. */
  readonly at: string;
  /** The commit that it was played on; with a `+` where something was changed. */
  readonly commit: string;
  readonly seed: number;
  readonly queue: RoundOptions['queue'];
  readonly workers: number;
  readonly ms: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly sameManifest: boolean;
  readonly sameAttempts: boolean;
  readonly codes: readonly (number | undefined)[];
  readonly whole: boolean;
}

/** A round that came to no end, or was not as it should be. */
export interface BrokenLine extends Pick<RoundLine, 'at' | 'commit' | 'seed' | 'queue' | 'workers'> {
  readonly broken: string;
}

export function lineOf(
  round: Round,
  { seed, queue, workers }: RoundOptions,
  place: Pick<RoundLine, 'at' | 'commit'>,
): RoundLine {
  const sums = Object.fromEntries(counted.map((name) => [name, round[name]])) as Record<
    (typeof counted)[number],
    number
  >;
  return {
    ...place,
    seed,
    queue,
    workers,
    ms: round.ms,
    ...sums,
    lost: round.lost.length,
    duplicated: round.duplicated.length,
    sameManifest: round.sameManifest,
    sameAttempts: round.sameAttempts,
    codes: round.codes,
    whole: isWhole(round),
  };
}

export function appendLine(file: string | undefined, line: RoundLine | BrokenLine): void {
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`);
}

export function readLines(file: string): readonly (RoundLine | BrokenLine)[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as RoundLine | BrokenLine);
}

/** Rounds in one line of text, added up. */
export function sumText(lines: readonly (RoundLine | BrokenLine)[]): string {
  const rounds = lines.filter((line): line is RoundLine => !('broken' in line));
  const sum = (of: (line: RoundLine) => number): number => rounds.reduce((all, line) => all + of(line), 0);
  const parts = [
    `${rounds.length} rounds`,
    `${sum(({ kills }) => kills)} kills (${sum(({ ledAgain }) => ledAgain)} of a coordinator, led again within its lease)`,
    `${sum(({ stops }) => stops)} stops (${sum(({ beyond }) => beyond)} beyond the lease)`,
    `${sum(({ cuts }) => cuts)} cuts from PostgreSQL (${sum(({ cutsBeyond }) => cutsBeyond)} beyond the lease)`,
    `${sum(({ gatewayCuts }) => gatewayCuts)} from the gateway`,
    `${sum(({ restarts }) => restarts)} restarts of a server (${sum(({ serverKills }) => serverKills)} after kill -9 of PostgreSQL)`,
    `${sum(({ restores }) => restores)} restores (${sum(({ unknown }) => unknown)} submissions unknown to them)`,
    `${sum(({ redos }) => redos)} jobs made anew`,
    `${sum(({ strangers }) => strangers)} times another file was told of`,
    `${sum(({ missed }) => missed)} faults too late`,
    `${sum(({ submissions }) => submissions)} submissions for ${sum(({ jobs, redos }) => jobs + redos)} images`,
    `${sum(({ lost }) => lost)} lost`,
    `${sum(({ duplicated }) => duplicated)} duplicated`,
    `${sum(({ doubts }) => doubts)} in doubt (${sum(({ found }) => found)} found, ${sum(({ neverSent }) => neverSent)} never sent, ${sum(({ open }) => open)} open)`,
    `${sum(({ lateFacts }) => lateFacts)} late facts`,
    `texts asked for ${sum(({ textsAgain }) => textsAgain)} times again (${sum(({ textsCounted }) => textsCounted)} counted as without an answer)`,
    `the same manifest ${sum(({ sameManifest }) => Number(sameManifest))} times`,
    `with attempts ${sum(({ sameAttempts }) => Number(sameAttempts))} times`,
    `${lines.length - sum(({ whole }) => Number(whole))} rounds broken`,
    `${Math.round(sum(({ ms }) => ms) / 1000)} s`,
  ];
  return parts.join(', ');
}

/** The same for each queue, and in all. */
export function totalsText(lines: readonly (RoundLine | BrokenLine)[]): string {
  const queues = [...new Set(lines.map(({ queue }) => queue))];
  const of = queues.map((queue) => `  ${queue}: ${sumText(lines.filter((line) => line.queue === queue))}`);
  return [`TOTALS: ${sumText(lines)}`, ...(queues.length > 1 ? of : [])].join('\n');
}
