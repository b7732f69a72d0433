import type { Route } from '../../run/events.ts';
import type { LanePace } from '../../run/limits/learned-limits.ts';
import { count, counted } from './amounts.ts';
import { shownLine } from './printable.ts';

const requests = {
  submit: 'submissions',
  text: 'text calls',
  poll: 'polls of tasks',
  download: 'downloads',
} as const satisfies Record<Route, string>;

/** Names a lane: `submissions`, `text calls of text-pro`. */
export const laneWords = ({ route, kind }: Pick<LanePace, 'route' | 'kind'>): string =>
  kind === undefined ? requests[route] : `${requests[route]} of ${shownLine(kind)}`;

/** Smallest share of random refusals that is reported. */
const leastShare = 0.05;

/** Describes the limits found for a lane: `2 at a time fit at text-pro`. */
export function paceWords(pace: LanePace): string {
  const { atOnce, perMinute, byChance = 0 } = pace;
  const what = laneWords(pace);
  const words = [
    ...(atOnce === undefined ? [] : [atOnceWords(pace, atOnce)]),
    ...(perMinute === undefined ? [] : [`about ${aboutWords(perMinute)} ${what} a minute are served`]),
    ...(byChance < leastShare
      ? []
      : [`${shareWords(byChance)} of the ${what} are refused by chance: each refused job waits alone`]),
  ];
  return words.length === 0 ? `there is no known limit of ${what} any more` : words.join('; ');
}

function atOnceWords({ route, kind }: LanePace, atOnce: number): string {
  const fit = atOnce === 1 ? 'fits' : 'fit';
  if (kind !== undefined) return `${count(atOnce)} at a time ${fit} at ${shownLine(kind)}`;
  const noun = { submit: 'task', text: 'text call', poll: 'poll', download: 'download' } as const;
  return `${counted(atOnce, noun[route])} at a time ${fit}`;
}

const aboutWords = (value: number): string => {
  const rounded = Number(value.toPrecision(2));
  return rounded < 10 ? String(rounded) : count(rounded);
};

function shareWords(share: number): string {
  const known = [[1 / 2, 'half'] as const, [1 / 3, 'a third'] as const, [2 / 3, 'two thirds'] as const];
  const word = known.find(([part]) => Math.abs(share - part) <= 0.03)?.[1];
  return word ?? `${Math.round(100 * share)} %`;
}
