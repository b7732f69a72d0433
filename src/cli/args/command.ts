import type { Context } from '../../app/context.ts';
import { usageError } from '../../app/errors/cli-error.ts';
import type { Correction } from '../../app/errors/correction.ts';
import { quoted } from '../../report/text/printable.ts';
import { readEnvFile } from '../adapters/env-file.ts';
import { type Arguments, type FlagTable, type FlagValues, readArguments, toggle, valued } from './flags.ts';
import { anyText } from './values.ts';

/** The help of a command and its table of flags, which parser and help share. */
export interface CommandHelp {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The operands after `promptpress <name>`, without flags. */
  readonly operands: string;
  /** One or two paragraphs for a newcomer. */
  readonly about: string;
  readonly examples: readonly { readonly command: string; readonly does: string }[];
  readonly flags: FlagTable;
}

export interface Command extends CommandHelp {
  /** Runs the command and returns its exit code. @throws CliError, Reported for expected failures */
  run(args: readonly string[], context: Context): Promise<number>;
}

const common = {
  dotenv: valued(
    'FILE',
    'read variables from this file too, for example the key from .env; the environment wins over it. No such file is read without this flag',
    Object.assign((text: string, name: string): string => anyText(text, name), { example: '.env' }),
  ),
  help: toggle('show this help', 'h'),
};

/** Shortest value that is treated as a secret; shorter ones may be ordinary words in messages. */
const leastSecret = 8;

/**
 * Adds the variables of a file to the environment. Commands treat them like variables of the environment. Values whose names say that
 * they are secrets are always kept out of output.
 */
async function withEnvFile(file: string | undefined, context: Context): Promise<Context> {
  if (file === undefined) return context;
  const { io, redactor } = context;
  const env = { ...io.env };
  const names = new Set<string>();
  for (const [name, value] of await readEnvFile(file, io.cwd)) {
    // Empty variables count as missing everywhere.
    if ((env[name] ?? '') !== '') continue;
    env[name] = value;
    names.add(name);
    if (value.length >= leastSecret && /(?:KEY|TOKEN|SECRET|PASSWORD)$/i.test(name))
      redactor.addCredential(value);
  }
  return { ...context, io: { ...io, env }, envFile: { file, names } };
}

/** Makes a command from its flags and a function that receives their values. It checks the number of operands. */
export function command<Table extends FlagTable>(
  help: CommandHelp & { readonly flags: Table },
  operands: { readonly least: number; readonly most: number },
  execute: (values: FlagValues<Table>, operands: readonly string[], context: Context) => Promise<number>,
): Command {
  const flags = { ...help.flags, ...common };
  return {
    ...help,
    flags,
    run: async (args, context) => {
      const read: Arguments<FlagTable> = readArguments(flags, args);
      const given = read.positionals.length;
      if (given < operands.least) {
        throw usageError(
          `${help.name} needs ${help.operands}.`,
          `promptpress help ${help.name} explains it.`,
          exampleOf(help),
        );
      }
      if (given > operands.most) throw tooMany(help, read.positionals, operands.most, args);
      const within = await withEnvFile((read.flags as FlagValues<typeof common>).dotenv, context);
      return await execute(read.flags as FlagValues<Table>, read.positionals, within);
    },
  };
}

/** Returns a correction that shows the first example of a command. */
const exampleOf = ({ examples: [first] }: CommandHelp): Correction | undefined => {
  const words = first?.command.split(' ').slice(1) ?? [];
  return words.length === 0 || first?.command.includes('"')
    ? undefined
    : { kind: 'example', words: () => words };
};

function tooMany(
  { name, operands }: CommandHelp,
  given: readonly string[],
  most: number,
  args: readonly string[],
): Error {
  const extra = given[most] ?? '';
  const leaving: Correction = {
    kind: 'mended',
    words: (words) => {
      const at = words.lastIndexOf(extra);
      return at < 1 ? undefined : [...words.slice(0, at), ...words.slice(at + 1)];
    },
  };
  if (most === 0)
    return usageError(`${name} takes flags only; "${extra}" is one word too many.`, 'Leave it out.', leaving);
  return usageError(
    `${name} takes ${most === 1 ? 'one ' : ''}${operands.replace(/[[\]]/g, '')}; "${extra}" is one too many.`,
    most === 1 && isPath(extra)
      ? `One at a time; a second command for ${extra}: ${['promptpress', name, ...args.filter((word) => word !== given[0])].map(quoted).join(' ')}`
      : 'Leave it out. A value with spaces stands in quotes: --set "animal=[lynx, hare]".',
    leaving,
  );
}

/** Whether a word looks like a path. */
const isPath = (word: string): boolean => /[./]/.test(word);
