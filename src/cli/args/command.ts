import { usageError } from '../errors/cli-error.ts';
import type { Io } from '../terminal/io.ts';
import type { Redactor } from '../terminal/redact.ts';
import { type Arguments, type FlagTable, type FlagValues, readArguments, toggle } from './flags.ts';

/** What a command is given beside its arguments. */
export interface Context {
  readonly io: Io;
  /** Applied to everything that the command prints or writes; the command adds each secret that it learns. */
  readonly redactor: Redactor;
}

/** All that help says of a command, and its table of flags: parser and help read the same one. */
export interface CommandHelp {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What stands behind `promptpress <name>`, without the flags. */
  readonly operands: string;
  /** A paragraph or two for a newcomer. */
  readonly about: string;
  readonly examples: readonly { readonly command: string; readonly does: string }[];
  readonly flags: FlagTable;
}

export interface Command extends CommandHelp {
  /** Returns the exit code. @throws CliError, Reported for expected failures */
  run(args: readonly string[], context: Context): Promise<number>;
}

const common = { help: toggle('show this help', 'h') };

/** Ties a table of flags to the function that gets their values, and checks the number of operands. */
export function command<Table extends FlagTable>(
  help: CommandHelp & { readonly flags: Table },
  operands: { readonly least: number; readonly most: number },
  execute: (values: FlagValues<Table>, operands: readonly string[], context: Context) => Promise<number>,
): Command {
  const flags = { ...help.flags, ...common };
  return {
    ...help,
    flags,
    run: (args, context) => {
      const read: Arguments<FlagTable> = readArguments(flags, args);
      const given = read.positionals.length;
      if (given < operands.least) {
        throw usageError(
          `${help.name} needs ${help.operands}.`,
          `promptpress help ${help.name} explains it.`,
        );
      }
      if (given > operands.most) {
        throw usageError(
          `${help.name} takes ${help.operands}; "${read.positionals[operands.most]}" is one too many.`,
        );
      }
      return execute(read.flags as FlagValues<Table>, read.positionals, context);
    },
  };
}
