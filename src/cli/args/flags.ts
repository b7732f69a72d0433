import { parseArgs } from 'node:util';
import { usageError } from '../errors/cli-error.ts';
import { didYouMean } from './did-you-mean.ts';

/** One flag of a command: what help says of it and how its text becomes a value. */
export interface Flag<T> {
  /** Stands for the value in help; absent: the flag takes none. */
  readonly placeholder?: string;
  /** Said in help: unit and default included. */
  readonly help: string;
  /** May be given several times. */
  readonly repeatable: boolean;
  /** One letter. */
  readonly short?: string;
  /** The only values that it takes, for shells that complete them. */
  readonly words?: readonly string[];
  /** The value when the flag is not given. */
  readonly absent: T;
  /** `earlier` is the value so far, for flags that repeat. @throws CliError naming the flag */
  read(text: string, name: string, earlier: T): T;
}

/** The flags of one command by their long names: read by the parser and by help. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

/** What a command gets: the value of every flag of its table. */
export type FlagValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Flag<infer T> ? T : never;
};

/** How a text becomes a value. @throws CliError naming the flag */
export interface Reading<T> {
  (text: string, name: string): T;
  /** The only texts that it takes, where these can be listed. */
  readonly words?: readonly string[];
}

const wordsOf = ({ words }: Reading<unknown>): { readonly words?: readonly string[] } =>
  words === undefined ? {} : { words };

/** A flag without a value. */
export const toggle = (help: string, short?: string): Flag<boolean> => ({
  help,
  repeatable: false,
  absent: false,
  read: () => true,
  ...(short === undefined ? {} : { short }),
});

/** A flag whose value `read` understands; it says what it expects by throwing a text. */
export const valued = <T>(placeholder: string, help: string, read: Reading<T>): Flag<T | undefined> => ({
  placeholder,
  help,
  repeatable: false,
  absent: undefined,
  read,
  ...wordsOf(read),
});

/** A flag that may be given several times. */
export const repeated = <T>(placeholder: string, help: string, read: Reading<T>): Flag<readonly T[]> => ({
  placeholder,
  help,
  repeatable: true,
  absent: [],
  ...wordsOf(read),
  read: (text, name, earlier) => [...earlier, read(text, name)],
});

/** The arguments of a command, read. */
export interface Arguments<Table extends FlagTable> {
  readonly flags: FlagValues<Table>;
  readonly positionals: readonly string[];
}

/**
 * Reads a command line by its table. A flag may stand anywhere; `--name=value` and `--name value` are the same;
 * of a flag that does not repeat the last one counts; `--` ends the flags.
 *
 * @throws CliError (exit 2) for an unknown flag, with what was probably meant, and for a missing or wrong value
 */
export function readArguments<Table extends FlagTable>(
  table: Table,
  args: readonly string[],
): Arguments<Table> {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(table).map(([name, flag]) => [
        name,
        {
          type: flag.placeholder === undefined ? ('boolean' as const) : ('string' as const),
          ...(flag.short === undefined ? {} : { short: flag.short }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const values = new Map<string, unknown>(Object.entries(table).map(([name, flag]) => [name, flag.absent]));
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
    if (flag === undefined) throw unknownFlag(token.rawName, Object.keys(table));
    values.set(token.name, flag.read(valueOf(token, flag), `--${token.name}`, values.get(token.name)));
  }
  return { flags: Object.fromEntries(values) as FlagValues<Table>, positionals };
}

function valueOf(
  token: {
    readonly name: string;
    readonly value?: string | undefined;
    readonly inlineValue?: boolean | undefined;
  },
  flag: Flag<unknown>,
): string {
  const { placeholder } = flag;
  if (placeholder === undefined) {
    if (token.value !== undefined) throw usageError(`--${token.name} takes no value.`);
    return '';
  }
  // `--limit --json`: the next flag is not a value, though a number below 0 is; any other such value is `--name=-value`.
  if (token.value === undefined || (token.inlineValue !== true && /^-(?!\.?\d)/.test(token.value))) {
    throw usageError(`--${token.name} needs a value: --${token.name} ${placeholder}.`);
  }
  return token.value;
}

const unknownFlag = (written: string, known: readonly string[]): Error => {
  // Node.js carries out what such a file sets (NODE_OPTIONS) before any program of it begins, wherever the flag stands.
  if (written === '--env-file' && known.includes('dotenv'))
    return usageError(
      'There is no flag --env-file here: Node.js itself takes it, and lets the file set what Node.js runs.',
      'Write --dotenv FILE.',
    );
  const word = written.replace(/^--?/, '');
  return usageError(
    `There is no flag ${written} here.`,
    didYouMean(word, known, '--') ?? 'promptpress help COMMAND lists the flags of a command.',
  );
};
