import { parseArgs } from 'node:util';
import type { RoundOptions } from './rounds.ts';

export interface BenchArguments extends RoundOptions {
  /** As they were given; none: all. */
  readonly names: readonly string[];
  readonly form: 'table' | 'json' | 'markdown';
  /** Only the names are printed, with what they ask. */
  readonly list: boolean;
}

/** Reads the arguments of `npm run bench`. @throws Error in the words of node:util, or ours */
export function readArguments(args: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      peer: { type: 'string' },
      million: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  const { rounds, peer, million, json, markdown, list } = values;
  if (rounds !== undefined && !/^[1-9]\d{0,3}$/.test(rounds))
    throw new Error(`--rounds takes a number from 1, not "${rounds}".`);
  if (json && markdown) throw new Error('--json and --markdown are two forms of one table: choose one.');
  return {
    names: positionals,
    form: json ? 'json' : markdown ? 'markdown' : 'table',
    list,
    million,
    ...(rounds === undefined ? {} : { rounds: Number(rounds) }),
    ...(peer === undefined ? {} : { peer }),
  };
}

/**
 * The benches with these names, in their own order. A name also stands for all whose names begin with it and a hyphen: `outside`.
 * @throws Error for a name that stands for none
 */
export function selectNames(all: readonly string[], names: readonly string[]): readonly string[] {
  const stands = (name: string, bench: string): boolean => bench === name || bench.startsWith(`${name}-`);
  const unknown = names.find((name) => !all.some((bench) => stands(name, bench)));
  if (unknown !== undefined) throw new Error(`There is no bench "${unknown}": ${all.join(', ')}.`);
  return names.length === 0 ? all : all.filter((bench) => names.some((name) => stands(name, bench)));
}
