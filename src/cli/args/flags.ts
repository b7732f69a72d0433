import { parseArgs } from 'node:util';
import { CliError, exitCodes, usageError } from '../../app/errors/cli-error.ts';
import { type Correction, exchanging, revaluing } from '../../app/errors/correction.ts';
import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';

/** A flag of a command: its help, and how its text is converted into a value. */
export interface Flag<T> {
  /** Name of the value in help; absent if the flag takes none. */
  readonly placeholder?: string;
  /** Description in help, with unit and default. */
  readonly help: string;
  /** Whether it may be given several times. */
  readonly repeatable: boolean;
  /** Short form, one letter. */
  readonly short?: string;
  /** All accepted values, for completion; absent if they cannot be listed. */
  readonly words?: readonly string[];
  /** An accepted value for messages; absent if the flag takes none. */
  readonly example?: string;
  /** Value when the flag is not given. */
  readonly absent: T;
  /** Reads a value; `earlier` is the value so far, for repeated flags. @throws CliError with the name of the flag */
  read(text: string, name: string, earlier: T): T;
}

/** The flags of a command by their long names. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

/** The values of all flags of a table. */
export type FlagValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Flag<infer T> ? T : never;
};

/** Converts the text of a flag into a value. @throws CliError with the name of the flag */
export interface Reading<T> {
  (text: string, name: string): T;
  /** All accepted texts, if they can be listed. */
  readonly words?: readonly string[];
  /** An accepted text. */
  readonly example?: string;
}

/** Examples by placeholder, for flags without an example of their own. */
const examples: Readonly<Record<string, string>> = {
  DIR: 'runs/second',
  FILE: 'second.csv',
  URL: 'https://gateway.example',
  STEP: 'grid',
  CODE: 'task.failed',
  JOB: '3f9c21',
  ID: '1762000000000123',
  NAME: 'PROMPTPRESS_API_KEY',
  NAMES: 'midjourney-proxy',
  PORT: '8080',
};

const wordsOf = (
  { words, example = words?.[0] }: Reading<unknown>,
  placeholder: string,
): Pick<Flag<unknown>, 'words' | 'example'> => {
  const shown = example ?? examples[placeholder];
  return { ...(words === undefined ? {} : { words }), ...(shown === undefined ? {} : { example: shown }) };
};

/** Makes a flag without a value. */
export const toggle = (help: string, short?: string): Flag<boolean> => ({
  help,
  repeatable: false,
  absent: false,
  read: () => true,
  ...(short === undefined ? {} : { short }),
});

/** Makes a flag with a value. `read` throws a text that says what it expects. */
export const valued = <T>(placeholder: string, help: string, read: Reading<T>): Flag<T | undefined> => ({
  placeholder,
  help,
  repeatable: false,
  absent: undefined,
  read,
  ...wordsOf(read, placeholder),
});

/** Makes a flag that may be given several times. */
export const repeated = <T>(placeholder: string, help: string, read: Reading<T>): Flag<readonly T[]> => ({
  placeholder,
  help,
  repeatable: true,
  absent: [],
  ...wordsOf(read, placeholder),
  read: (text, name, earlier) => [...earlier, read(text, name)],
});

/** The parsed arguments of a command. */
export interface Arguments<Table extends FlagTable> {
  readonly flags: FlagValues<Table>;
  readonly positionals: readonly string[];
}

/** Error for an unknown flag. A handler that knows all commands adds which of them have it. */
export class UnknownFlagError extends CliError {
  /** The flag with its hyphens, without a value. */
  readonly flag: string;

  constructor(flag: string, message: string, hint: string | undefined, correction?: Correction) {
    super(exitCodes.usage, message, {
      ...(hint === undefined ? {} : { hint }),
      ...(correction === undefined ? {} : { correction }),
    });
    this.flag = flag;
  }
}

/**
 * Parses a command line by a table of flags. Flags may stand anywhere; `--name=value` equals `--name value`; the last one of a flag that
 * does not repeat counts; `--` ends the flags.
 *
 * @throws CliError (exit 2) for an unknown flag, with a suggestion, and for a missing or wrong value
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
    if (flag === undefined) throw unknownFlag(args[token.index] ?? token.rawName, token.index, table);
    const text = valueOf(token, flag, args);
    values.set(token.name, readValue(flag, text, `--${token.name}`, values.get(token.name)));
  }
  return { flags: Object.fromEntries(values) as FlagValues<Table>, positionals };
}

/** Reads the value of a flag; an error includes a corrected command line. */
function readValue(flag: Flag<unknown>, text: string, name: string, earlier: unknown): unknown {
  try {
    return flag.read(text, name, earlier);
  } catch (error) {
    if (!(error instanceof CliError) || error.correction !== undefined || flag.example === undefined)
      throw error;
    throw usageError(error.message, error.hint, revaluing(name, text, [flag.example], 'example'));
  }
}

function valueOf(
  token: {
    readonly name: string;
    readonly index: number;
    readonly value?: string | undefined;
    readonly inlineValue?: boolean | undefined;
  },
  { placeholder, example }: Flag<unknown>,
  args: readonly string[],
): string {
  const { name, index, value } = token;
  if (placeholder === undefined) {
    if (value === undefined) return '';
    const isNo = /^(?:no|off|false|0)$/i.test(value);
    throw usageError(
      `--${name} takes no value, but here it has "${value}".`,
      `It is a switch: --${name} alone turns it on; leave it out to have it off.`,
      exchanging(index, isNo ? [] : [`--${name}`]),
    );
  }
  // In `--limit --json` the next flag is not a value, unlike a negative number; other such values need `--name=-value`.
  if (value === undefined || (token.inlineValue !== true && /^-(?!\.?\d)/.test(value))) {
    const next = args[index + 1];
    throw usageError(
      `--${name} needs a value: --${name} ${placeholder}. ${next === undefined ? 'Nothing follows it.' : `The flag ${next} follows it.`}`,
      undefined,
      example === undefined ? undefined : exchanging(index, [`--${name}`, example], 'example'),
    );
  }
  return value;
}

/** Returns the error for an unknown flag. @param word as written @param index of the word after the command */
function unknownFlag(word: string, index: number, table: FlagTable): UnknownFlagError {
  const equals = word.indexOf('=');
  const written = equals < 0 ? word : word.slice(0, equals);
  const inline = equals < 0 ? [] : [word.slice(equals + 1)];
  const name = written.replace(/^--?/, '');
  const refused = (message: string, hint: string | undefined, instead: readonly string[]): UnknownFlagError =>
    new UnknownFlagError(
      written,
      message,
      hint,
      instead.length === 0 ? undefined : exchanging(index, [...instead, ...inline]),
    );
  const known = Object.keys(table);
  const isWhole = known.includes(name);
  const dashed = name.replaceAll('_', '-');
  const near = [name, dashed].find((one) => known.includes(one)) ?? nearest(dashed, known);
  const isOneHyphen = /^-[^-]./.test(written);
  const hyphens =
    isOneHyphen && near !== undefined ? ' A flag of more than one letter begins with two hyphens.' : '';
  return refused(
    `There is no flag ${written} here.${hyphens}`,
    near === undefined
      ? 'promptpress help COMMAND lists the flags of a command.'
      : isWhole
        ? undefined
        : `Did you mean --${near}?`,
    near === undefined ? [] : [`--${near}`],
  );
}
