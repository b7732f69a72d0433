import type { FlagValues } from './flags.ts';
import type { runFlags } from './run-flags.ts';

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** The flags that say which run is meant. */
type PlaceAndPart = Pick<
  FlagValues<typeof runFlags>,
  | 'sandbox'
  | 'out'
  | 'trust-directory'
  | 'base-url'
  | 'files-root'
  | 'speed'
  | 'limit'
  | 'filter'
  | 'shard'
  | 'only'
>;

/** The command that goes on with a run: the same pipeline, place and part of the plan; a commandline to copy. */
export function runAgain(file: string, flags: PlaceAndPart): string {
  const { limit, shard } = flags;
  const words = [
    'promptpress run',
    quoted(file),
    ...(flags.sandbox ? ['--sandbox'] : []),
    ...flag('out', flags.out),
    ...(flags['trust-directory'] ? ['--trust-directory'] : []),
    ...flag('base-url', flags['base-url']),
    ...flag('files-root', flags['files-root']),
    ...flag('speed', flags.speed),
    ...flag('limit', limit?.toString()),
    ...flags.filter.flatMap(({ axis, value }) => flag('filter', `${axis}=${value}`)),
    ...flag('shard', shard === undefined ? undefined : `${shard.index}/${shard.of}`),
    ...flags.only.flatMap((step) => flag('only', step)),
  ];
  return words.join(' ');
}

const flag = (name: string, value: string | undefined): readonly string[] =>
  value === undefined ? [] : [`--${name} ${quoted(value)}`];
