import { parseArgs } from 'node:util';
import type { RoundOptions } from './rounds.ts';

export interface BenchArguments extends RoundOptions {
  /** As they were given; none: all. */
  readonly names: readonly string[];
  readonly form: 'table' | 'json' | 'markdown';
  /** Only the names are printed, with what they ask. */
  readonly list: boolean;
  /** Only how it is used is printed. */
  readonly help: boolean;
}

export const usage = `Usage: npm run bench -- [NAME…] [flags]

Measures each bench that is named, all without a name, and prints a table.

  NAME        one bench: makespan; with a hyphen or an asterisk at its end all that begin so: outside-, 'makespan*'
  --rounds N  so many rounds of each
  --peer DIR  where promptfoo is installed: DIR/node_modules/.bin/promptfoo
  --million   also what takes many minutes
  --json      the table as JSON
  --markdown  the table as Markdown
  --list      only the names, and what each asks
  --help      this text
`;

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
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { rounds, peer, million, json, markdown, list, help } = values;
  if (rounds !== undefined && !/^[1-9]\d{0,3}$/.test(rounds))
    throw new Error(`--rounds takes a number from 1, not "${rounds}".`);
  if (json && markdown) throw new Error('--json and --markdown are two forms of one table: choose one.');
  return {
    names: positionals,
    form: json ? 'json' : markdown ? 'markdown' : 'table',
    list,
    help,
    million,
    ...(rounds === undefined ? {} : { rounds: Number(rounds) }),
    ...(peer === undefined ? {} : { peer }),
  };
}

/** Whether what was given names a family: all benches that begin so. */
const family = /[-*]$/;

/**
 * The benches with these names, in their own order. A name stands for itself; one that ends with a hyphen or an asterisk for all
 * whose names begin with what is before the asterisk.
 * @throws Error for a name that stands for none
 */
export function selectNames(all: readonly string[], names: readonly string[]): readonly string[] {
  const stands = (name: string, bench: string): boolean =>
    family.test(name) ? bench.startsWith(name.replace(/\*$/, '')) : bench === name;
  const unknown = names.find((name) => !all.some((bench) => stands(name, bench)));
  if (unknown !== undefined) {
    const hint = all.some((bench) => bench.startsWith(`${unknown}-`))
      ? ` All that begin so are "${unknown}-".`
      : '';
    throw new Error(`There is no bench "${unknown}": ${all.join(', ')}.${hint}`);
  }
  return names.length === 0 ? all : all.filter((bench) => names.some((name) => stands(name, bench)));
}
