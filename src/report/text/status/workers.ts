import type { WorkersStatus } from '../../facts/json-outputs.generated.ts';
import { count, counted, money, rateWords } from '../amounts.ts';
import { shownLine } from '../printable.ts';

/** Files that workers lack: the rest is in the JSON. */
const mostLacks = 20;

/** How the workers of a run on an engine are doing, for people; nothing for a run of one machine. */
export function workerLines(workersStatus: WorkersStatus | undefined): readonly string[] {
  if (workersStatus === undefined || (workersStatus.state === 'ended' && workersStatus.workers.length === 0))
    return [];
  const { slices, takeovers, tasks, workers } = workersStatus;
  const more = [
    ...(slices.fed ? [] : ['more to come']),
    ...(takeovers === 0 ? [] : [counted(takeovers, 'takeover')]),
  ];
  return [
    '',
    `On the engine: ${workersStatus.state === 'stopping' ? 'stopping, ' : ''}${workersStatus.led ? 'led' : 'nobody leads it'}`,
    `  slices       ${[`${count(slices.waiting)} waiting`, `${count(slices.held)} held`, `${count(slices.done)} done`, ...more].join(', ')}`,
    ...(tasks.granted === 0
      ? []
      : [`  tasks        ${count(tasks.used)} of ${count(tasks.granted)} granted`]),
    ...workersStatus.rates
      .filter(({ perMinute }) => perMinute >= 0.1)
      .map(
        ({ route, perMinute }) =>
          `  ${route.padEnd(11)}  ${rateWords(perMinute).replace('jobs', 'requests')}`,
      ),
    ...workersStatus.spending.map(({ kind, most, used }) => {
      const words = kind === 'cost' ? money : count;
      return `  ${kind.padEnd(11)}  ${words(used)} of ${words(most)}`;
    }),
    ...workers.map(
      ({ name, alive, slices: held, seenAt }) =>
        `  worker       ${shownLine(name)}: ${alive ? `alive, ${counted(held, 'slice')}` : `not seen since ${new Date(seenAt).toISOString()}`}`,
    ),
    ...(workersStatus.lacks ?? [])
      .slice(0, mostLacks)
      .map(
        ({ worker, path, sha256, slices: waiting }) =>
          `  lacks        ${shownLine(worker)}: ${shownLine(JSON.stringify(path))}${sha256 === '' ? '' : ` (SHA-256 ${sha256.slice(0, 12)})`}, ${counted(waiting, 'slice')}`,
      ),
  ];
}
