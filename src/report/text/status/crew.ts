import type { CrewStatus } from '../../facts/crew.ts';
import { count, counted, money, rateWords } from '../amounts.ts';
import { shownLine } from '../printable.ts';

/** Files that workers lack: the rest is in the JSON. */
const mostLacks = 20;

/** How the workers of a run on an engine are doing, for people; nothing for a run of one machine. */
export function crewLines(crew: CrewStatus | undefined): readonly string[] {
  if (crew === undefined || (crew.state === 'ended' && crew.workers.length === 0)) return [];
  const { slices, takeovers, tasks, workers } = crew;
  const more = [
    ...(slices.fed ? [] : ['more to come']),
    ...(takeovers === 0 ? [] : [counted(takeovers, 'takeover')]),
  ];
  return [
    '',
    `On the engine: ${crew.state === 'stopping' ? 'stopping, ' : ''}${crew.led ? 'led' : 'nobody leads it'}`,
    `  slices       ${[`${count(slices.waiting)} waiting`, `${count(slices.held)} held`, `${count(slices.done)} done`, ...more].join(', ')}`,
    ...(tasks.granted === 0
      ? []
      : [`  tasks        ${count(tasks.used)} of ${count(tasks.granted)} granted`]),
    ...crew.rates
      .filter(({ perMinute }) => perMinute >= 0.1)
      .map(
        ({ route, perMinute }) =>
          `  ${route.padEnd(11)}  ${rateWords(perMinute).replace('jobs', 'requests')}`,
      ),
    ...crew.spending.map(({ kind, most, used }) => {
      const words = kind === 'cost' ? money : count;
      return `  ${kind.padEnd(11)}  ${words(used)} of ${words(most)}`;
    }),
    ...workers.map(
      ({ name, alive, slices: held, seenAt }) =>
        `  worker       ${shownLine(name)}: ${alive ? `alive, ${counted(held, 'slice')}` : `not seen since ${new Date(seenAt).toISOString()}`}`,
    ),
    ...(crew.lacks ?? [])
      .slice(0, mostLacks)
      .map(
        ({ worker, path, sha256, slices: waiting }) =>
          `  lacks        ${shownLine(worker)}: ${shownLine(JSON.stringify(path))}${sha256 === '' ? '' : ` (SHA-256 ${sha256.slice(0, 12)})`}, ${counted(waiting, 'slice')}`,
      ),
  ];
}
