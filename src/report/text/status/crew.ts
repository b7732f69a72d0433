import { count, counted, money, rateWords } from '../amounts.ts';
import { shownLine } from '../printable.ts';

/** How the workers of a run on an engine are doing (schemas/status.schema.json). */
export interface CrewStatus {
  readonly state: 'open' | 'stopping' | 'ended';
  /** A process of `promptpress run` leads it. */
  readonly led: boolean;
  readonly workers: readonly {
    readonly name: string;
    readonly session: number;
    readonly startedAt: number;
    readonly seenAt: number;
    readonly alive: boolean;
    readonly slices: number;
  }[];
  readonly slices: {
    readonly waiting: number;
    readonly held: number;
    readonly done: number;
    readonly fed: boolean;
  };
  /** How often a slice was taken from a worker that had not let go of it. */
  readonly takeovers: number;
  readonly rates: readonly {
    readonly route: string;
    readonly perMinute: number;
    readonly pausedMs?: number;
  }[];
  readonly tasks: { readonly granted: number; readonly used: number; readonly accepted?: number };
  readonly spending: readonly { readonly kind: string; readonly most: number; readonly used: number }[];
}

/** The same for people; nothing for a run of one machine. */
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
  ];
}
