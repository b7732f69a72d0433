import { parseArgs } from 'node:util';
import { CliError, exitCodes, usageError } from '../../app/errors/cli-error.ts';
import { type Correction, exchanging, revaluing } from '../../app/errors/correction.ts';
import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';

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
  /** A value that it takes, for messages; absent where it takes none. */
  readonly example?: string;
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
  /** One that it takes. */
  readonly example?: string;
}

/** What stands for a value of which only the flag knows what it is. */
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
  ...wordsOf(read, placeholder),
});

/** A flag that may be given several times. */
export const repeated = <T>(placeholder: string, help: string, read: Reading<T>): Flag<readonly T[]> => ({
  placeholder,
  help,
  repeatable: true,
  absent: [],
  ...wordsOf(read, placeholder),
  read: (text, name, earlier) => [...earlier, read(text, name)],
});

/** The arguments of a command, read. */
export interface Arguments<Table extends FlagTable> {
  readonly flags: FlagValues<Table>;
  readonly positionals: readonly string[];
}

/** A flag that a command does not have; who knows all commands says which of them has it. */
export class UnknownFlagError extends CliError {
  /** With its hyphens, without a value. */
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
    if (flag === undefined) throw unknownFlag(args[token.index] ?? token.rawName, token.index, table);
    const text = valueOf(token, flag, args);
    values.set(token.name, readValue(flag, text, `--${token.name}`, values.get(token.name)));
  }
  return { flags: Object.fromEntries(values) as FlagValues<Table>, positionals };
}

/** The value of a flag; a message about it ends with a command line in which it is right. */
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
      `--${name} takes no value, and here it has "${value}".`,
      `It is a switch: --${name} alone turns it on; leave it out to have it off.`,
      exchanging(index, isNo ? [] : [`--${name}`]),
    );
  }
  // `--limit --json`: the next flag is not a value, though a number below 0 is; any other such value is `--name=-value`.
  if (value === undefined || (token.inlineValue !== true && /^-(?!\.?\d)/.test(value))) {
    const next = args[index + 1];
    throw usageError(
      `--${name} needs a value: --${name} ${placeholder}. ${next === undefined ? 'Nothing stands behind it.' : `Behind it stands the flag ${next}.`}`,
      undefined,
      example === undefined ? undefined : exchanging(index, [`--${name}`, example], 'example'),
    );
  }
  return value;
}

/** @param word as it was written @param index where it stands behind the command */
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
